"""The reference engine as the recorder and the interop run use it: one thread, UTC, ANSI, Delta in the session catalog."""
import base64
import datetime
import decimal
import math
import re

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # One slice and few tasks: file layouts that a reader can predict, and statements that take a second, not a minute.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
}


def session(warehouse, jars, more=None):
    """A new session with its warehouse in the given folder."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("deltaic-reference")
    settings = {**SETTINGS, "spark.jars": jars, "spark.sql.warehouse.dir": str(warehouse), **(more or {})}
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def forget_tables(spark):
    """Drop Delta's cached logs: files were changed behind its back."""
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def json_value(value):
    """A value of a row in the form that recordings and the pipe of `deltaic sql --pipe` share."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return {"base64": base64.b64encode(bytes(value)).decode("ascii")}
    if hasattr(value, "asDict"):  # a Row
        return {key: json_value(item) for key, item in value.asDict().items()}
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    return str(value)


def answer(frame, most=None):
    """Columns and rows of a DataFrame."""
    rows = frame.collect()
    columns = [[f.name, f.dataType.simpleString(), f.nullable] for f in frame.schema.fields]
    return {
        "columns": columns,
        "row_count": len(rows),
        "rows": [[json_value(item) for item in row] for row in rows[:most]],
    }


def failure(error):
    """What an exception of PySpark says, with the Java exceptions behind it."""
    out = {"python": type(error).__name__, "message": str(error)}
    for key, getter in (
        ("condition", "getCondition"),
        ("sqlState", "getSqlState"),
        ("parameters", "getMessageParameters"),
    ):
        try:
            out[key] = json_value(getattr(error, getter)())
        except Exception:  # not every exception has them
            continue
    origin = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    chain = []
    while origin is not None and len(chain) < 8:
        chain.append([origin.getClass().getName(), (origin.getMessage() or "")[:2000]])
        origin = origin.getCause()
    if chain:
        out["java"] = chain
        if out["python"] == "Py4JJavaError":  # PySpark did not translate it: name what the Java side threw
            out["python"] = chain[0][0].rpartition(".")[2]
            out["message"] = chain[0][1]
    named = re.match(r"\[([A-Z0-9_.]+)\]", out["message"])
    if named:
        out.setdefault("condition", named.group(1))
    return out
