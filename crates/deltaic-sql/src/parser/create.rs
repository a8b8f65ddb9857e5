//! CREATE and REPLACE of tables, views, schemas and catalogs.

use deltaic_protocol::error::DeltaError;

use super::{Follow, Parsed, Parser};
use crate::ast::{
    ColumnPath, CreateCatalog, CreateMode, CreateSchema, CreateSource, CreateTable, CreateView,
    Name, PartitionField, Statement, ViewBody, ViewKind,
};

pub(super) const SCHEMA_WORDS: [&str; 3] = ["SCHEMA", "DATABASE", "NAMESPACE"];

impl Parser<'_> {
    /// What follows CREATE.
    pub fn create(&mut self) -> Parsed<Statement> {
        self.at += 1;
        let replace = self.eat_seq(&["OR", "REPLACE"]);
        if self.is("TABLE")
            || self.is_seq(&["EXTERNAL", "TABLE"])
            || self.is_seq(&["TEMPORARY", "TABLE"])
        {
            return self.create_table(replace);
        }
        if self.is("VIEW") || self.is_any(&["TEMPORARY", "TEMP", "GLOBAL"]) {
            return self.create_view(replace);
        }
        if !replace && self.is_any(&SCHEMA_WORDS) {
            self.at += 1;
            return self.create_schema();
        }
        if !replace && self.eat("CATALOG") {
            return self.create_catalog();
        }
        if self.is_any(&["FUNCTION", "INDEX", "VARIABLE", "METRIC"]) {
            let what = format!("CREATE {}", self.peek().value.to_ascii_uppercase());
            return self.unsupported(&what);
        }
        self.fail()
    }

    /// `REPLACE TABLE`.
    pub fn replace(&mut self) -> Parsed<Statement> {
        self.at += 1;
        self.expect("TABLE", Follow::Name)?;
        self.at -= 1;
        let table = self.table_header(CreateMode::Replace)?;
        Ok(Statement::CreateTable(Box::new(table)))
    }

    fn create_table(&mut self, replace: bool) -> Parsed<Statement> {
        let mode = if replace {
            CreateMode::CreateOrReplace
        } else {
            CreateMode::Create
        };
        let table = self.table_header(mode)?;
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// From EXTERNAL, TEMPORARY or TABLE on.
    fn table_header(&mut self, mut mode: CreateMode) -> Parsed<CreateTable> {
        let external = self.eat("EXTERNAL");
        let temporary = self.eat("TEMPORARY");
        self.expect("TABLE", Follow::Name)?;
        if self.if_not_exists()? {
            if mode != CreateMode::Create {
                return Err(self.stop_at(self.at - 2));
            }
            mode = CreateMode::CreateIfNotExists;
        }
        let name = self.name()?;
        let mut table = CreateTable {
            mode,
            external,
            name,
            columns: None,
            constraints: Vec::new(),
            using: None,
            partitioned_by: Vec::new(),
            cluster_by: None,
            comment: None,
            location: None,
            properties: Vec::new(),
            options: Vec::new(),
            source: CreateSource::Columns,
        };
        if self.is("SHALLOW") && self.peek_at(1).is("CLONE") {
            // Delta's own grammar, tried first: where it does not match, Spark's knows no SHALLOW.
            let at = self.at;
            return self
                .attempt(|p| p.clone_clauses(table))
                .map_err(|_| self.stop_at(at));
        }
        if self.eat("LIKE") {
            table.source = CreateSource::Like(self.name()?);
            self.table_clauses(&mut table)?;
            return Ok(table);
        }
        if self.is_symbol("(") && !self.query_begins_at(1) {
            let (columns, constraints) = self.table_elements()?;
            table.columns = Some(columns);
            table.constraints = constraints;
        }
        self.table_clauses(&mut table)?;
        if self.eat("AS") || self.query_begins() {
            table.source = CreateSource::Query(Box::new(self.query()?));
        }
        self.check_table(&table, temporary);
        Ok(table)
    }

    fn clone_clauses(&mut self, mut table: CreateTable) -> Parsed<CreateTable> {
        self.at += 2;
        let source = self.name()?;
        let suffix = self.at_suffix();
        let travel = self.temporal()?.or(suffix);
        table.source = CreateSource::ShallowClone { source, travel };
        if self.eat("TBLPROPERTIES") {
            table.properties = self.properties()?;
        }
        if self.eat("LOCATION") {
            table.location = Some(self.string_or_parameter()?);
        }
        self.expect_end()?;
        Ok(table)
    }

    /// USING, PARTITIONED BY and the others, in any order, each once.
    fn table_clauses(&mut self, table: &mut CreateTable) -> Parsed<()> {
        let mut seen: Vec<&'static str> = Vec::new();
        let mut partitioned_at = None;
        loop {
            let from = self.at;
            let clause = if self.eat("USING") {
                table.using = Some(
                    self.parts()?
                        .iter()
                        .map(|part| part.value.as_str())
                        .collect::<Vec<_>>()
                        .join("."),
                );
                "USING"
            } else if self.eat_seq(&["PARTITIONED", "BY"]) {
                partitioned_at = Some(from);
                table.partitioned_by = self.parenthesized(Self::partition_field)?;
                "PARTITIONED BY"
            } else if self.is("CLUSTER") && self.peek_at(1).is("BY") {
                self.at += 2;
                table.cluster_by = Some(self.cluster_columns()?);
                if partitioned_at.is_some() {
                    self.clustered_and_partitioned(from);
                }
                "CLUSTER BY"
            } else if self.is("COMMENT") {
                table.comment = self.comment()?;
                "COMMENT"
            } else if self.eat("LOCATION") {
                table.location = Some(self.string_or_parameter()?);
                "LOCATION"
            } else if self.eat("TBLPROPERTIES") {
                table.properties = self.properties()?;
                "TBLPROPERTIES"
            } else if self.eat("OPTIONS") {
                table.options = self.properties()?;
                "OPTIONS"
            } else {
                return Ok(());
            };
            if seen.contains(&clause) {
                let error = DeltaError::new("DUPLICATE_CLAUSES").param("clauseName", clause);
                self.late(error);
            }
            seen.push(clause);
        }
    }

    fn clustered_and_partitioned(&mut self, cluster_at: usize) {
        let message = "Clustering and partitioning cannot both be specified. Please remove PARTITIONED BY if you want to create a Delta \
                       table with clustering";
        let error = self
            .error_at("_LEGACY_ERROR_TEMP_0035", cluster_at)
            .param("message", message);
        self.late(error);
    }

    fn check_table(&mut self, table: &CreateTable, temporary: bool) {
        let select = matches!(table.source, CreateSource::Query(_));
        let typed = table
            .partitioned_by
            .iter()
            .any(|field| matches!(field, PartitionField::Column(_)));
        let replaces = matches!(
            table.mode,
            CreateMode::Replace | CreateMode::CreateOrReplace
        );
        let statement = if replaces {
            "Replace Table As Select (RTAS)"
        } else {
            "Create Table As Select (CTAS)"
        };
        if temporary {
            let message =
                "CREATE TEMPORARY TABLE ... USING ... , use CREATE TEMPORARY VIEW instead";
            self.not_allowed(message);
        } else if select && table.columns.is_some() {
            self.not_allowed(format!(
                "Schema may not be specified in a {statement} statement"
            ));
        } else if select && typed {
            self.not_allowed(format!(
                "Partition column types may not be specified in {statement}"
            ));
        }
    }

    fn partition_field(&mut self) -> Parsed<PartitionField> {
        if self.peek_at(1).is_symbol("(") {
            return Ok(PartitionField::Transform(self.primary()?));
        }
        let path = self.parts()?;
        if self.is_symbol(",") || self.is_symbol(")") {
            return Ok(PartitionField::Name(path));
        }
        Ok(PartitionField::Column(self.column(path, false)?))
    }

    /// `(a, b.c)`; empty for NONE.
    pub fn cluster_columns(&mut self) -> Parsed<Vec<ColumnPath>> {
        if self.eat("NONE") {
            return Ok(Vec::new());
        }
        self.parenthesized(Self::column_path)
    }

    fn create_view(&mut self, replace: bool) -> Parsed<Statement> {
        let global = self.eat("GLOBAL");
        let temporary = self.eat_any(&["TEMPORARY", "TEMP"]).is_some();
        if global && !temporary {
            return self.fail();
        }
        let kind = match (global, temporary) {
            (true, _) => ViewKind::GlobalTemporary,
            (false, true) => ViewKind::Temporary,
            (false, false) => ViewKind::Permanent,
        };
        if temporary && self.is("FUNCTION") {
            return self.unsupported("CREATE FUNCTION");
        }
        self.expect("VIEW", Follow::Name)?;
        let if_not_exists = self.if_not_exists()?;
        let mode = match (replace, if_not_exists) {
            (true, _) => CreateMode::CreateOrReplace,
            (false, true) => CreateMode::CreateIfNotExists,
            (false, false) => CreateMode::Create,
        };
        let name = self.name()?;
        self.check_view(&name, kind, replace, if_not_exists);
        if temporary && (self.is("USING") || self.is_symbol("(")) {
            let using = self.attempt(|p| p.view_using(&name, mode, kind));
            if let Ok(view) = using {
                return Ok(Statement::CreateView(Box::new(view)));
            }
        }
        let columns = if self.is_symbol("(") {
            self.parenthesized(|p| Ok((p.ident()?, p.comment()?)))?
        } else {
            Vec::new()
        };
        let mut comment = None;
        let mut properties = Vec::new();
        loop {
            if self.is("COMMENT") {
                comment = self.comment()?;
            } else if self.eat("TBLPROPERTIES") {
                properties = self.properties()?;
            } else {
                break;
            }
        }
        self.expect("AS", Follow::Other)?;
        let from = self.at;
        let query = Box::new(self.query()?);
        let body = ViewBody::Query {
            query,
            text: self.text_from(from).to_owned(),
        };
        Ok(Statement::CreateView(Box::new(CreateView {
            mode,
            kind,
            name,
            columns,
            comment,
            properties,
            body,
        })))
    }

    fn check_view(&mut self, name: &Name, kind: ViewKind, replace: bool, if_not_exists: bool) {
        if replace && if_not_exists {
            self.not_allowed("CREATE VIEW with both IF NOT EXISTS and REPLACE is not allowed");
        } else if kind != ViewKind::Permanent && if_not_exists {
            self.not_allowed("It is not allowed to define a TEMPORARY view with IF NOT EXISTS");
        } else if let (Name::Parts(parts), true) = (name, kind != ViewKind::Permanent)
            && parts.len() > 1
        {
            let dotted = parts
                .iter()
                .map(|part| format!("`{}`", part.value))
                .collect::<Vec<_>>()
                .join(".");
            let error =
                DeltaError::new("TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS").param("actualName", dotted);
            self.late(error);
        }
    }

    fn view_using(&mut self, name: &Name, mode: CreateMode, kind: ViewKind) -> Parsed<CreateView> {
        let columns = if self.is_symbol("(") {
            Some(self.table_elements()?.0)
        } else {
            None
        };
        self.expect("USING", Follow::Name)?;
        let source = self
            .parts()?
            .iter()
            .map(|part| part.value.as_str())
            .collect::<Vec<_>>()
            .join(".");
        let options = if self.eat("OPTIONS") {
            self.properties()?
        } else {
            Vec::new()
        };
        let body = ViewBody::Using {
            source,
            columns,
            options,
        };
        Ok(CreateView {
            mode,
            kind,
            name: name.clone(),
            columns: Vec::new(),
            comment: None,
            properties: Vec::new(),
            body,
        })
    }

    fn create_schema(&mut self) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let mut schema = CreateSchema {
            if_not_exists,
            name: self.name()?,
            comment: None,
            location: None,
            properties: Vec::new(),
        };
        loop {
            if self.is("COMMENT") {
                schema.comment = self.comment()?;
            } else if self.eat("MANAGED") {
                self.expect("LOCATION", Follow::Text)?;
                schema.location = Some(self.string_or_parameter()?);
            } else if self.eat("LOCATION") {
                schema.location = Some(self.string_or_parameter()?);
            } else if self.is_any(&["WITH", "DBPROPERTIES", "PROPERTIES"]) {
                self.eat("WITH");
                self.expect_any(&["DBPROPERTIES", "PROPERTIES"])?;
                schema.properties = self.properties()?;
            } else {
                return Ok(Statement::CreateSchema(Box::new(schema)));
            }
        }
    }

    fn create_catalog(&mut self) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let mut catalog = CreateCatalog {
            if_not_exists,
            name: self.name()?,
            comment: None,
            location: None,
            properties: Vec::new(),
        };
        loop {
            if self.is("COMMENT") {
                catalog.comment = self.comment()?;
            } else if self.eat_seq(&["MANAGED", "LOCATION"]) {
                catalog.location = Some(self.string_or_parameter()?);
            } else if self.eat("OPTIONS") {
                catalog.properties = self.properties()?;
            } else {
                return Ok(Statement::CreateCatalog(Box::new(catalog)));
            }
        }
    }
}
