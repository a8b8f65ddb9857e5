//! Lengths of CHAR and VARCHAR. Spark stores such columns as STRING, and keeps the whole type as it was declared in the
//! metadata of the top-level column: `varchar(10)`, `array<char(3)>`.

use super::{DataType, StructField, StructType, metadata, quote_if_needed};

/// Where in a type texts have a length, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lengths {
    /// Nowhere.
    Any,
    /// `CHAR(n)`: characters, padded with spaces.
    Char(usize),
    /// `VARCHAR(n)`: characters, at most.
    VarChar(usize),
    /// In the elements of an array.
    Array(Box<Lengths>),
    /// In the keys and values of a map.
    Map(Box<Lengths>, Box<Lengths>),
    /// In fields of a struct, by their names.
    Struct(Vec<(String, Lengths)>),
}

impl Lengths {
    /// Of a top-level column.
    pub fn of(field: &StructField) -> Lengths {
        field
            .char_varchar()
            .and_then(Lengths::parse)
            .unwrap_or(Lengths::Any)
    }

    /// Reads a type as Spark prints it in a column's metadata; `None` for what is none.
    pub fn parse(text: &str) -> Option<Lengths> {
        let mut rest = text;
        let found = whole(&mut rest)?;
        rest.trim().is_empty().then_some(found)
    }

    /// Whether no text has a length.
    pub fn is_any(&self) -> bool {
        match self {
            Lengths::Any => true,
            Lengths::Char(_) | Lengths::VarChar(_) => false,
            Lengths::Array(element) => element.is_any(),
            Lengths::Map(key, value) => key.is_any() && value.is_any(),
            Lengths::Struct(fields) => fields.iter().all(|(_, lengths)| lengths.is_any()),
        }
    }

    /// Whether a text of the type has a length; what is said of fields that it does not have counts for nothing.
    fn is_in(&self, data_type: &DataType) -> bool {
        match (self, data_type) {
            (Lengths::Struct(_), DataType::Struct(inner)) => inner
                .iter()
                .any(|field| self.field(&field.name).is_in(&field.data_type)),
            (Lengths::Array(element), DataType::Array(array)) => element.is_in(&array.element_type),
            (Lengths::Map(key, value), DataType::Map(map)) => {
                key.is_in(&map.key_type) || value.is_in(&map.value_type)
            }
            _ => !self.is_any(),
        }
    }

    /// The lengths in a field of a struct.
    pub fn field(&self, name: &str) -> &Lengths {
        match self {
            Lengths::Struct(fields) => fields
                .iter()
                .find(|(field, _)| field.eq_ignore_ascii_case(name))
                .map_or(&Lengths::Any, |(_, lengths)| lengths),
            _ => &Lengths::Any,
        }
    }

    /// Sets the lengths at a path of field names, `element`, `key` and `value`. Where the path does not fit the type, nothing
    /// changes.
    pub fn set(&mut self, data_type: &DataType, path: &[String], new: Lengths) {
        let Some((step, rest)) = path.split_first() else {
            *self = new;
            return;
        };
        match data_type {
            DataType::Struct(inner) => {
                let Some(field) = inner.field(step) else {
                    return;
                };
                let mut own = self.field(step).clone();
                own.set(&field.data_type, rest, new);
                let mut fields = match std::mem::replace(self, Lengths::Any) {
                    Lengths::Struct(fields) => fields,
                    _ => Vec::new(),
                };
                fields.retain(|(name, _)| !name.eq_ignore_ascii_case(step));
                fields.push((field.name.clone(), own));
                *self = Lengths::Struct(fields);
            }
            DataType::Array(array) if step.eq_ignore_ascii_case("element") => {
                let mut own = match self {
                    Lengths::Array(element) => element.as_ref().clone(),
                    _ => Lengths::Any,
                };
                own.set(&array.element_type, rest, new);
                *self = Lengths::Array(Box::new(own));
            }
            DataType::Map(map) => {
                let (mut key, mut value) = match self {
                    Lengths::Map(key, value) => (key.as_ref().clone(), value.as_ref().clone()),
                    _ => (Lengths::Any, Lengths::Any),
                };
                match step.to_lowercase().as_str() {
                    "key" => key.set(&map.key_type, rest, new),
                    "value" => value.set(&map.value_type, rest, new),
                    _ => return,
                }
                *self = Lengths::Map(Box::new(key), Box::new(value));
            }
            _ => {}
        }
    }

    /// What is at a path of field names, `element`, `key` and `value`.
    pub fn at(&self, path: &[String]) -> &Lengths {
        let Some((step, rest)) = path.split_first() else {
            return self;
        };
        match (self, step.to_lowercase().as_str()) {
            (Lengths::Struct(_), _) => self.field(step).at(rest),
            (Lengths::Array(element), "element") => element.at(rest),
            (Lengths::Map(key, _), "key") => key.at(rest),
            (Lengths::Map(_, value), "value") => value.at(rest),
            _ => &Lengths::Any,
        }
    }

    /// The type with its lengths as Spark's catalog prints it: `struct<a:varchar(3),b:int>`.
    pub fn simple_string(&self, data_type: &DataType) -> String {
        match (self, data_type) {
            (Lengths::Char(length), _) => format!("char({length})"),
            (Lengths::VarChar(length), _) => format!("varchar({length})"),
            (Lengths::Array(element), DataType::Array(array)) => {
                format!("array<{}>", element.simple_string(&array.element_type))
            }
            (Lengths::Map(key, value), DataType::Map(map)) => format!(
                "map<{},{}>",
                key.simple_string(&map.key_type),
                value.simple_string(&map.value_type)
            ),
            (Lengths::Struct(_), DataType::Struct(inner)) => {
                let fields = inner.iter().map(|field| {
                    let own = self.field(&field.name).simple_string(&field.data_type);
                    format!("{}:{own}", field.name)
                });
                format!("struct<{}>", fields.collect::<Vec<_>>().join(","))
            }
            (_, other) => other.simple_string(),
        }
    }

    /// The type with its lengths as in SQL: `STRUCT<a: VARCHAR(3), b: INT>`.
    pub fn sql(&self, data_type: &DataType) -> String {
        match (self, data_type) {
            (Lengths::Char(_) | Lengths::VarChar(_), _) => {
                self.simple_string(data_type).to_uppercase()
            }
            (Lengths::Array(element), DataType::Array(array)) => {
                format!("ARRAY<{}>", element.sql(&array.element_type))
            }
            (Lengths::Map(key, value), DataType::Map(map)) => format!(
                "MAP<{}, {}>",
                key.sql(&map.key_type),
                value.sql(&map.value_type)
            ),
            (Lengths::Struct(_), DataType::Struct(inner)) => {
                let fields = inner.iter().map(|field| {
                    let own = self.field(&field.name).sql(&field.data_type);
                    let null = if field.nullable { "" } else { " NOT NULL" };
                    format!("{}: {own}{null}", quote_if_needed(&field.name))
                });
                format!("STRUCT<{}>", fields.collect::<Vec<_>>().join(", "))
            }
            (_, other) => other.sql(),
        }
    }
}

impl StructField {
    /// The column with these lengths in its metadata, or without any.
    #[must_use]
    pub fn with_lengths(mut self, lengths: &Lengths) -> StructField {
        self.metadata.remove(metadata::CHAR_VARCHAR_TYPE);
        if !lengths.is_in(&self.data_type) {
            return self;
        }
        let text = lengths.simple_string(&self.data_type);
        self.with_metadata(metadata::CHAR_VARCHAR_TYPE, text)
    }
}

impl StructType {
    /// Fits the texts of lengths to types that have changed: fields that are gone or new.
    pub fn refresh_lengths(&mut self) {
        for field in &mut self.fields {
            if field.char_varchar().is_some() {
                let lengths = Lengths::of(field);
                *field = field.clone().with_lengths(&lengths);
            }
        }
    }
}

/// Takes a word from the front, in any case of letters.
fn eat(rest: &mut &str, word: &str) -> bool {
    let found = rest
        .get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word));
    if found {
        *rest = &rest[word.len()..];
    }
    found
}

fn whole(rest: &mut &str) -> Option<Lengths> {
    *rest = rest.trim_start();
    if eat(rest, "array<") {
        let element = whole(rest)?;
        return eat(rest, ">").then(|| Lengths::Array(Box::new(element)));
    }
    if eat(rest, "map<") {
        let key = whole(rest)?;
        let value = if eat(rest, ",") {
            whole(rest)?
        } else {
            return None;
        };
        return eat(rest, ">").then(|| Lengths::Map(Box::new(key), Box::new(value)));
    }
    if eat(rest, "struct<") {
        let mut fields = Vec::new();
        while !eat(rest, ">") {
            let name = name(rest)?;
            fields.push((name, whole(rest)?));
            eat(rest, ",");
        }
        return Some(Lengths::Struct(fields));
    }
    for (word, kind) in [
        ("varchar(", Lengths::VarChar as fn(usize) -> Lengths),
        ("char(", Lengths::Char),
    ] {
        if eat(rest, word) {
            let (number, after) = rest.split_once(')')?;
            *rest = after;
            return Some(kind(number.trim().parse().ok()?));
        }
    }
    // Another type, which may have parentheses.
    let mut depth = 0_u32;
    let end = rest.find(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(c, ',' | '>')
    });
    let end = end.unwrap_or(rest.len());
    if end == 0 {
        return None;
    }
    *rest = &rest[end..];
    Some(Lengths::Any)
}

/// A field's name and its colon.
fn name(rest: &mut &str) -> Option<String> {
    *rest = rest.trim_start();
    if let Some(quoted) = rest.strip_prefix('`') {
        let mut name = String::new();
        let mut left = quoted;
        loop {
            let (part, after) = left.split_once('`')?;
            name.push_str(part);
            match after.strip_prefix('`') {
                Some(more) => {
                    name.push('`');
                    left = more;
                }
                None => {
                    *rest = after.trim_start().strip_prefix(':')?;
                    return Some(name);
                }
            }
        }
    }
    let (name, after) = rest.split_once(':')?;
    *rest = after;
    Some(name.trim().to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn text() -> DataType {
        DataType::String
    }

    #[test]
    fn texts_of_types_are_read_and_written() {
        let inner = StructType::new([
            StructField::nullable("x", text()),
            StructField::nullable("d", DataType::try_decimal(10, 2).unwrap()),
            StructField::nullable("l", DataType::array(text(), true)),
        ]);
        for (declared, data_type) in [
            ("varchar(10)", text()),
            ("char(3)", text()),
            ("array<varchar(3)>", DataType::array(text(), true)),
            (
                "map<char(2),array<varchar(3)>>",
                DataType::map(text(), DataType::array(text(), true), true),
            ),
            (
                "struct<x:varchar(3),d:decimal(10,2),l:array<char(1)>>",
                DataType::Struct(inner),
            ),
        ] {
            let lengths = Lengths::parse(declared).unwrap();
            assert!(!lengths.is_any(), "{declared}");
            assert_eq!(lengths.simple_string(&data_type), declared);
        }
        assert_eq!(
            Lengths::parse("struct<`a:b``c`:CHAR( 4 ),e:int>").unwrap(),
            Lengths::Struct(vec![
                ("a:b`c".to_owned(), Lengths::Char(4)),
                ("e".to_owned(), Lengths::Any)
            ])
        );
        assert!(Lengths::parse("struct<>").unwrap().is_any());
        for bad in [
            "",
            "array<",
            "array<>",
            "map<int>",
            "varchar(x)",
            "varchar(3",
            "struct<a>",
            "array<int>>",
        ] {
            assert_eq!(Lengths::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn lengths_follow_changes_of_a_struct() {
        let struct_of = |names: &[&str]| {
            DataType::Struct(StructType::new(
                names
                    .iter()
                    .map(|name| StructField::nullable(*name, text())),
            ))
        };
        let path = |steps: &[&str]| -> Vec<String> {
            steps.iter().map(|step| (*step).to_owned()).collect()
        };
        let field = StructField::nullable("s", struct_of(&["a", "b"]));
        let mut lengths = Lengths::of(&field);
        lengths.set(&field.data_type, &path(&["B"]), Lengths::VarChar(2));
        let field = field.with_lengths(&lengths);
        assert_eq!(field.char_varchar(), Some("struct<a:string,b:varchar(2)>"));
        assert_eq!(Lengths::of(&field).at(&path(&["b"])), &Lengths::VarChar(2));
        let mut schema = StructType::new([StructField {
            data_type: struct_of(&["b", "c"]),
            ..field.clone()
        }]);
        schema.refresh_lengths();
        assert_eq!(
            schema.fields[0].char_varchar(),
            Some("struct<b:varchar(2),c:string>")
        );
        schema.fields[0].data_type = struct_of(&["c"]);
        schema.refresh_lengths();
        assert_eq!(schema.fields[0].char_varchar(), None);
    }
}
