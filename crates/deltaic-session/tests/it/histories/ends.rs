//! What is compared when a history is over: every version, filters, statistics, changes, a session that knows nothing.

use std::cmp::Ordering;

use deltaic_session::Value;

use super::acts::Table;
use super::alters::{bounded, further};
use super::conditions::Choice;
use super::kinds::compare;
use super::state::{Column, Row, State};
use super::tracking;
use super::world::{Checked, World};
use crate::helpers::open;

/// All comparisons.
pub async fn check(world: &mut World, filters: &[Choice]) -> Checked {
    for at in 0..world.tables.len() {
        versions(world, at).await?;
        conditions(world, at, filters).await?;
        statistics(world, at).await?;
        changes(world, at).await?;
        tracking::check(world, at)?;
    }
    world.session = open(world.folder.path());
    world.set_zone().await?;
    for at in 0..world.tables.len() {
        let found = world.rows_of(at, "").await?;
        world.same("a new session", &found, &world.tables[at].now().rows)?;
        conditions(world, at, filters).await?;
    }
    Ok(())
}

/// Rows where the version has all its files, and rows or a refusal with a class where VACUUM may have taken some.
async fn versions(world: &World, at: usize) -> Checked {
    let table = &world.tables[at];
    for (version, state) in table.states.iter().enumerate() {
        let sql = format!("SELECT * FROM {} VERSION AS OF {version}", table.name);
        match world.sql(&sql).await {
            Ok(answer) => world.same(&sql, &answer.rows(), &state.rows)?,
            Err(error) if version < table.whole_from && error.class().is_some() => {}
            Err(error) => return Err(world.failed(&format!("{sql}\n  is refused: {error}"))),
        }
    }
    Ok(())
}

async fn conditions(world: &World, at: usize, filters: &[Choice]) -> Checked {
    let table = &world.tables[at];
    for (number, filter) in filters.iter().enumerate() {
        // The newest version, and with every third filter an older one.
        let older = table.whole_from + number * 7 % (table.states.len() - table.whole_from);
        let version = if number % 3 == 2 {
            older
        } else {
            table.version()
        };
        let state = &table.states[version];
        let columns: Vec<&Column> = state.columns.iter().collect();
        let condition = filter.over(&columns);
        let wanted: Vec<Row> = state
            .rows
            .iter()
            .filter(|row| condition.holds(state, row) == Some(true))
            .cloned()
            .collect();
        let filter = format!("VERSION AS OF {version} WHERE {}", condition.sql(state));
        let found = world.rows_of(at, &format!(" {filter}")).await?;
        world.same(
            &format!("SELECT * FROM {} {filter}", table.name),
            &found,
            &wanted,
        )?;
        let sql = format!("SELECT count(*) FROM {} {filter}", table.name);
        let count = world.ask(&sql).await?.rows();
        world.same(&sql, &count, &[vec![Value::Long(wanted.len() as i64)]])?;
    }
    Ok(())
}

/// Counts and bounds, which may come out of the log alone.
async fn statistics(world: &World, at: usize) -> Checked {
    let table = &world.tables[at];
    let state = table.now();
    let columns: Vec<&Column> = state
        .columns
        .iter()
        .filter(|column| bounded(column))
        .collect();
    let mut wanted = vec![Value::Long(state.rows.len() as i64)];
    let mut texts = vec!["count(*)".to_owned()];
    for column in &columns {
        let name = column.quoted();
        texts.push(format!("count({name}), min({name}), max({name})"));
        let place = state.place(column.id);
        let values = || {
            state
                .rows
                .iter()
                .map(|row| &row[place])
                .filter(|value| **value != Value::Null)
        };
        wanted.push(Value::Long(values().count() as i64));
        for want in [Ordering::Less, Ordering::Greater] {
            wanted.push(values().fold(Value::Null, |best, value| further(best, value, want)));
        }
    }
    let sql = format!("SELECT {} FROM {}", texts.join(", "), table.name);
    let found = world.ask(&sql).await?.rows();
    let same = |(a, b): (&Value, &Value)| (a == b) || compare(a, b) == Some(Ordering::Equal);
    if found.len() != 1 || !found[0].iter().zip(&wanted).all(same) {
        return Err(world.failed(&format!(
            "{sql}\n  answers {found:?}\n  and should {wanted:?}"
        )));
    }
    // A bound alone, for which no other column is read.
    for (number, column) in columns.iter().enumerate() {
        let sql = format!("SELECT max({}) FROM {}", column.quoted(), table.name);
        let found = world.ask(&sql).await?.rows();
        let wanted = &wanted[number * 3 + 3];
        if !same((&found[0][0], wanted)) {
            return Err(world.failed(&format!(
                "{sql}\n  answers {found:?}\n  and should {wanted:?}"
            )));
        }
    }
    Ok(())
}

/// Whether the feed must tell all changes that lead from one version to a later one.
fn tells(table: &Table, from: usize, to: usize) -> bool {
    let now = table.now();
    from >= table.whole_from
        && table.states[from + 1..=to]
            .iter()
            .all(|state| state.is("delta.enableChangeDataFeed"))
        && table.states[from..=to]
            .iter()
            .all(|state| state.same_columns(now) && mode(state) == mode(now))
}

fn mode(state: &State) -> Option<&String> {
    state
        .config
        .get("delta.columnMapping.mode")
        .filter(|mode| *mode != "none")
}

async fn changes(world: &World, at: usize) -> Checked {
    let table = &world.tables[at];
    let last = table.version();
    for from in 0..last {
        for to in from + 1..=last {
            // The next version, the last one, and few of those between.
            if to == from + 1 || to == last || (from * 5 + to * 3) % 7 == 0 {
                changes_between(world, table, from, to).await?;
            }
        }
    }
    Ok(())
}

async fn changes_between(world: &World, table: &Table, from: usize, to: usize) -> Checked {
    let state = &table.states[to];
    let names: Vec<String> = state.columns.iter().map(Column::quoted).collect();
    let sql = format!(
        "SELECT {}, _change_type FROM table_changes('{}', {}, {to})",
        names.join(", "),
        table.name,
        from + 1
    );
    let sure = tells(table, from, to);
    let answer = match world.sql(&sql).await {
        Ok(answer) if sure => answer,
        Ok(_) => return Ok(()),
        Err(error) if !sure && error.class().is_some() => return Ok(()),
        Err(error) => return Err(world.failed(&format!("{sql}\n  is refused: {error}"))),
    };
    let rows = applied(&table.states[from].rows, answer.rows())
        .map_err(|row| world.failed(&format!("{sql}\n  takes a row that is not there: {row:?}")))?;
    world.same(&format!("{sql}\n  upon version {from}"), &rows, &state.rows)
}

/// The rows after the changes; the row that could not be taken away.
fn applied(before: &[Row], changes: Vec<Row>) -> Result<Vec<Row>, Row> {
    let mut rows = before.to_vec();
    let mut gone: Vec<Row> = Vec::new();
    for mut change in changes {
        match change.pop() {
            Some(Value::String(kind)) if kind == "insert" || kind == "update_postimage" => {
                rows.push(change)
            }
            _ => gone.push(change),
        }
    }
    for row in gone {
        let text = format!("{row:?}");
        let at = rows
            .iter()
            .position(|own| format!("{own:?}") == text)
            .ok_or(row)?;
        rows.swap_remove(at);
    }
    Ok(rows)
}
