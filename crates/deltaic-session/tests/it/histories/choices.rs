//! What is left to chance: tables and steps as numbers, which mean something in whatever state the table is then, so that a
//! history from which steps are taken stays a history.

use proptest::prelude::*;

use super::conditions::{self, Choice};

/// The numbers of a row, used in turn.
pub type RowChoice = Vec<u16>;

#[derive(Debug, Clone)]
pub struct ColumnChoice {
    pub kind: u16,
    pub not_null: bool,
    /// Default, generated or identity.
    pub role: u16,
    pub value: u16,
}

#[derive(Debug, Clone)]
pub struct TableChoice {
    pub columns: Vec<ColumnChoice>,
    pub partitions: Vec<u16>,
    pub cluster: Option<u16>,
    pub mapping: u16,
    pub interval: u16,
    pub options: u16,
}

#[derive(Debug, Clone)]
pub enum Step {
    Insert(u16, Vec<RowChoice>),
    Copy(Choice, Option<u16>),
    Overwrite(u16, Vec<RowChoice>),
    Dynamic(Vec<RowChoice>),
    Partition(u16, Vec<RowChoice>),
    ReplaceWhere(Choice, Vec<RowChoice>, bool),
    ReplaceUsing(Vec<u16>, Vec<RowChoice>),
    Delete(Choice),
    Update(Option<Choice>, Vec<(u16, u16)>),
    Truncate,
    Restore(u16),
    AddColumn(u16, u16, u16),
    DropColumn(u16),
    Rename(u16, u16),
    Widen(u16, u16),
    NotNull(u16, bool),
    AddCheck(Choice),
    DropCheck(u16),
    Set(u16),
    Unset(u16),
    DropFeature(u16),
    Replace(TableChoice),
    ReplaceAs(Choice, u16),
    Clone(Option<u16>),
    Vacuum(u16),
    Generate,
    Repair(bool),
    Cluster(Option<u16>),
    Reopen,
}

fn rows() -> impl Strategy<Value = Vec<RowChoice>> {
    prop::collection::vec(prop::collection::vec(any::<u16>(), 6), 1..6)
}

fn column() -> impl Strategy<Value = ColumnChoice> {
    (
        any::<u16>(),
        prop::bool::weighted(0.15),
        any::<u16>(),
        any::<u16>(),
    )
        .prop_map(|(kind, not_null, role, value)| ColumnChoice {
            kind,
            not_null,
            role,
            value,
        })
}

/// Any table.
pub fn table() -> impl Strategy<Value = TableChoice> {
    (
        prop::collection::vec(column(), 2..7),
        prop::collection::vec(any::<u16>(), 0..3),
        prop::option::weighted(0.3, any::<u16>()),
        any::<u16>(),
        any::<u16>(),
        any::<u16>(),
    )
        .prop_map(
            |(columns, partitions, cluster, mapping, interval, options)| TableChoice {
                columns,
                partitions,
                cluster,
                mapping,
                interval,
                options,
            },
        )
}

fn rows_step() -> impl Strategy<Value = Step> {
    let condition = conditions::choice;
    prop_oneof![
        9 => (any::<u16>(), rows()).prop_map(|(form, rows)| Step::Insert(form, rows)),
        2 => (condition(), prop::option::of(any::<u16>())).prop_map(|(condition, at)| Step::Copy(condition, at)),
        1 => (any::<u16>(), rows()).prop_map(|(form, rows)| Step::Overwrite(form, rows)),
        1 => rows().prop_map(Step::Dynamic),
        1 => (any::<u16>(), rows()).prop_map(|(pick, rows)| Step::Partition(pick, rows)),
        2 => (condition(), rows(), prop::bool::weighted(0.9)).prop_map(|(c, rows, fit)| Step::ReplaceWhere(c, rows, fit)),
        2 => (prop::collection::vec(any::<u16>(), 1..3), rows()).prop_map(|(using, rows)| Step::ReplaceUsing(using, rows)),
        5 => condition().prop_map(Step::Delete),
        5 => (prop::option::weighted(0.8, condition()), prop::collection::vec(any::<(u16, u16)>(), 1..4))
            .prop_map(|(condition, sets)| Step::Update(condition, sets)),
        1 => Just(Step::Truncate),
    ]
}

fn table_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<u16>().prop_map(Step::Restore),
        2 => any::<(u16, u16, u16)>().prop_map(|(name, kind, place)| Step::AddColumn(name, kind, place)),
        2 => any::<u16>().prop_map(Step::DropColumn),
        2 => any::<(u16, u16)>().prop_map(|(column, name)| Step::Rename(column, name)),
        3 => any::<(u16, u16)>().prop_map(|(column, to)| Step::Widen(column, to)),
        1 => any::<(u16, bool)>().prop_map(|(column, set)| Step::NotNull(column, set)),
        2 => conditions::choice().prop_map(Step::AddCheck),
        1 => any::<u16>().prop_map(Step::DropCheck),
        5 => any::<u16>().prop_map(Step::Set),
        1 => any::<u16>().prop_map(Step::Unset),
        3 => any::<u16>().prop_map(Step::DropFeature),
        1 => table().prop_map(Step::Replace),
        1 => (conditions::choice(), any::<u16>()).prop_map(|(condition, options)| Step::ReplaceAs(condition, options)),
        2 => prop::option::of(any::<u16>()).prop_map(Step::Clone),
        2 => any::<u16>().prop_map(Step::Vacuum),
        1 => Just(Step::Generate),
        1 => any::<bool>().prop_map(Step::Repair),
        1 => prop::option::of(any::<u16>()).prop_map(Step::Cluster),
        1 => Just(Step::Reopen),
    ]
}

/// Any step, and the table that it is done to.
pub fn step() -> impl Strategy<Value = (u16, Step)> {
    (
        any::<u16>(),
        prop_oneof![3 => rows_step().boxed(), 2 => table_step().boxed()],
    )
}
