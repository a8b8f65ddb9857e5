//! What names an expression can use: the columns of its input, found as Spark finds them, and the suggestions where a
//! name is not among them.

use std::sync::Arc;

use datafusion::common::Column;
use deltaic_protocol::schema::{DataType, StructField, StructType, metadata};
use deltaic_protocol::{DeltaError, Result};

use crate::error::{backticked, quote_if_needed};
use crate::kernels::strings::distance;
use crate::node::{Attr, Node};

/// A column of an input.
#[derive(Clone, Debug)]
pub struct ScopeColumn {
    /// Its identity.
    pub attr: Attr,
    /// Its type.
    pub ty: DataType,
    /// Can it be NULL?
    pub nullable: bool,
    /// Names that may stand in front of it, outermost first.
    pub qualifier: Arc<[String]>,
    /// Found only with a qualifier: the other side of a USING column.
    pub hidden: bool,
}

/// The columns of an input, in order.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// All of them, hidden ones too.
    pub columns: Vec<ScopeColumn>,
    /// What the tables tell of their rows beside the columns, as `_metadata`: no star takes it, and a column of its name
    /// goes before it.
    pub metadata: Vec<ScopeColumn>,
}

/// `n` of a column that was declared as CHAR(n).
pub fn char_length(field: &StructField) -> Option<usize> {
    let declared = field.metadata.get(metadata::CHAR_VARCHAR_TYPE)?.as_str()?;
    declared
        .strip_prefix("char(")?
        .strip_suffix(')')?
        .parse()
        .ok()
}

impl ScopeColumn {
    /// The column as an expression, spelled as `name`.
    pub fn node(&self, name: &str) -> Node {
        let attr = Attr {
            name: name.to_owned(),
            ..self.attr.clone()
        };
        Node::attr(attr, self.ty.clone(), self.nullable)
    }

    /// All names of the column, qualifier and all.
    fn path(&self) -> Vec<String> {
        self.qualifier
            .iter()
            .cloned()
            .chain([self.attr.name.clone()])
            .collect()
    }
}

impl Scope {
    /// The columns of one table, as the predicates and assignments of DELETE, UPDATE and constraints see them. DataFusion
    /// finds them by their bare names.
    pub fn table(schema: &StructType, qualifier: &[String], alias: Option<&str>) -> Self {
        let qualifier: Arc<[String]> = match alias {
            Some(alias) => [alias.to_owned()].into(),
            None => qualifier.into(),
        };
        let columns = schema
            .fields
            .iter()
            .enumerate()
            .map(|(n, f)| ScopeColumn {
                attr: Attr {
                    id: n as u32 + 1,
                    name: f.name.clone(),
                    column: Column::new_unqualified(f.name.clone()),
                    origin: Some(f.name.as_str().into()),
                    char_length: char_length(f),
                },
                ty: f.data_type.clone(),
                nullable: f.nullable,
                qualifier: Arc::clone(&qualifier),
                hidden: false,
            })
            .collect();
        Self::of(columns)
    }

    /// A scope of columns alone.
    pub fn of(columns: Vec<ScopeColumn>) -> Self {
        Self {
            columns,
            metadata: Vec::new(),
        }
    }

    /// The columns of both, in order.
    pub fn extend(&mut self, other: Scope) {
        self.columns.extend(other.columns);
        self.metadata.extend(other.metadata);
    }

    /// Everything that the rows have.
    pub fn all(&self) -> impl Iterator<Item = &ScopeColumn> {
        self.columns.iter().chain(&self.metadata)
    }

    /// Columns that a bare name or a star sees.
    pub fn visible(&self) -> impl Iterator<Item = &ScopeColumn> {
        self.columns.iter().filter(|c| !c.hidden)
    }

    /// The column that `parts` begins with, and how many of the parts name it; the rest are fields inside.
    ///
    /// Errors: `AMBIGUOUS_REFERENCE`.
    pub fn find(
        &self,
        parts: &[&str],
        case_sensitive: bool,
    ) -> Result<Option<(&ScopeColumn, usize)>> {
        match find(&self.columns, parts, case_sensitive)? {
            None => find(&self.metadata, parts, case_sensitive),
            found => Ok(found),
        }
    }

    /// Columns under a star with these names in front; None where no qualifier fits.
    pub fn under(&self, parts: &[&str], case_sensitive: bool) -> Option<Vec<&ScopeColumn>> {
        let same = |a: &str, b: &str| {
            if case_sensitive {
                a == b
            } else {
                a.to_lowercase() == b.to_lowercase()
            }
        };
        let found: Vec<&ScopeColumn> = self
            .columns
            .iter()
            .filter(|c| {
                let skip = c.qualifier.len().wrapping_sub(parts.len());
                skip <= c.qualifier.len()
                    && c.qualifier[skip..]
                        .iter()
                        .zip(parts)
                        .all(|(q, p)| same(q, p))
            })
            .collect();
        (!found.is_empty()).then_some(found)
    }

    /// The error of a name that is none of these columns.
    pub fn unresolved(&self, parts: &[&str]) -> DeltaError {
        let name = backticked(parts);
        let proposals = self.suggestions(parts);
        if proposals.is_empty() {
            return DeltaError::new("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION")
                .param("objectName", name);
        }
        DeltaError::new("UNRESOLVED_COLUMN.WITH_SUGGESTION")
            .param("objectName", name)
            .param("proposal", proposals.join(", "))
    }

    /// The error of a column list that names a column which the table lacks: all its columns, in their order.
    pub fn unknown_column(schema: &deltaic_protocol::schema::StructType, name: &str) -> DeltaError {
        let proposal: Vec<String> = schema
            .iter()
            .map(|field| backticked(&[&field.name]))
            .collect();
        DeltaError::new("UNRESOLVED_COLUMN.WITH_SUGGESTION")
            .param("objectName", backticked(&[name]))
            .param("proposal", proposal.join(", "))
    }

    /// Up to five columns, the most similar first.
    fn suggestions(&self, parts: &[&str]) -> Vec<String> {
        let base = parts
            .iter()
            .map(|p| quote_if_needed(p))
            .collect::<Vec<_>>()
            .join(".");
        let mut paths: Vec<Vec<String>> = self.columns.iter().map(ScopeColumn::path).collect();
        paths.sort_by(|a, b| a.last().cmp(&b.last()));
        // Qualifiers that all columns share say nothing.
        for keep in parts.len()..=3 {
            let fronts: std::collections::HashSet<&[String]> = paths
                .iter()
                .map(|p| &p[..p.len().saturating_sub(keep)])
                .collect();
            if fronts.len() == 1 {
                for p in &mut paths {
                    p.drain(..p.len().saturating_sub(keep));
                }
                break;
            }
        }
        let mut names: Vec<String> = paths.iter().map(|p| backticked(p)).collect();
        names.sort_by_key(|n| distance(n, &base));
        names.truncate(5);
        names
    }
}

/// The column among these that `parts` begins with, and how many of the parts name it.
fn find<'a>(
    columns: &'a [ScopeColumn],
    parts: &[&str],
    case_sensitive: bool,
) -> Result<Option<(&'a ScopeColumn, usize)>> {
    let same = |a: &str, b: &str| {
        if case_sensitive {
            a == b
        } else {
            a.to_lowercase() == b.to_lowercase()
        }
    };
    for width in (0..parts.len().min(4)).rev() {
        let (front, name) = (&parts[..width], parts[width]);
        let mut found: Vec<&ScopeColumn> = Vec::new();
        for c in columns {
            let skip = c.qualifier.len().wrapping_sub(width);
            let fits = same(&c.attr.name, name)
                && (width > 0 || !c.hidden)
                && skip <= c.qualifier.len()
                && c.qualifier[skip..]
                    .iter()
                    .zip(front)
                    .all(|(q, p)| same(q, p));
            if fits && !found.iter().any(|f| f.attr == c.attr) {
                found.push(c);
            }
        }
        match found.as_slice() {
            [] => {}
            [one] => return Ok(Some((one, width + 1))),
            many => {
                // The columns' qualifiers, but the name as the statement spells it.
                let spelt = |c: &&ScopeColumn| {
                    let mut path = c.path();
                    if let Some(last) = path.last_mut() {
                        name.clone_into(last);
                    }
                    backticked(&path)
                };
                let names: Vec<String> = many.iter().map(spelt).collect();
                return Err(DeltaError::new("AMBIGUOUS_REFERENCE")
                    .param("name", backticked(&parts[..=width]))
                    .param("referenceNames", format!("[{}]", names.join(", "))));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use deltaic_protocol::schema::StructField;

    use super::*;

    fn scope() -> Scope {
        let fields = ["id", "v", "p"].map(|n| StructField::nullable(n, DataType::Long));
        Scope::table(
            &StructType::new(fields),
            &["spark_catalog".into(), "default".into(), "t".into()],
            None,
        )
    }

    #[test]
    fn names_are_found_with_and_without_qualifiers_in_any_case() {
        let s = scope();
        for parts in [
            &["ID"][..],
            &["t", "id"],
            &["default", "t", "id"],
            &["spark_catalog", "default", "T", "Id"],
        ] {
            let (column, used) = s.find(parts, false).unwrap().unwrap();
            assert_eq!((column.attr.id, used), (1, parts.len()));
        }
        assert!(s.find(&["x", "id"], false).unwrap().is_none());
    }

    #[test]
    fn suggestions_come_by_similarity_then_by_name() {
        let e = scope().unresolved(&["nothing"]);
        assert!(e.text().ends_with("[`id`, `p`, `v`]."), "{}", e.text());
        let e = scope().unresolved(&["t", "nothing"]);
        assert!(
            e.text().contains("`t`.`nothing`") && e.text().contains("[`t`.`id`, `t`.`p`, `t`.`v`]"),
            "{}",
            e.text()
        );
    }

    #[test]
    fn a_name_in_two_relations_is_ambiguous() {
        let mut s = scope();
        let mut other = scope();
        for c in &mut other.columns {
            c.attr.id += 10;
            c.qualifier = ["u".to_owned()].into();
        }
        s.columns.extend(other.columns);
        let e = s.find(&["id"], false).unwrap_err();
        assert_eq!(e.class(), Some("AMBIGUOUS_REFERENCE"));
        assert!(
            e.text()
                .contains("[`spark_catalog`.`default`.`t`.`id`, `u`.`id`]"),
            "{}",
            e.text()
        );
        assert_eq!(s.find(&["u", "id"], false).unwrap().unwrap().0.attr.id, 11);
    }
}
