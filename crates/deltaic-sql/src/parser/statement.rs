//! The statements by their first word.

use deltaic_protocol::error::DeltaError;

use super::create::SCHEMA_WORDS;
use super::{Follow, Parsed, Parser};
use crate::ast::{CommentObject, CommentOn, Drop, Statement, Use};

/// Hive's statements that Spark names as not allowed; the longer form first.
const HIVE: [&[&str]; 26] = [
    &["GRANT", "ROLE"],
    &["GRANT"],
    &["REVOKE", "ROLE"],
    &["REVOKE"],
    &["CREATE", "ROLE"],
    &["DROP", "ROLE"],
    &["SHOW", "GRANT"],
    &["SHOW", "ROLE", "GRANT"],
    &["SHOW", "ROLES"],
    &["SHOW", "CURRENT", "ROLES"],
    &["SHOW", "PRINCIPALS"],
    &["SHOW", "COMPACTIONS"],
    &["SHOW", "TRANSACTIONS"],
    &["SHOW", "INDEXES"],
    &["SHOW", "LOCKS"],
    &["EXPORT", "TABLE"],
    &["IMPORT", "TABLE"],
    &["ALTER", "INDEX"],
    &["LOCK", "TABLE"],
    &["LOCK", "DATABASE"],
    &["UNLOCK", "TABLE"],
    &["UNLOCK", "DATABASE"],
    &["START", "TRANSACTION"],
    &["COMMIT"],
    &["ROLLBACK"],
    &["DFS"],
];

impl Parser<'_> {
    pub fn statement(&mut self) -> Parsed<Statement> {
        if let Some(words) = HIVE.iter().find(|words| self.is_seq(words)) {
            // Spark knows these words of Hive only to refuse them.
            self.not_allowed(words.join(" "));
            self.at = self.tokens.len() - 1;
            return Ok(Statement::ClearCache);
        }
        let word = if self.is_symbol("(") {
            "(".to_owned()
        } else {
            self.peek().value.to_ascii_uppercase()
        };
        match word.as_str() {
            "SELECT" | "VALUES" | "FROM" | "TABLE" | "(" => {
                Ok(Statement::Query(Box::new(self.query()?)))
            }
            "WITH" => self.with_statement(),
            "INSERT" => self.insert(None),
            "DELETE" => self.delete(),
            "UPDATE" => self.update(),
            "MERGE" => self.merge(),
            "CREATE" => self.create(),
            "REPLACE" => self.replace(),
            "ALTER" => self.alter(),
            "DROP" => self.drop_statement(),
            "COMMENT" => self.comment_on(),
            "USE" => self.use_statement(),
            "SET" => self.set(),
            "RESET" => self.reset(),
            "TRUNCATE" => self.truncate(),
            "REFRESH" => self.refresh(),
            "DESCRIBE" | "DESC" => self.describe(),
            "SHOW" => self.show(),
            "EXPLAIN" => self.explain(),
            "ANALYZE" => self.analyze(),
            "CACHE" => self.cache(),
            "UNCACHE" => self.uncache(),
            "CLEAR" => {
                self.at += 1;
                self.expect("CACHE", Follow::Other)?;
                Ok(Statement::ClearCache)
            }
            "VACUUM" => self.delta_command(Self::vacuum),
            "RESTORE" => self.delta_command(Self::restore),
            "OPTIMIZE" => self.delta_command(Self::optimize),
            "REORG" => self.delta_command(Self::reorg),
            "CONVERT" => self.delta_command(Self::convert),
            "GENERATE" => self.delta_command(Self::generate),
            "FSCK" => self.delta_command(Self::repair),
            "MSCK" => self.repair_partitions(),
            "LOAD" | "DECLARE" | "EXECUTE" | "CALL" | "BEGIN" if !self.ends_at(1) => {
                self.unsupported(&word)
            }
            _ => self.fail(),
        }
    }

    /// A statement that Spark knows and this project does not.
    pub fn unsupported(&mut self, what: &str) -> Parsed<Statement> {
        self.late(DeltaError::not_supported_yet(what));
        self.at = self.tokens.len() - 1;
        Ok(Statement::ClearCache)
    }

    fn drop_statement(&mut self) -> Parsed<Statement> {
        self.at += 1;
        if self.is_any(&["FUNCTION", "INDEX"]) || self.is("TEMPORARY") {
            let what = format!("DROP {}", self.peek().value.to_ascii_uppercase());
            return self.unsupported(&what);
        }
        let schema = SCHEMA_WORDS.iter().any(|word| self.is(word));
        let object = if schema {
            self.at += 1;
            "SCHEMA"
        } else {
            self.expect_any(&["TABLE", "VIEW", "CATALOG"])?
        };
        let if_exists = self.if_exists();
        let mut drop = Drop {
            name: self.name()?,
            if_exists,
            cascade: false,
            purge: false,
        };
        match object {
            "TABLE" => drop.purge = self.eat("PURGE"),
            "VIEW" => {}
            _ => drop.cascade = self.eat_any(&["RESTRICT", "CASCADE"]) == Some("CASCADE"),
        }
        Ok(match object {
            "TABLE" => Statement::DropTable(drop),
            "VIEW" => Statement::DropView(drop),
            "SCHEMA" => Statement::DropSchema(drop),
            _ => Statement::DropCatalog(drop),
        })
    }

    fn comment_on(&mut self) -> Parsed<Statement> {
        self.at += 1;
        self.expect("ON", Follow::Other)?;
        let object = if self.eat("TABLE") {
            CommentObject::Table
        } else {
            self.expect_any(&SCHEMA_WORDS)?;
            CommentObject::Schema
        };
        let name = self.name()?;
        self.expect("IS", Follow::Text)?;
        let comment = if self.eat("NULL") {
            None
        } else {
            Some(self.string()?)
        };
        Ok(Statement::CommentOn(CommentOn {
            object,
            name,
            comment,
        }))
    }

    fn use_statement(&mut self) -> Parsed<Statement> {
        self.at += 1;
        let named = self.ident_of(self.peek_at(1)).is_some();
        if named && self.is("CATALOG") {
            self.at += 1;
            return Ok(Statement::Use(Use::Catalog(self.name()?)));
        }
        let keyword = named && self.is_any(&SCHEMA_WORDS);
        self.at += usize::from(keyword);
        Ok(Statement::Use(Use::Namespace {
            name: self.name()?,
            keyword,
        }))
    }

    fn refresh(&mut self) -> Parsed<Statement> {
        self.at += 1;
        if self.is("FUNCTION") {
            return self.unsupported("REFRESH FUNCTION");
        }
        if !self.is("TABLE") && !self.ends_at(0) {
            return self.unsupported("REFRESH of a path");
        }
        self.expect("TABLE", Follow::Name)?;
        Ok(Statement::RefreshTable(self.name()?))
    }
}
