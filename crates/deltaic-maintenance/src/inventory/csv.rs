//! The files of an inventory as CSV in gzip, whose keys are written as in the query of an address.

use std::io::Write;
use std::sync::Arc;

use chrono::DateTime;
use csv_core::{ReadRecordResult, Reader};
use deltaic_command::InventoryRow;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::TableStore;
use flate2::write::MultiGzDecoder;
use futures::{StreamExt, TryStreamExt, stream};
use percent_encoding::percent_decode;

use super::columns::Columns;
use super::sieve::Sieve;
use super::sum::Sum;
use crate::vacuum::InventoryStream;

/// Bytes of a file that one request fetches.
const PIECE: u64 = 4 << 20;
/// Compressed bytes that are unpacked at a time: gzip makes at most some thousand of one.
const STEP: usize = 16 << 10;

/// The rows of one file.
pub(super) fn rows(
    store: TableStore,
    path: String,
    size: u64,
    columns: Columns,
    sieve: Arc<Sieve>,
    sum: Option<Sum>,
) -> InventoryStream {
    let file = File {
        sum,
        place: store.root().display(&path),
        unpack: MultiGzDecoder::new(Vec::new()),
        records: Records::new(),
        columns,
        sieve,
    };
    let pieces = (0..size.div_ceil(PIECE)).map(move |n| n * PIECE..((n + 1) * PIECE).min(size));
    let pieces = stream::iter(pieces.map(Some).chain([None]));
    let read = move |piece: Option<std::ops::Range<u64>>| {
        let (store, path) = (store.clone(), path.clone());
        async move {
            match piece {
                Some(range) => Ok(Some(store.data().read_range(&path, range).await?)),
                None => Ok(None),
            }
        }
    };
    pieces
        .then(read)
        .scan(file, |file, piece| {
            let found = piece.and_then(|piece| file.take(piece.as_deref()));
            futures::future::ready(Some(found))
        })
        .map_ok(|rows| stream::iter(rows.into_iter().map(Ok::<_, DeltaError>)))
        .try_flatten()
        .boxed()
}

/// A file that is being read.
struct File {
    sum: Option<Sum>,
    place: String,
    unpack: MultiGzDecoder<Vec<u8>>,
    records: Records,
    columns: Columns,
    sieve: Arc<Sieve>,
}

impl File {
    /// The rows that a further piece completes; those at the end of the file where there is none.
    fn take(&mut self, piece: Option<&[u8]>) -> Result<Vec<InventoryRow>> {
        let mut rows = Vec::new();
        match piece {
            Some(piece) => {
                if let Some(sum) = &mut self.sum {
                    sum.take(piece);
                }
                for step in piece.chunks(STEP) {
                    let unpacked = self.unpack.write_all(step);
                    unpacked.map_err(|error| self.damaged(&error.to_string()))?;
                    self.parse(&mut rows)?;
                }
            }
            None => {
                if let Some(sum) = self.sum.take() {
                    sum.end()?;
                }
                let unpacked = self.unpack.try_finish();
                unpacked.map_err(|error| self.damaged(&error.to_string()))?;
                self.parse(&mut rows)?;
                let (columns, sieve) = (&self.columns, &self.sieve);
                let ended = self
                    .records
                    .end(|record| take(record, columns, sieve, &mut rows));
                ended.map_err(|problem| self.error(problem))?;
            }
        }
        Ok(rows)
    }

    fn parse(&mut self, rows: &mut Vec<InventoryRow>) -> Result<()> {
        let text = std::mem::take(self.unpack.get_mut());
        let (columns, sieve) = (&self.columns, &self.sieve);
        let parsed = self
            .records
            .push(&text, |record| take(record, columns, sieve, rows));
        parsed.map_err(|problem| self.error(problem))
    }

    fn error(&self, problem: Problem) -> DeltaError {
        match problem {
            Problem::Row(reason) => self.damaged(&reason),
            Problem::Other(error) => error,
        }
    }

    fn damaged(&self, reason: &str) -> DeltaError {
        self.sieve
            .refused(&format!("its file {} is damaged: {reason}", self.place))
            .with_kind(ErrorKind::Corrupt)
    }
}

/// What is wrong with a row.
enum Problem {
    Row(String),
    Other(DeltaError),
}

/// Takes a record if it is a file of the table.
fn take(
    record: &[&[u8]],
    columns: &Columns,
    sieve: &Sieve,
    rows: &mut Vec<InventoryRow>,
) -> Result<(), Problem> {
    if record.len() != columns.count {
        return Err(Problem::Row(format!(
            "a row of {} fields, where there are {}",
            record.len(),
            columns.count
        )));
    }
    let text = |at: usize| {
        std::str::from_utf8(record[at]).map_err(|_| Problem::Row("a field is not UTF-8".into()))
    };
    let key = decoded(record[columns.key])?;
    if !sieve
        .takes(text(columns.bucket)?, &key)
        .map_err(Problem::Other)?
    {
        return Ok(());
    }
    if let Some((latest, marker)) = columns.versions
        && (!flag(text(latest)?)? || flag(text(marker)?)?)
    {
        return Ok(());
    }
    let of = |what: &str, value: &str| Problem::Row(format!("{what} of {key} is {value:?}"));
    let (size, modified) = (text(columns.size)?, text(columns.modified)?);
    let length = size.parse().map_err(|_| of("the size", size))?;
    let time = DateTime::parse_from_rfc3339(modified).map_err(|_| of("the time", modified))?;
    rows.extend(sieve.row(&key, length, time.timestamp_millis()));
    Ok(())
}

fn flag(text: &str) -> Result<bool, Problem> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(Problem::Row(format!("{other:?} is neither true nor false"))),
    }
}

/// A key as it is. S3 writes a space as `+`, and a plus sign as `%2B`.
fn decoded(written: &[u8]) -> Result<String, Problem> {
    let spaced: Vec<u8> = written
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    percent_decode(&spaced)
        .decode_utf8()
        .map(|key| key.into_owned())
        .map_err(|_| Problem::Row("a key is not UTF-8".into()))
}

/// Records out of text that comes in pieces.
struct Records {
    reader: Reader,
    fields: Vec<u8>,
    ends: Vec<usize>,
    /// How much of both is filled.
    filled: (usize, usize),
}

impl Records {
    fn new() -> Records {
        Records {
            reader: Reader::new(),
            fields: vec![0; 4096],
            ends: vec![0; 32],
            filled: (0, 0),
        }
    }

    /// Hands out the records that are whole with this text.
    fn push(
        &mut self,
        mut text: &[u8],
        mut each: impl FnMut(&[&[u8]]) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        while !text.is_empty() {
            let (_, read) = self.step(text, &mut each)?;
            text = &text[read..];
        }
        Ok(())
    }

    /// Hands out the last record, which need not end with a line break.
    fn end(
        &mut self,
        mut each: impl FnMut(&[&[u8]]) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        while !matches!(self.step(&[], &mut each)?.0, ReadRecordResult::End) {}
        Ok(())
    }

    /// One step of the reader; no text is the end of all.
    fn step(
        &mut self,
        text: &[u8],
        each: &mut impl FnMut(&[&[u8]]) -> Result<(), Problem>,
    ) -> Result<(ReadRecordResult, usize), Problem> {
        let (bytes, count) = self.filled;
        let (result, read, written, ended) =
            self.reader
                .read_record(text, &mut self.fields[bytes..], &mut self.ends[count..]);
        self.filled = (bytes + written, count + ended);
        match result {
            ReadRecordResult::OutputFull => self.fields.resize(self.fields.len() * 2, 0),
            ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
            ReadRecordResult::Record => {
                let mut from = 0;
                let record: Vec<&[u8]> = self.ends[..self.filled.1]
                    .iter()
                    .map(|end| &self.fields[std::mem::replace(&mut from, *end)..*end])
                    .collect();
                each(&record)?;
                self.filled = (0, 0);
            }
            ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
        }
        Ok((result, read))
    }
}
