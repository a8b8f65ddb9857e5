//! Which spellings of an Azure location name one container: `az://c`, `abfss://c@account.dfs.core.windows.net`,
//! `wasbs://c@account.blob.core.windows.net:443`.

/// A container as its spelling names it.
struct Named {
    container: String,
    account: Option<String>,
    /// The host without the account, as the service for files has it.
    service: Option<String>,
}

impl Named {
    fn of(authority: &str, otherwise: Option<&str>) -> Named {
        let Some((container, host)) = authority.split_once('@') else {
            return Named {
                container: authority.to_owned(),
                account: otherwise.map(str::to_lowercase),
                service: None,
            };
        };
        let host = host.to_lowercase();
        let host = host.strip_suffix(":443").unwrap_or(&host);
        let host = host.replacen(".blob.", ".dfs.", 1);
        let (account, service) = match host.split_once('.') {
            Some((account, service)) => (account.to_owned(), Some(service.to_owned())),
            None => (host, None),
        };
        Named {
            container: container.to_owned(),
            account: Some(account),
            service,
        }
    }
}

/// Whether two authorities name one container. `account` is the account of those that name none; where it is not known,
/// they are no other's.
pub(super) fn is_same(one: &str, other: &str, account: Option<&str>) -> bool {
    let (one, other) = (Named::of(one, account), Named::of(other, account));
    let services_agree = match (&one.service, &other.service) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    one.container == other.container
        && one.account.is_some()
        && one.account == other.account
        && services_agree
}
