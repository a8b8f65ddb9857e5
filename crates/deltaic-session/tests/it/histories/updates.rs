//! UPDATE: values, other columns, remainders and fields of records as new values.

use deltaic_session::Value;

use super::acts::{Act, Expect, Table, refusal};
use super::conditions::Choice;
use super::kinds::Kind;
use super::state::{Column, Row, State};

/// A column's new value.
enum Set {
    Value(Value),
    From(u32),
    Remainder,
    Field(Value),
}

/// The step's statement.
pub fn update(table: &Table, condition: Option<&Choice>, sets: &[(u16, u16)]) -> Option<Act> {
    let state = table.now();
    let columns: Vec<&Column> = state.columns.iter().collect();
    let condition = condition.map(|condition| condition.over(&columns));
    let given = state.given();
    let mut chosen: Vec<(&Column, Set)> = Vec::new();
    for (pick, value) in sets {
        let column = *given.get(usize::from(*pick) % given.len().max(1))?;
        if chosen.iter().all(|(other, _)| other.id != column.id) {
            chosen.push((column, set(state, column, *pick, *value)));
        }
    }
    let texts: Vec<String> = chosen
        .iter()
        .map(|(column, set)| set.sql(state, column))
        .collect();
    let mut next = state.clone();
    let mut changed = Vec::new();
    for row in &mut next.rows {
        if condition
            .as_ref()
            .is_some_and(|condition| condition.holds(state, row) != Some(true))
        {
            continue;
        }
        let old = row.clone();
        for (column, set) in &chosen {
            let at = state.place(column.id);
            row[at] = set.value(state, &old, at);
        }
        state.settle(row);
        changed.push(row.clone());
    }
    let filter = condition.map_or(String::new(), |condition| {
        format!(" WHERE {}", condition.sql(state))
    });
    let sql = format!("UPDATE {} SET {}{filter}", table.name, texts.join(", "));
    let expect = match (state.is("delta.appendOnly"), refusal(state, &changed)) {
        (true, _) => Expect::Refusal(vec!["DELTA_CANNOT_MODIFY_APPEND_ONLY"]),
        (false, refused) => refused.unwrap_or(Expect::Success),
    };
    Some(Act::next(sql, expect, next))
}

fn set(state: &State, column: &Column, pick: u16, value: u16) -> Set {
    let whole = column.kind.value(value);
    let at = state.place(column.id);
    let twin = state
        .columns
        .iter()
        .find(|other| other.id != column.id && other.kind == column.kind);
    match (pick / 8 % 3, twin) {
        (0, Some(twin)) => Set::From(twin.id),
        (1, _) if matches!(column.kind, Kind::Small | Kind::Int | Kind::Long) => Set::Remainder,
        (1, _)
            if column.kind == Kind::Record
                && state.rows.iter().all(|row| row[at] != Value::Null) =>
        {
            Set::Field(Kind::Int.value(value))
        }
        _ => Set::Value(whole),
    }
}

impl Set {
    fn sql(&self, state: &State, column: &Column) -> String {
        let name = column.quoted();
        match self {
            Set::Value(value) => format!("{name} = {}", column.kind.literal(value)),
            Set::From(other) => format!("{name} = {}", state.column(*other).quoted()),
            Set::Remainder => format!("{name} = {name} % 7"),
            Set::Field(value) => format!("{name}.a = {}", Kind::Int.literal(value)),
        }
    }

    fn value(&self, state: &State, row: &Row, at: usize) -> Value {
        match (self, &row[at]) {
            (Set::Value(value), _) => value.clone(),
            (Set::From(other), _) => row[state.place(*other)].clone(),
            (Set::Remainder, Value::Long(number)) => Value::Long(number % 7),
            (Set::Field(value), Value::Struct(fields)) => {
                Value::Struct(vec![("a".to_owned(), value.clone()), fields[1].clone()])
            }
            _ => Value::Null,
        }
    }
}
