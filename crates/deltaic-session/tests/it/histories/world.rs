//! The tables of a history, in the model and in a warehouse, and what is compared after each statement.

use std::collections::{BTreeMap, BTreeSet};

use chrono_tz::Tz;
use deltaic_protocol::error::DeltaError;
use deltaic_session::{Parameters, Session, SqlResult, Value};
use proptest::test_runner::TestCaseError;
use tempfile::TempDir;

use super::acts::{Act, Effect, Expect, Table};
use super::choices::{Step, TableChoice};
use super::state::{Role, Row, State, UNKNOWN};
use super::tables::{self, Ids};
use super::{alters, rows};
use crate::helpers::open;

/// Tables that a history may have at a time.
const TABLES: usize = 3;

const ZONES: [Tz; 3] = [Tz::UTC, Tz::Asia__Kolkata, Tz::America__Los_Angeles];

pub type Checked = Result<(), TestCaseError>;

pub struct World {
    pub folder: TempDir,
    pub session: Session,
    zone: Tz,
    pub tables: Vec<Table>,
    ids: Ids,
    made: usize,
    /// All statements, to be done again by hand.
    pub script: Vec<String>,
}

/// Rows as texts, how often each is there.
pub fn counted(rows: &[Row]) -> BTreeMap<String, i64> {
    let mut counted = BTreeMap::new();
    for row in rows {
        *counted.entry(format!("{row:?}")).or_default() += 1;
    }
    counted
}

impl World {
    /// A warehouse with one empty table.
    pub async fn new(choice: &TableChoice) -> Result<Self, TestCaseError> {
        let folder = tempfile::tempdir().unwrap();
        let session = open(folder.path());
        let zone = ZONES[usize::from(choice.mapping / 3) % ZONES.len()];
        let mut world = World {
            zone,
            folder,
            session,
            tables: Vec::new(),
            ids: Ids::default(),
            made: 1,
            script: Vec::new(),
        };
        world.set_zone().await?;
        let (state, definition) = tables::build(choice, zone, &mut world.ids);
        world.ok(&format!("CREATE TABLE t0 {definition}")).await?;
        let table = Table {
            name: "t0".to_owned(),
            states: vec![state],
            whole_from: 0,
            furthest: BTreeMap::new(),
            source: None,
        };
        world.tables.push(table);
        world.read_properties(0).await?;
        Ok(world)
    }

    /// Values do not depend on the session's zone, partition values and dates made of instants do.
    pub async fn set_zone(&mut self) -> Checked {
        let sql = format!("SET spark.sql.session.timeZone = {}", self.zone.name());
        self.ok(&sql).await.map(drop)
    }

    pub async fn sql(&self, sql: &str) -> Result<SqlResult, DeltaError> {
        self.session.sql(sql, Parameters::None).await
    }

    /// Runs a statement that changes something and must succeed.
    async fn ok(&mut self, sql: &str) -> Result<SqlResult, TestCaseError> {
        self.script.push(sql.to_owned());
        self.ask(sql).await
    }

    /// Runs a statement that changes nothing and must succeed.
    pub async fn ask(&self, sql: &str) -> Result<SqlResult, TestCaseError> {
        self.sql(sql)
            .await
            .map_err(|error| self.failed(&format!("{sql}\n  is refused: {error}")))
    }

    /// A failure, with all that led to it.
    pub fn failed(&self, what: &str) -> TestCaseError {
        TestCaseError::fail(format!("{what}\n\nafter:\n{};\n", self.script.join(";\n")))
    }

    /// Rows must be those of the model.
    pub fn same(&self, what: &str, found: &[Row], wanted: &[Row]) -> Checked {
        let (found, wanted) = (counted(found), counted(wanted));
        if found == wanted {
            return Ok(());
        }
        let only = |a: &BTreeMap<String, i64>, b: &BTreeMap<String, i64>| -> String {
            let rows = a.iter().filter(|(row, count)| b.get(*row) != Some(count));
            rows.map(|(row, count)| format!("    {count} x {row}\n"))
                .collect()
        };
        let (more, less) = (only(&found, &wanted), only(&wanted, &found));
        Err(self.failed(&format!("{what}\n  answers\n{more}  and should\n{less}")))
    }

    /// Does a step and compares.
    pub async fn step(&mut self, pick: u16, step: &Step) -> Checked {
        let at = usize::from(pick) % self.tables.len();
        if matches!(step, Step::Clone(_)) && self.tables.len() == TABLES {
            return Ok(());
        }
        let fresh = format!("t{}", self.made);
        let table = &self.tables[at];
        let act =
            rows::act(step, table).or_else(|| alters::act(step, table, &mut self.ids, &fresh));
        let Some(mut act) = act else {
            return Ok(());
        };
        if table.now().is_all_partitions() && act.expect == Expect::Success {
            // Such a table is read; what would write a file of it is refused.
            act.expect = Expect::Either;
        }
        for setting in &act.settings {
            self.ok(setting).await?;
        }
        if matches!(act.effect, Effect::Reopen) {
            self.script.push(act.sql);
            self.session = open(self.folder.path());
            return self.set_zone().await;
        }
        self.script.push(act.sql.clone());
        match self.sql(&act.sql).await {
            Ok(_) => self.done(at, act).await,
            Err(error) => self.refused(at, &act, &error).await,
        }
    }

    async fn refused(&mut self, at: usize, act: &Act, error: &DeltaError) -> Checked {
        let class = error.class().unwrap_or("none").to_owned();
        if let Some(last) = self.script.last_mut() {
            *last += &format!(" -- refused: {class}");
        }
        let whole = class.split('.').next().unwrap_or_default();
        let right = match &act.expect {
            Expect::Success => false,
            Expect::Refusal(classes) => classes.is_empty() || classes.contains(&whole),
            Expect::Either => true,
        };
        // What has no class is either a gap that is told as such or a fault inside.
        if !right || whole == "INTERNAL_ERROR" || error.to_string().contains("not supported yet") {
            return Err(self.failed(&format!(
                "{}\n  should be {:?}: {error}",
                act.sql, act.expect
            )));
        }
        let found = self.version(at).await?;
        if found != self.tables[at].version() {
            return Err(self.failed(&format!("a refusal left version {found}")));
        }
        self.compare_now(at).await
    }

    async fn done(&mut self, at: usize, act: Act) -> Checked {
        if let Expect::Refusal(classes) = &act.expect {
            return Err(self.failed(&format!(
                "{}\n  succeeds and should be refused: {classes:?}",
                act.sql
            )));
        }
        match act.effect {
            Effect::Next(next) => self.advance(at, *next).await,
            Effect::Clone(name, state) => self.cloned(at, name, *state).await,
            Effect::Vacuum => {
                let version = self.version(at).await?;
                let now = self.tables[at].now().clone();
                self.tables[at].states.resize(version + 1, now);
                self.tables[at].whole_from = version;
                // The files of clones may have gone with those of their source.
                let name = self.tables[at].name.clone();
                self.tables
                    .retain(|table| table.source.as_ref() != Some(&name));
                let at = self
                    .tables
                    .iter()
                    .position(|table| table.name == name)
                    .unwrap();
                self.compare_now(at).await
            }
            Effect::Nothing => {
                let version = self.version(at).await?;
                let now = self.tables[at].now().clone();
                self.tables[at].states.resize(version + 1, now);
                self.compare_now(at).await
            }
            Effect::Reopen => Ok(()),
        }
    }

    async fn cloned(&mut self, at: usize, name: String, state: State) -> Checked {
        self.made += 1;
        let furthest = self.tables[at].furthest.clone();
        // A clone of a clone uses the files of the first source.
        let source = self.tables[at]
            .source
            .clone()
            .unwrap_or_else(|| self.tables[at].name.clone());
        self.tables.push(Table {
            name,
            states: vec![state],
            whole_from: 0,
            furthest,
            source: Some(source),
        });
        let new = self.tables.len() - 1;
        self.read_properties(new).await?;
        self.compare_now(new).await?;
        self.compare_now(at).await
    }

    /// The table has come to a new state, by one commit or by several.
    async fn advance(&mut self, at: usize, next: State) -> Checked {
        // A column that is gone takes along what it has given.
        let has = |id: &u32| next.columns.iter().any(|column| column.id == *id);
        self.tables[at].furthest.retain(|id, _| has(id));
        let version = self.version(at).await?;
        if version < self.tables[at].version() {
            return Err(self.failed(&format!("the version went back to {version}")));
        }
        if version == self.tables[at].version() {
            // A statement that changed nothing writes nothing.
            *self.tables[at].states.last_mut().unwrap() = State {
                config: self.tables[at].now().config.clone(),
                ..next
            };
        } else {
            self.tables[at].states.resize(version + 1, next);
        }
        self.read_properties(at).await?;
        self.learn_identities(at).await?;
        self.compare_now(at).await
    }

    pub async fn version(&self, at: usize) -> Result<usize, TestCaseError> {
        let name = &self.tables[at].name;
        let rows = self
            .ask(&format!("DESCRIBE HISTORY {name} LIMIT 1"))
            .await?
            .rows();
        match rows.first().and_then(|row| row.first()) {
            Some(Value::Long(version)) => Ok(usize::try_from(*version).unwrap()),
            other => Err(self.failed(&format!("the history of {name} begins with {other:?}"))),
        }
    }

    async fn read_properties(&mut self, at: usize) -> Checked {
        let name = &self.tables[at].name;
        let rows = self
            .ask(&format!("SHOW TBLPROPERTIES {name}"))
            .await?
            .rows();
        let mut config = BTreeMap::new();
        for row in rows {
            if let [Value::String(key), Value::String(value)] = &row[..] {
                config.insert(key.clone(), value.clone());
            }
        }
        self.tables[at].states.last_mut().unwrap().config = config;
        Ok(())
    }

    /// Takes the values of a new row's identity column from the table: each new, further than all before, and a step of the
    /// column's.
    async fn learn_identities(&mut self, at: usize) -> Checked {
        let state = self.tables[at].now().clone();
        let place = state
            .columns
            .iter()
            .position(|column| matches!(column.role, Role::Identity(..)));
        let Some(place) = place else { return Ok(()) };
        let Role::Identity(start, step) = state.columns[place].role else {
            return Ok(());
        };
        let id = state.columns[place].id;
        let known: BTreeSet<i64> = state
            .rows
            .iter()
            .filter_map(|row| number(&row[place]))
            .collect();
        if !known.contains(&UNKNOWN) {
            return Ok(());
        }
        let mut found = self.rows_of(at, "").await?;
        let exact = found.clone();
        let furthest = self.tables[at]
            .furthest
            .get(&id)
            .copied()
            .unwrap_or(UNKNOWN);
        let mut new = BTreeSet::new();
        for row in &mut found {
            let value = number(&row[place])
                .ok_or_else(|| self.failed("an identity column holds no number"))?;
            if known.contains(&value) {
                continue;
            }
            if value <= furthest
                || (value - start) % step != 0
                || value < start
                || !new.insert(value)
            {
                return Err(self.failed(&format!(
                    "identity value {value} after {furthest}, from {start} by {step}"
                )));
            }
            row[place] = Value::Long(UNKNOWN);
        }
        self.same("the rows without their identities", &found, &state.rows)?;
        self.tables[at].states.last_mut().unwrap().rows = exact;
        self.tables[at]
            .furthest
            .insert(id, new.last().copied().unwrap_or(furthest));
        Ok(())
    }

    /// The rows of a table, with what follows its name.
    pub async fn rows_of(&self, at: usize, rest: &str) -> Result<Vec<Row>, TestCaseError> {
        let name = &self.tables[at].name;
        Ok(self
            .ask(&format!("SELECT * FROM {name}{rest}"))
            .await?
            .rows())
    }

    async fn compare_now(&self, at: usize) -> Checked {
        let found = self.rows_of(at, "").await?;
        self.same(
            &format!("SELECT * FROM {}", self.tables[at].name),
            &found,
            &self.tables[at].now().rows,
        )
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Long(number) => Some(*number),
        _ => None,
    }
}
