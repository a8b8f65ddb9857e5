//! A warehouse in a folder of its own, and short ways to ask it.

use deltaic_protocol::clock::ManualClock;
use deltaic_protocol::error::DeltaError;
use deltaic_session::{Parameters, Session, SessionBuilder, ShowOptions, SqlResult};
use serde_json::Value;
use tempfile::TempDir;

/// A warehouse that goes with the test.
pub struct Warehouse {
    pub folder: TempDir,
    pub session: Session,
}

impl Warehouse {
    /// An empty one.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let session = open(folder.path());
        Warehouse { folder, session }
    }

    /// An empty one whose clock stands at this millisecond.
    pub fn at(clock: &ManualClock) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = SessionBuilder::new(folder.path().to_str().unwrap());
        builder.clock = std::sync::Arc::new(clock.clone());
        Warehouse {
            session: builder.build().unwrap(),
            folder,
        }
    }

    /// The content of a marker of a work that the catalog has begun on a table of the current schema.
    pub fn marker(&self, table: &str) -> String {
        let name = format!("spark_catalog.default.{table}");
        let work = uuid::Uuid::new_v4().to_string();
        let file = self.folder.path().join(".deltaic/catalog.db");
        rusqlite::Connection::open(file)
            .unwrap()
            .execute("INSERT INTO unfinished VALUES (?1, ?2)", [&work, &name])
            .unwrap();
        serde_json::json!({"work": work, "table": name}).to_string()
    }

    /// Path of something in the warehouse.
    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Whether a file or folder is there.
    pub fn has(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }

    /// Runs a statement that must succeed.
    pub async fn ok(&self, sql: &str) -> SqlResult {
        run(&self.session, sql).await
    }

    /// Runs statements that must succeed.
    pub async fn all(&self, statements: &[&str]) {
        for sql in statements {
            self.ok(sql).await;
        }
    }

    /// The rows of an answer as JSON.
    pub async fn rows(&self, sql: &str) -> Value {
        self.ok(sql).await.to_json_pipe()["rows"].clone()
    }

    /// What `show` prints, cells whole.
    pub async fn shown(&self, sql: &str) -> String {
        self.ok(sql).await.show(ShowOptions {
            truncate: 0,
            ..ShowOptions::default()
        })
    }

    /// Runs a statement that must fail.
    pub async fn fails(&self, sql: &str) -> DeltaError {
        match self.session.sql(sql, Parameters::None).await {
            Ok(answer) => panic!("{sql} answered {}", answer.to_json_pipe()),
            Err(error) => error,
        }
    }

    /// The class of the error that a statement must end in.
    pub async fn class(&self, sql: &str) -> String {
        self.fails(sql).await.class().unwrap_or("none").to_owned()
    }
}

/// A session of its own on a warehouse.
pub fn open(folder: &std::path::Path) -> Session {
    SessionBuilder::new(folder.to_str().unwrap())
        .build()
        .unwrap()
}

/// Runs a statement that must succeed.
pub async fn run(session: &Session, sql: &str) -> SqlResult {
    session
        .sql(sql, Parameters::None)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}
