//! Locations and the paths of actions.

use deltaic_storage::{DataPath, Scheme, StorageFactory, TableRoot, encode_uri_path};

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

/// One container has many names. What cannot be told to lie elsewhere may be here.
#[test]
fn files_are_known_by_every_spelling_of_their_container() {
    let azure = TableRoot::parse("abfss://c@acct.dfs.core.windows.net/w/t").unwrap();
    let s3 = TableRoot::parse("s3://b/w/t").unwrap();
    let here = [
        (&azure, "abfs://c@acct.dfs.core.windows.net/w/t/a%20b"),
        (&azure, "ABFSS://c@ACCT.dfs.core.windows.net:443/w/t/a%20b"),
        (&azure, "wasbs://c@acct.blob.core.windows.net/w/t/a%20b"),
        (
            &azure,
            "wasbs://c@acct.blob.core.windows.net:443/w//t/a%20b",
        ),
        (&azure, "https://acct.dfs.core.windows.net/c/w/t/a%20b"),
        (&azure, "https://acct.blob.core.windows.net/c/w/t/a%20b"),
        (&s3, "s3a://b/w/t/a%20b"),
        (&s3, "https://b.s3.amazonaws.com/w/t/a%20b"),
        (&s3, "https://s3.eu-west-1.amazonaws.com/b/w/t/a%20b"),
        (&s3, "S3N://b/w/t/a%20b"),
    ];
    for (root, given) in here {
        let path = DataPath::resolve(root, given).unwrap();
        assert_eq!(path.relative(), Some("a b"), "{given}");
    }
    for (root, given, may) in [
        (
            &azure,
            "abfss://other@acct.dfs.core.windows.net/w/t/a",
            false,
        ),
        (&azure, "https://other.dfs.core.windows.net/c/w/t/a", false),
        (&azure, "az://c/w/t/a", true), // the account is for the options to say
        (&azure, "s3://c/w/t/a", false),
        (&azure, "file:/w/t/a", false),
        (&azure, "http://127.0.0.1:10000/acct/c/w/t/a", true),
        (&azure, "dbfs:/mnt/c/w/t/a", true),
        (&s3, "s3://other/w/t/a", false),
        (&s3, "s3:/b/w/t/a", true),
        (&s3, "https://minio.example/b/w/t/a", true),
        (&s3, "../t/a", true),
    ] {
        assert!(DataPath::resolve(root, given).is_err(), "{given}");
        assert_eq!(root.may_hold(given), may, "{given}");
    }
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

#[test]
fn web_addresses_are_the_same_places_as_their_hadoop_forms() {
    for (web, hadoop) in [
        (
            "https://onelake.dfs.fabric.microsoft.com/My%20WS/lh.Lakehouse/Tables/t%201",
            "abfss://My WS@onelake.dfs.fabric.microsoft.com/lh.Lakehouse/Tables/t 1",
        ),
        (
            "https://onelake.blob.fabric.microsoft.com/0b1a6a2e-5c1d-4f4e-9d63-1f0f6d2f7a10/11111111-2222-3333-4444-555555555555/Tables/t/",
            "abfss://0b1a6a2e-5c1d-4f4e-9d63-1f0f6d2f7a10@onelake.dfs.fabric.microsoft.com/11111111-2222-3333-4444-555555555555/Tables/t",
        ),
        (
            "HTTPS://Acc.Blob.core.windows.net/c/a//b",
            "abfss://c@acc.dfs.core.windows.net/a/b",
        ),
        (
            "https://acc.dfs.core.windows.net/c",
            "abfss://c@acc.dfs.core.windows.net/",
        ),
        ("https://s3.eu-west-1.amazonaws.com/b/t", "s3://b/t"),
        ("https://my.b.s3.eu-west-1.amazonaws.com/t", "s3://my.b/t"),
        ("https://b.s3.amazonaws.com/t", "s3://b/t"),
        ("https://s3.amazonaws.com/b", "s3://b/"),
    ] {
        let root = TableRoot::parse(web).unwrap();
        assert_eq!(root.to_string(), hadoop, "{web}");
        assert_eq!(root, TableRoot::parse(hadoop).unwrap(), "{web}");
    }
}

#[test]
fn a_location_says_account_region_and_address_of_its_store() {
    let bucket = |location: &str| TableRoot::parse(location).unwrap().bucket();
    let one = bucket("https://onelake.dfs.fabric.microsoft.com/ws/lh.Lakehouse/Tables/t");
    assert!(one.fabric && one.endpoint.is_none());
    assert_eq!(
        (one.container.as_str(), one.account.as_deref()),
        ("ws", Some("onelake"))
    );
    let host = "0b1a6a2e5c1d4f4e9d631f0f6d2f7a10.z0b";
    for location in [
        format!("https://{host}.dfs.fabric.microsoft.com/ws/lh.Lakehouse/Tables/t"),
        format!("abfss://ws@{host}.dfs.fabric.microsoft.com/lh.Lakehouse/Tables/t"),
    ] {
        let private = bucket(&location);
        assert!(private.fabric);
        assert_eq!(
            private.endpoint,
            Some(format!("https://{host}.blob.fabric.microsoft.com")),
            "{location}"
        );
    }
    assert_eq!(
        bucket("https://b.s3.eu-west-1.amazonaws.com/t")
            .region
            .as_deref(),
        Some("eu-west-1")
    );
    assert_eq!(bucket("s3://b/t").region, None);
}

#[test]
fn other_web_addresses_are_refused_and_signatures_are_not_repeated() {
    for location in [
        "https://example.com/b/t",
        "https://s3.eu-west-1.example.com/b/t",
        "https://a.b.c.amazonaws.com/t",
    ] {
        let error = TableRoot::parse(location).unwrap_err();
        assert_eq!(
            error.text(),
            "No FileSystem for scheme \"https\"",
            "{location}"
        );
    }
    for location in [
        "https://acc.blob.core.windows.net",
        "https://s3.us-east-1.amazonaws.com/",
        "s3://b:9000/x",
        "s3a://[::1]/x",
        "abfss://c@/x",
        "abfss://@acc.dfs.core.windows.net/x",
    ] {
        let error = TableRoot::parse(location).unwrap_err();
        assert!(
            error.text().contains("names no bucket"),
            "{location}: {error}"
        );
    }
    for (location, option) in [
        ("s3://b:9000/x", "aws_endpoint"),
        ("abfss://c@/x", "azure_endpoint"),
    ] {
        let error = TableRoot::parse(location).unwrap_err();
        assert!(error.hint().unwrap().contains(option), "{location}");
    }
    let error =
        TableRoot::parse("https://acc.blob.core.windows.net/c/t?sv=1&sig=SECRET").unwrap_err();
    assert!(!format!("{error:?} {error} {:?} {:?}", error.path(), error.hint()).contains("SECRET"));
    assert!(error.hint().unwrap().contains("azure_storage_sas_key"));
}

#[test]
fn credentials_in_a_location_are_refused_and_not_repeated() {
    for location in [
        "s3://AKID:SECRET@b/t",
        "s3a://AKID:SEC@RET@b/t",
        "s3://AKID:SEC/RET@b/t",
        "s3://AKID:SECRET",
    ] {
        let error = TableRoot::parse(location).unwrap_err();
        let told = format!("{error:?} {error} {:?} {:?}", error.path(), error.hint());
        assert!(!told.contains("SEC") && !told.contains("RET"), "{told}");
        assert!(error.hint().unwrap().contains("aws_secret_access_key"));
    }
    // The container of an account is no password.
    let root = TableRoot::parse("abfss://c@acc.dfs.core.windows.net/t").unwrap();
    assert_eq!(root.bucket().container, "c");
}

#[test]
fn a_file_of_this_machine_may_say_so() {
    let root = TableRoot::parse("file://localhost/a/t").unwrap();
    assert_eq!(root.to_string(), "file:/a/t");
    let table = StorageFactory::default().open("/a/t").unwrap();
    let plain = table.resolve("file:/a/t/p=1/f.parquet").unwrap();
    for spelling in [
        "file://localhost/a/t/p=1/f.parquet",
        "file:///a/t/p=1/f.parquet",
    ] {
        assert_eq!(
            format!("{:?}", table.resolve(spelling).unwrap()),
            format!("{plain:?}")
        );
    }
}

#[test]
fn a_file_of_another_machine_is_none_of_this_one() {
    let table = StorageFactory::default().open("/a/t").unwrap();
    for path in [
        "file://host/a/t/f.parquet",
        "FILE://host/a/t/f.parquet",
        "file://host",
        "file://localhost:99/a/t/f.parquet",
        "file://user@localhost/a/t/f.parquet",
    ] {
        let error = table.resolve(path).unwrap_err();
        assert_eq!(
            error.text(),
            format!("Wrong FS: {path}, expected: file:///")
        );
        assert_eq!(error.path(), Some(path));
        let error = TableRoot::parse(path).unwrap_err();
        assert_eq!(
            error.text(),
            format!("Wrong FS: {path}, expected: file:///")
        );
    }
    // Within a process there are no machines.
    let memory = StorageFactory::default().open("memory:/a/t").unwrap();
    assert_eq!(memory.resolve("memory://a/t/f").unwrap().as_str(), "f");
    assert!(memory.resolve("file://host/a/t/f").is_err());
}

#[test]
fn locations_with_credentials_are_refused_and_not_repeated() {
    for (given, told) in [
        ("s3://AK:SECRET@b/t", "s3://b/t"),
        ("s3a://AKSECRET@b/t", "s3a://b/t"),
        ("s3://AK:SE/SECRET@b/t", "s3://b/t"),
        (
            "https://AK:SECRET@b.s3.amazonaws.com/e/t",
            "https://b.s3.amazonaws.com/e/t",
        ),
        (
            "https://AK:SE/SECRET@b.s3.amazonaws.com/t",
            "https://b.s3.amazonaws.com/t",
        ),
        (
            "https://AK:SECRET@acc.blob.core.windows.net/c/t?sig=SECRET",
            "https://acc.blob.core.windows.net/c/t",
        ),
        ("gs://AK:SECRET@b/t", "gs://b/t"),
        ("https://SECRET@example.org/t", "https://example.org/t"),
        ("gs://b/t?X-Amz-Signature=SECRET", "gs://b/t"),
        (
            "abfss://c:SECRET@acc.dfs.core.windows.net/t",
            "abfss://acc.dfs.core.windows.net/t",
        ),
        (
            "abfss://c@acc.dfs.core.windows.net/e/t?sv=2022&sig=SECRET",
            "abfss://c@acc.dfs.core.windows.net/e/t",
        ),
        ("az://c/t?SIG=SECRET", "az://c/t"),
        ("s3://b/t?x?X-Amz-Signature=SECRET", "s3://b/t"),
    ] {
        let error = TableRoot::parse(given).unwrap_err();
        let text = format!("{error} {error:?} {:?}", error.path());
        assert!(!text.contains("SECRET"), "{given}: {text}");
        assert_eq!(error.path(), Some(told), "{given}");
    }
    for legal in [
        "abfss://c@acc.dfs.core.windows.net:443/t",
        "s3://b/q?x=1",
        "s3://b/a@v1",
        "/a?sig=1",
        "file:///a:b@c?sig=1",
    ] {
        assert!(TableRoot::parse(legal).is_ok(), "{legal}");
    }
}
