//! Which names of options mean something here: one that is written wrong is passed over in silence otherwise.

use std::str::FromStr;

use object_store::ClientConfigKey;
use object_store::aws::AmazonS3ConfigKey;
use object_store::azure::AzureConfigKey;

use super::settings::plain_name;

/// Names besides those of object_store, as `options.md` lists them.
const OURS: &[&str] = &[
    "aws_access_key_id_dynamodb",
    "aws_ca_bundle",
    "aws_conditional_put",
    "aws_config_file",
    "aws_container_credentials_full_uri",
    "aws_endpoint_url_dynamodb",
    "aws_endpoint_url_s3",
    "aws_endpoint_url_sts",
    "aws_iam_role_arn",
    "aws_iam_role_session_name",
    "aws_ignore_configured_endpoint_urls",
    "aws_max_attempts",
    "aws_profile",
    "aws_region_dynamodb",
    "aws_s3_addressing_style",
    "aws_s3_allow_unsafe_rename",
    "aws_s3_assume_role_arn",
    "aws_s3_locking_provider",
    "aws_s3_role_session_name",
    "aws_secret_access_key_dynamodb",
    "aws_session_token_dynamodb",
    "aws_shared_credentials_file",
    "azure_ca_bundle",
    "azure_storage_account",
    "azure_storage_connection_string",
    "azure_storage_key",
    "azure_storage_sas_token",
    "azure_storage_service_endpoint",
    "ca_bundle",
    "connection_string",
    "delta_dynamo_billing_mode",
    "delta_dynamo_table_name",
    "identity_endpoint",
    "s3_locking_provider",
];

/// Names of both kinds of store, which stand with `aws_` or `azure_` in front too.
const LIMITS: &[&str] = &["max_retries", "retry_timeout", "timeout"];

/// Families of Hadoop's and Delta's names: more are written than read, and some hold the name of a bucket or account.
const FAMILIES: &[&str] = &["fs.", "spark.", "io.delta.storage.", "spark.hadoop."];

/// Whether a plain name is one of those that object_store does not have.
pub(super) fn is_ours(plain: &str) -> bool {
    OURS.contains(&plain)
}

/// Whether an option of this name is read by anything here.
pub fn is_known_option(name: &str) -> bool {
    let plain = plain_name(name);
    let bare = ["aws_", "azure_"]
        .iter()
        .find_map(|prefix| plain.strip_prefix(prefix))
        .unwrap_or(&plain);
    FAMILIES.iter().any(|family| plain.starts_with(family))
        || is_ours(&plain)
        || LIMITS.contains(&bare)
        || AmazonS3ConfigKey::from_str(&plain).is_ok()
        || AzureConfigKey::from_str(&plain).is_ok()
        || ClientConfigKey::from_str(bare).is_ok()
}

/// The known name that is most like one that is not, if any is much like it.
pub fn similar_option(name: &str) -> Option<&'static str> {
    const OFTEN: &[&str] = &[
        "aws_access_key_id",
        "aws_allow_http",
        "aws_endpoint",
        "aws_endpoint_url",
        "aws_region",
        "aws_secret_access_key",
        "aws_session_token",
        "aws_skip_signature",
        "aws_virtual_hosted_style_request",
        "azure_allow_http",
        "azure_client_id",
        "azure_client_secret",
        "azure_federated_token_file",
        "azure_skip_signature",
        "azure_storage_account_key",
        "azure_storage_account_name",
        "azure_storage_endpoint",
        "azure_storage_sas_key",
        "azure_tenant_id",
        "azure_use_azure_cli",
        "proxy_url",
    ];
    let plain = plain_name(name);
    OURS.iter()
        .chain(LIMITS)
        .chain(OFTEN)
        .map(|known| (strsim::jaro_winkler(known, &plain), *known))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::{is_known_option, similar_option};

    #[test]
    fn every_name_that_is_documented_is_known() {
        let text = include_str!("options.md");
        let mut seen = 0;
        for (at, name) in text.split('`').enumerate() {
            let is_name = at % 2 == 1
                && (name.contains('_') || name.starts_with("fs."))
                && !name.contains(|c: char| c.is_uppercase() || c.is_whitespace())
                && !name.starts_with(['.', '…']);
            let name = name.split(['=', '…']).next().unwrap_or_default();
            // Settings inside of AWS's files, and a value.
            let of_files = [
                "credential_process",
                "role_arn",
                "endpoint_url",
                "delta_log",
            ]
            .contains(&name);
            if is_name && !of_files && !name.ends_with('_') {
                assert!(is_known_option(name), "{name}");
                seen += 1;
            }
        }
        assert!(seen > 60, "{seen}");
    }

    #[test]
    fn a_name_that_is_written_wrong_is_not_known_and_has_one_like_it() {
        for (wrong, right) in [
            ("aws_regoin", "aws_region"),
            ("AWS_ACCESS_KEY", "aws_access_key_id"),
            ("azure_storage_acount_name", "azure_storage_account_name"),
            ("retry_timeut", "retry_timeout"),
        ] {
            assert!(!is_known_option(wrong), "{wrong}");
            assert_eq!(similar_option(wrong), Some(right));
        }
        assert_eq!(similar_option("colour"), None);
        for known in [
            "AWS_REGION",
            "region",
            "spark.hadoop.fs.s3a.endpoint",
            "azure_timeout",
            "proxy_url",
        ] {
            assert!(is_known_option(known), "{known}");
        }
    }
}
