//! `manifest.json` of an inventory.

use deltaic_protocol::error::{ErrorKind, Result};
use serde::Deserialize;

use super::columns::Columns;
use super::refused;

/// What a manifest says.
#[derive(Debug)]
pub(super) struct Manifest {
    /// The bucket whose objects are listed.
    pub(super) bucket: String,
    pub(super) format: Format,
    pub(super) files: Vec<DataFile>,
}

/// How the files are written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    /// CSV in gzip; the columns are named by the manifest alone.
    Csv(Columns),
    /// Parquet, which names its columns itself.
    Parquet,
}

/// One file of an inventory.
#[derive(Debug, Deserialize)]
pub(super) struct DataFile {
    /// Its key in the bucket of the inventory.
    pub(super) key: String,
    /// Bytes.
    pub(super) size: u64,
    /// The MD5 sum in hexadecimal; empty where the manifest has none.
    #[serde(default, rename = "MD5checksum")]
    pub(super) md5: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    source_bucket: String,
    file_format: String,
    #[serde(default)]
    file_schema: String,
    files: Vec<DataFile>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// It is none, or of a kind that is not read here.
    pub(super) fn parse(location: &str, content: &[u8]) -> Result<Manifest> {
        let written: Written = serde_json::from_slice(content).map_err(|error| {
            refused(
                location,
                &format!("it is no manifest of an S3 Inventory ({error})"),
            )
        })?;
        let format = match written.file_format.to_ascii_uppercase().as_str() {
            "CSV" => {
                let names = written.file_schema.split(',');
                Format::Csv(Columns::find(location, names)?)
            }
            "PARQUET" => Format::Parquet,
            other => {
                return Err(refused(
                    location,
                    &format!("its files are {other}; CSV and Parquet are read"),
                )
                .with_kind(ErrorKind::Unsupported)
                .with_hint(
                    "choose CSV or Apache Parquet in the bucket's inventory configuration, and wait for the next report",
                ));
            }
        };
        Ok(Manifest {
            // Some reports give the bucket by its ARN.
            bucket: bucket_name(&written.source_bucket).to_owned(),
            format,
            files: written.files,
        })
    }
}

fn bucket_name(text: &str) -> &str {
    match text.strip_prefix("arn:") {
        Some(arn) => arn.rsplit(':').next().unwrap_or(text),
        None => text,
    }
}
