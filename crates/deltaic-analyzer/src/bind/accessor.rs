//! What stands behind an expression: `.field` and `[index]`.

use std::sync::Arc;

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use crate::binder::Binder;
use crate::error::quoted;
use crate::function::call::{Call, Nulls, cast, implicit};
use crate::kernel::Env;
use crate::kernels::{arrays, collections, misc};
use crate::names::{pretty, quoted_sql};
use crate::node::{Imp, Kind, Node, Shown};
use crate::types::{array_of, shown};

impl Binder<'_> {
    /// `base.name`: a field of a struct, the same field of every struct in an array, a key of a map.
    pub fn field(&self, base: Node, name: &str) -> Result<Node> {
        let same = |a: &str| {
            if self.options.case_sensitive {
                a == name
            } else {
                a.to_lowercase() == name.to_lowercase()
            }
        };
        match base.ty.clone() {
            DataType::Struct(s) => {
                let found: Vec<usize> = (0..s.fields.len())
                    .filter(|n| same(&s.fields[*n].name))
                    .collect();
                match found.as_slice() {
                    [ordinal] => {
                        let f = &s.fields[*ordinal];
                        let (ty, nullable) = (f.data_type.clone(), f.nullable || base.nullable);
                        // The column is named as the statement spells it, the field found as the type does.
                        let kind = Kind::Field {
                            base: Box::new(base),
                            ordinal: *ordinal,
                            name: f.name.clone(),
                        };
                        Ok(Node::new(kind, ty, nullable))
                    }
                    [] => {
                        let names: Vec<String> =
                            s.fields.iter().map(|f| format!("`{}`", f.name)).collect();
                        Err(DeltaError::new("FIELD_NOT_FOUND")
                            .param("fieldName", format!("`{name}`"))
                            .param("fields", names.join(", ")))
                    }
                    many => Err(DeltaError::new("AMBIGUOUS_REFERENCE_TO_FIELDS")
                        .param("field", format!("`{name}`"))
                        .param("count", many.len())),
                }
            }
            DataType::Array(a) => match &a.element_type {
                DataType::Struct(_) => {
                    let item = Node::new(Kind::Default, a.element_type.clone(), a.contains_null);
                    let found = self.field(item, name)?;
                    let Kind::Field { ordinal, name, .. } = found.kind else {
                        return Err(crate::error::internal("a field that is none"));
                    };
                    let env = Arc::new(Env {
                        salt: ordinal as u64,
                        ..self.env.as_ref().clone()
                    });
                    let imp = Imp::Kernel {
                        name: "array_field",
                        run: misc::array_field,
                        fallible: false,
                        volatile: false,
                        env,
                    };
                    let printed =
                        Shown::Text(format!("{}.{name}", pretty(&base, self.options.zone)));
                    let nullable = base.nullable;
                    let ty = array_of(found.ty, found.nullable);
                    Ok(Node::new(
                        Kind::Call {
                            shown: printed,
                            args: vec![base],
                            imp,
                        },
                        ty,
                        nullable,
                    ))
                }
                _ => Err(self.not_complex(&base)),
            },
            DataType::Map(m) if m.key_type == DataType::String => {
                self.item(base, Node::string(name))
            }
            _ => Err(self.not_complex(&base)),
        }
    }

    fn not_complex(&self, base: &Node) -> DeltaError {
        DeltaError::new("INVALID_EXTRACT_BASE_FIELD_TYPE")
            .param("base", quoted_sql(base, self.options.zone))
            .param("other", shown(&base.ty))
    }

    /// `base[index]`: an element of an array from 0, or the value of a key.
    pub fn item(&self, base: Node, index: Node) -> Result<Node> {
        let template = Shown::Template("{0}[{1}]");
        match base.ty.clone() {
            DataType::Array(a) => {
                let index = match implicit(index, &DataType::Integer, &self.env) {
                    Ok(n) => n,
                    Err(n) => return Err(self.unexpected(&base, &n, "\"INTEGRAL\"")),
                };
                let call = self.call("array_item", vec![base, index]);
                let node = call.salted(
                    "array_item",
                    arrays::item,
                    0,
                    a.element_type.clone(),
                    Nulls::Always,
                    true,
                );
                Ok(crate::function::call::shown_as(node, template))
            }
            DataType::Map(m) => {
                let key = match implicit(index, &m.key_type, &self.env) {
                    Ok(n) => n,
                    Err(n) => return Err(self.unexpected(&base, &n, &shown(&m.key_type))),
                };
                let call = self.call("map_value", vec![base, cast(key, &m.key_type, &self.env)]);
                let node = call.kernel(
                    "map_value",
                    collections::value,
                    m.value_type.clone(),
                    Nulls::Always,
                );
                Ok(crate::function::call::shown_as(node, template))
            }
            DataType::Struct(_) => match index.as_str() {
                Some(name) => self.field(base, name),
                None => Err(self.not_complex(&base)),
            },
            _ => Err(self.not_complex(&base)),
        }
    }

    fn unexpected(&self, base: &Node, index: &Node, wanted: &str) -> DeltaError {
        let zone = self.options.zone;
        DeltaError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
            .param(
                "sqlExpr",
                quoted(format!("{}[{}]", pretty(base, zone), pretty(index, zone))),
            )
            .param("paramIndex", "second")
            .param("requiredType", wanted)
            .param("inputSql", quoted_sql(index, zone))
            .param("inputType", shown(&index.ty))
    }

    /// A call of the session.
    pub fn call<'n>(&'n self, name: &'n str, args: Vec<Node>) -> Call<'n> {
        Call {
            name,
            args,
            env: Arc::clone(&self.env),
            options: self.options,
            serial: self.fresh(),
        }
    }
}
