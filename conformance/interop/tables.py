"""The tables of the interop run: one per kind of statement. Both engines write each of them and read the other's.

A statement may end in a fault of the engine that runs it; then the run fails. `readers` names what the second reader
(delta-rs) can not read, with the reason.
"""
from dataclasses import dataclass, field


@dataclass
class Table:
    name: str
    statements: list[str]
    # Why delta-rs is not asked; None when it is.
    not_for_delta_rs: str | None = None
    # More queries that both answer, `{t}` the table by its path.
    queries: list[str] = field(default_factory=list)
    # Why Spark does not write it; None when it does.
    not_by_spark: str | None = None
    # Versions that can not be read any more, because VACUUM took their files.
    lost_versions: list[int] = field(default_factory=list)
    # The column that tells rows apart, and the version that their identifiers begin with, where rows are tracked.
    row_key: str = "id"
    tracked_since: int = 0
    # Versions that are a RESTORE, and of which version.
    restored: dict[int, int] = field(default_factory=dict)
    # The version that the change feed begins with, where there is one.
    changes_since: int = 0


COPY = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')"
VECTORS = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
FIVE = "(1, 'one'), (2, 'two'), (3, 'three'), (4, NULL), (5, 'five')"
NO_VECTORS = "it reads no deletion vectors"
NO_MAPPING = "it reads no column mapping"

TABLES = [
    Table("plain_insert", [
        "CREATE TABLE plain_insert (id BIGINT NOT NULL, word STRING COMMENT 'a word') USING delta COMMENT 'first'",
        f"INSERT INTO plain_insert VALUES {FIVE}",
        "INSERT INTO plain_insert (word, id) VALUES ('six', 6)",
        "INSERT INTO plain_insert BY NAME SELECT 'seven' AS word, 7L AS id",
        "INSERT INTO plain_insert SELECT id + 10, upper(word) FROM plain_insert",
    ]),
    Table("all_types", [
        """CREATE TABLE all_types (b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f FLOAT, d DOUBLE,
           small DECIMAL(5,2), big DECIMAL(38,10), s STRING, bin BINARY, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ,
           st STRUCT<a: INT, b: STRUCT<c: STRING>>, arr ARRAY<INT>, m MAP<STRING, DOUBLE>) USING delta""",
        """INSERT INTO all_types VALUES (true, 1Y, 2S, 3, 4L, CAST(1.5 AS FLOAT), 2.25D, 123.45,
           1234567890123456789012345678.0123456789, 'täxt "quoted"', X'00FF10', DATE '1969-12-31',
           TIMESTAMP '2024-02-29 23:59:59.123456', TIMESTAMP_NTZ '1900-01-01 00:00:00',
           named_struct('a', 1, 'b', named_struct('c', 'deep')), array(1, NULL, 3), map('k', 1.0D))""",
        """INSERT INTO all_types VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           NULL, NULL, NULL, NULL)""",
    ]),
    Table("overwritten", [
        "CREATE TABLE overwritten (id INT, word STRING) USING delta",
        f"INSERT INTO overwritten VALUES {FIVE}",
        "INSERT OVERWRITE overwritten VALUES (9, 'nine')",
        "INSERT OVERWRITE TABLE overwritten SELECT id * 2, word FROM overwritten",
    ]),
    Table("as_select", [
        "CREATE TABLE as_select USING delta PARTITIONED BY (rest) AS SELECT id, CAST(id % 3 AS INT) AS rest FROM range(0, 20, 1, 2)",
    ]),
    Table("replaced", [
        "CREATE TABLE replaced (id INT) USING delta",
        "INSERT INTO replaced VALUES (1), (2)",
        "CREATE OR REPLACE TABLE replaced (name STRING, id INT) USING delta",
        "INSERT INTO replaced VALUES ('x', 1)",
        "CREATE OR REPLACE TABLE replaced USING delta AS SELECT 1 AS one, 'two' AS two",
        "REPLACE TABLE replaced USING delta AS SELECT 3L AS three",
    ]),
    Table("changed_by_copy", [
        f"CREATE TABLE changed_by_copy (id INT, word STRING) USING delta {COPY}",
        f"INSERT INTO changed_by_copy VALUES {FIVE}",
        "UPDATE changed_by_copy SET word = concat(word, '!') WHERE id > 2",
        "DELETE FROM changed_by_copy WHERE word IS NULL",
        "UPDATE changed_by_copy SET id = id + 1",
        "DELETE FROM changed_by_copy WHERE id = 2",
        "DELETE FROM changed_by_copy",
    ]),
    Table("changed_by_vector", [
        f"CREATE TABLE changed_by_vector (id INT, word STRING) USING delta {VECTORS}",
        "INSERT INTO changed_by_vector SELECT CAST(id AS INT), CAST(id AS STRING) FROM range(0, 100, 1, 1)",
        "DELETE FROM changed_by_vector WHERE id % 7 = 3",
        "UPDATE changed_by_vector SET word = 'changed' WHERE id BETWEEN 20 AND 30",
        "DELETE FROM changed_by_vector WHERE id % 5 = 0",
        "INSERT INTO changed_by_vector VALUES (1000, 'late')",
    ], NO_VECTORS),
    Table("odd_partitions", [
        "CREATE TABLE odd_partitions (id INT, p STRING, q DATE) USING delta PARTITIONED BY (p, q)",
        """INSERT INTO odd_partitions VALUES (1, 'a b', DATE '2024-01-01'), (2, 'a/b', NULL), (3, 'ü €', DATE '1970-01-01'),
           (4, 'a%20b', DATE '2024-01-01'), (5, 'x=y&z', DATE '2024-01-01'), (6, '#?:', DATE '2024-01-01'),
           (7, NULL, NULL), (8, '', DATE '2024-01-01'), (9, '{curly}', NULL), (10, "it's \\"so\\"", NULL),
           (11, 'back\\\\slash', NULL), (12, '..', NULL), (13, ' ', NULL)""",
        "DELETE FROM odd_partitions WHERE p = 'a/b'",
        "UPDATE odd_partitions SET id = id + 100 WHERE p = 'a%20b'",
        "INSERT OVERWRITE odd_partitions SELECT id, p, q FROM odd_partitions WHERE id <> 9",
    ]),
    Table("number_partitions", [
        """CREATE TABLE number_partitions (v STRING, i INT, d DECIMAL(6,2), b BOOLEAN, ts TIMESTAMP) USING delta
           PARTITIONED BY (i, d, b, ts)""",
        """INSERT INTO number_partitions VALUES ('a', 1, 1.50, true, TIMESTAMP '2024-05-01 10:00:00'),
           ('b', -7, -0.01, false, TIMESTAMP '2024-05-01 10:00:00.25'), ('c', NULL, NULL, NULL, NULL)""",
        "DELETE FROM number_partitions WHERE d < 0",
    ]),
    Table("mapped_by_name", [
        """CREATE TABLE mapped_by_name (id INT, `a b` STRING, `x,y;{}()` STRUCT<`i n`: INT>) USING delta
           TBLPROPERTIES ('delta.columnMapping.mode' = 'name')""",
        "INSERT INTO mapped_by_name VALUES (1, 'one', named_struct('i n', 11)), (2, NULL, NULL)",
        "UPDATE mapped_by_name SET `a b` = 'two' WHERE id = 2",
        "DELETE FROM mapped_by_name WHERE id = 1",
        "INSERT INTO mapped_by_name SELECT id + 5, `a b`, `x,y;{}()` FROM mapped_by_name",
    ], NO_MAPPING),
    Table("mapped_by_id", [
        "CREATE TABLE mapped_by_id (id INT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'id')",
        "INSERT INTO mapped_by_id VALUES (1, 'x'), (2, 'y'), (3, NULL)",
        "DELETE FROM mapped_by_id WHERE id = 2",
    ], NO_MAPPING),
    Table("mapped_with_vectors", [
        """CREATE TABLE mapped_with_vectors (id INT, `the word` STRING) USING delta
           TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')""",
        f"INSERT INTO mapped_with_vectors VALUES {FIVE}",
        "DELETE FROM mapped_with_vectors WHERE id = 3",
        "UPDATE mapped_with_vectors SET `the word` = 'x' WHERE id = 4",
    ], NO_VECTORS),
    Table("restored", [
        f"CREATE TABLE restored (id INT, word STRING) USING delta {COPY}",
        f"INSERT INTO restored VALUES {FIVE}",
        "DELETE FROM restored WHERE id < 3",
        "RESTORE TABLE restored TO VERSION AS OF 1",
        "INSERT INTO restored VALUES (6, 'six')",
        "RESTORE TABLE restored TO VERSION AS OF 2",
    ]),
    Table("vacuumed", [
        f"CREATE TABLE vacuumed (id INT, word STRING) USING delta {COPY}",
        f"INSERT INTO vacuumed VALUES {FIVE}",
        "UPDATE vacuumed SET word = 'new'",
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false",
        "VACUUM vacuumed RETAIN 0 HOURS",
        "SET spark.databricks.delta.retentionDurationCheck.enabled = true",
        "INSERT INTO vacuumed VALUES (6, 'six')",
    ], lost_versions=[1]),
    Table("with_properties", [
        "CREATE TABLE with_properties (id INT) USING delta TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 60 days', 'my.key' = 'a''b')",
        "ALTER TABLE with_properties SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 14 days', 'k' = 'v')",
        "ALTER TABLE with_properties UNSET TBLPROPERTIES ('k')",
        "ALTER TABLE with_properties SET TBLPROPERTIES ('delta.appendOnly' = 'true')",
        "INSERT INTO with_properties VALUES (1)",
    ]),
    Table("grown", [
        "CREATE TABLE grown (id INT, st STRUCT<a: INT>) USING delta",
        "INSERT INTO grown VALUES (1, named_struct('a', 1))",
        "ALTER TABLE grown ADD COLUMNS (first_new STRING COMMENT 'at the front' FIRST, last_new DOUBLE)",
        "INSERT INTO grown VALUES ('f', 2, named_struct('a', 2), 2.5)",
        "ALTER TABLE grown ALTER COLUMN id COMMENT 'the key'",
    ]),
    Table("checkpointed", [
        f"CREATE TABLE checkpointed (id INT, word STRING) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '3')",
        *[f"INSERT INTO checkpointed VALUES ({n}, 'row {n}')" for n in range(1, 6)],
        "DELETE FROM checkpointed WHERE id = 2",
        *[f"INSERT INTO checkpointed VALUES ({n}, 'row {n}')" for n in range(6, 9)],
    ]),
    Table("feature_changes", [
        """CREATE TABLE feature_changes (id INT, p STRING) USING delta PARTITIONED BY (p)
           TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'false')""",
        "INSERT INTO feature_changes VALUES (1, 'a'), (2, 'b'), (3, NULL)",
        "UPDATE feature_changes SET id = id + 10 WHERE p = 'a' OR id = 3",
        "DELETE FROM feature_changes WHERE id = 2",
        "INSERT OVERWRITE feature_changes VALUES (7, 'z')",
    ], queries=[
        "SELECT id, p, _change_type, _commit_version, _commit_timestamp FROM table_changes_by_path('{path}', 0)",
        "SELECT id, _change_type FROM table_changes_by_path('{path}', 2, 3)",
    ]),
    Table("feature_changes_of_vectors", [
        """CREATE TABLE feature_changes_of_vectors (id INT, w STRING) USING delta
           TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')""",
        f"INSERT INTO feature_changes_of_vectors VALUES {FIVE}",
        "DELETE FROM feature_changes_of_vectors WHERE id = 2",
        "UPDATE feature_changes_of_vectors SET w = 'new' WHERE id > 3",
        "RESTORE TABLE feature_changes_of_vectors TO VERSION AS OF 2",
    ], NO_VECTORS, queries=["SELECT * FROM table_changes_by_path('{path}', 0)"]),
    Table("feature_row_tracking", [
        """CREATE TABLE feature_row_tracking (id INT, word STRING) USING delta
           TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'false')""",
        f"INSERT INTO feature_row_tracking VALUES {FIVE}",
        "UPDATE feature_row_tracking SET word = 'u' WHERE id = 3",
        "DELETE FROM feature_row_tracking WHERE id = 1",
        "INSERT INTO feature_row_tracking VALUES (9, 'nine')",
    ]),
    Table("feature_clustered", [
        "CREATE TABLE feature_clustered (id INT, word STRING) USING delta CLUSTER BY (id)",
        f"INSERT INTO feature_clustered VALUES {FIVE}",
        "ALTER TABLE feature_clustered CLUSTER BY (word)",
        "INSERT INTO feature_clustered VALUES (6, 'six')",
    ], NO_VECTORS),
    Table("feature_variants", [
        "CREATE TABLE feature_variants (id INT, v VARIANT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        """INSERT INTO feature_variants SELECT 1, parse_json('{"b": [1, 2.75, true, null, "x"], "a": {"c": 12345678901}}')""",
        "INSERT INTO feature_variants VALUES (2, NULL)",
        "INSERT INTO feature_variants SELECT 3, CAST('text' AS VARIANT)",
        "DELETE FROM feature_variants WHERE id = 2",
    ], "it reads no variants", queries=["SELECT id, to_json(v), schema_of_variant(v) FROM {t}"]),
    Table("feature_v2_checkpoints", [
        """CREATE TABLE feature_v2_checkpoints (id INT, p STRING) USING delta PARTITIONED BY (p)
           TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2')""",
        *[f"INSERT INTO feature_v2_checkpoints VALUES ({n}, 'p{n % 2}')" for n in range(1, 6)],
        "DELETE FROM feature_v2_checkpoints WHERE id = 3",
    ], "it reads no deletion vectors"),
    Table("feature_commit_times", [
        """CREATE TABLE feature_commit_times (id INT) USING delta
           TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true', 'delta.enableDeletionVectors' = 'false')""",
        "INSERT INTO feature_commit_times VALUES (1)",
        "INSERT INTO feature_commit_times VALUES (2)",
    ]),
    Table("feature_checks", [
        "CREATE TABLE feature_checks (id INT NOT NULL, word STRING) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        "ALTER TABLE feature_checks ADD CONSTRAINT positive CHECK (id > 0)",
        f"INSERT INTO feature_checks VALUES {FIVE}",
    ]),
    Table("feature_widened", [
        """CREATE TABLE feature_widened (id SMALLINT, f FLOAT) USING delta
           TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.enableDeletionVectors' = 'false')""",
        "INSERT INTO feature_widened VALUES (1, 1.5), (2, NULL)",
        "ALTER TABLE feature_widened ALTER COLUMN id TYPE BIGINT",
        "ALTER TABLE feature_widened ALTER COLUMN f TYPE DOUBLE",
        "INSERT INTO feature_widened VALUES (3000000000, 2.25)",
        "UPDATE feature_widened SET id = id + 1 WHERE f IS NULL",
    ], "it reads no widened types"),
    Table("feature_dropped", [
        f"CREATE TABLE feature_dropped (id INT, word STRING) USING delta {VECTORS}",
        f"INSERT INTO feature_dropped VALUES {FIVE}",
        "DELETE FROM feature_dropped WHERE id = 2",
        "ALTER TABLE feature_dropped DROP FEATURE deletionVectors",
        "INSERT INTO feature_dropped VALUES (8, 'eight')",
    ], "it does not know protected checkpoints"),
    Table("feature_clone", [
        f"CREATE TABLE feature_clone_source (id INT, word STRING) USING delta {VECTORS}",
        f"INSERT INTO feature_clone_source VALUES {FIVE}",
        "DELETE FROM feature_clone_source WHERE id = 4",
        "CREATE TABLE feature_clone SHALLOW CLONE feature_clone_source",
        "INSERT INTO feature_clone VALUES (6, 'six')",
        "DELETE FROM feature_clone WHERE id = 1",
    ], "it reads no absolute paths"),
    Table("feature_converted", [
        "CREATE TABLE feature_converted (id BIGINT, word STRING, p INT, q STRING, d DATE) USING parquet PARTITIONED BY (p, q, d)",
        """INSERT INTO feature_converted VALUES (1, 'one', 1, 'a b', DATE '2024-01-01'), (2, NULL, 2, NULL, NULL),
           (3, 'three', NULL, 'x=y', NULL)""",
        "CONVERT TO DELTA feature_converted",
        "INSERT INTO feature_converted VALUES (4, 'four', 4, NULL, NULL)",
        "DELETE FROM feature_converted WHERE q IS NULL AND id = 2",
    ], "it takes no -1 for the version that a commit has read, which is what the reference writes"),
    Table("feature_identity", [
        "CREATE TABLE feature_identity (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), w STRING) USING delta",
        "INSERT INTO feature_identity (w) VALUES ('a'), ('b')",
        "INSERT INTO feature_identity (w) SELECT 'c'",
    ], "it writes no deletion vectors", not_by_spark="its SQL takes no identity columns"),
    Table("checkpointed_vectors", [
        """CREATE TABLE checkpointed_vectors (id INT, p STRING) USING delta PARTITIONED BY (p)
           TBLPROPERTIES ('delta.checkpointInterval' = '2', 'delta.enableDeletionVectors' = 'true')""",
        "INSERT INTO checkpointed_vectors SELECT CAST(id AS INT), CAST(id % 2 AS STRING) FROM range(0, 10, 1, 1)",
        "DELETE FROM checkpointed_vectors WHERE id IN (3, 4)",
        "DELETE FROM checkpointed_vectors WHERE id = 5",
        "INSERT INTO checkpointed_vectors VALUES (11, NULL)",
    ], NO_VECTORS),
]

# What the other engine then does to the table, so that each goes on with a log that the other began.
CONTINUED = {
    "plain_insert": ["INSERT INTO {t} VALUES (100, 'continued')", "DELETE FROM {t} WHERE id = 1", "UPDATE {t} SET word = 'u' WHERE id = 100"],
    "changed_by_vector": ["DELETE FROM {t} WHERE id = 1", "UPDATE {t} SET word = 'again' WHERE id < 10"],
    "odd_partitions": ["DELETE FROM {t} WHERE p = 'ü €'", "INSERT INTO {t} VALUES (50, 'a b', NULL)"],
    "mapped_by_name": ["INSERT INTO {t} SELECT id + 50, `a b`, `x,y;{{}}()` FROM {t}", "DELETE FROM {t} WHERE id = 2"],
    "checkpointed": ["INSERT INTO {t} VALUES (77, 'continued')", "DELETE FROM {t} WHERE id = 1"],
    "feature_row_tracking": ["UPDATE {t} SET word = 'v' WHERE id > 3", "DELETE FROM {t} WHERE id = 4"],
    "feature_clustered": ["INSERT INTO {t} VALUES (60, 'sixty')"],
    "feature_variants": ["INSERT INTO {t} SELECT 4, parse_json('[1, {{}}]')", "UPDATE {t} SET v = parse_json('0') WHERE id = 1"],
    "feature_v2_checkpoints": ["INSERT INTO {t} VALUES (70, 'p0')", "DELETE FROM {t} WHERE id = 1", "INSERT INTO {t} VALUES (71, NULL)"],
    "feature_commit_times": ["INSERT INTO {t} VALUES (3)"],
    "feature_checks": ["INSERT INTO {t} VALUES (9, 'nine')"],
    "feature_widened": ["INSERT INTO {t} VALUES (4000000000, 0.1)"],
    "feature_changes": ["UPDATE {t} SET id = 8 WHERE id = 7", "DELETE FROM {t} WHERE id = 8"],
    "feature_changes_of_vectors": ["DELETE FROM {t} WHERE id = 1"],
    "feature_clone": ["INSERT INTO {t} VALUES (61, 'more')", "DELETE FROM {t} WHERE id = 5"],
    "feature_identity": ["INSERT INTO {t} (w) VALUES ('d')"],
    "restored": ["RESTORE TABLE {t} TO VERSION AS OF 1"],
}
