//! What a comparison of two answers says.

/// How a step came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Equal,
    /// Nothing to compare: the step only changes files, or this door can not run it, or the reference is not the goal.
    Skipped,
    /// Same error class, other message.
    Text,
    /// Other files or other log content.
    Layout,
    /// Other rows, another error, an error instead of rows or the reverse.
    Wrong,
}

/// The verdict on one step, with what was expected and what came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub kind: Kind,
    pub want: String,
    pub got: String,
}

impl Verdict {
    /// Both answers are the same.
    pub fn equal() -> Self {
        Self {
            kind: Kind::Equal,
            want: String::new(),
            got: String::new(),
        }
    }

    /// The step does not count.
    pub fn skipped() -> Self {
        Self {
            kind: Kind::Skipped,
            ..Self::equal()
        }
    }

    /// The answers differ.
    pub fn differs(kind: Kind, want: impl Into<String>, got: impl Into<String>) -> Self {
        Self {
            kind,
            want: shorten(want.into()),
            got: shorten(got.into()),
        }
    }

    /// Does the step count as passed?
    pub fn passes(&self) -> bool {
        matches!(self.kind, Kind::Equal | Kind::Skipped)
    }
}

fn shorten(text: String) -> String {
    const MOST: usize = 900;
    if text.chars().count() <= MOST {
        return text;
    }
    text.chars().take(MOST).chain(" …".chars()).collect()
}
