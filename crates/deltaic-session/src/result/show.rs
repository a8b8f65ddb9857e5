//! The table that Spark's `DataFrame.show` prints.

use super::SqlResult;
use super::text::cell_text;

/// How wide a cell may be and which way its text leans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShowOptions {
    /// Rows printed at most.
    pub rows: usize,
    /// Longest text of a cell in UTF-16 units; 0 prints everything, leaning left.
    pub truncate: usize,
    /// One line per column instead of one per row.
    pub vertical: bool,
}

impl Default for ShowOptions {
    fn default() -> Self {
        ShowOptions {
            rows: 20,
            truncate: 20,
            vertical: false,
        }
    }
}

impl SqlResult {
    /// The text that `show` prints, without the line end that printing adds.
    pub fn show(&self, options: ShowOptions) -> String {
        let mut rows = self.head(options.rows.saturating_add(1));
        let more = rows.len() > options.rows;
        rows.truncate(options.rows);
        let header: Vec<String> = self
            .schema
            .fields
            .iter()
            .map(|field| escape(&field.name))
            .collect();
        let body: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|value| cut(&escape(&cell_text(value, &self.zone)), options.truncate))
                    .collect()
            })
            .collect();
        let mut out = String::new();
        if options.vertical {
            vertical(&mut out, &header, &body);
        } else {
            grid(&mut out, &header, &body, options.truncate > 0);
        }
        if options.vertical && body.is_empty() {
            out.push_str("(0 rows)");
        } else if more {
            let noun = if options.rows == 1 { "row" } else { "rows" };
            out.push_str(&format!("only showing top {} {noun}", options.rows));
        }
        out
    }
}

fn grid(out: &mut String, header: &[String], body: &[Vec<String>], right: bool) {
    let mut widths: Vec<usize> = header.iter().map(|name| width(name).max(3)).collect();
    for row in body {
        for (cell, widest) in row.iter().zip(widths.iter_mut()) {
            *widest = (*widest).max(width(cell));
        }
    }
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let rule = format!("+{}+\n", rule.join("+"));
    let line = |row: &[String]| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| pad(cell, *width, right))
            .collect();
        format!("|{}|\n", cells.join("|"))
    };
    out.push_str(&rule);
    out.push_str(&line(header));
    out.push_str(&rule);
    for row in body {
        out.push_str(&line(row));
    }
    out.push_str(&rule);
}

fn vertical(out: &mut String, header: &[String], body: &[Vec<String>]) {
    let names = header
        .iter()
        .map(|name| width(name))
        .max()
        .unwrap_or(0)
        .max(3);
    let data = body
        .iter()
        .flatten()
        .map(|cell| width(cell))
        .max()
        .unwrap_or(0)
        .max(3);
    for (number, row) in body.iter().enumerate() {
        let title = format!("-RECORD {number}");
        out.push_str(&title);
        out.push_str(&"-".repeat((names + data + 5).saturating_sub(title.len())));
        out.push('\n');
        for (name, cell) in header.iter().zip(row) {
            out.push_str(&format!(
                " {} | {} \n",
                pad(name, names, false),
                pad(cell, data, false)
            ));
        }
    }
}

fn pad(text: &str, wanted: usize, right: bool) -> String {
    let blanks = " ".repeat(wanted.saturating_sub(width(text)));
    if right {
        format!("{blanks}{text}")
    } else {
        format!("{text}{blanks}")
    }
}

/// Columns that a text takes on a terminal, full-width characters counting two. Characters outside the basic plane
/// are two units, as for the reference.
fn width(text: &str) -> usize {
    text.encode_utf16()
        .map(|unit| if full_width(unit) { 2 } else { 1 })
        .sum()
}

fn full_width(unit: u16) -> bool {
    matches!(
        unit,
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE10..=0xFE19 | 0xFE30..=0xFE6F
            | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6
    )
}

/// The first `limit - 3` units and three dots; fewer than four units leave no room for dots.
fn cut(text: &str, limit: usize) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    if limit == 0 || units.len() <= limit {
        return text.to_owned();
    }
    if limit < 4 {
        return String::from_utf16_lossy(&units[..limit]);
    }
    format!("{}...", String::from_utf16_lossy(&units[..limit - 3]))
}

/// Control characters that would break the lines, written out.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{c}' => out.push_str("\\f"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{7}' => out.push_str("\\a"),
            other => out.push(other),
        }
    }
    out
}
