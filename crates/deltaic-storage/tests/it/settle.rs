//! Commits to an object store whose answers are lost, late or wrong: each is reported once, as what it is.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_storage::cloud::CloudBackend;
use deltaic_storage::faults::{Fault, FaultStore, Request, Schedule};
use deltaic_storage::{PutOutcome, StorageFactory, TableStore};
use object_store::memory::InMemory;
use proptest::prelude::*;

/// Another request on the same key is under way, and nothing is done.
const BUSY: Fault = Fault::Status(409);

type Faults = Vec<Option<Fault>>;

fn table(puts: Faults, gets: Faults) -> TableStore {
    let schedule = Schedule::script([(Request::Put, puts), (Request::Get, gets)]);
    let store = Arc::new(FaultStore::new(Arc::new(InMemory::new()), schedule));
    StorageFactory::default()
        .with_bucket("s3://b", CloudBackend::new(store, "s3://b"))
        .open("s3://b/t")
        .unwrap()
}

fn fault() -> impl Strategy<Value = Option<Fault>> {
    prop_oneof![
        3 => Just(None),
        1 => Just(Some(Fault::LostRequest)),
        1 => Just(Some(Fault::LostAnswer)),
        1 => Just(Some(Fault::Duplicate)),
        1 => Just(Some(BUSY)),
        1 => Just(Some(Fault::Status(503))),
    ]
}

fn get_fault() -> impl Strategy<Value = Option<Fault>> {
    prop_oneof![
        5 => Just(None),
        1 => Just(Some(Fault::LostAnswer)),
        1 => Just(Some(Fault::Truncated)),
    ]
}

/// Two writers take turns at the next version, as a commit loop does; what each was told is what is there.
async fn race(puts: Faults, gets: Faults) {
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
        gets in prop::collection::vec(get_fault(), 0..12),
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
    for fault in [Fault::LostAnswer, Fault::Duplicate] {
        let table = table(vec![Some(fault)], Vec::new());
        let outcome = table
            .log()
            .create("00000000000000000000.json", Bytes::from_static(b"mine"))
            .await;
        assert_eq!(outcome.unwrap(), PutOutcome::Created, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_with_nothing_there_is_tried_again() {
    let table = table(
        vec![Some(BUSY), Some(BUSY), Some(Fault::LostRequest)],
        Vec::new(),
    );
    let outcome = table
        .log()
        .create("00000000000000000000.json", Bytes::from_static(b"mine"))
        .await;
    assert_eq!(outcome.unwrap(), PutOutcome::Created);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stays_away_is_an_error_with_the_place() {
    let table = table(vec![Some(Fault::LostRequest); 50], Vec::new());
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

#[tokio::test(start_paused = true)]
async fn a_refusal_of_a_repetition_whose_first_try_was_done_is_a_commit() {
    let table = table(
        vec![Some(Fault::LostAnswer), Some(Fault::Status(403))],
        vec![Some(Fault::LostAnswer)],
    );
    let outcome = table
        .log()
        .create("00000000000000000000.json", Bytes::from_static(b"mine"))
        .await;
    assert_eq!(outcome.unwrap(), PutOutcome::Created);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_found_out_says_so() {
    let table = table(
        vec![Some(Fault::LostAnswer), Some(Fault::LostRequest)],
        vec![Some(Fault::LostAnswer); 50],
    );
    let error = table
        .log()
        .create("00000000000000000000.json", Bytes::from_static(b"mine"))
        .await
        .unwrap_err();
    assert!(
        error.hint().unwrap().contains("did not say whether"),
        "{error}"
    );
}
