"""Tables for readers that take little time: more types, more features, and more of them together than tables.py has."""
from tables import FIVE, Table, VECTORS

STRUCT_STATS = "'delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = 'false'"

# A row of values at the edge of each type, and one of the usual.
EDGES = """SELECT true AS b, -128Y AS i8, 32767S AS i16, -2147483648 AS i32, 9223372036854775807L AS i64,
    CAST('-0.0' AS FLOAT) AS f, CAST('NaN' AS DOUBLE) AS d, CAST(-999.99 AS DECIMAL(5,2)) AS small,
    CAST('-9999999999999999999999999999.9999999999' AS DECIMAL(38,10)) AS big, CAST(0.0000001 AS DECIMAL(18,18)) AS fine,
    repeat('ä€𝄞', 20) AS s, DATE '0001-01-01' AS day, TIMESTAMP '1582-10-04 23:59:59.999999' AS ts,
    TIMESTAMP_NTZ '9999-12-31 23:59:59.999999' AS ntz"""
USUAL = """SELECT false, 1Y, 2S, 3, 4L, CAST(1.5 AS FLOAT), 2.25D, CAST(1.50 AS DECIMAL(5,2)), CAST(7 AS DECIMAL(38,10)),
    CAST(0.5 AS DECIMAL(18,18)), 'plain', DATE '2024-02-29', TIMESTAMP '2024-02-29 12:00:00.001', TIMESTAMP_NTZ '2024-02-29 12:00:00'"""
NULLS = "SELECT " + ", ".join(["NULL"] * 14)
INFINITE = """SELECT true, 127Y, 1S, 0, 0L, CAST('Infinity' AS FLOAT), CAST('-Infinity' AS DOUBLE), CAST(0 AS DECIMAL(5,2)),
    CAST(0 AS DECIMAL(38,10)), CAST(0 AS DECIMAL(18,18)), '', DATE '9999-12-31', TIMESTAMP '1900-01-01 00:00:00',
    TIMESTAMP_NTZ '1582-10-15 00:00:00'"""


def edges(name, properties, partition=""):
    """One file of all, one of each, one of NULLs alone; then rows go, so that bounds are wide."""
    return [
        f"CREATE TABLE {name} USING delta {partition} TBLPROPERTIES ({properties}) AS {EDGES}",
        f"INSERT INTO {name} {USUAL}",
        f"INSERT INTO {name} {NULLS}",
        f"INSERT INTO {name} {INFINITE}",
        f"INSERT INTO {name} SELECT * FROM {name}",
        f"DELETE FROM {name} WHERE i32 = 3",
        f"UPDATE {name} SET s = concat(s, '𝄞𝄞') WHERE i8 < 0",
    ]


def grow(name, count, values="({n}, 'row {n}')"):
    return [f"INSERT INTO {name} VALUES {values.format(n=n, m=n % 3)}" for n in range(1, count + 1)]


MORE = [
    Table("edges_by_copy", edges("edges_by_copy", "'delta.enableDeletionVectors' = 'false'")),
    Table("edges_by_vector", edges("edges_by_vector", "'delta.enableDeletionVectors' = 'true'")),
    Table("edges_mapped_by_id", edges(
        "edges_mapped_by_id", "'delta.columnMapping.mode' = 'id', 'delta.enableDeletionVectors' = 'true'")),
    Table("edges_in_struct_stats", edges(
        "edges_in_struct_stats", f"{STRUCT_STATS}, 'delta.checkpointInterval' = '2', 'delta.enableDeletionVectors' = 'true'")),
    Table("edges_in_v2_checkpoints", edges(
        "edges_in_v2_checkpoints",
        f"{STRUCT_STATS}, 'delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2', 'delta.columnMapping.mode' = 'name'")),
    Table("edges_as_partitions", edges(
        "edges_as_partitions", f"{STRUCT_STATS}, 'delta.checkpointInterval' = '2', 'delta.enableDeletionVectors' = 'false'",
        "PARTITIONED BY (b, i8, i16, i64, f, d, small, big, fine, s, day, ts, ntz)")),
    Table("edges_as_mapped_partitions", edges(
        "edges_as_mapped_partitions", "'delta.columnMapping.mode' = 'name', 'delta.checkpointInterval' = '3'",
        "PARTITIONED BY (b, i8, i16, i64, f, d, small, big, fine, s, day, ts, ntz)")),
    Table("nested", [
        """CREATE TABLE nested (id INT, st STRUCT<a: INT, `b c`: STRUCT<c: STRING, d: ARRAY<INT>>>,
           list ARRAY<STRUCT<x: INT, y: MAP<STRING, ARRAY<STRING>>>>, m MAP<STRUCT<k: INT>, STRUCT<v: DATE>>) USING delta
           TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')""",
        """INSERT INTO nested VALUES
           (1, named_struct('a', 1, 'b c', named_struct('c', 'x', 'd', array(1, NULL))),
            array(named_struct('x', 1, 'y', map('k', array('v', NULL))), NULL), NULL),
           (2, NULL, array(), NULL),
           (3, named_struct('a', NULL, 'b c', NULL), NULL, NULL),
           (4, named_struct('a', 4, 'b c', named_struct('c', NULL, 'd', array())), array(named_struct('x', NULL, 'y', map())), NULL)""",
        "ALTER TABLE nested ADD COLUMNS (st.late STRING, list.element.late BOOLEAN)",
        "INSERT INTO nested SELECT id + 10, st, list, m FROM nested",
        "ALTER TABLE nested RENAME COLUMN st.a TO renamed",
        "ALTER TABLE nested DROP COLUMN st.`b c`",
        "UPDATE nested SET st = NULL WHERE id > 12",
        "DELETE FROM nested WHERE st IS NULL AND id > 10",
    ]),
    Table("renamed_and_dropped", [
        "CREATE TABLE renamed_and_dropped (id INT, a STRING, b STRING, p INT) USING delta PARTITIONED BY (p)",
        "INSERT INTO renamed_and_dropped VALUES (1, 'a1', 'b1', 1), (2, 'a2', NULL, NULL)",
        "ALTER TABLE renamed_and_dropped SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')",
        "ALTER TABLE renamed_and_dropped RENAME COLUMN a TO `new a`",
        "ALTER TABLE renamed_and_dropped DROP COLUMN b",
        "ALTER TABLE renamed_and_dropped ADD COLUMN b INT",
        "INSERT INTO renamed_and_dropped (id, `new a`, p, b) VALUES (3, 'a3', 3, 33)",
        "ALTER TABLE renamed_and_dropped RENAME COLUMN p TO part",
        "DELETE FROM renamed_and_dropped WHERE part = 1",
        "UPDATE renamed_and_dropped SET b = 22 WHERE id = 2",
    ]),
    Table("widened_all", [
        """CREATE TABLE widened_all (id INT, a TINYINT, b SMALLINT, c INT, d INT, e FLOAT, f DATE, g DECIMAL(5,2), h DECIMAL(6,1), p TINYINT)
           USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.checkpointInterval' = '4', 'delta.feature.timestampNtz' = 'supported',
           'delta.checkpoint.writeStatsAsStruct' = 'true')""",
        "INSERT INTO widened_all VALUES (1, 1, 2, 3, 4, 0.1, DATE '2024-01-01', 1.25, 2.5, 1), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
        "ALTER TABLE widened_all ALTER COLUMN a TYPE INT",
        "ALTER TABLE widened_all ALTER COLUMN b TYPE BIGINT",
        "ALTER TABLE widened_all ALTER COLUMN c TYPE DOUBLE",
        "ALTER TABLE widened_all ALTER COLUMN d TYPE DECIMAL(12,2)",
        "ALTER TABLE widened_all ALTER COLUMN e TYPE DOUBLE",
        "ALTER TABLE widened_all ALTER COLUMN f TYPE TIMESTAMP_NTZ",
        "ALTER TABLE widened_all ALTER COLUMN g TYPE DECIMAL(10,2)",
        "ALTER TABLE widened_all ALTER COLUMN h TYPE DECIMAL(20,6)",
        "ALTER TABLE widened_all ALTER COLUMN p TYPE INT",
        "INSERT INTO widened_all VALUES (3, 70000, 5000000000, 0.5, 1.25, 0.2, TIMESTAMP_NTZ '2024-01-01 10:00:00', 12345.67, 1.234567, 70000)",
        "DELETE FROM widened_all WHERE id = 2",
        "ALTER TABLE widened_all ALTER COLUMN a TYPE BIGINT",
        "UPDATE widened_all SET a = 5000000000 WHERE id = 1",
    ]),
    Table("generated_and_defaults", [
        """CREATE TABLE generated_and_defaults (id INT, at TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(at AS DATE)),
           w STRING DEFAULT 'none') USING delta PARTITIONED BY (day) TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')""",
        "INSERT INTO generated_and_defaults (id, at) VALUES (1, TIMESTAMP '2024-01-01 10:00:00'), (2, NULL)",
        "INSERT INTO generated_and_defaults (id, at, w) VALUES (3, TIMESTAMP '2024-01-02 23:59:59.999999', DEFAULT)",
        "UPDATE generated_and_defaults SET at = TIMESTAMP '1582-10-05 00:00:00' WHERE id = 1",
    ]),
    Table("fixed_lengths", [
        "CREATE TABLE fixed_lengths (id INT, c CHAR(5), v VARCHAR(40)) USING delta",
        "INSERT INTO fixed_lengths VALUES (1, 'ab', repeat('long ', 8)), (2, NULL, '')",
        "UPDATE fixed_lengths SET c = 'xyz' WHERE id = 2",
    ]),
    Table("odd_names", [
        "CREATE TABLE odd_names (`a.b` INT, `c d` STRING, `ü%20` STRING, `p.q` STRING) USING delta PARTITIONED BY (`p.q`) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "INSERT INTO odd_names VALUES (1, 'x', 'y', 'a/b'), (2, NULL, NULL, '100%')",
        "DELETE FROM odd_names WHERE `a.b` = 1",
    ]),
    Table("long_history", [
        f"CREATE TABLE long_history (id INT, word STRING) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '5', {STRUCT_STATS}, 'delta.enableDeletionVectors' = 'true')",
        *grow("long_history", 8),
        "DELETE FROM long_history WHERE id IN (2, 4)",
        "UPDATE long_history SET word = 'u' WHERE id > 6",
        *grow("long_history", 4),
        "INSERT OVERWRITE long_history SELECT id, word FROM long_history WHERE id < 7",
        "DELETE FROM long_history WHERE id = 1",
        "RESTORE TABLE long_history TO VERSION AS OF 9",
        "INSERT INTO long_history VALUES (50, 'after')",
    ]),
    Table("v2_history", [
        """CREATE TABLE v2_history (id INT, word STRING, p INT) USING delta PARTITIONED BY (p)
           TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '3', 'delta.enableDeletionVectors' = 'true',
           'delta.enableRowTracking' = 'true', 'delta.enableInCommitTimestamps' = 'true', 'delta.columnMapping.mode' = 'id')""",
        *grow("v2_history", 7, "({n}, 'row {n}', {m})"),
        "DELETE FROM v2_history WHERE id IN (1, 4)",
        "UPDATE v2_history SET word = 'u' WHERE p = 2",
        "DELETE FROM v2_history WHERE p = 0",
        "INSERT INTO v2_history VALUES (70, NULL, NULL)",
        "ALTER TABLE v2_history SET TBLPROPERTIES ('delta.checkpointPolicy' = 'classic')",
        *grow("v2_history", 4, "(10{n}, 'row {n}', {m})"),
    ]),
    Table("commit_times_later", [
        "CREATE TABLE commit_times_later (id INT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.checkpointInterval' = '3')",
        "INSERT INTO commit_times_later VALUES (1)",
        "ALTER TABLE commit_times_later SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')",
        "INSERT INTO commit_times_later VALUES (2)",
        "DELETE FROM commit_times_later WHERE id = 1",
    ]),
    Table("tracked_by_vector", [
        f"CREATE TABLE tracked_by_vector (id INT, word STRING) USING delta TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true', 'delta.checkpointInterval' = '3')",
        f"INSERT INTO tracked_by_vector VALUES {FIVE}",
        "UPDATE tracked_by_vector SET word = 'u' WHERE id = 3",
        "DELETE FROM tracked_by_vector WHERE id = 1",
        "UPDATE tracked_by_vector SET word = 'v' WHERE id > 2",
        "INSERT INTO tracked_by_vector VALUES (9, 'nine'), (10, 'ten')",
        "UPDATE tracked_by_vector SET word = concat(word, '!') WHERE id IN (3, 9)",
        "DELETE FROM tracked_by_vector WHERE id = 3",
    ]),
    Table("tracked_later", [
        f"CREATE TABLE tracked_later (id INT, word STRING) USING delta {VECTORS}",
        f"INSERT INTO tracked_later VALUES {FIVE}",
        "DELETE FROM tracked_later WHERE id = 2",
        "ALTER TABLE tracked_later SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
        "UPDATE tracked_later SET word = 'u' WHERE id = 3",
        "INSERT INTO tracked_later VALUES (9, 'nine')",
        "UPDATE tracked_later SET word = 'w'",
    ], tracked_since=5),
    Table("tracked_and_restored", [
        """CREATE TABLE tracked_and_restored (id INT, word STRING) USING delta TBLPROPERTIES ('delta.enableRowTracking' = 'true',
           'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')""",
        f"INSERT INTO tracked_and_restored VALUES {FIVE}",
        "UPDATE tracked_and_restored SET word = 'u' WHERE id > 3",
        "DELETE FROM tracked_and_restored WHERE id = 1",
        "RESTORE TABLE tracked_and_restored TO VERSION AS OF 1",
        "INSERT INTO tracked_and_restored VALUES (7, 'seven')",
        "UPDATE tracked_and_restored SET word = 'v' WHERE id > 4",
    ], restored={4: 1}),
    Table("tracked_and_mapped", [
        """CREATE TABLE tracked_and_mapped (id INT, `a word` STRING, p STRING) USING delta PARTITIONED BY (p)
           TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name')""",
        "INSERT INTO tracked_and_mapped VALUES (1, 'one', 'x'), (2, 'two', 'y'), (3, NULL, NULL)",
        "UPDATE tracked_and_mapped SET `a word` = 'u' WHERE p = 'x'",
        "UPDATE tracked_and_mapped SET p = 'z' WHERE id = 3",
        "DELETE FROM tracked_and_mapped WHERE p = 'y'",
    ]),
    Table("changes_mapped", [
        """CREATE TABLE changes_mapped (id INT, `a word` STRING, `the p` STRING) USING delta PARTITIONED BY (`the p`)
           TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')""",
        "INSERT INTO changes_mapped VALUES (1, 'one', 'x y'), (2, 'two', 'a/b'), (3, NULL, NULL)",
        "UPDATE changes_mapped SET `a word` = 'u' WHERE id < 3",
        "DELETE FROM changes_mapped WHERE `the p` = 'a/b'",
        "DELETE FROM changes_mapped WHERE id = 1",
        "INSERT OVERWRITE changes_mapped VALUES (5, 'five', 'x y')",
        "RESTORE TABLE changes_mapped TO VERSION AS OF 2",
    ]),
    Table("changes_of_new_columns", [
        "CREATE TABLE changes_of_new_columns (id INT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
        "INSERT INTO changes_of_new_columns VALUES (1), (2)",
        "ALTER TABLE changes_of_new_columns ADD COLUMNS (word STRING)",
        "INSERT INTO changes_of_new_columns VALUES (3, 'three')",
        "UPDATE changes_of_new_columns SET word = 'u' WHERE id = 1",
        "DELETE FROM changes_of_new_columns WHERE id = 2",
    ]),
    Table("changes_of_all_types", [
        *edges("changes_of_all_types", "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'false'", "PARTITIONED BY (day, s)"),
    ]),
    Table("variants_of_all", [
        """CREATE TABLE variants_of_all (id INT, v VARIANT, st STRUCT<v: VARIANT>, list ARRAY<VARIANT>) USING delta TBLPROPERTIES
           ('delta.columnMapping.mode' = 'name', 'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true',
           'delta.checkpointInterval' = '2', 'delta.checkpoint.writeStatsAsStruct' = 'true')""",
        """INSERT INTO variants_of_all SELECT 1, parse_json('{"z": [1, -0.5, 1e300, "ü"], "a": {}}'),
           named_struct('v', parse_json('null')), array(parse_json('1'), NULL, CAST(DATE '2024-01-01' AS VARIANT))""",
        "INSERT INTO variants_of_all SELECT 2, NULL, NULL, NULL",
        "INSERT INTO variants_of_all SELECT 3, CAST(1.50 AS VARIANT), named_struct('v', CAST(true AS VARIANT)), array()",
        "UPDATE variants_of_all SET v = parse_json('[]') WHERE id = 2",
        "DELETE FROM variants_of_all WHERE id = 3",
    ]),
    Table("clustered_and_mapped", [
        "CREATE TABLE clustered_and_mapped (id INT, st STRUCT<`a b`: STRING>) USING delta CLUSTER BY (id, st.`a b`) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "INSERT INTO clustered_and_mapped VALUES (1, named_struct('a b', 'x')), (2, NULL)",
        "ALTER TABLE clustered_and_mapped CLUSTER BY NONE",
        "UPDATE clustered_and_mapped SET id = 5 WHERE id = 1",
    ]),
    Table("features_without_use", [
        """CREATE TABLE features_without_use (id INT, word STRING) USING delta TBLPROPERTIES ('delta.feature.vacuumProtocolCheck' = 'supported',
           'delta.feature.timestampNtz' = 'supported', 'delta.feature.v2Checkpoint' = 'supported', 'delta.feature.typeWidening' = 'supported',
           'delta.feature.columnMapping' = 'supported', 'delta.feature.variantType' = 'supported', 'delta.checkpointInterval' = '2')""",
        *grow("features_without_use", 4),
        "DELETE FROM features_without_use WHERE id = 2",
    ]),
    Table("clone_of_partitions", [
        f"CREATE TABLE clone_of_partitions_source (id INT, `p q` STRING) USING delta PARTITIONED BY (`p q`) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')",
        "INSERT INTO clone_of_partitions_source VALUES (1, 'a b'), (2, 'a/b%'), (3, NULL), (4, 'a b')",
        "DELETE FROM clone_of_partitions_source WHERE id = 4",
        "CREATE TABLE clone_of_partitions_middle SHALLOW CLONE clone_of_partitions_source",
        "INSERT INTO clone_of_partitions_middle VALUES (5, 'mid dle')",
        "CREATE TABLE clone_of_partitions SHALLOW CLONE clone_of_partitions_middle TBLPROPERTIES ('delta.checkpointInterval' = '2')",
        "DELETE FROM clone_of_partitions WHERE id = 1",
        "INSERT INTO clone_of_partitions VALUES (6, 'six')",
        "UPDATE clone_of_partitions SET id = id + 100 WHERE id > 3",
    ]),
    Table("replaced_ranges", [
        "CREATE TABLE replaced_ranges (id INT, p INT) USING delta PARTITIONED BY (p)",
        "INSERT INTO replaced_ranges VALUES (1, 1), (2, 2), (3, 3)",
        "INSERT INTO replaced_ranges REPLACE WHERE p = 2 VALUES (20, 2), (21, 2)",
        "SET spark.sql.sources.partitionOverwriteMode = dynamic",
        "INSERT OVERWRITE replaced_ranges VALUES (30, 3), (40, 4)",
        "SET spark.sql.sources.partitionOverwriteMode = static",
        "CREATE OR REPLACE TABLE replaced_ranges USING delta PARTITIONED BY (q) AS SELECT id, CAST(p AS STRING) AS q FROM replaced_ranges",
        "INSERT INTO replaced_ranges VALUES (50, NULL)",
    ]),
    Table("few_statistics", [
        "CREATE TABLE few_statistics (a INT, b STRING, c STRUCT<d: INT, e: STRING>, f INT) USING delta TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'c.e,f', 'delta.checkpointInterval' = '2', 'delta.checkpoint.writeStatsAsStruct' = 'true')",
        "INSERT INTO few_statistics VALUES (1, 'x', named_struct('d', 1, 'e', 'deep'), 5), (2, NULL, NULL, NULL)",
        "ALTER TABLE few_statistics UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns')",
        "ALTER TABLE few_statistics SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '1')",
        "INSERT INTO few_statistics VALUES (3, 'y', named_struct('d', NULL, 'e', NULL), 6)",
        "UPDATE few_statistics SET f = 7 WHERE a = 2",
    ]),
    Table("all_vectors_gone", [
        f"CREATE TABLE all_vectors_gone (id INT) USING delta {VECTORS}",
        "INSERT INTO all_vectors_gone SELECT CAST(id AS INT) FROM range(0, 3000, 1, 3)",
        "DELETE FROM all_vectors_gone WHERE id % 2 = 0",
        "DELETE FROM all_vectors_gone WHERE id % 3 = 0",
        "DELETE FROM all_vectors_gone WHERE id < 2000",
        "DELETE FROM all_vectors_gone",
        "INSERT INTO all_vectors_gone VALUES (1)",
    ]),
]
