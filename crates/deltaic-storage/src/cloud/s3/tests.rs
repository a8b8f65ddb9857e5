//! Tests of the client of S3.

use super::super::settings::of as settings;
use super::*;

#[test]
fn the_scheme_of_a_bare_endpoint_is_an_option_of_hadoop() {
    let of = |endpoint: &str, ssl: &str| {
        let settings = settings(&[("fs.s3a.connection.ssl.enabled", ssl)], &[]);
        address(&settings, endpoint)
    };
    assert_eq!(of("host:9000", "false"), "http://host:9000");
    assert_eq!(of("host:9000", "true"), "https://host:9000");
    assert_eq!(of("https://host", "false"), "https://host");
}

#[test]
fn names_of_three_worlds_mean_the_same() {
    for name in [
        "AWS_ACCESS_KEY_ID",
        "aws_access_key_id",
        "access_key_id",
        "fs.s3a.access.key",
        "spark.hadoop.fs.s3a.access.key",
    ] {
        assert_eq!(
            meaning(&crate::cloud::settings::plain_name(name)),
            Some(Meaning::Key(AmazonS3ConfigKey::AccessKeyId)),
            "{name}"
        );
    }
}

#[test]
fn only_unknown_servers_are_probed() {
    let rule_of = |options: &[(&str, &str)], environment: &[(&str, &str)]| {
        let settings = settings(options, environment);
        let endpoint = endpoint(&settings).map(|text| with_scheme(&text));
        rule("b", &settings, endpoint.as_deref())
    };
    assert_eq!(rule_of(&[], &[]).unwrap(), Rule::Trust);
    for aws in [
        "s3.eu-west-1.amazonaws.com",
        "https://s3.cn-north-1.amazonaws.com.cn:443/",
        "https://bucket.vpce-1a2b-3c4d.s3.us-east-1.vpce.amazonaws.com",
    ] {
        assert_eq!(
            rule_of(&[("aws_endpoint", aws)], &[]).unwrap(),
            Rule::Trust,
            "{aws}"
        );
    }
    for other in [
        "http://localhost:9000",
        "http://[::1]:9000",
        "https://amazonaws.com.example.org",
        "https://x.r2.cloudflarestorage.com",
    ] {
        assert_eq!(
            rule_of(&[("endpoint_url", other)], &[]).unwrap(),
            Rule::Probe,
            "{other}"
        );
        assert_eq!(
            rule_of(&[], &[("AWS_ENDPOINT_URL_S3", other)]).unwrap(),
            Rule::Probe
        );
    }
    let server = ("aws_endpoint", "http://localhost:9000");
    assert_eq!(
        rule_of(&[server, ("AWS_CONDITIONAL_PUT", "etag")], &[]).unwrap(),
        Rule::Trust
    );
    assert_eq!(
        rule_of(&[server], &[("AWS_CONDITIONAL_PUT", "disabled")]).unwrap(),
        Rule::Refuse
    );
    assert!(rule_of(&[("conditional_put", "maybe")], &[]).is_err());
}

#[test]
fn an_endpoint_for_s3_wins_and_can_be_ignored() {
    let both = [
        ("AWS_ENDPOINT_URL", "http://all"),
        ("AWS_ENDPOINT_URL_S3", "http://s3"),
    ];
    assert_eq!(
        endpoint(&settings(&[], &both)).as_deref(),
        Some("http://s3")
    );
    assert_eq!(
        endpoint(&settings(&[("endpoint", "http://mine")], &both)).as_deref(),
        Some("http://mine")
    );
    let ignored = [both[0], ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")];
    assert_eq!(endpoint(&settings(&[], &ignored)), None);
}

#[test]
fn regions_and_buckets_in_addresses() {
    assert_eq!(
        region_of("https://s3.eu-west-1.amazonaws.com"),
        Some("eu-west-1")
    );
    assert_eq!(
        region_of("https://s3-us-west-2.amazonaws.com/"),
        Some("us-west-2")
    );
    assert_eq!(region_of("https://s3.amazonaws.com"), None);
    assert_eq!(region_of("https://s3.eu-west-1.example.org"), None);
    assert_eq!(with_bucket("https://h:9000", "b"), "https://b.h:9000");
    assert_eq!(with_bucket("https://b.h", "b"), "https://b.h");
}

#[test]
fn options_of_one_bucket_win() {
    let options = [
        ("spark.hadoop.fs.s3a.endpoint", "http://all"),
        ("spark.hadoop.fs.s3a.bucket.mine.endpoint", "http://mine"),
    ];
    let all = settings(&options, &[]);
    assert_eq!(
        endpoint(&all.for_bucket("mine")).as_deref(),
        Some("http://mine")
    );
    assert_eq!(
        endpoint(&all.for_bucket("other")).as_deref(),
        Some("http://all")
    );
}

fn bucket() -> Bucket {
    Bucket {
        container: "b".to_owned(),
        account: None,
        fabric: false,
        region: None,
        endpoint: None,
    }
}

#[tokio::test]
async fn a_key_of_the_options_stands_alone() {
    let environment = [
        ("AWS_ACCESS_KEY_ID", "env"),
        ("AWS_SECRET_ACCESS_KEY", "env"),
        ("AWS_SESSION_TOKEN", "env"),
    ];
    let mine = [("fs.s3a.access.key", "mine"), ("fs.s3a.secret.key", "mine")];
    for (options, key, token) in [(&mine[..], "mine", None), (&[], "env", Some("env"))] {
        let found = connect(&bucket(), &settings(options, &environment)).unwrap();
        let credential = found.store.credentials().get_credential().await.unwrap();
        assert_eq!(
            (&credential.key_id[..], &credential.secret_key[..]),
            (key, key)
        );
        assert_eq!(credential.token.as_deref(), token);
    }
}

#[test]
fn the_region_of_a_location_wins() {
    let options = [
        ("aws_region", "eu-west-1"),
        ("aws_access_key_id", "k"),
        ("aws_secret_access_key", "s"),
    ];
    let settings = settings(&options, &[]);
    let region = |place: &Bucket| connect(place, &settings).unwrap().region;
    assert_eq!(region(&bucket()), "eu-west-1");
    let place = Bucket {
        region: Some("us-west-2".to_owned()),
        ..bucket()
    };
    assert_eq!(region(&place), "us-west-2");
}

fn opened(options: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Opened> {
    open(&bucket(), &settings(options, environment))
}

#[test]
fn values_that_no_request_can_carry_are_refused_by_name() {
    let keys = [("aws_access_key_id", "k"), ("aws_secret_access_key", "s")];
    for (name, value) in [
        ("aws_session_token", "SECRET\nVALUE"),
        ("fs.s3a.session.token", "SECRET\u{1}VALUE"),
        ("aws_access_key_id", "SECRET\rVALUE"),
        ("aws_endpoint", "localhost:99999999"),
        ("aws_endpoint", "http://local host:9000"),
        ("aws_endpoint", "ht tp://user:SECRET@x"),
        ("aws_endpoint", "ftp://x"),
        ("aws_region", "no where"),
    ] {
        let mut options = keys.to_vec();
        options.push((name, value));
        let Err(error) = opened(&options, &[]) else {
            panic!("{name}={value:?} was taken")
        };
        assert_eq!(error.kind(), ErrorKind::Analysis, "{error}");
        assert!(error.text().contains(name), "{error}");
        assert!(!error.to_string().contains("SECRET"), "{error}");
    }
    // Of another kind of store, or of nobody.
    let others = [("AZURE_STORAGE_TOKEN", "a\nb"), ("AWS_SOMETHING", "a\nb")];
    assert!(opened(&keys, &others).is_ok());
    let place = Bucket {
        container: "my bucket".to_owned(),
        ..bucket()
    };
    let error = open(&place, &settings(&keys, &[])).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Analysis, "{error}");
}

#[tokio::test]
async fn line_breaks_that_files_leave_are_no_part_of_a_value() {
    let environment = [
        ("AWS_ACCESS_KEY_ID", "key\n"),
        ("AWS_SECRET_ACCESS_KEY", "secret\r\n"),
        ("AWS_SESSION_TOKEN", "token \n"),
        ("AWS_ENDPOINT_URL", "http://localhost:1\n"),
    ];
    let found = connect(&bucket(), &settings(&[], &environment)).unwrap();
    let credential = found.store.credentials().get_credential().await.unwrap();
    assert_eq!(credential.key_id, "key");
    assert_eq!(credential.secret_key, "secret");
    assert_eq!(credential.token.as_deref(), Some("token"));
}

#[tokio::test]
async fn programs_that_give_out_credentials_end_in_the_users_time() {
    use crate::cloud::credentials::{NoCredentials, no_credentials};
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let token = r#"{"Version":1,"AccessKeyId":"k","SecretAccessKey":"s","SessionToken":"a\nb"}"#;
    std::fs::write(folder.path().join("token.json"), token).unwrap();
    let cat = format!("cat {}", folder.path().join("token.json").display());
    for (program, wanted) in [
        ("sleep 100", NoCredentials::Late(Duration::from_millis(500))),
        (&cat, NoCredentials::Unsendable),
    ] {
        std::fs::write(
            &config,
            format!("[default]\ncredential_process = {program}\n"),
        )
        .unwrap();
        let environment = [("AWS_CONFIG_FILE", config.to_str().unwrap())];
        let options = [("retry_timeout", "1s")];
        let found = connect(&bucket(), &settings(&options, &environment)).unwrap();
        let began = std::time::Instant::now();
        let error = found
            .store
            .credentials()
            .get_credential()
            .await
            .unwrap_err();
        assert_eq!(no_credentials(&error), Some(wanted), "{error}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
