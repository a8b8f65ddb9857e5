//! Shared access signatures of Azure accounts.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::Url;

/// Adds an account's shared access signature for all that the tests do.
pub fn sign(url: &mut Url, account: &str, key: &str) {
    let (version, expiry) = ("2022-11-02", "2099-01-01T00:00:00Z");
    let text = [
        account,
        "rwdlac", // permissions
        "b",      // service: blobs
        "sco",    // resources: service, containers, objects
        "",       // from
        expiry,
        "", // addresses
        "https,http",
        version,
        "", // encryption scope
        "",
    ]
    .join("\n");
    let key = BASE64_STANDARD.decode(key).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(text.as_bytes());
    let signature = BASE64_STANDARD.encode(mac.finalize().into_bytes());
    url.query_pairs_mut()
        .append_pair("sv", version)
        .append_pair("ss", "b")
        .append_pair("srt", "sco")
        .append_pair("sp", "rwdlac")
        .append_pair("se", expiry)
        .append_pair("spr", "https,http")
        .append_pair("sig", &signature);
}
