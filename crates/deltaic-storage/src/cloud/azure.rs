//! A client for one container of Azure Blob Storage (ADLS Gen2) or workspace of OneLake, from options and the
//! environment.

use std::str::FromStr;
use std::sync::Arc;

use deltaic_protocol::error::Result;
use object_store::ObjectStore;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use url::Url;

use super::credentials::InTime;
use super::limits::Limits;
use super::options::{self, Client};
use super::plain::{Signing, deleting};
use super::settings::{Settings, check_address, invalid, is_true};
use super::wire::{Connector, Kept};
use crate::root::Bucket;

/// What an option sets, and to what.
type Pairs = Vec<(AzureConfigKey, String)>;

/// A client and what goes with it.
pub(super) struct Container {
    pub store: Arc<dyn ObjectStore>,
    pub limits: Limits,
    /// Whether answers have said that deleted blobs are kept for a while.
    pub kept: Kept,
}

/// Opens a container.
///
/// # Errors
/// Options that do not go together or cannot be read; no account.
pub(super) fn open(place: &Bucket, settings: &Settings) -> Result<Container> {
    let url = format!("abfss://{}", place.container);
    let mut client = Client::new(&url, settings, "azure")?;
    let limits = client.limits;
    let connector = Connector::new(limits.patience);
    let builder = builder(place, &url, settings, &mut client)?
        .with_http_connector(connector.clone())
        .with_retry(limits.retry())
        .with_client_options(client.options);
    let service = service(&builder);
    let anonymous = is_on(&builder, AzureConfigKey::SkipSignature);
    let account = builder.get_config_value(&AzureConfigKey::AccountName);
    let refused = |error| options::refused(&url, settings, error);
    let fetches = fetches(&builder);
    let mut store = builder.clone().build().map_err(refused)?;
    if fetches {
        let in_time = InTime::new(Arc::clone(store.credentials()), limits.patience / 2);
        store = builder
            .with_credentials(Arc::new(in_time))
            .build()
            .map_err(refused)?;
    }
    let store = Arc::new(store);
    let kept = connector.kept();
    let (Some(service), Some(account)) = (service, account) else {
        // An emulator at an address of its own, which takes batches.
        return Ok(Container {
            store,
            limits,
            kept,
        });
    };
    let signing = Signing::Azure {
        store,
        service,
        account,
        container: place.container.clone(),
        anonymous,
    };
    Ok(Container {
        store: deleting(&connector, limits, place.fabric, signing),
        limits,
        kept,
    })
}

/// Whether credentials come from elsewhere: no key, signature or token is given.
fn fetches(builder: &MicrosoftAzureBuilder) -> bool {
    let given = [
        AzureConfigKey::AccessKey,
        AzureConfigKey::SasKey,
        AzureConfigKey::Token,
    ];
    !given
        .iter()
        .any(|key| builder.get_config_value(key).is_some())
        && !is_on(builder, AzureConfigKey::SkipSignature)
        && !is_on(builder, AzureConfigKey::UseEmulator)
}

/// The account of locations that name a container alone.
///
/// # Errors
/// A connection string that cannot be read.
pub(super) fn account(settings: &Settings) -> Result<Option<String>> {
    let anywhere = Bucket {
        container: String::new(),
        account: None,
        fabric: false,
        region: None,
        endpoint: None,
    };
    let named = pairs("abfss://", &anywhere, settings)?.into_iter().rev();
    let mut accounts = named.filter(|(key, _)| *key == AzureConfigKey::AccountName);
    Ok(accounts.next().map(|(_, account)| account))
}

/// A client's builder with all that location and settings name.
fn builder(
    place: &Bucket,
    url: &str,
    settings: &Settings,
    client: &mut Client,
) -> Result<MicrosoftAzureBuilder> {
    let mut builder = MicrosoftAzureBuilder::new().with_container_name(&place.container);
    for (key, value) in pairs(url, place, settings)? {
        match key {
            AzureConfigKey::Client(key) => client.set(key, &value),
            AzureConfigKey::ContainerName => {}
            key => {
                if key == AzureConfigKey::Endpoint {
                    check_address(url, "azure_storage_endpoint", &value)?;
                    client.meet(url, settings, "azure", &value)?;
                }
                builder = builder.with_config(key, value);
            }
        }
    }
    // The location's own account wins.
    if let Some(account) = &place.account {
        builder = builder.with_account(account);
    }
    if place.fabric {
        builder = builder.with_use_fabric_endpoint(true);
    }
    Ok(builder)
}

/// The address of the account, as the client has it.
fn service(builder: &MicrosoftAzureBuilder) -> Option<Url> {
    if is_on(builder, AzureConfigKey::UseEmulator) {
        return None;
    }
    let account = builder.get_config_value(&AzureConfigKey::AccountName)?;
    let own = builder.get_config_value(&AzureConfigKey::Endpoint);
    let address = own.unwrap_or_else(|| match is_on(builder, AzureConfigKey::UseFabricEndpoint) {
        true => format!("https://{account}.blob.fabric.microsoft.com"),
        false => format!("https://{account}.blob.core.windows.net"),
    });
    Url::parse(&address).ok()
}

fn is_on(builder: &MicrosoftAzureBuilder, key: AzureConfigKey) -> bool {
    builder
        .get_config_value(&key)
        .is_some_and(|value| is_true(&value))
}

/// All settings that mean something, the address that the location needs before them; what comes later wins: variables,
/// a connection string, options.
fn pairs(url: &str, place: &Bucket, settings: &Settings) -> Result<Pairs> {
    let account = place.account.as_deref().or_else(|| {
        settings.get(&[
            "azure_storage_account_name",
            "account_name",
            "azure_storage_account",
        ])
    });
    let known = |named: &mut dyn Iterator<Item = (&str, &str)>| -> Pairs {
        named
            .flat_map(|(name, value)| meaning(name, value, account))
            .collect()
    };
    let mut ours = match settings.get(CONNECTION) {
        Some(text) => connection(url, text, account)?,
        None => Pairs::new(),
    };
    ours.extend(known(&mut settings.options()));
    let mut variables = known(&mut settings.variables());
    if ours.iter().any(|(key, _)| is_credential(*key)) {
        // The builder has an order of its own among keys, tokens and signatures; the one that is asked for is meant.
        variables.retain(|(key, _)| !is_credential(*key));
    }
    let own = place.endpoint.iter();
    let mut all: Pairs = own
        .map(|endpoint| (AzureConfigKey::Endpoint, endpoint.clone()))
        .collect();
    all.extend(variables);
    all.extend(ours);
    Ok(all)
}

const CONNECTION: &[&str] = &["azure_storage_connection_string", "connection_string"];

fn is_credential(key: AzureConfigKey) -> bool {
    matches!(
        key,
        AzureConfigKey::AccessKey
            | AzureConfigKey::SasKey
            | AzureConfigKey::Token
            | AzureConfigKey::ClientSecret
            | AzureConfigKey::FederatedTokenFile
            | AzureConfigKey::UseAzureCli
            | AzureConfigKey::SkipSignature
    )
}

fn meaning(name: &str, value: &str, account: Option<&str>) -> Pairs {
    let key = match name {
        // Names of the Azure command line and SDKs that object_store does not have.
        "azure_storage_account" => Some(AzureConfigKey::AccountName),
        "azure_storage_key" => Some(AzureConfigKey::AccessKey),
        "azure_storage_service_endpoint" => Some(AzureConfigKey::Endpoint),
        _ => match name.strip_prefix("fs.azure.") {
            Some(hadoop) => return of_hadoop(hadoop, value, account),
            None => AzureConfigKey::from_str(name).ok(),
        },
    };
    key.map(|key| (key, value.to_owned())).into_iter().collect()
}

/// `fs.azure.account.key.ACCOUNT.dfs.core.windows.net`: of this account, or without a name at the end of any.
fn of_hadoop(name: &str, value: &str, account: Option<&str>) -> Pairs {
    let name = match account {
        Some(account) => match name.split_once(&format!(".{}.", account.to_lowercase())) {
            Some((name, _)) => name,
            None => name,
        },
        None => name,
    };
    let key = match name {
        "account.key" => AzureConfigKey::AccessKey,
        "sas.fixed.token" | "sas.token" => AzureConfigKey::SasKey,
        "account.oauth2.client.id" => AzureConfigKey::ClientId,
        "account.oauth2.client.secret" => AzureConfigKey::ClientSecret,
        "account.oauth2.msi.tenant" => AzureConfigKey::AuthorityId,
        "account.oauth2.msi.endpoint" => AzureConfigKey::MsiEndpoint,
        "account.oauth2.token.file" => AzureConfigKey::FederatedTokenFile,
        "account.oauth2.client.endpoint" => return of_token_address(value),
        _ => return Pairs::new(),
    };
    vec![(key, value.to_owned())]
}

/// `https://login.microsoftonline.com/TENANT/oauth2/token`
fn of_token_address(value: &str) -> Pairs {
    let Ok(address) = url::Url::parse(value) else {
        return Pairs::new();
    };
    let tenant = address
        .path_segments()
        .and_then(|mut segments| segments.next())
        .filter(|tenant| !tenant.is_empty());
    match (tenant, address.host_str()) {
        (Some(tenant), Some(host)) => vec![
            (AzureConfigKey::AuthorityId, tenant.to_owned()),
            (
                AzureConfigKey::AuthorityHost,
                format!("{}://{host}", address.scheme()),
            ),
        ],
        _ => Pairs::new(),
    }
}

/// The parts of a connection string (`AccountName=…;AccountKey=…;EndpointSuffix=…`). One that is for another account
/// than the location says nothing.
fn connection(place: &str, text: &str, account: Option<&str>) -> Result<Pairs> {
    let mut out = Pairs::new();
    let mut named: Option<&str> = None;
    let mut protocol = "https";
    let mut suffix = None;
    let mut blobs = None;
    for part in text
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let Some((name, value)) = part.split_once('=') else {
            return Err(invalid(
                place,
                "azure_storage_connection_string",
                "NAME=VALUE pairs with ; between them",
            ));
        };
        match name.trim().to_ascii_lowercase().as_str() {
            "accountname" => named = Some(value),
            "accountkey" => out.push((AzureConfigKey::AccessKey, value.to_owned())),
            "sharedaccesssignature" => out.push((AzureConfigKey::SasKey, value.to_owned())),
            "defaultendpointsprotocol" => protocol = value,
            "endpointsuffix" => suffix = Some(value),
            "blobendpoint" => blobs = Some(value.trim_end_matches('/')),
            "usedevelopmentstorage" => out.push((AzureConfigKey::UseEmulator, value.to_owned())),
            _ => {}
        }
    }
    // With a signature alone the account is in the address: https://ACCOUNT.blob.core.windows.net
    let named = named.or_else(|| {
        let host = blobs?.split_once("://")?.1;
        host.split('.')
            .next()
            .filter(|name| !name.contains([':', '/']))
    });
    if let (Some(named), Some(account)) = (named, account)
        && !named.eq_ignore_ascii_case(account)
    {
        return Ok(Pairs::new());
    }
    if let Some(blobs) = blobs {
        out.push((AzureConfigKey::Endpoint, blobs.to_owned()));
    } else if let (Some(named), Some(suffix)) = (named, suffix) {
        out.push((
            AzureConfigKey::Endpoint,
            format!("{protocol}://{named}.blob.{suffix}"),
        ));
    }
    if let Some(named) = named {
        out.push((AzureConfigKey::AccountName, named.to_owned()));
    }
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use deltaic_protocol::error::ErrorKind;

    use super::super::settings::of as settings;
    use super::*;

    fn pairs_of(options: &[(&str, &str)], environment: &[(&str, &str)]) -> Pairs {
        let settings = settings(options, environment);
        pairs("abfss://c", &container(None), &settings).unwrap()
    }

    fn container(endpoint: Option<&str>) -> Bucket {
        Bucket {
            container: "c".to_owned(),
            account: Some("acc".to_owned()),
            fabric: endpoint.is_some(),
            region: None,
            endpoint: endpoint.map(str::to_owned),
        }
    }

    fn last(pairs: &Pairs, key: AzureConfigKey) -> Option<&str> {
        pairs
            .iter()
            .rev()
            .find(|(found, _)| *found == key)
            .map(|(_, value)| value.as_str())
    }

    #[test]
    fn names_of_three_worlds_mean_the_same() {
        for name in [
            "AZURE_STORAGE_ACCOUNT_KEY",
            "azure_storage_key",
            "fs.azure.account.key.acc.dfs.core.windows.net",
            "spark.hadoop.fs.azure.account.key.acc.dfs.core.windows.net",
        ] {
            let found = pairs_of(&[(name, "k")], &[]);
            assert_eq!(last(&found, AzureConfigKey::AccessKey), Some("k"), "{name}");
        }
        let other = [("fs.azure.account.key.other.dfs.core.windows.net", "k")];
        assert_eq!(pairs_of(&other, &[]), Pairs::new());
    }

    #[test]
    fn a_service_principal_as_hadoop_writes_it() {
        let found = pairs_of(
            &[
                (
                    "fs.azure.account.oauth2.client.id.acc.dfs.core.windows.net",
                    "id",
                ),
                (
                    "fs.azure.account.oauth2.client.secret.acc.dfs.core.windows.net",
                    "s",
                ),
                (
                    "fs.azure.account.oauth2.client.endpoint.acc.dfs.core.windows.net",
                    "https://login.microsoftonline.com/tenant/oauth2/token",
                ),
            ],
            &[],
        );
        assert_eq!(last(&found, AzureConfigKey::ClientId), Some("id"));
        assert_eq!(last(&found, AzureConfigKey::ClientSecret), Some("s"));
        assert_eq!(last(&found, AzureConfigKey::AuthorityId), Some("tenant"));
        assert_eq!(
            last(&found, AzureConfigKey::AuthorityHost),
            Some("https://login.microsoftonline.com")
        );
    }

    #[test]
    fn connection_strings() {
        let text = "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=a2V5==;EndpointSuffix=core.usgovcloudapi.net";
        let found = pairs_of(&[], &[("AZURE_STORAGE_CONNECTION_STRING", text)]);
        assert_eq!(last(&found, AzureConfigKey::AccessKey), Some("a2V5=="));
        assert_eq!(
            last(&found, AzureConfigKey::Endpoint),
            Some("https://acc.blob.core.usgovcloudapi.net")
        );
        let signed =
            "BlobEndpoint=https://acc.blob.core.windows.net/;SharedAccessSignature=sv=1&sig=x%3D";
        let found = pairs_of(&[("connection_string", signed)], &[]);
        assert_eq!(last(&found, AzureConfigKey::SasKey), Some("sv=1&sig=x%3D"));
        assert_eq!(last(&found, AzureConfigKey::AccountName), Some("acc"));
        let other = "AccountName=other;AccountKey=a2V5";
        assert_eq!(pairs_of(&[("connection_string", other)], &[]), Pairs::new());
        let emulator = "BlobEndpoint=http://127.0.0.1:10000/acc;AccountName=acc;AccountKey=a2V5";
        assert_eq!(
            last(
                &pairs_of(&[("connection_string", emulator)], &[]),
                AzureConfigKey::Endpoint
            ),
            Some("http://127.0.0.1:10000/acc")
        );
    }

    #[test]
    fn a_credential_of_the_options_stands_alone() {
        let environment = [
            ("AZURE_STORAGE_ACCOUNT_KEY", "env"),
            ("AZURE_CLIENT_ID", "id"),
        ];
        let found = pairs_of(&[("azure_storage_sas_token", "sv=1")], &environment);
        assert_eq!(last(&found, AzureConfigKey::AccessKey), None);
        assert_eq!(last(&found, AzureConfigKey::ClientId), Some("id"));
        let found = pairs_of(&[], &environment);
        assert_eq!(last(&found, AzureConfigKey::AccessKey), Some("env"));
    }

    #[test]
    fn the_address_of_a_location_counts_where_nothing_else_is_said() {
        let private = "https://acc.z12.blob.fabric.microsoft.com";
        let none: &[(&str, &str)] = &[];
        let option: &[(&str, &str)] = &[("azure_storage_endpoint", "https://option")];
        let variable: &[(&str, &str)] = &[("AZURE_STORAGE_ENDPOINT", "https://variable")];
        for (options, environment, wanted) in [
            (none, none, private),
            (none, variable, "https://variable"),
            (option, variable, "https://option"),
        ] {
            let settings = settings(options, environment);
            let mut client = Client::new("abfss://c", &settings, "azure").unwrap();
            let place = container(Some(private));
            let builder = builder(&place, "abfss://c", &settings, &mut client).unwrap();
            let found = service(&builder).unwrap().to_string();
            assert_eq!(found.trim_end_matches('/'), wanted);
        }
    }

    #[test]
    fn values_that_no_request_can_carry_are_refused_by_name() {
        let token = ("azure_storage_token", "token");
        for (name, value) in [
            ("azure_storage_token", "SECRET\nVALUE"),
            (
                "fs.azure.account.oauth2.client.secret",
                "SECRET\tVALUE\n\u{7}x",
            ),
            ("azure_storage_endpoint", "not a SECRET url"),
            ("azure_storage_endpoint", "http://localhost:99999999"),
        ] {
            let error = open(&container(None), &settings(&[token, (name, value)], &[]));
            let error = error.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Analysis, "{error}");
            assert!(error.text().contains(name), "{error}");
            assert!(!error.to_string().contains("SECRET"), "{error}");
        }
        let environment = [("AZURE_STORAGE_TOKEN", "token\n")];
        assert!(open(&container(None), &settings(&[], &environment)).is_ok());
    }
}
