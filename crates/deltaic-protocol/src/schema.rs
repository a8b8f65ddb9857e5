//! The schema of a table: Spark's data types, as they stand in `metaData.schemaString` (protocol: "Schema Serialization Format").

mod difference;
mod json;
mod lengths;
mod merge;
#[cfg(test)]
mod tests;
mod text;
mod walk;

pub use difference::schema_differences;
pub use lengths::Lengths;
pub use text::quote_if_needed;
pub use walk::Leaf;

use serde_json::{Map, Value};

/// A data type. Fields of the interval types: 0 day, 1 hour, 2 minute, 3 second, and 0 year, 1 month.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DataType {
    Void,
    Boolean,
    Byte,
    Short,
    Integer,
    Long,
    Float,
    Double,
    Decimal { precision: u8, scale: u8 },
    String,
    Binary,
    Date,
    Timestamp,
    TimestampNtz,
    Variant,
    CalendarInterval,
    DayTimeInterval { start: u8, end: u8 },
    YearMonthInterval { start: u8, end: u8 },
    Struct(StructType),
    Array(Box<ArrayType>),
    Map(Box<MapType>),
}

/// An array; `contains_null` says whether elements may be null.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayType {
    pub element_type: DataType,
    pub contains_null: bool,
}

/// A map; keys are never null.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MapType {
    pub key_type: DataType,
    pub value_type: DataType,
    pub value_contains_null: bool,
}

/// A named field of a struct, or a column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructField {
    pub name: String,
    pub data_type: DataType,
    pub nullable: bool,
    /// Free-form; the keys that the protocol knows are constants of [`metadata`].
    pub metadata: Map<String, Value>,
}

/// An ordered list of fields; the schema of a table is one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct StructType {
    pub fields: Vec<StructField>,
}

/// Keys of [`StructField::metadata`] that mean something.
pub mod metadata {
    pub const COMMENT: &str = "comment";
    pub const CURRENT_DEFAULT: &str = "CURRENT_DEFAULT";
    pub const EXISTS_DEFAULT: &str = "EXISTS_DEFAULT";
    pub const CHAR_VARCHAR_TYPE: &str = "__CHAR_VARCHAR_TYPE_STRING";
    pub const COLUMN_MAPPING_ID: &str = "delta.columnMapping.id";
    pub const COLUMN_MAPPING_PHYSICAL_NAME: &str = "delta.columnMapping.physicalName";
    pub const COLUMN_MAPPING_NESTED_IDS: &str = "delta.columnMapping.nested.ids";
    pub const GENERATION_EXPRESSION: &str = "delta.generationExpression";
    pub const IDENTITY_START: &str = "delta.identity.start";
    pub const IDENTITY_STEP: &str = "delta.identity.step";
    pub const IDENTITY_HIGH_WATER_MARK: &str = "delta.identity.highWaterMark";
    pub const IDENTITY_ALLOW_EXPLICIT_INSERT: &str = "delta.identity.allowExplicitInsert";
    pub const INVARIANTS: &str = "delta.invariants";
    pub const TYPE_CHANGES: &str = "delta.typeChanges";
}

impl std::hash::Hash for StructField {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.data_type.hash(state);
        self.nullable.hash(state);
    }
}

impl DataType {
    /// A decimal that is known to be valid; see [`DataType::try_decimal`] for input from outside.
    pub const fn decimal(precision: u8, scale: u8) -> Self {
        DataType::Decimal { precision, scale }
    }

    /// `DECIMAL(precision, scale)` if that exists: 1 to 38 digits, scale not above precision.
    pub fn try_decimal(precision: u32, scale: u32) -> Option<Self> {
        let (p, s) = (u8::try_from(precision).ok()?, u8::try_from(scale).ok()?);
        ((1..=38).contains(&p) && s <= p).then_some(DataType::Decimal {
            precision: p,
            scale: s,
        })
    }

    /// An array type.
    pub fn array(element_type: DataType, contains_null: bool) -> Self {
        DataType::Array(Box::new(ArrayType {
            element_type,
            contains_null,
        }))
    }

    /// A map type.
    pub fn map(key_type: DataType, value_type: DataType, value_contains_null: bool) -> Self {
        DataType::Map(Box::new(MapType {
            key_type,
            value_type,
            value_contains_null,
        }))
    }

    /// A struct type.
    pub fn structure(fields: impl IntoIterator<Item = StructField>) -> Self {
        DataType::Struct(StructType::new(fields))
    }

    /// Byte, short, integer or long.
    pub fn is_integral(&self) -> bool {
        matches!(
            self,
            DataType::Byte | DataType::Short | DataType::Integer | DataType::Long
        )
    }

    /// Integral, decimal or floating.
    pub fn is_numeric(&self) -> bool {
        self.is_integral()
            || matches!(
                self,
                DataType::Float | DataType::Double | DataType::Decimal { .. }
            )
    }

    /// Neither struct nor array nor map.
    pub fn is_primitive(&self) -> bool {
        !matches!(
            self,
            DataType::Struct(_) | DataType::Array(_) | DataType::Map(_)
        )
    }
}

impl StructField {
    /// A field without metadata.
    pub fn new(name: impl Into<String>, data_type: DataType, nullable: bool) -> Self {
        StructField {
            name: name.into(),
            data_type,
            nullable,
            metadata: Map::new(),
        }
    }

    /// A field that may be null, without metadata.
    pub fn nullable(name: impl Into<String>, data_type: DataType) -> Self {
        Self::new(name, data_type, true)
    }

    /// With one more metadata entry.
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// With that comment.
    pub fn with_comment(self, comment: impl Into<String>) -> Self {
        self.with_metadata(metadata::COMMENT, comment.into())
    }

    /// The column's comment.
    pub fn comment(&self) -> Option<&str> {
        self.text(metadata::COMMENT)
    }

    /// Name under column mapping; the field's own name where there is none.
    pub fn physical_name(&self) -> &str {
        self.text(metadata::COLUMN_MAPPING_PHYSICAL_NAME)
            .unwrap_or(&self.name)
    }

    /// Id under column mapping.
    pub fn column_mapping_id(&self) -> Option<i64> {
        self.number(metadata::COLUMN_MAPPING_ID)
    }

    /// SQL of a generated column.
    pub fn generation_expression(&self) -> Option<&str> {
        self.text(metadata::GENERATION_EXPRESSION)
    }

    /// SQL of the column's default.
    pub fn current_default(&self) -> Option<&str> {
        self.text(metadata::CURRENT_DEFAULT)
    }

    /// Whether the column is an identity column.
    pub fn is_identity(&self) -> bool {
        self.metadata.contains_key(metadata::IDENTITY_STEP)
            || self.metadata.contains_key(metadata::IDENTITY_START)
    }

    /// The type as it was declared where CHAR or VARCHAR is in it: `char(n)`, `array<varchar(n)>`; see [`Lengths`].
    pub fn char_varchar(&self) -> Option<&str> {
        self.text(metadata::CHAR_VARCHAR_TYPE)
    }

    /// SQL of the column's invariant, out of its `{"expression":{"expression":"…"}}`.
    pub fn invariant(&self) -> Option<String> {
        let value: Value = serde_json::from_str(self.text(metadata::INVARIANTS)?).ok()?;
        let expression = value.get("expression")?.get("expression")?;
        expression.as_str().map(str::to_owned)
    }

    /// A metadata entry that is a text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).and_then(Value::as_str)
    }

    /// A metadata entry that is a whole number.
    pub fn number(&self, key: &str) -> Option<i64> {
        self.metadata.get(key).and_then(Value::as_i64)
    }
}

impl StructType {
    /// A struct of these fields.
    pub fn new(fields: impl IntoIterator<Item = StructField>) -> Self {
        StructType {
            fields: fields.into_iter().collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.fields.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, StructField> {
        self.fields.iter()
    }

    /// Names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// The field of that name, upper and lower case being the same.
    pub fn field(&self, name: &str) -> Option<&StructField> {
        self.index_of(name).and_then(|at| self.fields.get(at))
    }

    /// Position of the field of that name: an exact match first, else one that differs in case only.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        let exact = self.fields.iter().position(|field| field.name == name);
        exact.or_else(|| {
            let wanted = name.to_lowercase();
            self.fields
                .iter()
                .position(|field| field.name.to_lowercase() == wanted)
        })
    }

    /// The field of exactly that name.
    pub fn field_exact(&self, name: &str) -> Option<&StructField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl<'a> IntoIterator for &'a StructType {
    type Item = &'a StructField;
    type IntoIter = std::slice::Iter<'a, StructField>;

    fn into_iter(self) -> Self::IntoIter {
        self.fields.iter()
    }
}

impl From<StructType> for DataType {
    fn from(value: StructType) -> Self {
        DataType::Struct(value)
    }
}
