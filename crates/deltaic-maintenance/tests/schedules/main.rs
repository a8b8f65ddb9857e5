//! Random schedules of writers at the same time over one table in memory, each request to the store a step, with lost
//! answers, doubled and late requests, errors and deaths of writers. What the table says afterwards is held against a naive
//! reading of the log.
//!
//! A seed makes a schedule, and the same one each time. `DELTAIC_SEED=N` runs just that one and prints its steps;
//! `DELTAIC_HEAVY` asks for many more, from `DELTAIC_FIRST_SEED` on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod chance;
mod checkpoint_rows;
mod gate;
mod reading;
mod rules;
mod server;
mod verdict;
mod world;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use verdict::Counts;

const FEW: u64 = 1000;
const MANY: u64 = 100_000;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs one schedule.
fn check(seed: u64, with_steps: bool) -> Result<Counts, String> {
    let told = |error: &str| {
        format!(
            "schedule {seed}: {error}\nDELTAIC_SEED={seed} cargo test -p deltaic-maintenance --test schedules repeats it"
        )
    };
    match catch_unwind(AssertUnwindSafe(|| world::run(seed))) {
        Ok((trace, verdict)) => {
            if with_steps {
                println!("{}", trace.join("\n"));
            }
            verdict.map_err(|error| told(&error))
        }
        Err(_) => Err(told("a panic, see above")),
    }
}

#[test]
fn no_schedule_loses_or_invents_anything() {
    if let Some(seed) = number("DELTAIC_SEED") {
        println!("{:?}", check(seed, true).unwrap());
        return;
    }
    let first = number("DELTAIC_FIRST_SEED").unwrap_or(0);
    let count = match std::env::var_os("DELTAIC_HEAVY") {
        Some(_) => MANY,
        None => FEW,
    };
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let totals: Mutex<Result<Counts, String>> = Mutex::new(Ok(Counts::default()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count || failed.load(Ordering::Relaxed) {
                        return;
                    }
                    let outcome = check(first.wrapping_add(at), false);
                    let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                    match (outcome, totals.as_mut()) {
                        (Ok(counts), Ok(sum)) => sum.include(counts),
                        (Err(error), Ok(_)) => {
                            failed.store(true, Ordering::Relaxed);
                            *totals = Err(error);
                        }
                        (_, Err(_)) => {}
                    }
                }
            });
        }
    });
    let totals = totals
        .into_inner()
        .unwrap()
        .unwrap_or_else(|e| panic!("{e}"));
    println!("{count} schedules from seed {first}: {totals:?}");
    // Schedules in which nothing happens prove nothing.
    let happened = [
        totals.commits,
        totals.refusals,
        totals.failures,
        totals.crashes,
        totals.checkpoints,
        totals.cleaned,
        totals.vacuumed,
        totals.faults,
    ];
    assert!(happened.iter().all(|n| *n > count / 10), "{totals:?}");
}

#[test]
fn a_seed_makes_the_same_schedule_each_time() {
    for seed in 0..20 {
        let (first, _) = world::run(seed);
        let (second, _) = world::run(seed);
        assert!(first.len() > 20);
        assert_eq!(first, second, "seed {seed}");
    }
}
