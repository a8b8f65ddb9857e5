//! VACUUM on an object store that fails by chance, under many seeds: nothing is deleted on a listing that is not whole,
//! nothing that is needed is deleted at all, and the report says what is gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use deltaic_maintenance::history;
use deltaic_maintenance::vacuum::{self, VacuumOptions};
use deltaic_storage::cloud::CloudBackend;
use deltaic_storage::faults::{Fault, FaultStore, Request, Schedule};
use deltaic_storage::{StorageFactory, TableStore};
use object_store::memory::InMemory;
use proptest::prelude::*;

use crate::kit::{DAY, Kit};

const LISTINGS: &[(Request, Fault)] = &[
    (Request::List, Fault::LostRequest),
    (Request::List, Fault::LostAnswer),
    (Request::List, Fault::Partial),
    (Request::List, Fault::Status(403)),
    (Request::List, Fault::Status(503)),
];

const DELETIONS: &[(Request, Fault)] = &[
    (Request::Delete, Fault::LostRequest),
    (Request::Delete, Fault::LostAnswer),
    (Request::Delete, Fault::Partial),
    (Request::Delete, Fault::Status(403)),
    (Request::Delete, Fault::Status(503)),
    (Request::Get, Fault::Truncated),
    (Request::Put, Fault::LostAnswer),
    (Request::List, Fault::Partial),
];

struct Case {
    kit: Kit,
    plain: Arc<InMemory>,
    live: BTreeSet<String>,
    expired: BTreeSet<String>,
}

impl Case {
    /// A table with live files, removed ones, and strays, a month later.
    async fn new() -> Case {
        let plain = Arc::new(InMemory::new());
        let mut kit = Kit::cloud(CloudBackend::new(plain.clone(), "s3://b")).await;
        let mut live = BTreeSet::new();
        let mut expired = BTreeSet::new();
        for _ in 0..3 {
            live.extend(kit.append(&[Some("a"), Some("b c"), None]).await);
            expired.extend(kit.append(&[Some("a"), Some("b c")]).await);
        }
        let gone = expired.clone();
        kit.remove(move |path| gone.contains(path)).await;
        for stray in ["p=a/stray", "p=b c/stray", "zz/stray"] {
            kit.write(stray).await;
            expired.insert(stray.to_owned());
        }
        kit.advance(30 * DAY);
        Case {
            kit,
            plain,
            live,
            expired,
        }
    }

    fn faulty(&self, schedule: Schedule) -> TableStore {
        let store = Arc::new(FaultStore::new(self.plain.clone(), schedule));
        StorageFactory::default()
            .with_bucket("s3://b", CloudBackend::new(store, "s3://b"))
            .open("s3://b/w/t")
            .unwrap()
    }

    async fn there(&self) -> BTreeSet<String> {
        self.kit.files().await.into_iter().collect()
    }
}

async fn run(seed: u64, permille: u64, faults: &[(Request, Fault)], logging: bool) {
    let case = Case::new().await;
    let table = case.faulty(Schedule::seeded(seed, permille, faults));
    let request = case.kit.request(None, false);
    let options = VacuumOptions {
        logging: Some(logging),
        batch: 4,
        ..VacuumOptions::default()
    };
    let context = &case.kit.context;
    let report = vacuum::run(&table, &request, None, &options, context, None).await;
    let there = case.there().await;
    let lost: Vec<_> = case.live.difference(&there).collect();
    assert!(lost.is_empty(), "seed {seed}: {lost:?} were needed");
    let kept: BTreeSet<String> = case.expired.intersection(&there).cloned().collect();
    match report {
        Ok(report) => {
            assert_eq!(
                report.candidates,
                case.expired.len() as u64,
                "seed {seed}: the listing was whole"
            );
            assert_eq!(
                report.deleted + report.failed.len() as u64,
                report.candidates,
                "seed {seed}"
            );
            let failed: BTreeSet<String> = report
                .failed
                .iter()
                .map(|(path, _)| path.trim_start_matches("s3://b/w/t/").to_owned())
                .collect();
            assert!(
                kept.is_subset(&failed),
                "seed {seed}: {kept:?} is not reported, only {failed:?}"
            );
            if logging {
                let newest = history::rows(&case.kit.snapshot().await, Some(1))
                    .await
                    .unwrap();
                let status = if failed.is_empty() {
                    "COMPLETED"
                } else {
                    "FAILED"
                };
                let said = newest[0].operation_parameters.clone().unwrap();
                assert_eq!(
                    said,
                    [("status".to_owned(), Some(status.to_owned()))],
                    "seed {seed}"
                );
            }
        }
        Err(error) => {
            assert!(
                error.path().is_some() && error.hint().is_some(),
                "seed {seed}: {error}"
            );
            // Before the first deletion the files were listed and the log was read; later only the log is.
            if table_listing_failed(&error.text()) {
                assert_eq!(
                    kept, case.expired,
                    "seed {seed}: deleted on a failed listing: {error}"
                );
            }
        }
    }
}

/// Whether it is the listing of the table's files, not that of the log, which is looked at between deletions as well.
fn table_listing_failed(text: &str) -> bool {
    text.contains("Failed to list s3://b/w/t:")
}

fn paused(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(test);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_deleted_on_a_listing_that_is_not_whole(seed: u64, permille in 0u64..700, logging: bool) {
        paused(run(seed, permille, LISTINGS, logging));
    }

    #[test]
    fn deletions_that_fail_are_reported(seed: u64, permille in 0u64..500, logging: bool) {
        paused(run(seed, permille, DELETIONS, logging));
    }
}

#[tokio::test(start_paused = true)]
async fn a_listing_of_files_that_fails_ends_vacuum_with_nothing_deleted() {
    let case = Case::new().await;
    // The log is listed first, then the files.
    for from in 0..2 {
        let mut faults = vec![None; from];
        faults.extend(vec![Some(Fault::Partial); 40]);
        let table = case.faulty(Schedule::script([(Request::List, faults)]));
        let before = case.there().await;
        let request = case.kit.request(None, false);
        let context = &case.kit.context;
        let error = vacuum::run(
            &table,
            &request,
            None,
            &VacuumOptions::default(),
            context,
            None,
        )
        .await
        .unwrap_err();
        assert!(error.text().contains("Failed to list"), "{error}");
        assert_eq!(table_listing_failed(&error.text()), from == 1, "{error}");
        assert_eq!(case.there().await, before, "{error}");
    }
}
