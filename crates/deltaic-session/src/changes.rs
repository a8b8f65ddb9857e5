//! `table_changes('t', start[, end])` and `table_changes_by_path('/p', start[, end])`: arguments to a range of changes
//! (spec: delta, sections 1.17 and 7).

use std::ops::ControlFlow;
use std::sync::Arc;

use deltaic_analyzer::{ArgumentValue, TableFunctionArgument, TableRelation};
use deltaic_command::Profile;
use deltaic_datafusion::DeltaChanges;
use deltaic_log::changes::{ChangeBound, ChangeOptions, ChangeRange, ChangeSchema, resolve_range};
use deltaic_log::{Snapshot, history};
use deltaic_maintenance::travel;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::timestamp::parse_timestamp;
use deltaic_sql::Name;
use sqlparser::ast::{TableFactor, Visit, Visitor};

use crate::catalog::{SchemaName, ViewRecord};
use crate::context::Context;
use crate::errors;
use crate::resolve::{self, DeltaTable, Target, view_qualifier};
use crate::time_travel;

const SCHEMA_MODE: &str =
    "spark.databricks.delta.changeDataFeed.defaultSchemaModeForColumnMappingTable";
/// How deep views are followed to the table that an error names.
const DEEPEST_VIEW: usize = 100;

/// A table function of the change feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    /// `table_changes`: a table by name.
    ByName,
    /// `table_changes_by_path`.
    ByPath,
}

impl Function {
    /// The function of a name, in any case.
    pub(crate) fn parse(name: &str) -> Option<Function> {
        match name.to_lowercase().as_str() {
            "table_changes" => Some(Function::ByName),
            "table_changes_by_path" => Some(Function::ByPath),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Function::ByName => "table_changes",
            Function::ByPath => "table_changes_by_path",
        }
    }

    fn subject(self) -> &'static str {
        match self {
            Function::ByName => "table name",
            Function::ByPath => "table path",
        }
    }
}

/// The changes that a call means, and the table's place. An unqualified name is one of the schema `at`.
///
/// # Errors
/// Wrong arguments, no such Delta table, a range that is not in its history.
pub(crate) async fn relation(
    cx: &Context,
    function: Function,
    arguments: &[TableFunctionArgument],
    at: &SchemaName,
) -> Result<(TableRelation, String)> {
    let (subject, start, end) = match arguments {
        [subject, start] => (subject, start, None),
        [subject, start, end] => (subject, start, Some(end)),
        _ => return Err(wrong_number(function, arguments.len())),
    };
    let subject = literal(function, subject)?;
    let name = match function {
        Function::ByName => Some(deltaic_sql::parse_name(subject)?),
        Function::ByPath => None,
    };
    let start = bound(cx, function, start, Side::Start)?;
    let end = end
        .map(|end| bound(cx, function, end, Side::End))
        .transpose()?;
    let table = match name {
        Some(name) => by_name(cx, function, &name, at).await?,
        None => match resolve::delta_path(cx, "delta", subject).await? {
            Target::Delta(table) => *table,
            _ => return Err(errors::path_not_found(subject)),
        },
    };
    if table.travel.is_some() {
        return Err(DeltaError::new("DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS"));
    }
    let latest = table.snapshot(cx).await?;
    let changes = changes(cx, &latest, start, end)
        .await
        .map_err(|error| time_travel::in_words_of(cx, in_words_of(cx, error)))?;
    let schema = changes.change_schema().clone();
    let relation = TableRelation {
        provider: Arc::new(changes.with_zone(cx.zone())),
        schema,
        metadata: None,
        qualifier: table.qualifier,
    };
    Ok((relation, latest.store().root().to_string()))
}

async fn changes(
    cx: &Context,
    latest: &Snapshot,
    start: ChangeBound,
    end: Option<ChangeBound>,
) -> Result<DeltaChanges> {
    let beyond_latest = cx.conf.delta("changeDataFeed.timestampOutOfRange.enabled");
    let range = resolve_range(latest, start, end, &cx.zone(), beyond_latest).await?;
    let options = ChangeOptions {
        schema: match cx.conf.get(SCHEMA_MODE) {
            Some(mode) if !mode.eq_ignore_ascii_case("endVersion") => ChangeSchema::Latest,
            _ => ChangeSchema::EndVersion,
        },
        allow_incompatible: cx
            .conf
            .delta("changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled"),
    };
    let changes = DeltaChanges::try_new(latest, range, options).await?;
    if let ChangeRange::Versions { start, .. } = range {
        check_wall(cx, latest, start).await?;
    }
    Ok(changes)
}

/// Versions behind the retention of removed files are as unreachable as in a query: their files may have gone.
async fn check_wall(cx: &Context, latest: &Snapshot, start: i64) -> Result<()> {
    let options = time_travel::options(cx);
    if !options.wall || start == latest.version() {
        return Ok(());
    }
    let committed = history::commit_timestamp(latest, start).await?;
    let retention = latest.config().deleted_file_retention()?.to_millis();
    travel::check_wall(
        latest.version(),
        start,
        Some(committed),
        retention,
        options.now_ms,
    )
}

async fn by_name(
    cx: &Context,
    function: Function,
    name: &Name,
    at: &SchemaName,
) -> Result<DeltaTable> {
    let parts = cx.texts(name).await?;
    let found = resolve::lookup_in(cx, &parts, at).await?;
    match found.ok_or_else(|| resolve::not_found(&parts))? {
        Target::Delta(table) => Ok(*table),
        Target::Parquet(table) if table.record.is_none() => Err(not_delta(function, "relation")),
        Target::Parquet(table) => Err(not_delta(function, &errors::quoted(&table.qualifier))),
        Target::View(view) => Err(not_delta(
            function,
            &errors::quoted(&below(cx, view).await?),
        )),
    }
}

/// The table that a view stands on; the view itself where there is none.
async fn below(cx: &Context, view: ViewRecord) -> Result<Vec<String>> {
    let mut seen = view;
    for _ in 0..DEEPEST_VIEW {
        let at = SchemaName::new(&seen.context.catalog, &seen.context.schema);
        let Some(parts) = first_relation(&seen.text) else {
            break;
        };
        match resolve::lookup_in(cx, &parts, &at).await? {
            Some(Target::View(inner)) => seen = inner,
            Some(other) => return Ok(other.qualifier()),
            None => break,
        }
    }
    Ok(view_qualifier(&seen))
}

fn first_relation(text: &str) -> Option<Vec<String>> {
    struct First(Option<Vec<String>>);
    impl Visitor for First {
        type Break = ();
        fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
            match deltaic_sql::travel::relation(factor) {
                Some((Name::Parts(parts), _)) => {
                    self.0 = Some(parts.into_iter().map(|part| part.value).collect());
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    let query = deltaic_sql::parse_query(text).ok()?;
    let mut first = First(None);
    let _ = query.visit(&mut first);
    first.0
}

/// Which bound an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    End,
}

fn bound(
    cx: &Context,
    function: Function,
    argument: &TableFunctionArgument,
    side: Side,
) -> Result<ChangeBound> {
    let moment = |micros: i64| ChangeBound::Timestamp(micros.div_euclid(1000));
    match &argument.value {
        ArgumentValue::Long(version) => Ok(ChangeBound::Version(*version)),
        ArgumentValue::Timestamp(micros) => Ok(moment(*micros)),
        ArgumentValue::String(text) => match parse_timestamp(text, &cx.zone(), Some(cx.now_us)) {
            Some(micros) => Ok(moment(micros)),
            None if !cx.conf.delta("timeTravel.parsing.strict") => Ok(moment(0)),
            None => Err(DeltaError::new("DELTA_TIMESTAMP_INVALID")
                .param("expr", format!("'{}'", text.replace('\'', "\\'")))),
        },
        ArgumentValue::Null => Err(DeltaError::new("DELTA_CDC_READ_NULL_RANGE_BOUNDARY")),
        ArgumentValue::Other => {
            let side = match side {
                Side::Start => "starting option",
                Side::End => "ending option",
            };
            Err(unsupported(
                &argument.data_type,
                side,
                "IntegerType,LongType,StringType,TimestampType",
            ))
        }
        ArgumentValue::NotConstant => {
            let (name, position) = match side {
                Side::Start => ("start", 2),
                Side::End => ("end", 3),
            };
            Err(not_constant(function, argument, name, position))
        }
    }
}

/// The name or path, which must be a literal.
fn literal(function: Function, argument: &TableFunctionArgument) -> Result<&str> {
    match &argument.value {
        ArgumentValue::String(text) if argument.is_literal => Ok(text),
        ArgumentValue::NotConstant => Err(not_constant(function, argument, function.subject(), 1)),
        _ => Err(unsupported(
            &argument.data_type,
            function.subject(),
            "StringType literal",
        )),
    }
}

fn unsupported(data_type: &DataType, caused_by: &str, supported: &str) -> DeltaError {
    DeltaError::new("DELTA_UNSUPPORTED_EXPRESSION")
        .param("expType", catalyst_type(data_type))
        .param("causedBy", caused_by)
        .param("supportedTypes", supported)
}

fn not_constant(
    function: Function,
    argument: &TableFunctionArgument,
    name: &str,
    position: usize,
) -> DeltaError {
    DeltaError::new("DELTA_CDC_NON_CONSTANT_ARGUMENT")
        .param("argumentName", name)
        .param("pos", position)
        .param("functionName", function.name())
        .param("sqlExpr", &argument.sql)
}

fn wrong_number(function: Function, given: usize) -> DeltaError {
    let failure = if given < 2 {
        "not enough args"
    } else {
        "too many args"
    };
    DeltaError::new("INCORRECT_NUMBER_OF_ARGUMENTS")
        .param("failure", failure)
        .param("functionName", function.name())
        .param("minArgs", 2)
        .param("maxArgs", 3)
}

fn not_delta(function: Function, table: &str) -> DeltaError {
    DeltaError::new("DELTA_TABLE_ONLY_OPERATION")
        .param("tableName", table)
        .param("operation", function.name())
}

/// A start behind the newest version had no class in older releases.
fn in_words_of(cx: &Context, error: DeltaError) -> DeltaError {
    if cx.profile() != Profile::Delta40
        || error.class() != Some("DELTA_CDC_START_VERSION_AFTER_LATEST")
    {
        return error;
    }
    let given = |name: &str| {
        let found = error.parameters().iter().find(|(key, _)| key == name);
        found.map_or_else(String::new, |(_, value)| value.clone())
    };
    let text = format!(
        "Provided Start version({}) for reading change data is invalid. Start version cannot be greater than the latest version \
         of the table({}).",
        given("start"),
        given("latest")
    );
    DeltaError::unclassed("java.lang.IllegalArgumentException", text).with_source(error)
}

/// A type as Catalyst names it: `IntegerType`, `ArrayType(LongType,true)`.
fn catalyst_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Void => "NullType".into(),
        DataType::TimestampNtz => "TimestampNTZType".into(),
        DataType::Decimal { precision, scale } => format!("DecimalType({precision},{scale})"),
        DataType::Array(array) => format!(
            "ArrayType({},{})",
            catalyst_type(&array.element_type),
            array.contains_null
        ),
        DataType::Map(map) => format!(
            "MapType({},{},{})",
            catalyst_type(&map.key_type),
            catalyst_type(&map.value_type),
            map.value_contains_null
        ),
        DataType::Struct(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|field| {
                    let shown = catalyst_type(&field.data_type);
                    format!("StructField({},{shown},{})", field.name, field.nullable)
                })
                .collect();
            format!("StructType({})", fields.join(","))
        }
        DataType::DayTimeInterval { start, end } => format!("DayTimeIntervalType({start},{end})"),
        DataType::YearMonthInterval { start, end } => {
            format!("YearMonthIntervalType({start},{end})")
        }
        other => format!("{other:?}Type"),
    }
}
