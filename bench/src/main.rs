//! `deltaic-bench SCENARIO TABLE`: does one thing to a table and prints one JSON line with its time, an answer that every
//! engine must agree on, and the times of its phases, all in seconds.

mod change;
mod log;
mod maintain;
mod make;
mod outcome;
mod query;

use clap::Parser;

use crate::outcome::{Failure, Measured, Outcome};

/// As the program `deltaic` has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures one operation on one Delta table.
#[derive(Parser)]
#[command(
    version,
    after_help = "Example: deltaic-bench a_open tables/ckpt\n\n\
                  Scenarios that change the table (l_, d_vac_, f_, g_) need a fresh copy of it for every run; make_files, make_commits, \
                  make_vacuum, make_data, make_data_dv and make_empty make the tables."
)]
struct Arguments {
    /// What to do; a name that is not known prints all of them.
    scenario: String,
    /// Path or URL of the table.
    table: String,
}

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("{error}");
            return std::process::ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run(&arguments.scenario, &arguments.table)) {
        Ok(measured) => {
            println!("{}", measured.line());
            std::process::ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn run(scenario: &str, table: &str) -> Outcome<Measured> {
    match scenario {
        made if made.starts_with("make_") => make::make(&made[5..], table).await,
        "noop" => Ok(Measured::nothing()),
        "a_open" | "b_open" => log::open(table).await,
        "a_add_actions" => log::add_actions(table).await,
        "a_prune" => query::prune(table).await,
        "l_checkpoint" => log::checkpoint(table).await,
        "c_history" => log::history(table).await,
        "i_travel" => log::travel(table).await,
        "i_travel_ts" => log::travel_by_time(table).await,
        "d_dry_lite" | "d_dry_lite_1m_tomb" => maintain::vacuum(table, true, true).await,
        "d_dry_full" => maintain::vacuum(table, false, true).await,
        "d_vac_lite" => maintain::vacuum(table, true, false).await,
        "d_vac_full" => maintain::vacuum(table, false, false).await,
        "e_count" | "e_part" | "e_point" | "e_agg" | "k_dv_count" | "k_dv_agg" => {
            query::query(scenario, table).await
        }
        "bare_count" | "bare_part" | "bare_point" | "bare_agg" => {
            query::bare(&scenario.replacen("bare_", "e_", 1), table).await
        }
        "f_delete_scatter" | "f_delete_dv" => {
            change::run(table, "DELETE FROM t WHERE k < 10").await
        }
        "f_delete_range" => {
            change::run(table, "DELETE FROM t WHERE id >= 5000000 AND id < 5100000").await
        }
        "f_update" => change::run(table, "UPDATE t SET v = v + 1.0 WHERE k < 10").await,
        "g_append" => change::append(table, true).await,
        "g_append_fresh" => change::append(table, false).await,
        other => Err(Failure::new(format!(
            "no scenario {other}; there are noop, a_open, b_open, a_add_actions, a_prune, l_checkpoint, c_history, i_travel, \
             i_travel_ts, d_dry_lite, d_dry_lite_1m_tomb, d_dry_full, d_vac_lite, d_vac_full, e_count, e_part, e_point, e_agg, \
             bare_count, bare_part, bare_point, bare_agg, k_dv_count, k_dv_agg, f_delete_scatter, f_delete_range, f_delete_dv, f_update, g_append, g_append_fresh"
        ))),
    }
}
