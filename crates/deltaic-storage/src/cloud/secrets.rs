//! What must not be told of the texts of object stores.

/// A text without what must not be told: queries of addresses (signatures stand there), users and passwords in
/// addresses, and the tokens that S3 repeats in its refusals.
pub(super) fn without_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, address) = rest.split_at(at);
        out.push_str(before);
        let end = address
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | '>' | '<'))
            .unwrap_or(address.len());
        let (address, after) = address.split_at(end);
        let (address, query) = match address.find('?') {
            Some(query) => (&address[..query], "?…"),
            None => (address, ""),
        };
        let host = &address[3..];
        let authority = &host[..host.find('/').unwrap_or(host.len())];
        match authority.rsplit_once('@') {
            // `container@account` is no secret.
            Some((user, _)) if user.contains(':') => {
                out.push_str("://…");
                out.push_str(&host[user.len()..]);
            }
            _ => out.push_str(address),
        }
        out.push_str(query);
        rest = after;
    }
    out.push_str(rest);
    let out = ELEMENTS
        .iter()
        .fold(out, |text, name| without_element(&text, name));
    PARTS
        .iter()
        .fold(out, |text, part| without_part(&text, part))
}

/// Parts of a signed request's head, which servers may repeat in their messages.
const PARTS: [&str; 9] = [
    "sig=",
    "Bearer ",
    "bearer ",
    "SharedKey ",
    "AWSAccessKeyId=",
    "Credential=",
    "Signature=",
    "X-Amz-Security-Token=",
    "x-amz-security-token:",
];

fn without_part(text: &str, part: &str) -> String {
    let mut pieces = text.split(part);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece
            .find(|c: char| {
                matches!(c, ',' | '&' | ';' | '<' | '"' | '\'' | ')') || c.is_whitespace()
            })
            .unwrap_or(piece.len());
        out.push_str(part);
        out.push('…');
        out.push_str(&piece[end..]);
    }
    out
}

/// Elements of S3's error documents that repeat what the client has sent.
const ELEMENTS: [&str; 8] = [
    "Token-0",
    "AWSAccessKeyId",
    "SignatureProvided",
    "StringToSign",
    "StringToSignBytes",
    "CanonicalRequest",
    "CanonicalRequestBytes",
    "AuthenticationErrorDetail",
];

/// What stands for a reason that says that a signature or token has expired.
pub(super) const EXPIRED: &str = "… (its time is over)";
/// How Azure's reasons say so.
const OVER: [&str; 4] = [
    // A text may come here twice.
    EXPIRED,
    "specified time frame",
    "Lifetime validation failed",
    "token is expired",
];

fn without_element(text: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&open) {
        out.push_str(before);
        out.push_str(&open);
        // Without an end the rest of the text belongs to it.
        let end = after.find(&close).unwrap_or(after.len());
        out.push_str(match OVER.iter().any(|said| after[..end].contains(said)) {
            true => EXPIRED,
            false => "…",
        });
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn signatures_in_addresses_do_not_pass() {
        let text = "error sending request for url (http://h/c/x?sv=2&sig=abc%3D): \"https://h/?a=b\" closed";
        assert_eq!(
            without_secrets(text),
            "error sending request for url (http://h/c/x?…): \"https://h/?…\" closed"
        );
        assert_eq!(without_secrets("no address"), "no address");
        assert_eq!(
            without_secrets(
                "AWS4-HMAC-SHA256 Credential=AK/2/s3, SignedHeaders=host, Signature=abc is wrong"
            ),
            "AWS4-HMAC-SHA256 Credential=…, SignedHeaders=host, Signature=… is wrong"
        );
        assert_eq!(
            without_secrets("proxy http://me:pw@h:1/x and abfss://c@a.dfs/t"),
            "proxy http://…@h:1/x and abfss://c@a.dfs/t"
        );
        assert_eq!(
            without_secrets(
                "<Error><Token-0>FwoG</Token-0><HostId>h</HostId></Error> <Token-0>cut"
            ),
            "<Error><Token-0>…</Token-0><HostId>h</HostId></Error> <Token-0>…"
        );
        assert_eq!(
            without_secrets(
                "no /c/x?sv=2&sig=a%3D&se=1 by Authorization: Bearer ey.a.b or SharedKey me:abc=, at all"
            ),
            "no /c/x?sv=2&sig=…&se=1 by Authorization: Bearer … or SharedKey …, at all"
        );
        let once = without_secrets(
            "<AuthenticationErrorDetail>Signature not valid in the specified time frame: Start [a] - Expiry [b]\
             </AuthenticationErrorDetail>",
        );
        assert_eq!(
            once,
            "<AuthenticationErrorDetail>… (its time is over)</AuthenticationErrorDetail>"
        );
        assert_eq!(without_secrets(&once), once);
        assert_eq!(
            without_secrets(
                "<AWSAccessKeyId>AKIA</AWSAccessKeyId><CanonicalRequest>x-amz-security-token:T</CanonicalRequest>"
            ),
            "<AWSAccessKeyId>…</AWSAccessKeyId><CanonicalRequest>…</CanonicalRequest>"
        );
    }
}
