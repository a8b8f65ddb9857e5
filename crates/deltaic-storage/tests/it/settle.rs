//! Commits to an object store whose answers are lost, late or wrong: each is reported once, as what it is.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_storage::cloud::CloudBackend;
use deltaic_storage::{PutOutcome, StorageFactory, TableStore};
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use proptest::prelude::*;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Not done, and the connection breaks.
    Lost,
    /// Done, and the answer is lost.
    DoneThenLost,
    /// Done, and the client's own repetition meets the first try.
    DoneThenExists,
    /// Not done: another request on the same key is under way (409).
    Busy,
}

#[derive(Debug)]
struct Faulty {
    inner: InMemory,
    puts: Mutex<Vec<Fault>>,
    gets: Mutex<Vec<Fault>>,
}

fn lost() -> Error {
    Error::Generic {
        store: "test",
        source: "connection reset".into(),
    }
}

fn exists(path: &Path) -> Error {
    Error::AlreadyExists {
        path: path.to_string(),
        source: "409".into(),
    }
}

impl Faulty {
    fn next(faults: &Mutex<Vec<Fault>>) -> Fault {
        faults.lock().unwrap().pop().unwrap_or(Fault::None)
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        at: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let fault = Self::next(&self.puts);
        match fault {
            Fault::Lost => return Err(lost()),
            Fault::Busy => return Err(exists(at)),
            _ => {}
        }
        let done = self.inner.put_opts(at, payload, options).await?;
        match fault {
            Fault::DoneThenLost => Err(lost()),
            Fault::DoneThenExists => Err(exists(at)),
            _ => Ok(done),
        }
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        match Self::next(&self.gets) {
            Fault::None => self.inner.get_opts(at, options).await,
            _ => Err(lost()),
        }
    }

    async fn get_ranges(&self, at: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(at, ranges).await
    }

    fn delete_stream(
        &self,
        places: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(places)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

fn table(puts: Vec<Fault>, gets: Vec<Fault>) -> TableStore {
    let store = Arc::new(Faulty {
        inner: InMemory::new(),
        puts: Mutex::new(puts),
        gets: Mutex::new(gets),
    });
    StorageFactory::default()
        .with_bucket("s3://b", CloudBackend::new(store, "s3://b"))
        .open("s3://b/t")
        .unwrap()
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        3 => Just(Fault::None),
        1 => Just(Fault::Lost),
        1 => Just(Fault::DoneThenLost),
        1 => Just(Fault::DoneThenExists),
        1 => Just(Fault::Busy),
    ]
}

/// Two writers take turns at the next version, as a commit loop does; what each was told is what is there.
async fn race(puts: Vec<Fault>, gets: Vec<Fault>) {
    let table = table(puts, gets);
    let mut told = Vec::new();
    for round in 0..6 {
        let name = format!("{round:020}.json");
        for writer in 0..2 {
            let content = Bytes::from(format!("writer {writer} in round {round}"));
            match table.log().create(&name, content.clone()).await {
                Ok(PutOutcome::Created) => told.push((name.clone(), content)),
                Ok(PutOutcome::AlreadyExists) => {}
                // Given up: then nothing may say that the other one has won without its content being there.
                Err(error) => assert!(error.path().is_some(), "{error}"),
            }
        }
        let winners: Vec<_> = told.iter().filter(|(at, _)| *at == name).collect();
        assert!(winners.len() <= 1, "{winners:?}");
    }
    for (name, content) in told {
        // The fault of a read that is left over is not the commit's.
        let mut found = table.log().read(&name).await;
        for _ in 0..20 {
            if found.is_ok() {
                break;
            }
            found = table.log().read(&name).await;
        }
        assert_eq!(found.unwrap(), content);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn a_commit_is_reported_once_and_as_what_it_is(
        puts in prop::collection::vec(fault(), 0..12),
        gets in prop::collection::vec(prop_oneof![5 => Just(Fault::None), 1 => Just(Fault::Lost)], 0..12),
    ) {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
            .block_on(race(puts, gets));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_after_the_commit_is_a_commit() {
    for fault in [Fault::DoneThenLost, Fault::DoneThenExists] {
        let table = table(vec![fault], Vec::new());
        let outcome = table
            .log()
            .create("00000000000000000000.json", Bytes::from_static(b"mine"))
            .await;
        assert_eq!(outcome.unwrap(), PutOutcome::Created, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_with_nothing_there_is_tried_again() {
    let table = table(vec![Fault::Busy, Fault::Busy, Fault::Lost], Vec::new());
    let outcome = table
        .log()
        .create("00000000000000000000.json", Bytes::from_static(b"mine"))
        .await;
    assert_eq!(outcome.unwrap(), PutOutcome::Created);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stays_away_is_an_error_with_the_place() {
    let table = table(vec![Fault::Lost; 50], Vec::new());
    let error = table
        .log()
        .create("00000000000000000000.json", Bytes::from_static(b"mine"))
        .await
        .unwrap_err();
    assert_eq!(
        error.path(),
        Some("s3://b/t/_delta_log/00000000000000000000.json")
    );
}
