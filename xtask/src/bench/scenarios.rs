//! The scenarios. Each builds what it needs through SQL, measures, prints, and fails only where it has a bound.

use std::time::Duration;

use super::pipe::Pipe;
use crate::shell::Outcome;

/// One measurement.
pub struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    pub run: fn(&mut Pipe) -> Outcome,
}

/// All measurements, in the order in which they run.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "g_append",
        about: "2,000 single-row appends: the cost of a commit must not grow with the commits before it",
        run: appends,
    },
    Scenario {
        name: "c_history",
        about: "DESCRIBE HISTORY … LIMIT 100 on a table of 300 commits",
        run: history,
    },
    Scenario {
        name: "i_travel",
        about: "count(*) at a version in the middle of 300 commits",
        run: travel,
    },
    Scenario {
        name: "d_dry_full",
        about: "VACUUM … DRY RUN on a table of 300 commits",
        run: dry_run,
    },
    Scenario {
        name: "e_count",
        about: "count(*) of 2,000,000 rows in 8 files",
        run: count,
    },
    Scenario {
        name: "e_agg",
        about: "a grouped sum over 2,000,000 rows in 8 files",
        run: aggregate,
    },
    Scenario {
        name: "f_delete",
        about: "DELETE of one row in a thousand of 2,000,000",
        run: delete,
    },
];

/// The median of the last hundred appends may be this many times the median of numbers 51 to 150.
const GROWTH_BOUND: f64 = 1.3;

const REPEATS: usize = 5;

fn appends(pipe: &mut Pipe) -> Outcome {
    pipe.sql("CREATE TABLE t (id BIGINT, name STRING) USING delta")?;
    let mut times = Vec::with_capacity(2000);
    for n in 0..2000 {
        times.push(
            pipe.sql(&format!("INSERT INTO t VALUES ({n}, 'row-{n}')"))?
                .1,
        );
    }
    let (rows, _) = pipe.sql("SELECT count(*) FROM t")?;
    if rows
        .first()
        .and_then(|r| r.get(0))
        .and_then(serde_json::Value::as_i64)
        != Some(2000)
    {
        return Err(format!(
            "2,000 rows were appended, the table answers {rows:?}"
        ));
    }
    let early = median(&times[50..150]);
    let late = median(&times[1900..2000]);
    let growth = late.as_secs_f64() / early.as_secs_f64();
    println!("   median of appends 51-150:     {:.2} ms", millis(early));
    println!("   median of appends 1901-2000:  {:.2} ms", millis(late));
    println!(
        "   slowest:                      {:.2} ms",
        millis(times.iter().copied().max().unwrap_or_default())
    );
    println!("   growth:                       {growth:.3} (bound {GROWTH_BOUND})");
    if growth <= GROWTH_BOUND {
        Ok(())
    } else {
        Err(format!(
            "g_append: the cost of a commit grew {growth:.3}-fold"
        ))
    }
}

fn history(pipe: &mut Pipe) -> Outcome {
    many_commits(pipe)?;
    measure(pipe, "DESCRIBE HISTORY t LIMIT 100")
}

fn travel(pipe: &mut Pipe) -> Outcome {
    many_commits(pipe)?;
    measure(pipe, "SELECT count(*) FROM t VERSION AS OF 155")
}

fn dry_run(pipe: &mut Pipe) -> Outcome {
    many_commits(pipe)?;
    measure(pipe, "VACUUM t DRY RUN")
}

fn count(pipe: &mut Pipe) -> Outcome {
    many_rows(pipe)?;
    measure(pipe, "SELECT count(*) FROM t WHERE v >= 0")
}

fn aggregate(pipe: &mut Pipe) -> Outcome {
    many_rows(pipe)?;
    measure(
        pipe,
        "SELECT id % 10 AS g, count(*) AS n, sum(v) AS s FROM t GROUP BY id % 10 ORDER BY g",
    )
}

fn delete(pipe: &mut Pipe) -> Outcome {
    many_rows(pipe)?;
    let (_, took) = pipe.sql("DELETE FROM t WHERE id % 1000 = 7")?;
    println!("   {:.2} ms", millis(took));
    Ok(())
}

fn many_commits(pipe: &mut Pipe) -> Outcome {
    pipe.sql("CREATE TABLE t (id BIGINT, name STRING) USING delta")?;
    for n in 0..300 {
        pipe.sql(&format!("INSERT INTO t VALUES ({n}, 'row-{n}')"))?;
    }
    Ok(())
}

fn many_rows(pipe: &mut Pipe) -> Outcome {
    pipe.sql("CREATE TABLE t USING delta AS SELECT id, id * 2 AS v FROM range(0, 2000000, 1, 8)")?;
    Ok(())
}

/// One run to warm up, then the median of several.
fn measure(pipe: &mut Pipe, statement: &str) -> Outcome {
    pipe.sql(statement)?;
    let mut times = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        times.push(pipe.sql(statement)?.1);
    }
    println!("   median of {REPEATS}: {:.2} ms", millis(median(&times)));
    Ok(())
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
