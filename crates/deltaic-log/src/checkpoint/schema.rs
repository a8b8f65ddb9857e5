//! The columns of a checkpoint (protocol section "Checkpoint Schema"), in the reference's order.

use deltaic_protocol::schema::{DataType, StructField, StructType};

/// Which optional columns a checkpoint has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckpointColumns {
    /// `add.stats`, as JSON text.
    pub stats_text: bool,
    /// `add.stats_parsed`.
    pub stats_parsed: Option<StructType>,
    /// `add.partitionValues_parsed`.
    pub partition_parsed: Option<StructType>,
}

/// Which of the top-level columns a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A classic checkpoint.
    Classic,
    /// A sidecar: file actions only.
    Sidecar,
    /// A V2 checkpoint under a classic name.
    V2,
}

impl CheckpointColumns {
    /// The schema of a file.
    pub(super) fn schema(&self, layout: Layout) -> StructType {
        let add = StructField::nullable("add", DataType::Struct(self.add()));
        let remove = StructField::nullable("remove", DataType::Struct(remove()));
        let rest = [
            StructField::nullable("metaData", DataType::Struct(metadata())),
            StructField::nullable("protocol", DataType::Struct(protocol())),
            StructField::nullable("domainMetadata", DataType::Struct(domain())),
        ];
        match layout {
            Layout::Sidecar => StructType::new([add, remove]),
            Layout::Classic => StructType::new([txn(), add, remove].into_iter().chain(rest)),
            Layout::V2 => {
                let extra = [
                    StructField::nullable(
                        "checkpointMetadata",
                        DataType::Struct(checkpoint_metadata()),
                    ),
                    StructField::nullable("sidecar", DataType::Struct(sidecar())),
                ];
                StructType::new([txn(), add, remove].into_iter().chain(rest).chain(extra))
            }
        }
    }

    fn add(&self) -> StructType {
        let mut fields = vec![
            text("path"),
            text_map("partitionValues"),
            long("size"),
            long("modificationTime"),
            flag("dataChange"),
            text_map("tags"),
            vector(),
            long("baseRowId"),
            long("defaultRowCommitVersion"),
            text("clusteringProvider"),
        ];
        if self.stats_text {
            fields.push(text("stats"));
        }
        fields.extend(
            self.partition_parsed
                .clone()
                .map(|s| StructField::nullable("partitionValues_parsed", DataType::Struct(s))),
        );
        fields.extend(
            self.stats_parsed
                .clone()
                .map(|s| StructField::nullable("stats_parsed", DataType::Struct(s))),
        );
        StructType::new(fields)
    }
}

fn text(name: &str) -> StructField {
    StructField::nullable(name, DataType::String)
}

fn long(name: &str) -> StructField {
    StructField::nullable(name, DataType::Long)
}

fn int(name: &str) -> StructField {
    StructField::nullable(name, DataType::Integer)
}

fn flag(name: &str) -> StructField {
    StructField::nullable(name, DataType::Boolean)
}

fn text_map(name: &str) -> StructField {
    StructField::nullable(
        name,
        DataType::map(DataType::String, DataType::String, true),
    )
}

fn text_list(name: &str) -> StructField {
    StructField::nullable(name, DataType::array(DataType::String, true))
}

fn vector() -> StructField {
    let fields = [
        text("storageType"),
        text("pathOrInlineDv"),
        int("offset"),
        int("sizeInBytes"),
        long("cardinality"),
        long("maxRowIndex"),
    ];
    StructField::nullable("deletionVector", DataType::structure(fields))
}

fn txn() -> StructField {
    StructField::nullable(
        "txn",
        DataType::structure([text("appId"), long("version"), long("lastUpdated")]),
    )
}

fn remove() -> StructType {
    StructType::new([
        text("path"),
        long("deletionTimestamp"),
        flag("dataChange"),
        flag("extendedFileMetadata"),
        text_map("partitionValues"),
        long("size"),
        vector(),
        long("baseRowId"),
        long("defaultRowCommitVersion"),
    ])
}

fn metadata() -> StructType {
    StructType::new([
        text("id"),
        text("name"),
        text("description"),
        StructField::nullable(
            "format",
            DataType::structure([text("provider"), text_map("options")]),
        ),
        text("schemaString"),
        text_list("partitionColumns"),
        text_map("configuration"),
        long("createdTime"),
    ])
}

fn protocol() -> StructType {
    StructType::new([
        int("minReaderVersion"),
        int("minWriterVersion"),
        text_list("readerFeatures"),
        text_list("writerFeatures"),
    ])
}

fn domain() -> StructType {
    StructType::new([text("domain"), text("configuration"), flag("removed")])
}

fn checkpoint_metadata() -> StructType {
    StructType::new([long("version"), text_map("tags")])
}

fn sidecar() -> StructType {
    StructType::new([
        text("path"),
        long("sizeInBytes"),
        long("modificationTime"),
        text_map("tags"),
    ])
}
