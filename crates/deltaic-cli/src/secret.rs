//! Which statements tell a secret, so that the prompt does not keep them.

use deltaic_storage::TableRoot;
use deltaic_storage::cloud::{is_secret, is_secret_property};

/// Whether a text sets an option, a setting or a property that is a secret, or has a location with credentials in it. One
/// that looks so counts.
pub fn is_told(text: &str) -> bool {
    text.match_indices('=')
        .any(|(at, _)| is_secret_pair(&text[..at], &text[at + 1..]))
        || text
            .split(|c: char| c.is_whitespace() || is_quote(c))
            .any(|word| word.contains("://") && TableRoot::parse(word).is_err())
}

/// What stands before and behind an equals sign.
fn is_secret_pair(before: &str, after: &str) -> bool {
    let before = before.trim_end().trim_end_matches(is_quote);
    let at =
        before.rfind(|c: char| c.is_whitespace() || is_quote(c) || matches!(c, '(' | ',' | ';'));
    let (statement, name) = match at {
        // A separator may be longer than a byte.
        Some(at) => (
            &before[..at],
            before[at..].trim_start_matches(|c: char| !is_of_name(c)),
        ),
        None => ("", before),
    };
    let value = after.split(';').next().unwrap_or_default().trim();
    let is_set = statement.rsplit(';').next().is_some_and(|last| {
        last.trim_matches(|c: char| c.is_whitespace() || is_quote(c))
            .eq_ignore_ascii_case("set")
    });
    match is_set {
        true => is_secret(name, value),
        false => is_secret_property(name, value),
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '`')
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-')
}

#[cfg(test)]
mod tests {
    use super::is_told;

    #[test]
    fn statements_with_secrets_are_known() {
        for text in [
            "SET fs.s3a.secret.key=x;",
            "set spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net = x;",
            "SET a=1; SET `aws_secret_access_key` = x;",
            "SET connection_string=AccountName=a;",
            "SET aws_endpoint=http://u:p@h;",
            "CREATE TABLE t (id INT) USING delta OPTIONS ('fs.s3a.secret.key' = 'x');",
            "CREATE TABLE t (id INT) TBLPROPERTIES (a.password='x', 'b' = 'c')",
            "SELECT * FROM delta.`s3://AK:x@bucket/t`;",
            "VACUUM delta.`abfss://c@a.dfs.core.windows.net/t?sig=x`;",
        ] {
            assert!(is_told(text), "{text}");
        }
        for text in [
            "SELECT * FROM delta.`abfss://c@a.dfs.core.windows.net/t` WHERE id = 1;",
            "SET spark.sql.session.timeZone=UTC;",
            "SET aws_endpoint=http://localhost:9000;",
            "UPDATE t SET v = 2 WHERE k='a';",
            "SELECT 'ü' = x;",
        ] {
            assert!(!is_told(text), "{text}");
        }
    }
}
