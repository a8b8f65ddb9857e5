//! Walks over schemas: leaves in order, and a change applied to every type.

use super::{ArrayType, DataType, MapType, StructField, StructType};

/// A column that is no struct: leaves are what statistics are kept for. Arrays and maps are leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// The fields from the top to the leaf itself.
    pub path: Vec<&'a StructField>,
}

impl<'a> Leaf<'a> {
    /// The leaf's own field; `None` never happens for leaves that [`StructType::leaves`] made.
    pub fn field(&self) -> Option<&'a StructField> {
        self.path.last().copied()
    }

    /// Logical names from the top.
    pub fn names(&self) -> Vec<&'a str> {
        self.path.iter().map(|field| field.name.as_str()).collect()
    }

    /// Physical names from the top.
    pub fn physical_names(&self) -> Vec<&'a str> {
        self.path
            .iter()
            .map(|field| field.physical_name())
            .collect()
    }
}

impl StructType {
    /// The leaves in schema order, structs opened, arrays and maps not.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        let mut out = Vec::new();
        let mut path = Vec::new();
        collect(self, &mut path, &mut out);
        out
    }

    /// Applies `change` to every type of the schema, the inner ones first.
    pub fn map_types(&self, change: &impl Fn(DataType) -> DataType) -> StructType {
        let field = |field: &StructField| StructField {
            data_type: field.data_type.map_types(change),
            ..field.clone()
        };
        StructType {
            fields: self.fields.iter().map(field).collect(),
        }
    }

    /// Whether any type of the schema, at any depth, is so.
    pub fn any_type(&self, test: &impl Fn(&DataType) -> bool) -> bool {
        self.fields.iter().any(|field| field.data_type.any(test))
    }

    /// Calls `visit` for every field at every depth, also inside arrays and maps, parents first.
    pub fn for_each_field<'a>(&'a self, visit: &mut impl FnMut(&'a StructField)) {
        for field in &self.fields {
            visit(field);
            field.data_type.for_each_field(visit);
        }
    }

    /// Calls `edit` on every field, those inside structs, arrays and maps too, parents first.
    pub fn for_each_field_mut(&mut self, edit: &mut impl FnMut(&mut StructField)) {
        for field in &mut self.fields {
            edit(field);
            field.data_type.for_each_field_mut(edit);
        }
    }

    /// The same with every field, element and value nullable.
    pub fn as_nullable(&self) -> StructType {
        let fields = self.fields.iter().map(|field| StructField {
            nullable: true,
            data_type: field.data_type.as_nullable(),
            ..field.clone()
        });
        StructType {
            fields: fields.collect(),
        }
    }

    /// The field at a path of names, upper and lower case being the same; `element`, `key` and `value` are not steps.
    pub fn field_at<'a>(&'a self, path: &[impl AsRef<str>]) -> Option<&'a StructField> {
        let (first, rest) = path.split_first()?;
        let field = self.field(first.as_ref())?;
        match (rest, &field.data_type) {
            ([], _) => Some(field),
            (rest, DataType::Struct(inner)) => inner.field_at(rest),
            _ => None,
        }
    }
}

fn collect<'a>(schema: &'a StructType, path: &mut Vec<&'a StructField>, out: &mut Vec<Leaf<'a>>) {
    for field in &schema.fields {
        path.push(field);
        match &field.data_type {
            DataType::Struct(inner) => collect(inner, path, out),
            _ => out.push(Leaf { path: path.clone() }),
        }
        path.pop();
    }
}

impl DataType {
    /// Applies `change` to this type and every type in it, the inner ones first.
    pub fn map_types(&self, change: &impl Fn(DataType) -> DataType) -> DataType {
        let inner = match self {
            DataType::Struct(fields) => DataType::Struct(fields.map_types(change)),
            DataType::Array(array) => DataType::Array(Box::new(ArrayType {
                element_type: array.element_type.map_types(change),
                contains_null: array.contains_null,
            })),
            DataType::Map(map) => DataType::Map(Box::new(MapType {
                key_type: map.key_type.map_types(change),
                value_type: map.value_type.map_types(change),
                value_contains_null: map.value_contains_null,
            })),
            primitive => primitive.clone(),
        };
        change(inner)
    }

    /// Whether this type, or one in it, is so.
    pub fn any(&self, test: &impl Fn(&DataType) -> bool) -> bool {
        test(self)
            || match self {
                DataType::Struct(fields) => fields.any_type(test),
                DataType::Array(array) => array.element_type.any(test),
                DataType::Map(map) => map.key_type.any(test) || map.value_type.any(test),
                _ => false,
            }
    }

    fn for_each_field<'a>(&'a self, visit: &mut impl FnMut(&'a StructField)) {
        match self {
            DataType::Struct(fields) => fields.for_each_field(visit),
            DataType::Array(array) => array.element_type.for_each_field(visit),
            DataType::Map(map) => {
                map.key_type.for_each_field(visit);
                map.value_type.for_each_field(visit);
            }
            _ => {}
        }
    }

    fn for_each_field_mut(&mut self, edit: &mut impl FnMut(&mut StructField)) {
        match self {
            DataType::Struct(fields) => fields.for_each_field_mut(edit),
            DataType::Array(array) => array.element_type.for_each_field_mut(edit),
            DataType::Map(map) => {
                map.key_type.for_each_field_mut(edit);
                map.value_type.for_each_field_mut(edit);
            }
            _ => {}
        }
    }

    /// The same with everything in it nullable.
    pub fn as_nullable(&self) -> DataType {
        match self {
            DataType::Struct(fields) => DataType::Struct(fields.as_nullable()),
            DataType::Array(array) => DataType::array(array.element_type.as_nullable(), true),
            DataType::Map(map) => DataType::map(
                map.key_type.as_nullable(),
                map.value_type.as_nullable(),
                true,
            ),
            primitive => primitive.clone(),
        }
    }
}
