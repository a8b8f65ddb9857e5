//! A host in memory: tables made by statements of VALUES, views, and a function that runs a query to text.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use deltaic_analyzer::{
    AnalyzerOptions, Relation, Resolver, TableRelation, Travel, ViewRelation, analyze_query, error,
    text,
};
use deltaic_log::arrow_schema;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::Ident;

/// Tables and views by name.
#[derive(Default)]
pub struct Host {
    tables: Mutex<HashMap<String, (StructType, Vec<RecordBatch>)>>,
    views: Mutex<HashMap<String, String>>,
    pub options: AnalyzerOptions,
}

/// What a query answers.
#[derive(Debug)]
pub struct Answer {
    /// `name:type` with `!` where it cannot be NULL.
    pub columns: Vec<String>,
    /// Rows as text, NULL as `null`.
    pub rows: Vec<String>,
    /// Partitions of the output.
    pub partitions: usize,
}

#[async_trait]
impl Resolver for Host {
    async fn relation(&self, name: &[Ident], travel: Option<Travel>) -> Result<Relation> {
        let last = name.last().unwrap().value.to_lowercase();
        if let Some(text) = self.views.lock().unwrap().get(&last) {
            return Ok(Relation::View(ViewRelation {
                text: text.clone(),
                catalog: "spark_catalog".into(),
                schema: "default".into(),
                columns: None,
                qualifier: vec!["spark_catalog".into(), "default".into(), last],
                temporary: false,
            }));
        }
        let tables = self.tables.lock().unwrap();
        let Some((schema, batches)) = tables.get(&last) else {
            let parts: Vec<&str> = name.iter().map(|i| i.value.as_str()).collect();
            return Err(DeltaError::new("TABLE_OR_VIEW_NOT_FOUND")
                .param("relationName", error::backticked(&parts)));
        };
        // VERSION AS OF n of these tables: their first n batches.
        let batches = match travel {
            Some(Travel::Version(n)) => {
                batches[..n.parse::<usize>().unwrap().min(batches.len())].to_vec()
            }
            _ => batches.clone(),
        };
        let arrow: SchemaRef = arrow_schema::to_arrow(schema);
        let provider = Arc::new(MemTable::try_new(arrow, vec![batches]).unwrap());
        let qualifier = vec!["spark_catalog".into(), "default".into(), last];
        Ok(Relation::Table(TableRelation {
            provider,
            schema: schema.clone(),
            metadata: None,
            qualifier,
        }))
    }
}

pub fn session() -> SessionContext {
    SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2))
}

impl Host {
    /// A host with the tables that most tests use.
    pub async fn with_tables() -> Self {
        let host = Host::default();
        host.table(
            "t",
            "id BIGINT, v STRING, n INT",
            &[
                "(1,'a',10),(2,'b',20),(3,'c',30)",
                "(4,NULL,NULL),(5,'b',50)",
            ],
        )
        .await;
        host.table("u", "id BIGINT, w DOUBLE", &["(1,1.5D),(3,2.5D),(9,9.0D)"])
            .await;
        host.table("e", "id INT", &[]).await;
        host.table("s", "id INT, st STRUCT<a: INT, b: STRING>, arr ARRAY<INT>, m MAP<STRING, INT>", &[
            "(1, named_struct('a', 7, 'b', 'x'), array(1,2,3), map('k', 5)), (2, NULL, array(), map())",
        ])
        .await;
        host.table("m", "d DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, amount DECIMAL(10,2), f DOUBLE, b BOOLEAN", &[
            "(DATE '2026-05-01', TIMESTAMP '2026-05-01 10:00:00', TIMESTAMP_NTZ '2026-05-01 10:00:00', 12.50, 0.5D, true)",
        ])
        .await;
        host
    }

    /// A table of the columns, with one batch for each list of rows.
    pub async fn table(&self, name: &str, columns: &str, rows: &[&str]) {
        let schema = deltaic_sql::parse_schema(columns).unwrap();
        let mut batches = Vec::new();
        for values in rows {
            let list: Vec<String> = schema
                .iter()
                .enumerate()
                .map(|(n, f)| {
                    format!(
                        "CAST(col{} AS {}) AS `{}`",
                        n + 1,
                        f.data_type.sql(),
                        f.name
                    )
                })
                .collect();
            let sql = format!("SELECT {} FROM VALUES {values}", list.join(", "));
            let (_, found) = self
                .batches(&sql)
                .await
                .unwrap_or_else(|e| panic!("{sql}: {e}"));
            let arrow = arrow_schema::to_arrow(&schema);
            for b in found {
                let columns = b
                    .columns()
                    .iter()
                    .zip(arrow.fields())
                    .map(|(c, f)| datafusion::arrow::compute::cast(c, f.data_type()).unwrap())
                    .collect();
                batches.push(RecordBatch::try_new(Arc::clone(&arrow), columns).unwrap());
            }
        }
        self.tables
            .lock()
            .unwrap()
            .insert(name.into(), (schema, batches));
    }

    pub fn view(&self, name: &str, text: &str) {
        self.views.lock().unwrap().insert(name.into(), text.into());
    }

    async fn batches(&self, sql: &str) -> Result<(deltaic_analyzer::Analyzed, Vec<RecordBatch>)> {
        let query = deltaic_sql::parse_query(sql)?;
        let analyzed = analyze_query(&query, self, &self.options).await?;
        self.collect(analyzed).await
    }

    async fn collect(
        &self,
        analyzed: deltaic_analyzer::Analyzed,
    ) -> Result<(deltaic_analyzer::Analyzed, Vec<RecordBatch>)> {
        let context = session();
        let frame = context
            .execute_logical_plan(analyzed.plan.clone())
            .await
            .map_err(error::unwrap)?;
        let batches = frame.collect().await.map_err(error::unwrap)?;
        Ok((analyzed, batches))
    }

    /// Runs a query.
    pub async fn run(&self, sql: &str) -> Result<Answer> {
        let (analyzed, batches) = self.batches(sql).await?;
        self.answer(sql, analyzed, batches)
    }

    /// Runs what was analysed.
    pub async fn run_analyzed(&self, analyzed: deltaic_analyzer::Analyzed) -> Result<Answer> {
        let (analyzed, batches) = self.collect(analyzed).await?;
        self.answer("", analyzed, batches)
    }

    fn answer(
        &self,
        sql: &str,
        analyzed: deltaic_analyzer::Analyzed,
        batches: Vec<RecordBatch>,
    ) -> Result<Answer> {
        let columns = analyzed.schema.iter().map(shown).collect();
        let mut rows = Vec::new();
        for batch in &batches {
            for (c, f) in batch.schema().fields().iter().zip(analyzed.schema.iter()) {
                let wanted = arrow_schema::to_arrow_type(&f.data_type);
                assert!(
                    same(c.data_type(), &wanted),
                    "{sql}: {} is {:?}, not {wanted:?}",
                    f.name,
                    c.data_type()
                );
            }
            for row in 0..batch.num_rows() {
                let cells: Vec<String> = analyzed
                    .schema
                    .iter()
                    .zip(batch.columns())
                    .map(|(f, c)| text::value_text(c, row, &f.data_type, self.options.zone))
                    .collect();
                rows.push(cells.join("|"));
            }
        }
        Ok(Answer {
            columns,
            rows,
            partitions: analyzed.output_partitions,
        })
    }

    /// The one row of a query over nothing.
    pub async fn value(&self, expression: &str) -> String {
        let sql = format!("SELECT {expression}");
        let answer = self
            .run(&sql)
            .await
            .unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(answer.rows.len(), 1, "{sql}");
        answer.rows[0].clone()
    }

    /// `name:type = value` of an expression over nothing.
    pub async fn column(&self, expression: &str) -> String {
        let sql = format!("SELECT {expression}");
        let answer = self
            .run(&sql)
            .await
            .unwrap_or_else(|e| panic!("{sql}: {e}"));
        format!("{} = {}", answer.columns.join(","), answer.rows.join(";"))
    }

    /// The error of a query, as it prints.
    pub async fn error(&self, sql: &str) -> String {
        match self.run(sql).await {
            Ok(answer) => panic!("{sql} answered {:?}", answer.rows),
            Err(e) => e.to_string(),
        }
    }
}

fn shown(f: &StructField) -> String {
    format!(
        "{}:{}{}",
        f.name,
        f.data_type.simple_string(),
        if f.nullable { "" } else { "!" }
    )
}

/// Equal but for nullable marks inside.
fn same(
    a: &datafusion::arrow::datatypes::DataType,
    b: &datafusion::arrow::datatypes::DataType,
) -> bool {
    a.equals_datatype(b)
        || format!("{a:?}").replace("nullable ", "") == format!("{b:?}").replace("nullable ", "")
}

/// An empty schema, for scopes.
pub fn schema(columns: &str) -> StructType {
    deltaic_sql::parse_schema(columns).unwrap()
}
