//! The table of properties.

use super::formats::are_formats;
use super::{PropertyType, TableProperty};
use crate::column_list::parse_column_list;

/// Canonical keys that code refers to.
pub mod key {
    pub const APPEND_ONLY: &str = "delta.appendOnly";
    pub const AUTO_COMPACT: &str = "delta.autoOptimize.autoCompact";
    pub const CHECKPOINT_INTERVAL: &str = "delta.checkpointInterval";
    pub const CHECKPOINT_POLICY: &str = "delta.checkpointPolicy";
    pub const CHECKPOINT_RETENTION: &str = "delta.checkpointRetentionDuration";
    pub const COLUMN_MAPPING_MAX_ID: &str = "delta.columnMapping.maxColumnId";
    pub const COLUMN_MAPPING_MODE: &str = "delta.columnMapping.mode";
    pub const DATA_SKIPPING_NUM_INDEXED_COLS: &str = "delta.dataSkippingNumIndexedCols";
    pub const DATA_SKIPPING_STATS_COLUMNS: &str = "delta.dataSkippingStatsColumns";
    pub const UNIVERSAL_FORMATS: &str = "delta.universalFormat.enabledFormats";
    pub const DATA_SKIPPING_STRING_PREFIX_LENGTH: &str = "delta.dataSkippingStringPrefixLength";
    pub const DELETED_FILE_RETENTION: &str = "delta.deletedFileRetentionDuration";
    pub const ENABLE_CHANGE_DATA_FEED: &str = "delta.enableChangeDataFeed";
    pub const ENABLE_DELETION_VECTORS: &str = "delta.enableDeletionVectors";
    pub const ENABLE_EXPIRED_LOG_CLEANUP: &str = "delta.enableExpiredLogCleanup";
    pub const ENABLE_IN_COMMIT_TIMESTAMPS: &str = "delta.enableInCommitTimestamps";
    pub const ENABLE_ROW_TRACKING: &str = "delta.enableRowTracking";
    pub const ENABLE_TYPE_WIDENING: &str = "delta.enableTypeWidening";
    pub const IGNORE_PROTOCOL_DEFAULTS: &str = "delta.ignoreProtocolDefaults";
    pub const IN_COMMIT_TIMESTAMP_ENABLEMENT_TIMESTAMP: &str =
        "delta.inCommitTimestampEnablementTimestamp";
    pub const IN_COMMIT_TIMESTAMP_ENABLEMENT_VERSION: &str =
        "delta.inCommitTimestampEnablementVersion";
    pub const ISOLATION_LEVEL: &str = "delta.isolationLevel";
    pub const LOG_RETENTION: &str = "delta.logRetentionDuration";
    pub const MIN_READER_VERSION: &str = "delta.minReaderVersion";
    pub const MIN_WRITER_VERSION: &str = "delta.minWriterVersion";
    pub const PARQUET_CODEC: &str = "delta.parquet.compression.codec";
    pub const RANDOMIZE_FILE_PREFIXES: &str = "delta.randomizeFilePrefixes";
    pub const RANDOM_PREFIX_LENGTH: &str = "delta.randomPrefixLength";
    pub const REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION: &str =
        "delta.requireCheckpointProtectionBeforeVersion";
    pub const ROW_TRACKING_COMMIT_VERSION_COLUMN: &str =
        "delta.rowTracking.materializedRowCommitVersionColumnName";
    pub const ROW_TRACKING_ID_COLUMN: &str = "delta.rowTracking.materializedRowIdColumnName";
    pub const ROW_TRACKING_SUSPENDED: &str = "delta.rowTrackingSuspended";
    pub const SET_TRANSACTION_RETENTION: &str = "delta.setTransactionRetentionDuration";
    pub const WRITE_STATS_AS_JSON: &str = "delta.checkpoint.writeStatsAsJson";
    pub const WRITE_STATS_AS_STRUCT: &str = "delta.checkpoint.writeStatsAsStruct";
}

const INTERVAL_HELP: &str = "needs to be provided as a calendar interval such as '2 weeks'. Months and years are not accepted. \
     You may specify '365 days' for a year instead.";
const BOOLEAN_HELP: &str = "needs to be a boolean.";

const fn property(
    key: &'static str,
    kind: PropertyType,
    default: Option<&'static str>,
    help: &'static str,
    doc: &'static str,
) -> TableProperty {
    TableProperty {
        key,
        alternative: None,
        kind,
        default,
        check: |_| true,
        help,
        editable: true,
        doc,
    }
}

const fn boolean(
    key: &'static str,
    default: Option<&'static str>,
    doc: &'static str,
) -> TableProperty {
    property(key, PropertyType::Boolean, default, BOOLEAN_HELP, doc)
}

const fn interval(
    key: &'static str,
    default: Option<&'static str>,
    doc: &'static str,
) -> TableProperty {
    property(key, PropertyType::Interval, default, INTERVAL_HELP, doc)
}

const fn text(
    key: &'static str,
    default: Option<&'static str>,
    help: &'static str,
    doc: &'static str,
) -> TableProperty {
    property(key, PropertyType::Text, default, help, doc)
}

const fn internal(inner: TableProperty) -> TableProperty {
    TableProperty {
        editable: false,
        ..inner
    }
}

fn at_least(value: &str, least: i64) -> bool {
    value.parse::<i64>().is_ok_and(|number| number >= least)
}

/// As the reference prints it, with the line ends of its source.
const STATS_COLUMNS_HELP: &str = "
The dataSkippingStatsColumns parameter is a comma-separated list of case-insensitive column
identifiers. Each column identifier can consist of letters, digits, and underscores.
Multiple column identifiers can be listed, separated by commas.

If a column identifier includes special characters such as !@#$%^&*()_+-={}|[]:\";'<>,.?/,
the column name should be enclosed in backticks (`) to escape the special characters.

A column identifier can refer to one of the following: the name of a non-struct column, the
leaf field's name of a struct column, or the name of a struct column. When a struct column's
name is specified in dataSkippingStatsColumns, statistics for all its leaf fields will be
collected.
";

/// All properties that the reference knows.
#[rustfmt::skip]
pub const PROPERTIES: &[TableProperty] = &[
    interval(key::LOG_RETENTION, Some("interval 30 days"), "How long commits are kept in the log."),
    interval(key::DELETED_FILE_RETENTION, Some("interval 1 week"), "How long removed files are kept for readers of old versions."),
    interval("delta.sampleRetentionDuration", Some("interval 7 days"), "How long samples are kept."),
    interval(key::CHECKPOINT_RETENTION, Some("interval 2 days"), "How long checkpoints are kept; named in an error text only."),
    interval(key::SET_TRANSACTION_RETENTION, None, "How long transaction ids of applications are kept."),
    interval("delta.dropFeatureTruncateHistory.retentionDuration", Some("interval 24 hours"), "How long history is kept when a feature is dropped."),
    TableProperty {
        check: |value| at_least(value, 1),
        ..property(key::CHECKPOINT_INTERVAL, PropertyType::Integer, Some("10"), "needs to be a positive integer.", "Commits between checkpoints.")
    },
    TableProperty {
        check: |value| matches!(value, "classic" | "v2"),
        ..text(key::CHECKPOINT_POLICY, Some("classic"), "can be one of the following: classic, v2.", "Kind of checkpoints written.")
    },
    boolean(key::WRITE_STATS_AS_JSON, Some("true"), "Whether checkpoints hold statistics as text."),
    boolean(key::WRITE_STATS_AS_STRUCT, Some("true"), "Whether checkpoints hold statistics as columns."),
    boolean(key::ENABLE_EXPIRED_LOG_CLEANUP, Some("true"), "Whether old log files are deleted after a checkpoint."),
    boolean("delta.enableFullRetentionRollback", Some("true"), "Whether every version within the retention can be restored."),
    boolean(key::APPEND_ONLY, Some("false"), "Whether rows may only be added."),
    boolean(key::ENABLE_DELETION_VECTORS, Some("false"), "Whether new deletion vectors may be written."),
    TableProperty {
        alternative: Some("delta.enableChangeDataCapture"),
        ..boolean(key::ENABLE_CHANGE_DATA_FEED, Some("false"), "Whether changes are recorded for the change feed.")
    },
    TableProperty {
        check: |value| ["none", "name", "id"].iter().any(|mode| value.eq_ignore_ascii_case(mode)),
        ..text(key::COLUMN_MAPPING_MODE, Some("none"), "needs to be one of none, name, id.", "How columns are found in data files.")
    },
    internal(property(key::COLUMN_MAPPING_MAX_ID, PropertyType::Long, Some("0"), "", "Highest column id given so far.")),
    TableProperty {
        check: |value| at_least(value, -1),
        ..property(key::DATA_SKIPPING_NUM_INDEXED_COLS, PropertyType::Integer, Some("32"), "needs to be larger than or equal to -1.", "Number of leaf columns with statistics; -1 for all.")
    },
    TableProperty {
        check: |value| parse_column_list(value).is_some(),
        ..text(key::DATA_SKIPPING_STATS_COLUMNS, None, STATS_COLUMNS_HELP, "Columns with statistics, instead of the first ones.")
    },
    TableProperty {
        check: |value| at_least(value, 1),
        ..property(key::DATA_SKIPPING_STRING_PREFIX_LENGTH, PropertyType::Integer, None, "needs to be larger than 0.", "Characters of a string kept in statistics.")
    },
    TableProperty {
        check: |value| value.eq_ignore_ascii_case("Serializable"),
        ..text(key::ISOLATION_LEVEL, Some("Serializable"), "must be Serializable", "Isolation of concurrent writers.")
    },
    boolean(key::RANDOMIZE_FILE_PREFIXES, Some("false"), "Whether data files lie under random folders."),
    TableProperty {
        check: |value| at_least(value, 1),
        ..property(key::RANDOM_PREFIX_LENGTH, PropertyType::Integer, Some("2"), "needs to be greater than 0.", "Characters of a random folder's name.")
    },
    boolean("delta.compatibility.symlinkFormatManifest.enabled", Some("false"), "Whether manifests are kept up to date."),
    boolean("delta.autoOptimize", None, "Old key for the two below."),
    text(key::AUTO_COMPACT, None, "", "Whether small files are compacted after a write."),
    boolean("delta.autoOptimize.optimizeWrite", None, "Whether data is shuffled into larger files on writing."),
    boolean(key::ENABLE_IN_COMMIT_TIMESTAMPS, Some("false"), "Whether commits carry their own timestamp."),
    internal(property(key::IN_COMMIT_TIMESTAMP_ENABLEMENT_VERSION, PropertyType::Long, None, "", "First version with a timestamp of its own.")),
    internal(property(key::IN_COMMIT_TIMESTAMP_ENABLEMENT_TIMESTAMP, PropertyType::Long, None, "", "Timestamp of that version.")),
    boolean(key::ENABLE_ROW_TRACKING, Some("false"), "Whether rows have ids."),
    boolean(key::ROW_TRACKING_SUSPENDED, Some("false"), "Whether row ids are not assigned for now."),
    internal(text(key::ROW_TRACKING_ID_COLUMN, None, "", "Hidden column of row ids.")),
    internal(text(key::ROW_TRACKING_COMMIT_VERSION_COLUMN, None, "", "Hidden column of row commit versions.")),
    boolean(key::ENABLE_TYPE_WIDENING, Some("false"), "Whether column types may be widened."),
    boolean("delta.enableVariantShredding", Some("false"), "Whether variants may be shredded."),
    TableProperty {
        check: |value| ["uncompressed", "none", "snappy", "gzip", "lz4", "lz4_raw", "zstd"].iter().any(|codec| value.eq_ignore_ascii_case(codec)),
        ..text(key::PARQUET_CODEC, None, "needs to be one of uncompressed, none, snappy, gzip, lz4, lz4_raw, zstd.", "Compression of data files.")
    },
    text("delta.parquet.format.version", Some("1.0.0"), "", "Version of the Parquet pages."),
    TableProperty {
        check: |value| are_formats(value),
        ..text(key::UNIVERSAL_FORMATS, Some(""), "Must be a comma-separated list of formats from the list: {hudi,iceberg}.", "Other formats that the table is written in.")
    },
    boolean("delta.enableIcebergCompatV1", None, "Whether data files suit Iceberg, version 1 of the rules."),
    boolean("delta.enableIcebergCompatV2", None, "Whether data files suit Iceberg, version 2 of the rules."),
    boolean("delta.enableIcebergCompatV3", None, "Whether data files suit Iceberg, version 3 of the rules."),
    TableProperty {
        check: |value| at_least(value, 0),
        ..property(key::REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION, PropertyType::Long, Some("0"), "needs to be greater or equal to zero.", "Versions below keep their checkpoints.")
    },
    boolean("delta.enableMaterializePartitionColumnsFeature", None, "Whether partition columns are written into data files."),
    boolean("delta.writePartitionColumnsToParquet", None, "Whether partition columns are written into data files."),
    boolean("delta.castIcebergTimeType", Some("false"), "Conversion of Iceberg tables."),
    boolean("delta.ignoreIcebergBucketPartition", Some("false"), "Conversion of Iceberg tables."),
    boolean("delta.universalFormat.iceberg.atomicConversion.supported", Some("true"), "Conversion to Iceberg."),
    text("delta.coordinatedCommits.commitCoordinator-preview", None, "", "Preview."),
    text("delta.coordinatedCommits.commitCoordinatorConf-preview", Some("{}"), "", "Preview."),
    text("delta.coordinatedCommits.tableConf-preview", Some("{}"), "", "Preview."),
    text("delta.redirectReaderWriter-preview", None, "", "Preview."),
    text("delta.redirectWriterOnly-preview", None, "", "Preview."),
    TableProperty {
        check: |value| matches!(value, "1" | "2" | "3"),
        ..property(key::MIN_READER_VERSION, PropertyType::Integer, None, "needs to be one of 1, 2, 3.", "Lowest reader version; raises the protocol.")
    },
    TableProperty {
        check: |value| matches!(value, "1" | "2" | "3" | "4" | "5" | "6" | "7"),
        ..property(key::MIN_WRITER_VERSION, PropertyType::Integer, None, "needs to be one of 1, 2, 3, 4, 5, 6, 7.", "Lowest writer version; raises the protocol.")
    },
    boolean(key::IGNORE_PROTOCOL_DEFAULTS, Some("false"), "Whether session defaults of the protocol are left out."),
];
