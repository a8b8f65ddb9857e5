//! SHOW.

use super::create::SCHEMA_WORDS;
use super::{Follow, Parsed, Parser};
use crate::ast::{
    Name, ShowCatalogs, ShowColumns, ShowCreateTable, ShowFunctions, ShowPartitions, ShowSchemas,
    ShowTableExtended, ShowTables, ShowTblProperties, Statement,
};
use crate::lexer::Kind;

impl Parser<'_> {
    pub fn show(&mut self) -> Parsed<Statement> {
        self.at += 1;
        let word = self.peek().value.to_ascii_uppercase();
        let at = self.at;
        self.at += 1;
        match word.as_str() {
            "TABLES" => Ok(Statement::ShowTables(self.listed()?)),
            "VIEWS" => Ok(Statement::ShowViews(self.listed()?)),
            "TABLE" => self.show_table_extended(),
            "SCHEMAS" | "DATABASES" | "NAMESPACES" => {
                let ShowTables {
                    schema: catalog,
                    pattern,
                } = self.listed()?;
                Ok(Statement::ShowSchemas(ShowSchemas { catalog, pattern }))
            }
            "CATALOGS" => Ok(Statement::ShowCatalogs(ShowCatalogs {
                pattern: self.like_pattern()?,
            })),
            "COLUMNS" => {
                self.expect_any(&["FROM", "IN"])?;
                let table = self.name()?;
                Ok(Statement::ShowColumns(ShowColumns {
                    table,
                    schema: self.in_schema()?,
                }))
            }
            "TBLPROPERTIES" => {
                let table = self.name_or_path()?;
                let key = if self.eat_symbol("(") {
                    let key = self.property_key()?;
                    self.expect_symbol(")", Follow::Other)?;
                    Some(key)
                } else {
                    None
                };
                Ok(Statement::ShowTblProperties(ShowTblProperties {
                    table,
                    key,
                }))
            }
            "CREATE" => {
                self.expect("TABLE", Follow::Name)?;
                let table = self.name()?;
                let as_serde = self.eat("AS");
                if as_serde {
                    self.expect("SERDE", Follow::Other)?;
                }
                Ok(Statement::ShowCreateTable(ShowCreateTable {
                    table,
                    as_serde,
                }))
            }
            "PARTITIONS" => {
                let table = self.name()?;
                Ok(Statement::ShowPartitions(ShowPartitions {
                    table,
                    partition: self.partition_spec()?,
                }))
            }
            "CURRENT" => {
                self.expect_any(&SCHEMA_WORDS)?;
                Ok(Statement::ShowCurrentNamespace)
            }
            "FUNCTIONS" => self.show_functions(None),
            "USER" | "SYSTEM" | "ALL" if self.is("FUNCTIONS") => {
                self.at += 1;
                self.show_functions(Some(word))
            }
            _ => Err(self.stop_at(at)),
        }
    }

    /// `[(FROM | IN) schema] [[LIKE] 'pattern']`
    fn listed(&mut self) -> Parsed<ShowTables> {
        let schema = self.in_schema()?;
        Ok(ShowTables {
            schema,
            pattern: self.like_pattern()?,
        })
    }

    fn in_schema(&mut self) -> Parsed<Option<Name>> {
        if self.eat_any(&["FROM", "IN"]).is_some() {
            Ok(Some(self.name()?))
        } else {
            Ok(None)
        }
    }

    fn show_table_extended(&mut self) -> Parsed<Statement> {
        self.expect("EXTENDED", Follow::Other)?;
        let schema = self.in_schema()?;
        self.expect("LIKE", Follow::Text)?;
        let pattern = self.string()?;
        Ok(Statement::ShowTableExtended(ShowTableExtended {
            schema,
            pattern,
            partition: self.partition_spec()?,
        }))
    }

    fn show_functions(&mut self, scope: Option<String>) -> Parsed<Statement> {
        let schema = self.in_schema()?;
        let like = self.eat("LIKE");
        let pattern = if self.peek().kind == Kind::Text {
            Some(self.string()?)
        } else if like || self.ident_of(self.peek()).is_some() {
            Some(
                self.parts()?
                    .into_iter()
                    .map(|part| part.value)
                    .collect::<Vec<_>>()
                    .join("."),
            )
        } else {
            None
        };
        Ok(Statement::ShowFunctions(ShowFunctions {
            scope,
            schema,
            pattern,
        }))
    }
}
