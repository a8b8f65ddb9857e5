//! What a broken place looks like: a classed error with kind and path, and nothing left behind.

use bytes::Bytes;
use deltaic_protocol::error::ErrorKind;
use deltaic_storage::StorageFactory;
use futures::TryStreamExt;

#[tokio::test]
async fn a_file_where_a_folder_should_be_is_a_storage_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t"), b"not a folder").unwrap();
    let table = StorageFactory::default()
        .open(&format!("{}/t", folder.path().display()))
        .unwrap();
    let error = table
        .log()
        .create("0.json", Bytes::new())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage);
    assert_eq!(
        error.path().unwrap(),
        table.root().display("_delta_log/0.json")
    );
    assert!(table.log().stat("0.json").await.unwrap().is_none());
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_may_not_be_written_or_read_is_a_storage_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("t/p=1");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The administrator may do everything; then there is no such folder to test with.
    let locked = std::fs::read_dir(&inner).is_err();
    let table = StorageFactory::default()
        .open(&format!("{}/t", folder.path().display()))
        .unwrap();
    let written = table.data().create("p=1/a", Bytes::new()).await;
    let listed: Result<Vec<_>, _> = table.data().list("", None).try_collect().await;
    std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(written.is_err(), locked);
    assert_eq!(listed.is_err(), locked);
    if let Err(error) = listed {
        assert_eq!(error.kind(), ErrorKind::Storage);
        assert_eq!(error.path().unwrap(), table.root().display("p=1"));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_a_storage_error_with_a_hint_and_leaves_no_file() {
    // A file size limit is the nearest thing to a full disk that needs no privileges; it is set in a child.
    let folder = tempfile::tempdir().unwrap();
    let status = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact errors::child_that_writes_too_much --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .env("DELTAIC_TEST_FULL", folder.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let left: Vec<_> = std::fs::read_dir(folder.path().join("t/_delta_log"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn child_that_writes_too_much() {
    let Some(folder) = std::env::var_os("DELTAIC_TEST_FULL") else {
        return;
    };
    let table = StorageFactory::default()
        .open(&format!("{}/t", folder.to_string_lossy()))
        .unwrap();
    let big = Bytes::from(vec![7; 1 << 20]);
    for error in [
        table.log().create("0.json", big.clone()).await.unwrap_err(),
        table
            .log()
            .overwrite("hint", big.clone())
            .await
            .unwrap_err(),
        table.data().create("_delta_log/x", big).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Storage);
        assert!(error.path().unwrap().contains("/t/_delta_log/"));
    }
    table
        .log()
        .create("1.json", Bytes::from_static(b"small"))
        .await
        .unwrap();
    table.log().delete("1.json").await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn links_to_folders_are_not_followed_and_links_to_files_are_deleted_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (table_dir, outside) = (folder.path().join("t"), folder.path().join("outside"));
    std::fs::create_dir_all(&table_dir).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("precious"), b"1").unwrap();
    std::os::unix::fs::symlink(&outside, table_dir.join("folder-link")).unwrap();
    std::os::unix::fs::symlink(outside.join("precious"), table_dir.join("file-link")).unwrap();
    std::os::unix::fs::symlink(outside.join("nothing"), table_dir.join("broken-link")).unwrap();
    let table = StorageFactory::default()
        .open(&table_dir.to_string_lossy())
        .unwrap();
    let listed: Vec<_> = table
        .data()
        .list("", None)
        .map_ok(|meta| meta.path)
        .try_collect()
        .await
        .unwrap();
    assert_eq!(listed, ["broken-link", "file-link"]);
    for path in listed {
        table.data().delete_file(&path).await.unwrap();
    }
    assert!(outside.join("precious").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn readers_may_see_what_links_point_to() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (table_dir, outside) = (folder.path().join("t"), folder.path().join("outside"));
    std::fs::create_dir_all(table_dir.join("own")).unwrap();
    std::fs::create_dir_all(outside.join("deep")).unwrap();
    std::fs::write(outside.join("deep/file"), b"12345").unwrap();
    symlink(&outside, table_dir.join("folder-link")).unwrap();
    symlink(outside.join("deep"), table_dir.join("own/second-link")).unwrap();
    symlink(outside.join("deep/file"), table_dir.join("file-link")).unwrap();
    symlink(outside.join("nothing"), table_dir.join("broken-link")).unwrap();
    let table = StorageFactory::default()
        .open(&table_dir.to_string_lossy())
        .unwrap();
    let listed = || async {
        let listing = table.data().list_through_links("", None);
        let entries: Result<Vec<_>, _> = listing.try_collect().await;
        entries.map(|entries| {
            let files = entries.into_iter().filter(|meta| !meta.is_dir);
            files.map(|meta| (meta.path, meta.size)).collect::<Vec<_>>()
        })
    };
    let mut found = listed().await.unwrap();
    found.sort();
    assert_eq!(
        found,
        ["file-link", "folder-link/deep/file", "own/second-link/file"]
            .map(|path| (path.to_owned(), 5))
    );
    // Round and round: above itself, and by way of each other.
    symlink(&table_dir, outside.join("back")).unwrap();
    assert!(listed().await.unwrap_err().text().contains("leads back to"));
    std::fs::remove_file(outside.join("back")).unwrap();
    symlink(folder.path(), table_dir.join("own/up")).unwrap();
    assert!(listed().await.unwrap_err().text().contains("leads back to"));
}

#[tokio::test]
async fn what_a_dead_writer_left_is_not_listed_and_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let table = StorageFactory::default()
        .open(&folder.path().to_string_lossy())
        .unwrap();
    table
        .log()
        .create("0.json", Bytes::from_static(b"{}"))
        .await
        .unwrap();
    let torn = folder
        .path()
        .join("_delta_log/.0123456789abcdef0123456789abcdef.tmp");
    std::fs::write(&torn, b"half").unwrap();
    let names: Vec<_> = table
        .log()
        .list_from("")
        .map_ok(|meta| meta.path)
        .try_collect()
        .await
        .unwrap();
    assert_eq!(names, ["0.json"]);
    assert_eq!(table.log().remove_unfinished(0).await.unwrap(), 0);
    assert_eq!(table.log().remove_unfinished(i64::MAX).await.unwrap(), 1);
    assert!(!torn.exists());
}

#[tokio::test]
async fn a_later_commit_does_not_bring_a_dropped_log_back() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("t");
    let table = StorageFactory::default()
        .open(place.to_str().unwrap())
        .unwrap();
    let log = table.log();
    log.create("00000000000000000000.json", Bytes::from_static(b"{}"))
        .await
        .unwrap();
    std::fs::remove_dir_all(&place).unwrap();
    for name in [
        "00000000000000000001.json",
        "00000000000000000001.checkpoint.parquet",
    ] {
        let error = log.create(name, Bytes::new()).await.unwrap_err();
        assert!(error.path().unwrap().contains(name), "{error}");
    }
    for name in ["00000000000000000001.crc", "_last_checkpoint"] {
        let error = log.overwrite(name, Bytes::new()).await.unwrap_err();
        assert!(error.path().unwrap().contains(name), "{error}");
    }
    assert!(!place.exists());
}
