//! Locations and the paths of actions.

use deltaic_storage::{Scheme, StorageFactory, TableRoot, encode_uri_path};

#[test]
fn locations_print_as_hadoop_prints_them() {
    for (given, shown) in [
        ("/a/b", "file:/a/b"),
        ("/a/b/", "file:/a/b"),
        ("file:/a b", "file:/a b"),
        ("file:///a//b/./c/../d", "file:/a/b/d"),
        ("file:/a%20b", "file:/a%20b"),
        ("memory:/x", "memory:/x"),
        ("memory:///x", "memory:/x"),
    ] {
        assert_eq!(
            TableRoot::parse(given).unwrap().to_string(),
            shown,
            "{given}"
        );
    }
    let here = TableRoot::parse("some/where").unwrap();
    assert!(here.path().starts_with('/') && here.path().ends_with("/some/where"));
}

#[test]
fn a_scheme_without_a_backend_is_refused_by_name() {
    let error = StorageFactory::default().open("ftp://host/x").unwrap_err();
    assert_eq!(error.text(), "No FileSystem for scheme \"ftp\"");
    assert_eq!(error.path(), Some("ftp://host/x"));
}

#[test]
fn paths_of_actions_are_decoded_once() {
    let table = StorageFactory::default().open("/w/t 1").unwrap();
    for (given, relative, absolute) in [
        ("a.parquet", Some("a.parquet"), "/w/t 1/a.parquet"),
        (
            "p=a%20b/x.parquet",
            Some("p=a b/x.parquet"),
            "/w/t 1/p=a b/x.parquet",
        ),
        (
            "p=a%252Fb/x.parquet",
            Some("p=a%2Fb/x.parquet"),
            "/w/t 1/p=a%2Fb/x.parquet",
        ),
        (
            "p=10:30/x.parquet",
            Some("p=10:30/x.parquet"),
            "/w/t 1/p=10:30/x.parquet",
        ),
        (
            "file:/w/t%201/a.parquet",
            Some("a.parquet"),
            "/w/t 1/a.parquet",
        ),
        ("file:///w/other/a%23.parquet", None, "/w/other/a#.parquet"),
        ("/w/other/a.parquet", None, "/w/other/a.parquet"),
        ("./a.parquet", Some("a.parquet"), "/w/t 1/a.parquet"),
    ] {
        let path = table.resolve(given).unwrap();
        assert_eq!(path.relative(), relative, "{given}");
        assert_eq!(path.absolute(), absolute, "{given}");
    }
    assert!(table.resolve("../other/a.parquet").is_err());
    assert!(table.resolve("s3://bucket/a.parquet").is_err());
    assert!(table.resolve("a%FF.parquet").is_err());
}

#[test]
fn paths_are_quoted_as_a_java_uri_quotes_them() {
    assert_eq!(
        encode_uri_path("p=a b%2F/ü#?[x]^.parquet"),
        "p=a%20b%252F/ü%23%3F%5Bx%5D%5E.parquet"
    );
    assert_eq!(
        encode_uri_path("a:b@c&d=e+f,g;h!i'j(k)*~$"),
        "a:b@c&d=e+f,g;h!i'j(k)*~$"
    );
}

#[test]
fn roots_know_their_own_files() {
    let root = TableRoot::new(Scheme::File, "/w/t");
    assert_eq!(root.relativize("/w/t/a"), Some("a"));
    assert_eq!(root.relativize("/w/t2/a"), None);
    assert_eq!(root.display("p=1/x"), "file:/w/t/p=1/x");
    assert_eq!(root.join("sub").name(), "sub");
}
