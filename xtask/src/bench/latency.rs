//! What a latency of every request costs a full scan of a table on an S3 server.

use std::time::{Duration, Instant};

use super::requests::Bench;
use crate::shell::Outcome;

/// Files of the table, each of about 64 MiB of doubles that no codec makes smaller.
const FILES: usize = 16;
const ROWS: usize = 524_288;
const COLUMNS: usize = 16;
const LATENCY_MS: u32 = 50;
/// Of so many runs the best counts: others work on the machine too.
const RUNS: usize = 3;

/// Fills a table, scans it, and prints a table in Markdown.
pub fn run(release: bool) -> Outcome {
    Bench::serve(release, &["minio"], |bench| {
        let columns: Vec<String> = (0..COLUMNS).map(|n| format!("c{n}")).collect();
        let list = |each: &dyn Fn(&String) -> String| {
            columns.iter().map(each).collect::<Vec<_>>().join(", ")
        };
        let create = format!(
            "CREATE TABLE @ ({}) USING delta",
            list(&|name| format!("{name} DOUBLE"))
        );
        let insert = format!(
            "INSERT INTO @ SELECT {} FROM range(0, {ROWS}, 1, 1)",
            list(&|_| "rand()".to_owned())
        );
        let scan = format!("SELECT {} FROM @", list(&|name| format!("sum({name})")));
        let fill = [create]
            .into_iter()
            .chain(std::iter::repeat_n(insert, FILES))
            .collect::<Vec<_>>()
            .join("; ");
        bench.through(&bench.command("latency", &fill), "latency", 0)?;
        let near = best(bench, &scan, 0)?;
        let far = best(bench, &scan, LATENCY_MS)?;
        println!("| latency | time | bytes | requests |\n|---|---|---|---|");
        for (latency, run) in [(0, &near), (LATENCY_MS, &far)] {
            println!(
                "| {latency} ms | {:.2} s | {:.0} MiB | {} |",
                run.time.as_secs_f64(),
                run.bytes / 1_048_576.0,
                run.requests
            );
        }
        let kept = near.time.as_secs_f64() / far.time.as_secs_f64();
        println!("{:.0} % of the bandwidth without latency", kept * 100.0);
        Ok(())
    })
}

struct Run {
    time: Duration,
    bytes: f64,
    requests: u64,
}

fn best(bench: &Bench, scan: &str, latency_ms: u32) -> Outcome<Run> {
    let mut best: Option<Run> = None;
    for _ in 0..RUNS {
        let began = Instant::now();
        let counts = bench.through(&bench.command("latency", scan), "latency", latency_ms)?;
        let time = began.elapsed();
        if best.as_ref().is_none_or(|best| time < best.time) {
            best = Some(Run {
                time,
                bytes: counts["received"].as_f64().unwrap_or_default(),
                requests: counts["total"].as_u64().unwrap_or_default(),
            });
        }
    }
    best.ok_or_else(|| "nothing was run".to_owned())
}
