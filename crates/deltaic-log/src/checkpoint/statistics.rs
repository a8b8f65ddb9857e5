//! Statistics as text to the typed columns of `stats_parsed`, without a tree of JSON values for each file: a checkpoint of a million
//! files has a million such texts.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use deltaic_protocol::schema::{DataType, StructType};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value as Json;

use super::typed::{structure, typed_array};
use crate::skipping::Value;

/// The columns of a schema, filled row by row.
pub(super) struct StatisticsReader {
    root: Node,
    rows: usize,
}

impl StatisticsReader {
    /// No rows yet.
    pub(super) fn new(schema: &StructType) -> Self {
        Self {
            root: Node::of(&DataType::Struct(schema.clone())),
            rows: 0,
        }
    }

    /// Takes the statistics of one file; text that is no JSON object is none.
    pub(super) fn push(&mut self, text: Option<&str>) {
        self.root.clear();
        if let Some(text) = text {
            let mut json = serde_json::Deserializer::from_str(text);
            let read = Filled(&mut self.root).deserialize(&mut json);
            if read.and_then(|()| json.end()).is_err() {
                // Of another kind than the type's somewhere, or broken: what can be told apart only with all of it at hand.
                self.root.clear();
                if let Ok(json) = serde_json::from_str::<Json>(text) {
                    self.root.fill(&json);
                }
            }
        }
        self.root.end_row();
        self.rows += 1;
    }

    /// The struct column.
    pub(super) fn finish(self) -> ArrayRef {
        self.root.finish()
    }
}

/// A field of the schema.
enum Node {
    Struct {
        schema: StructType,
        children: Vec<Node>,
        /// The child that stood last in a text; the next one mostly follows it.
        last: usize,
        set: bool,
        rows: Vec<bool>,
    },
    /// A type that is read as an integer without further ado.
    Integer {
        data_type: DataType,
        value: Option<i64>,
        rows: Vec<Option<Value>>,
    },
    Flag {
        value: Option<bool>,
        rows: Vec<Option<bool>>,
    },
    Other {
        data_type: DataType,
        value: Option<Value>,
        rows: Vec<Option<Value>>,
    },
}

impl Node {
    fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Struct(schema) => Self::Struct {
                schema: schema.clone(),
                children: schema.iter().map(|f| Self::of(&f.data_type)).collect(),
                last: 0,
                set: false,
                rows: Vec::new(),
            },
            DataType::Boolean => Self::Flag {
                value: None,
                rows: Vec::new(),
            },
            DataType::Byte | DataType::Short | DataType::Integer | DataType::Long => {
                Self::Integer {
                    data_type: data_type.clone(),
                    value: None,
                    rows: Vec::new(),
                }
            }
            other => Self::Other {
                data_type: other.clone(),
                value: None,
                rows: Vec::new(),
            },
        }
    }

    /// Forgets the row that has begun.
    fn clear(&mut self) {
        match self {
            Self::Struct { children, set, .. } => {
                *set = false;
                children.iter_mut().for_each(Self::clear);
            }
            Self::Integer { value, .. } => *value = None,
            Self::Flag { value, .. } => *value = None,
            Self::Other { value, .. } => *value = None,
        }
    }

    /// Takes a value that is read already.
    fn fill(&mut self, json: &Json) {
        match self {
            Self::Struct {
                schema,
                children,
                set,
                ..
            } => {
                let Json::Object(object) = json else { return };
                *set = true;
                for (field, child) in schema.iter().zip(children) {
                    if let Some(value) = object.get(&field.name) {
                        child.fill(value);
                    }
                }
            }
            Self::Integer {
                data_type, value, ..
            } => {
                *value = match Value::from_statistics(json, data_type) {
                    Some(Value::Integer(number)) => Some(number),
                    _ => None,
                };
            }
            Self::Flag { value, .. } => *value = json.as_bool(),
            Self::Other {
                data_type, value, ..
            } => *value = Value::from_statistics(json, data_type),
        }
    }

    /// Moves the row into the columns.
    fn end_row(&mut self) {
        match self {
            Self::Struct {
                children,
                set,
                rows,
                ..
            } => {
                rows.push(std::mem::take(set));
                children.iter_mut().for_each(Self::end_row);
            }
            Self::Integer { value, rows, .. } => rows.push(value.take().map(Value::Integer)),
            Self::Flag { value, rows } => rows.push(value.take()),
            Self::Other { value, rows, .. } => rows.push(value.take()),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Struct {
                schema,
                children,
                rows,
                ..
            } => {
                let children = children.into_iter().map(Self::finish).collect();
                structure(&schema, children, rows.into())
            }
            Self::Integer {
                data_type, rows, ..
            }
            | Self::Other {
                data_type, rows, ..
            } => typed_array(&data_type, rows),
            Self::Flag { rows, .. } => Arc::new(rows.into_iter().collect::<BooleanArray>()),
        }
    }
}

/// Reads a value into a node.
struct Filled<'a>(&'a mut Node);

impl<'de> DeserializeSeed<'de> for Filled<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        match self.0 {
            Node::Struct {
                schema,
                children,
                last,
                set,
                ..
            } => from.deserialize_map(Fields {
                schema,
                children,
                last,
                set,
            }),
            Node::Integer { value, .. } => from.deserialize_i64(Whole(value)),
            node => {
                let json: Json = serde::Deserialize::deserialize(from)?;
                node.fill(&json);
                Ok(())
            }
        }
    }
}

struct Fields<'a> {
    schema: &'a StructType,
    children: &'a mut [Node],
    last: &'a mut usize,
    set: &'a mut bool,
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of statistics")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        *self.set = true;
        let count = self.children.len();
        let mut filled = vec![false; count];
        while let Some(at) = map.next_key_seed(Name {
            schema: self.schema,
            guess: *self.last,
        })? {
            let Some(at) = at else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if std::mem::replace(&mut filled[at], true) {
                return Err(A::Error::custom("a field that stands there twice"));
            }
            map.next_value_seed(Filled(&mut self.children[at]))?;
            *self.last = (at + 1) % count;
        }
        Ok(())
    }
}

/// Which field of a schema a key is.
struct Name<'a> {
    schema: &'a StructType,
    guess: usize,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        let guessed = self.schema.fields.get(self.guess);
        if guessed.is_some_and(|field| field.name == name) {
            return Ok(Some(self.guess));
        }
        Ok(self.schema.iter().position(|field| field.name == name))
    }
}

/// An integer; a number of another form is none.
struct Whole<'a>(&'a mut Option<i64>);

impl Visitor<'_> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        *self.0 = Some(number);
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        *self.0 = i64::try_from(number).ok();
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaic_protocol::schema::StructField;
    use proptest::prelude::*;

    fn schema() -> StructType {
        let inner = |data_type: DataType| {
            DataType::structure([
                StructField::nullable("a", data_type.clone()),
                StructField::nullable("b", data_type),
            ])
        };
        StructType::new([
            StructField::nullable("l", DataType::Long),
            StructField::nullable("b", DataType::Byte),
            StructField::nullable("o", inner(DataType::Integer)),
            StructField::nullable("d", inner(DataType::Double)),
            StructField::nullable("s", DataType::String),
            StructField::nullable("f", DataType::Boolean),
        ])
    }

    fn json(depth: u32) -> BoxedStrategy<String> {
        let leaf = prop_oneof![
            (-300i64..300).prop_map(|n| n.to_string()),
            any::<i64>().prop_map(|n| n.to_string()),
            any::<f64>()
                // `-0` is a whole number to one of the readers and a fraction to the other; nobody writes it.
                .prop_filter("finite, and not -0", |f| f.is_finite() && *f != 0.0)
                .prop_map(|n| n.to_string()),
            Just("1e2".to_owned()),
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just("\"NaN\"".to_owned()),
            Just("\"\\u0061é\"".to_owned()),
            Just("[1,{}]".to_owned()),
            Just("broken".to_owned()),
        ];
        if depth == 0 {
            return leaf.boxed();
        }
        let name = prop::sample::select(vec!["l", "b", "o", "d", "s", "f", "a", "x", "\\u006c"]);
        let object = prop::collection::vec((name, json(depth - 1)), 0..5).prop_map(|fields| {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("\"{name}\": {value}"))
                .collect();
            format!("{{{}}}", fields.join(", "))
        });
        prop_oneof![1 => leaf, 4 => object].boxed()
    }

    proptest! {
        /// A row after the other, whatever came before it.
        #[test]
        fn texts_are_read_as_trees_of_values_are(texts in prop::collection::vec(json(3), 1..6)) {
            let (mut fast, mut slow) =
                (StatisticsReader::new(&schema()), StatisticsReader::new(&schema()));
            for text in &texts {
                fast.push(Some(text));
                slow.root.clear();
                if let Ok(json) = serde_json::from_str::<Json>(text) {
                    slow.root.fill(&json);
                }
                slow.root.end_row();
            }
            prop_assert_eq!(&fast.finish(), &slow.finish());
        }
    }
}
