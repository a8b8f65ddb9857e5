//! One error type for the whole project. Class, SQLSTATE, parameters and message template come from one table
//! ([`error_class`]); the context (path, version, table, hint, cause) is what our own doors print beside it.

mod classes;
mod context;
mod kind;
#[cfg(test)]
mod tests;

pub use classes::{ErrorClass, error_class, error_classes};
pub use context::SqlContext;
pub use kind::ErrorKind;

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Display};
use std::sync::Arc;

/// Result of everything that can fail with a [`DeltaError`].
pub type Result<T, E = DeltaError> = std::result::Result<T, E>;

/// An error as the reference would raise it. Cheap to move; build it with [`DeltaError::new`] and the `with_` methods.
#[derive(Clone)]
pub struct DeltaError(Box<Inner>);

#[derive(Default, Clone)]
struct Inner {
    class: Option<Cow<'static, str>>,
    java: Option<Cow<'static, str>>,
    text: Option<String>,
    parameters: Vec<(Cow<'static, str>, String)>,
    sub_errors: Vec<DeltaError>,
    context: Option<SqlContext>,
    kind: Option<ErrorKind>,
    path: Option<String>,
    version: Option<i64>,
    table: Option<String>,
    hint: Option<String>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl DeltaError {
    /// An error of a class of the table, `"CLASS"` or `"CLASS.SUB"`. Fill its places with [`param`](Self::param).
    pub fn new(class: &'static str) -> Self {
        DeltaError(Box::new(Inner {
            class: Some(Cow::Borrowed(class)),
            ..Inner::default()
        }))
    }

    /// One of the reference's errors that have no class, such as `java.lang.IllegalArgumentException: requirement failed: …`.
    pub fn unclassed(java: &'static str, text: impl Into<String>) -> Self {
        DeltaError(Box::new(Inner {
            java: Some(Cow::Borrowed(java)),
            text: Some(text.into()),
            ..Inner::default()
        }))
    }

    /// A failed requirement: `IllegalArgumentException` with Scala's `requirement failed: ` in front.
    pub fn requirement(text: impl Display) -> Self {
        Self::unclassed(
            "java.lang.IllegalArgumentException",
            format!("requirement failed: {text}"),
        )
    }

    /// More memory is needed (bytes) than there is.
    pub fn out_of_memory(requested: u64, received: u64) -> Self {
        Self::new("UNABLE_TO_ACQUIRE_MEMORY")
            .param("requestedBytes", requested)
            .param("receivedBytes", received)
    }

    /// A defect of this program, as an error instead of a panic.
    pub fn internal(text: impl Into<String>) -> Self {
        Self::new("INTERNAL_ERROR").param("message", text.into())
    }

    /// A statement or option that this project does not support yet.
    pub fn not_supported_yet(what: impl Display) -> Self {
        Self::unclassed(
            "java.lang.UnsupportedOperationException",
            format!("{what} is not supported yet"),
        )
    }

    /// Fills the place `<name>` of the template; kept as message parameter too.
    pub fn param(mut self, name: &'static str, value: impl ToString) -> Self {
        self.0
            .parameters
            .push((Cow::Borrowed(name), value.to_string()));
        self
    }

    /// The whole text in place of the class's template.
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.0.text = Some(text.into());
        self
    }

    /// Errors that this one sums up; each follows as `- text` on a line of its own.
    pub fn with_sub_error(mut self, error: DeltaError) -> Self {
        self.0.sub_errors.push(error);
        self
    }

    /// The exception that the reference throws, where it differs from the one in the table.
    pub fn with_java_class(mut self, java: &'static str) -> Self {
        self.0.java = Some(Cow::Borrowed(java));
        self
    }

    /// The kind, where the rule by class does not serve.
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = Some(kind);
        self
    }

    /// Where in the SQL text. The first place stays.
    pub fn with_context(mut self, context: SqlContext) -> Self {
        self.0.context.get_or_insert(context);
        self
    }

    /// The file or folder it is about. The innermost caller's path stays.
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// The table version it is about. The innermost caller's version stays.
    pub fn with_version(mut self, version: i64) -> Self {
        self.0.version.get_or_insert(version);
        self
    }

    /// The table it is about. The innermost caller's name stays.
    pub fn with_table(mut self, table: impl Into<String>) -> Self {
        self.0.table.get_or_insert_with(|| table.into());
        self
    }

    /// What the user can do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The cause.
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// `CLASS` or `CLASS.SUB`; none for the errors that have no class.
    pub fn class(&self) -> Option<&str> {
        self.0.class.as_deref()
    }

    /// Five characters, from the table.
    pub fn sql_state(&self) -> Option<&'static str> {
        self.info().and_then(|class| class.sql_state)
    }

    /// The message parameters in the order they were given.
    pub fn parameters(&self) -> &[(Cow<'static, str>, String)] {
        &self.0.parameters
    }

    /// Where in the SQL text it sits.
    pub fn context(&self) -> Option<&SqlContext> {
        self.0.context.as_ref()
    }

    /// One of Spark's own classes, whose messages end with the SQLSTATE.
    pub fn is_spark(&self) -> bool {
        self.info().is_some_and(|class| class.spark)
    }

    /// The message without class in front and without SQLSTATE behind.
    pub fn text(&self) -> String {
        let mut text = match (&self.0.text, self.info()) {
            (Some(text), _) => text.clone(),
            (None, Some(class)) => fill(&class.template, &self.0.parameters),
            (None, None) => String::new(),
        };
        for error in &self.0.sub_errors {
            text.push_str("\n- ");
            text.push_str(&error.text());
        }
        text
    }

    /// Fully qualified name of the exception that the reference throws.
    pub fn java_class(&self) -> &str {
        match (&self.0.java, self.info()) {
            (Some(java), _) => java,
            (None, Some(class)) => &class.java_class,
            (None, None) => "org.apache.spark.SparkException",
        }
    }

    /// What kind of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match (self.0.kind, self.info()) {
            (Some(kind), _) => kind,
            (None, Some(class)) => ErrorKind::of(class),
            (None, None) => ErrorKind::of_java(self.java_class()),
        }
    }

    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    pub fn version(&self) -> Option<i64> {
        self.0.version
    }

    pub fn table(&self) -> Option<&str> {
        self.0.table.as_deref()
    }

    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    fn info(&self) -> Option<&'static ErrorClass> {
        self.0.class.as_deref().and_then(error_class)
    }
}

/// Puts the parameters into the `<name>` places; a place nobody filled stays as it is.
fn fill(template: &str, parameters: &[(Cow<'static, str>, String)]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let name = from
            .get(1..)
            .and_then(|s| s.find('>').and_then(|end| s.get(..end)));
        let value = name.and_then(|name| parameters.iter().find(|(key, _)| key == name));
        match (name, value) {
            (Some(name), Some((_, value))) => {
                out.push_str(value);
                rest = &from[name.len() + 2..];
            }
            _ => {
                out.push('<');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

impl Display for DeltaError {
    /// `[CLASS.SUB] text` and, for Spark's own classes, ` SQLSTATE: xxxxx`; the text alone where there is no class.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let context = self.0.context.as_ref();
        let parsing = self.java_class().ends_with(".ParseException");
        f.write_str(context.map_or("", |context| context.lead(parsing)))?;
        // Spark prints its old unnamed classes (_LEGACY_ERROR_TEMP_0035) without the name; Delta prints its own with it.
        let hidden = self.is_spark()
            && self
                .class()
                .is_some_and(|class| class.starts_with("_LEGACY_ERROR_"));
        match self.class() {
            Some(class) if !hidden => write!(f, "[{class}] {}", self.text())?,
            _ => f.write_str(&self.text())?,
        }
        if let (true, Some(state)) = (self.is_spark(), self.sql_state()) {
            write!(f, " SQLSTATE: {state}")?;
        }
        match context {
            Some(context) => f.write_str(&context.tail()),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for DeltaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("DeltaError");
        out.field("message", &self.to_string());
        out.field("java_class", &self.java_class());
        if let Some(path) = self.path() {
            out.field("path", &path);
        }
        if let Some(version) = self.version() {
            out.field("version", &version);
        }
        if let Some(table) = self.table() {
            out.field("table", &table);
        }
        if let Some(source) = &self.0.source {
            out.field("source", source);
        }
        out.finish()
    }
}

impl Error for DeltaError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
