//! The value of `delta.universalFormat.enabledFormats`: a list of the other formats in which a table is written.

/// The other formats that a value of `delta.universalFormat.enabledFormats` names.
pub(crate) fn formats_of(text: &str) -> Vec<&str> {
    match text {
        "" => Vec::new(),
        text => text.split(',').collect(),
    }
}

/// Whether a text is a list of known formats, each named once.
pub(super) fn are_formats(text: &str) -> bool {
    let formats = formats_of(text);
    let known = formats
        .iter()
        .all(|format| ["iceberg", "hudi"].contains(format));
    let once = (1..formats.len()).all(|at| !formats[..at].contains(&formats[at]));
    known && once
}
