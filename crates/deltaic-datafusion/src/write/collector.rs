//! Statistics of a file while it is written (protocol section "Per-file Statistics"): the text of `add.stats`.
//!
//! Values keep their own type until the end, so nothing passes through floating point. The order of keys and the forms
//! of values are those of Spark.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StructArray, make_array};
use arrow::buffer::NullBuffer;
use arrow::compute;
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::partition::Scalar;
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_protocol::statistics::{cut_maximum, cut_minimum, has_bounds, to_json_bound};
use deltaic_protocol::timestamp::Zone;
use serde_json::{Map, Value};

/// Which columns get statistics, and how their values are written.
#[derive(Debug, Clone)]
pub struct StatsPlan {
    nodes: Vec<Node>,
    /// Write `tightBounds` (tables that support deletion vectors).
    tight: bool,
    /// Characters of a string that are kept.
    prefix: usize,
    zone: Zone,
}

#[derive(Debug, Clone)]
struct Node {
    /// Position among the fields of the struct around it.
    at: usize,
    physical: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// Only nulls are counted.
    Count,
    /// Nulls, least and greatest value.
    Range,
    Struct(Vec<Node>),
}

impl StatsPlan {
    /// For the columns of data files (`schema` without partition columns). `selected` are the logical paths of the leaves that
    /// have statistics; `prefix` is how much of a text is kept.
    pub fn new(
        schema: &StructType,
        selected: &BTreeSet<Vec<String>>,
        tight: bool,
        prefix: usize,
        zone: Zone,
    ) -> StatsPlan {
        StatsPlan {
            nodes: nodes(schema, &mut Vec::new(), selected),
            tight,
            prefix,
            zone,
        }
    }

    /// Starts the statistics of a file.
    pub fn collector(self: &Arc<Self>) -> StatsCollector {
        let mut leaves = 0;
        for node in &self.nodes {
            leaves += node.leaves();
        }
        StatsCollector {
            plan: Arc::clone(self),
            rows: 0,
            leaves: vec![LeafStats::default(); leaves],
        }
    }
}

fn nodes(
    schema: &StructType,
    path: &mut Vec<String>,
    selected: &BTreeSet<Vec<String>>,
) -> Vec<Node> {
    let mut out = Vec::new();
    for (at, field) in schema.iter().enumerate() {
        path.push(field.name.clone());
        let kind = match &field.data_type {
            DataType::Struct(inner) => {
                let inner = nodes(inner, path, selected);
                (!inner.is_empty()).then_some(Kind::Struct(inner))
            }
            other if selected.contains(path) => Some(if has_bounds(other) {
                Kind::Range
            } else {
                Kind::Count
            }),
            _ => None,
        };
        path.pop();
        out.extend(kind.map(|kind| Node {
            at,
            physical: field.physical_name().to_string(),
            kind,
        }));
    }
    out
}

impl Node {
    fn leaves(&self) -> usize {
        match &self.kind {
            Kind::Struct(inner) => inner.iter().map(Node::leaves).sum(),
            _ => 1,
        }
    }
}

/// The statistics of one file so far.
#[derive(Debug)]
pub struct StatsCollector {
    plan: Arc<StatsPlan>,
    rows: u64,
    leaves: Vec<LeafStats>,
}

#[derive(Debug, Clone, Default)]
struct LeafStats {
    nulls: u64,
    min: Option<Scalar>,
    max: Option<Scalar>,
}

/// Spark's order: NaN is the greatest number, the two zeros are equal.
fn order(a: &Scalar, b: &Scalar) -> Ordering {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => nan_last(f64::from(*a), f64::from(*b)),
        (Scalar::Double(a), Scalar::Double(b)) => nan_last(*a, *b),
        _ => a.partial_cmp(b).unwrap_or(Ordering::Equal),
    }
}

fn nan_last(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

impl StatsCollector {
    /// Takes the rows of a batch: the columns of a data file in schema order (partition columns left out).
    ///
    /// # Errors
    /// A column is not of its type.
    pub fn update(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        self.rows += rows as u64;
        let plan = Arc::clone(&self.plan);
        let mut slot = 0;
        for node in &plan.nodes {
            let column = columns
                .get(node.at)
                .ok_or_else(|| DeltaError::internal("a column is missing from the batch"))?;
            self.visit(node, column, None, &mut slot)?;
        }
        Ok(())
    }

    fn visit(
        &mut self,
        node: &Node,
        array: &ArrayRef,
        outer: Option<&NullBuffer>,
        slot: &mut usize,
    ) -> Result<()> {
        let nulls = NullBuffer::union(outer, array.logical_nulls().as_ref());
        match &node.kind {
            Kind::Struct(inner) => {
                let parent = array
                    .as_any()
                    .downcast_ref::<StructArray>()
                    .ok_or_else(|| {
                        DeltaError::internal(format!("column {} is not a struct", node.physical))
                    })?;
                for child in inner {
                    self.visit(child, parent.column(child.at), nulls.as_ref(), slot)?;
                }
            }
            kind => {
                let leaf = self
                    .leaves
                    .get_mut(*slot)
                    .ok_or_else(|| DeltaError::internal("statistics have no such column"))?;
                *slot += 1;
                leaf.nulls += nulls.as_ref().map_or(0, |nulls| nulls.null_count() as u64);
                if matches!(kind, Kind::Range) {
                    let visible = match (&nulls, outer) {
                        // A value under a null struct does not count.
                        (Some(nulls), Some(_)) => masked(array, nulls)?,
                        _ => Arc::clone(array),
                    };
                    let (min, max) = range(&visible)?;
                    keep(&mut leaf.min, min, Ordering::Less);
                    keep(&mut leaf.max, max, Ordering::Greater);
                }
            }
        }
        Ok(())
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The JSON text.
    pub fn finish(&self) -> String {
        let bound = |scalar: Option<&Scalar>, is_max: bool| {
            let cut = match scalar? {
                Scalar::String(text) if is_max => {
                    Scalar::String(cut_maximum(text, self.plan.prefix)?)
                }
                Scalar::String(text) => {
                    Scalar::String(cut_minimum(text, self.plan.prefix).to_string())
                }
                other => other.clone(),
            };
            to_json_bound(&cut, &self.plan.zone)
        };
        let mut all = Map::new();
        all.insert("numRecords".to_string(), Value::from(self.rows));
        let min = self.object(&self.plan.nodes, &mut 0, &|leaf| {
            bound(leaf.min.as_ref(), false)
        });
        all.insert("minValues".to_string(), Value::Object(min));
        let max = self.object(&self.plan.nodes, &mut 0, &|leaf| {
            bound(leaf.max.as_ref(), true)
        });
        all.insert("maxValues".to_string(), Value::Object(max));
        all.insert(
            "nullCount".to_string(),
            Value::Object(self.counts(&self.plan.nodes, &mut 0)),
        );
        if self.plan.tight {
            all.insert("tightBounds".to_string(), Value::Bool(true));
        }
        Value::Object(all).to_string()
    }

    /// Nulls are left out, but a struct that could have values stays.
    fn object(
        &self,
        nodes: &[Node],
        slot: &mut usize,
        value: &dyn Fn(&LeafStats) -> Option<Value>,
    ) -> Map<String, Value> {
        let mut out = Map::new();
        for node in nodes {
            match &node.kind {
                Kind::Struct(inner) => {
                    let object = self.object(inner, slot, value);
                    if node.has_range() {
                        out.insert(node.physical.clone(), Value::Object(object));
                    }
                }
                kind => {
                    let leaf = self.leaves.get(*slot);
                    *slot += 1;
                    if let (Kind::Range, Some(value)) = (kind, leaf.and_then(value)) {
                        out.insert(node.physical.clone(), value);
                    }
                }
            }
        }
        out
    }

    fn counts(&self, nodes: &[Node], slot: &mut usize) -> Map<String, Value> {
        let mut out = Map::new();
        for node in nodes {
            let value = match &node.kind {
                Kind::Struct(inner) => Value::Object(self.counts(inner, slot)),
                _ => {
                    let nulls = self.leaves.get(*slot).map_or(0, |leaf| leaf.nulls);
                    *slot += 1;
                    Value::from(nulls)
                }
            };
            out.insert(node.physical.clone(), value);
        }
        out
    }
}

impl Node {
    fn has_range(&self) -> bool {
        match &self.kind {
            Kind::Struct(inner) => inner.iter().any(Node::has_range),
            Kind::Range => true,
            Kind::Count => false,
        }
    }
}

fn keep(slot: &mut Option<Scalar>, candidate: Option<Scalar>, wanted: Ordering) {
    if let Some(candidate) = candidate {
        let better = slot
            .as_ref()
            .is_none_or(|current| order(&candidate, current) == wanted);
        if better {
            *slot = Some(candidate);
        }
    }
}

fn masked(array: &ArrayRef, nulls: &NullBuffer) -> Result<ArrayRef> {
    let data = array
        .to_data()
        .into_builder()
        .nulls(Some(nulls.clone()))
        .build();
    data.map(make_array)
        .map_err(|error| DeltaError::internal(error.to_string()))
}

/// The least and the greatest value that is not null.
fn range(array: &ArrayRef) -> Result<(Option<Scalar>, Option<Scalar>)> {
    use arrow::datatypes::{DataType as Arrow, TimeUnit};
    macro_rules! plain {
        ($kind:ty, $scalar:expr) => {{
            let values = array.as_primitive::<$kind>();
            (
                compute::min(values).map($scalar),
                compute::max(values).map($scalar),
            )
        }};
    }
    Ok(match array.data_type() {
        Arrow::Int8 => plain!(Int8Type, Scalar::Byte),
        Arrow::Int16 => plain!(Int16Type, Scalar::Short),
        Arrow::Int32 => plain!(Int32Type, Scalar::Integer),
        Arrow::Int64 => plain!(Int64Type, Scalar::Long),
        Arrow::Date32 => plain!(Date32Type, Scalar::Date),
        Arrow::Timestamp(TimeUnit::Microsecond, None) => {
            plain!(TimestampMicrosecondType, Scalar::TimestampNtz)
        }
        Arrow::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            plain!(TimestampMicrosecondType, Scalar::Timestamp)
        }
        Arrow::Decimal128(precision, scale) => {
            let (precision, scale) = (*precision, u8::try_from(*scale).unwrap_or_default());
            plain!(Decimal128Type, |unscaled| Scalar::Decimal {
                unscaled,
                precision,
                scale
            })
        }
        Arrow::Float32 => extremes(
            array
                .as_primitive::<Float32Type>()
                .iter()
                .flatten()
                .map(Scalar::Float),
        ),
        Arrow::Float64 => extremes(
            array
                .as_primitive::<Float64Type>()
                .iter()
                .flatten()
                .map(Scalar::Double),
        ),
        Arrow::Utf8 => {
            let values = array.as_string::<i32>();
            let text = |v: &str| Scalar::String(v.to_string());
            (
                compute::min_string(values).map(text),
                compute::max_string(values).map(text),
            )
        }
        other => return Err(DeltaError::internal(format!("no statistics for {other}"))),
    })
}

fn extremes(values: impl Iterator<Item = Scalar>) -> (Option<Scalar>, Option<Scalar>) {
    let (mut min, mut max) = (None, None);
    for value in values {
        keep(&mut min, Some(value.clone()), Ordering::Less);
        keep(&mut max, Some(value), Ordering::Greater);
    }
    (min, max)
}

#[cfg(test)]
mod tests;
