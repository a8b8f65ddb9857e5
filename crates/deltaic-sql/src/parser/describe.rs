//! DESCRIBE of tables, columns, schemas, catalogs, functions and queries; EXPLAIN, ANALYZE, CACHE.

use super::create::SCHEMA_WORDS;
use super::{Follow, Parsed, Parser};
use crate::ast::{
    Analyze, AnalyzeColumns, Cache, DescribeCatalog, DescribeFunction, DescribeSchema,
    DescribeTable, Drop, Explain, Name, Statement,
};

impl Parser<'_> {
    pub fn describe(&mut self) -> Parsed<Statement> {
        // Delta's parser runs first; what it does not take whole may still be Spark's.
        if self.peek_at(1).is("HISTORY")
            && let Ok(statement) = self.delta_only(Self::describe_history)
        {
            return Ok(statement);
        }
        if self.peek_at(1).is("DETAIL")
            && let Ok(statement) = self.delta_only(Self::describe_detail)
        {
            return Ok(statement);
        }
        self.at += 1;
        let named = self.ident_of(self.peek_at(1)).is_some();
        if named && self.is("FUNCTION") {
            self.at += 1;
            let extended = self.extended();
            return Ok(Statement::DescribeFunction(DescribeFunction {
                function: self.name_or_path()?,
                extended,
            }));
        }
        if named && self.is_any(&SCHEMA_WORDS) {
            self.at += 1;
            let extended = self.extended();
            return Ok(Statement::DescribeSchema(DescribeSchema {
                schema: self.name()?,
                extended,
            }));
        }
        if named && self.is("CATALOG") {
            self.at += 1;
            let extended = self.extended();
            return Ok(Statement::DescribeCatalog(DescribeCatalog {
                catalog: self.name()?,
                extended,
            }));
        }
        if self.query_begins() && !self.is("TABLE") || self.is("QUERY") && self.query_begins_at(1) {
            self.eat("QUERY");
            return Ok(Statement::DescribeQuery(Box::new(self.query()?)));
        }
        self.describe_table()
    }

    fn extended(&mut self) -> bool {
        let found =
            self.is_any(&["EXTENDED", "FORMATTED"]) && self.ident_of(self.peek_at(1)).is_some();
        self.at += usize::from(found);
        found
    }

    fn describe_table(&mut self) -> Parsed<Statement> {
        if self.is("TABLE") && self.ident_of(self.peek_at(1)).is_some() {
            self.at += 1;
        }
        let extended = self.extended();
        let table = self.name()?;
        let partition = self.partition_spec()?;
        let as_json_here = |p: &Self| p.is("AS") && p.peek_at(1).is("JSON");
        let column = if self.ident_of(self.peek()).is_some() && !as_json_here(self) {
            Some(self.parts()?)
        } else {
            None
        };
        let as_json = as_json_here(self);
        if as_json {
            self.at += 2;
        }
        Ok(Statement::DescribeTable(DescribeTable {
            table,
            extended,
            partition,
            column,
            as_json,
        }))
    }

    pub fn explain(&mut self) -> Parsed<Statement> {
        self.at += 1;
        let mode = self
            .eat_any(&["LOGICAL", "FORMATTED", "EXTENDED", "CODEGEN", "COST"])
            .map(str::to_owned);
        let statement = Box::new(self.nested(Self::statement)?);
        Ok(Statement::Explain(Box::new(Explain { mode, statement })))
    }

    pub fn analyze(&mut self) -> Parsed<Statement> {
        self.at += 1;
        let tables = self.expect_any(&["TABLE", "TABLES"])? == "TABLES";
        let name = if !tables || self.eat_any(&["FROM", "IN"]).is_some() {
            Some(self.name()?)
        } else {
            None
        };
        let partition = if tables { None } else { self.partition_spec()? };
        self.expect("COMPUTE", Follow::Other)?;
        self.expect("STATISTICS", Follow::Other)?;
        let mut columns = AnalyzeColumns::None;
        let mut no_scan = false;
        if self.is("NOSCAN") {
            self.at += 1;
            no_scan = true;
        } else if self.eat_seq(&["FOR", "ALL"]) {
            self.expect("COLUMNS", Follow::Other)?;
            columns = AnalyzeColumns::All;
        } else if self.eat("FOR") {
            self.expect("COLUMNS", Follow::Other)?;
            columns = AnalyzeColumns::Some(self.comma_separated(Self::parts)?);
        }
        Ok(Statement::Analyze(Box::new(Analyze {
            name,
            tables,
            partition,
            columns,
            no_scan,
        })))
    }

    /// `MSCK REPAIR TABLE t [ADD | DROP | SYNC PARTITIONS]`.
    pub fn repair_partitions(&mut self) -> Parsed<Statement> {
        self.at += 1;
        self.expect("REPAIR", Follow::Other)?;
        self.expect("TABLE", Follow::Name)?;
        let table = self.name()?;
        if self.eat_any(&["ADD", "DROP", "SYNC"]).is_some() {
            self.expect("PARTITIONS", Follow::Other)?;
        }
        Ok(Statement::RepairPartitions(table))
    }

    pub fn cache(&mut self) -> Parsed<Statement> {
        self.at += 1;
        let lazy = self.eat("LAZY");
        self.expect("TABLE", Follow::Name)?;
        let name = self.name()?;
        let options = if self.eat("OPTIONS") {
            self.properties()?
        } else {
            Vec::new()
        };
        let query = if self.eat("AS") || self.query_begins() {
            Some(Box::new(self.query()?))
        } else {
            None
        };
        Ok(Statement::Cache(Box::new(Cache {
            lazy,
            name,
            options,
            query,
        })))
    }

    pub fn uncache(&mut self) -> Parsed<Statement> {
        self.at += 1;
        self.expect("TABLE", Follow::Name)?;
        let if_exists = self.if_exists();
        let name: Name = self.name()?;
        Ok(Statement::Uncache(Drop {
            name,
            if_exists,
            cascade: false,
            purge: false,
        }))
    }
}
