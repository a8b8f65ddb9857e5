//! Keys that other programs make and no path holds, and servers that answer an offset with nothing.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use deltaic_storage::{LOG_DIR, TableRoot, TableStore};
use deltaic_testing::{Action, Answer, Rule};
use futures::TryStreamExt;

use super::{AZURE, S3, Tables, server};

fn listing_of_s3(keys: &[String]) -> Action {
    let entries: String = keys
        .iter()
        .map(|key| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified><ETag>&quot;e&quot;</ETag>\
                 <Size>3</Size></Contents>"
            )
        })
        .collect();
    Action::Answer(Answer::status(200).body(format!(
        "<?xml version=\"1.0\"?><ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>"
    )))
}

fn listing_of_azure(keys: &[String]) -> Action {
    let entries: String = keys
        .iter()
        .map(|key| {
            format!(
                "<Blob><Name>{key}</Name><Properties><Last-Modified>Wed, 01 Jan 2020 00:00:00 GMT</Last-Modified><Etag>e</Etag>\
                 <Content-Length>3</Content-Length><Content-Type>x</Content-Type></Properties></Blob>"
            )
        })
        .collect();
    Action::Answer(Answer::status(200).body(format!(
        "<?xml version=\"1.0\"?><EnumerationResults><Blobs>{entries}</Blobs><NextMarker /></EnumerationResults>"
    )))
}

fn listings() -> Rule {
    Rule::on("GET")
        .when(|head| head.query.contains("list-type") || head.query.contains("comp=list"))
}

async fn paths(table: &TableStore) -> (Vec<String>, Vec<String>) {
    let odd = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&odd);
    let listed = table.data().list_noting(
        "",
        None,
        Arc::new(move |name: &str| told.lock().unwrap().push(name.to_owned())),
    );
    let files = listed.map_ok(|meta| meta.path).try_collect().await.unwrap();
    let odd = std::mem::take(&mut *odd.lock().unwrap());
    (files, odd)
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_no_path_holds_end_no_listing() {
    for variable in [S3, AZURE] {
        let server = server(variable);
        let root = TableRoot::parse(&server.location).unwrap();
        let keys: Vec<String> = [
            "a.parquet",
            "a//x.parquet",
            "a/./dot",
            "a/../dd",
            "a/new&#10;line",
            "folder/",
            "z &amp; z.parquet",
        ]
        .iter()
        .map(|key| format!("{}/t/{key}", &root.path()[1..]))
        .collect();
        let answer = match variable {
            S3 => listing_of_s3(&keys),
            _ => listing_of_azure(&keys),
        };
        let (_proxy, server) = server.behind([listings().then(answer)]);
        let table = server.table("t");
        let (files, odd) = paths(&table).await;
        assert_eq!(files, ["a.parquet", "z & z.parquet"], "{variable}");
        assert_eq!(
            odd,
            ["a//x.parquet", "a/./dot", "a/../dd", "a/new\\nline"],
            "{variable}"
        );
        let plain: Vec<_> = table.data().list("", None).try_collect().await.unwrap();
        assert_eq!(plain.len(), 2, "{variable}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_keys_and_markers_in_the_log_are_no_files_of_it() {
    for variable in [S3, AZURE] {
        let server = server(variable);
        let root = TableRoot::parse(&server.location).unwrap();
        let keys: Vec<String> = [
            "",
            "00000000000000000000.json",
            "00000000000000000001.json/",
            "00000000000000000002.json&#10;",
            "x\ny",
        ]
        .iter()
        .map(|name| format!("{}/t/{LOG_DIR}/{name}", &root.path()[1..]))
        .collect();
        let answer = match variable {
            S3 => listing_of_s3(&keys),
            _ => listing_of_azure(&keys),
        };
        let (_proxy, server) = server.behind([listings().then(answer)]);
        let table = server.table("t");
        let names: Vec<String> = table
            .log()
            .list_from("00000000000000000000")
            .map_ok(|meta| meta.path)
            .try_collect()
            .await
            .unwrap();
        assert_eq!(names, ["00000000000000000000.json"], "{variable}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_an_offset_with_nothing_is_asked_for_all() {
    for (variable, offset) in [(S3, "start-after="), (AZURE, "startFrom=")] {
        let server = server(variable);
        let table = server.table("t");
        for version in 0..4 {
            let name = format!("{version:020}.json");
            let content = Bytes::from(vec![b'x'; version + 1]);
            table.log().create(&name, content).await.unwrap();
        }
        let nothing = match variable {
            S3 => listing_of_s3(&[]),
            _ => listing_of_azure(&[]),
        };
        let rule = Rule::on("GET").when(move |head| head.query.contains(offset));
        let (proxy, server) = server.behind([rule.then(nothing)]);
        let table = server.table("t");
        for (start, count) in [(0, 4), (2, 2), (9, 0)] {
            let listed: Vec<_> = table
                .log()
                .list_from(&format!("{start:020}"))
                .try_collect()
                .await
                .unwrap();
            assert_eq!(listed.len(), count, "{variable} from {start}");
        }
        if variable == S3 {
            assert_eq!(proxy.log().faults(), 2);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn spellings_of_one_container_are_one() {
    let options = [("azure_storage_account_name", "acc")];
    let server = server(AZURE).with(&options);
    let open = |location: &str| server.factory().open(location).unwrap();
    let spellings = [
        "abfss://c@acc.dfs.core.windows.net",
        "abfss://c@acc.dfs.core.windows.net:443",
        "wasbs://c@ACC.blob.core.windows.net",
        "https://acc.blob.core.windows.net/c",
        "az://c",
        "azure://c",
        "abfss://c",
    ];
    for table in spellings {
        let table = open(&format!("{table}/t"));
        for file in spellings.iter().filter(|file| !file.starts_with("https")) {
            let place = table.resolve(&format!("{file}/s/x")).unwrap();
            assert_eq!(place.as_str(), "/s/x", "{table:?} {file}");
        }
        for other in [
            "abfss://d@acc.dfs.core.windows.net",
            "abfss://c@acc2.dfs.core.windows.net",
            "abfss://c@acc.dfs.core.chinacloudapi.cn",
            "az://d",
            "s3://c",
        ] {
            let alike = table.root().prefix().contains("core.windows.net");
            if alike || !other.contains("chinacloud") {
                assert!(
                    table.resolve(&format!("{other}/s/x")).is_err(),
                    "{table:?} {other}"
                );
            }
        }
    }
}
