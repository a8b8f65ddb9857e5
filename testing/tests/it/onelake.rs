//! OneLake's rules: what is refused, and what is not.

use deltaic_testing::{Proxy, onelake};

use crate::{ask, before, server};

const GUID: &str = "11111111-2222-3333-4444-555555555555";

fn status(proxy: &Proxy, method: &str, target: &str) -> u16 {
    ask(proxy.address(), method, target, "").unwrap().0
}

#[test]
fn what_fabric_manages_is_refused_and_the_rest_is_not() {
    let server = server();
    let proxy = before(&server, onelake::rules(onelake::Options::default()));
    for (method, target, wanted) in [
        (
            "POST",
            format!("/onelake/{GUID}?restype=container&comp=batch"),
            400,
        ),
        ("PUT", format!("/onelake/{GUID}?restype=container"), 403),
        ("DELETE", format!("/onelake/{GUID}?restype=container"), 403),
        (
            "GET",
            format!("/onelake/{GUID}?restype=container&comp=list&prefix=x"),
            200,
        ),
        ("PUT", format!("/onelake/{GUID}/lh.Lakehouse"), 403),
        (
            "DELETE",
            format!("/onelake/{GUID}/lh.Lakehouse/Tables"),
            403,
        ),
        ("PUT", format!("/onelake/{GUID}/lh.Lakehouse/Tables/t"), 200),
        (
            "DELETE",
            format!("/onelake/{GUID}/{GUID}/Tables/t/x.parquet"),
            200,
        ),
        ("GET", format!("/onelake/{GUID}/lh/Tables/t"), 400),
        ("GET", format!("/onelake/ws/{GUID}/Tables/t"), 400),
        ("GET", "/onelake/ws/lh.Lakehouse/Tables/t".to_owned(), 200),
        (
            "PATCH",
            format!("/onelake/{GUID}/{GUID}/Files/x?action=setAccessControlRecursive"),
            403,
        ),
    ] {
        assert_eq!(status(&proxy, method, &target), wanted, "{method} {target}");
    }
}

#[test]
fn throttling_says_when_to_come_back() {
    let server = server();
    let options = onelake::Options {
        throttle_every: 2,
        ..onelake::Options::default()
    };
    let proxy = before(&server, onelake::rules(options));
    let target = format!("/onelake/{GUID}/{GUID}/Files/x");
    assert_eq!(status(&proxy, "GET", &target), 200);
    let (status, head, _) = ask(proxy.address(), "GET", &target, "").unwrap();
    assert_eq!(status, 429);
    assert!(head.contains("retry-after: 1"));
}
