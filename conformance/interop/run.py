#!/usr/bin/env python3
"""Interop: Deltaic and Spark + Delta write the same tables and read each other's; delta-rs reads Deltaic's.

    run.py --deltaic BINARY --jars A,B,... [--only TEXT] [--keep FOLDER]

For each table of tables.py and each way round, these must be the same for the writer and the other engine: the rows of
every version that is still there, the history with all its columns, the properties, and the detail. Then the other
engine changes the table, and both read it again.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "reference"))
import spark as reference  # noqa: E402
from tables import CONTINUED, TABLES  # noqa: E402


class Deltaic:
    """The binary on a pipe."""

    name = "Deltaic"

    def __init__(self, binary, warehouse):
        self.warehouse = Path(warehouse)
        words = [binary, "sql", "--pipe", "--warehouse", str(warehouse)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the pipe closed at {request}")
        return json.loads(line)

    def ask(self, statement):
        answer = self.send({"sql": statement, "args": {}})
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {statement}\n    {answer['error']['message']}")
        return answer

    def forget(self):
        self.send({"refresh": True})

    def stop(self):
        self.process.stdin.close()
        if self.process.wait(60) != 0:
            raise RuntimeError("deltaic did not end well")


class Spark:
    """The reference."""

    name = "Spark"

    def __init__(self, jars, warehouse):
        self.warehouse = Path(warehouse)
        self.spark = reference.session(warehouse, jars)

    def ask(self, statement):
        try:
            return reference.answer(self.spark.sql(statement))
        except Exception as error:  # whatever it is, the run fails with its text
            raise RuntimeError(f"{self.name}: {statement}\n    {reference.failure(error)['message'][:1500]}") from None

    def forget(self):
        reference.forget_tables(self.spark)

    def stop(self):
        self.spark.stop()


def rows(answer):
    return sorted(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in answer["rows"])


def versions(path):
    commits = [p.stem for p in (path / "_delta_log").iterdir() if p.suffix == ".json" and p.stem.isdigit()]
    return sorted(int(v) for v in commits)


def same(title, want, got):
    """One line per difference."""
    if want == got:
        return []
    if isinstance(want, list) and isinstance(got, list):
        want, got = [x for x in want if x not in got][:3] or want[:3], [x for x in got if x not in want][:3] or got[:3]
    return [f"{title}\n      writer: {json.dumps(want, ensure_ascii=False)[:1200]}\n      reader: {json.dumps(got, ensure_ascii=False)[:1200]}"]


def compare(writer, reader, path, lost, queries=()):
    """What the two engines read from one table, held against each other."""
    found = []
    at = f"delta.`{path}`"
    present = versions(path)
    reads = [("rows now", f"SELECT * FROM {at}")]
    reads += [(f"rows of version {v}", f"SELECT * FROM {at} VERSION AS OF {v}") for v in present if v not in lost]
    reads += [(query, query.format(t=at, path=path)) for query in queries]
    for title, query in reads:
        want, got = writer.ask(query), reader.ask(query)
        found += same(f"{title}: columns", [c[:2] for c in want["columns"]], [c[:2] for c in got["columns"]])
        found += same(title, rows(want), rows(got))
    for title, query in (
        ("history", f"DESCRIBE HISTORY {at}"),
        ("properties", f"SHOW TBLPROPERTIES {at}"),
        ("detail", f"DESCRIBE DETAIL {at}"),
    ):
        want, got = writer.ask(query), reader.ask(query)
        found += same(title, rows(want), rows(got))
    return found


def delta_rs(writer, table, path):
    """What delta-rs reads, against what the writer says."""
    from deltalake import DeltaTable

    if table.not_for_delta_rs:
        return [], f"delta-rs not asked: {table.not_for_delta_rs}"
    try:
        opened = DeltaTable(str(path))
        read = opened.to_pyarrow_table().to_pylist()
        history = sorted((h["version"], h["operation"]) for h in opened.history())
    except Exception as error:
        return [f"delta-rs: {type(error).__name__}: {error}"], None
    want = writer.ask(f"SELECT * FROM delta.`{path}`")
    names = [c[0] for c in want["columns"]]
    types = dict((c[0], c[1]) for c in want["columns"])
    got = sorted(json.dumps([plain(r[n], types[n]) for n in names], sort_keys=True, ensure_ascii=False) for r in read)
    found = same("delta-rs: rows", rows(want), got)
    ours = writer.ask(f"DESCRIBE HISTORY delta.`{path}`")
    at = [c[0] for c in ours["columns"]].index("operation")
    found += same("delta-rs: history", sorted([r[0], r[at]] for r in ours["rows"]), [list(h) for h in history])
    return found, None


def plain(value, kind):
    """A value of Arrow in the form of the pipe."""
    if kind.startswith("map<") and value is not None:
        return {str(k): reference.json_value(v) for k, v in value}
    if kind == "timestamp" and value is not None:
        return value.replace(tzinfo=None).isoformat()
    return reference.json_value(value)


def write(engine, table):
    for statement in table.statements:
        engine.ask(statement)
    return engine.warehouse / table.name


def one_way(writer, reader, table, second_reader):
    """Write, read with the other engine, go on with the other engine, read again."""
    path = write(writer, table)
    reader.forget()
    found = compare(writer, reader, path, table.lost_versions, table.queries)
    note = None
    if second_reader:
        more, note = delta_rs(writer, table, path)
        found += more
    for statement in CONTINUED.get(table.name, []):
        reader.ask(statement.format(t=f"delta.`{path}`"))
    if table.name in CONTINUED:
        writer.forget()
        found += [f"after {reader.name} went on: {x}" for x in compare(reader, writer, path, table.lost_versions, table.queries)]
    return found, note


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deltaic", required=True)
    parser.add_argument("--jars", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", help="leave the tables in this folder")
    arguments = parser.parse_args()
    os.environ["TZ"] = "UTC"
    time.tzset()
    chosen = [t for t in TABLES if arguments.only in t.name]
    folder = Path(os.path.realpath(arguments.keep or tempfile.mkdtemp(prefix="deltaic-interop-")))
    for name in ("deltaic", "spark"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    deltaic = Deltaic(arguments.deltaic, folder / "deltaic")
    spark = Spark(arguments.jars, folder / "spark")
    failed = 0
    for writer, reader in ((deltaic, spark), (spark, deltaic)):
        for table in chosen:
            if writer is spark and table.not_by_spark:
                print(f"{writer.name} -> {reader.name}  {table.name}: left out, {table.not_by_spark}", flush=True)
                continue
            start = time.time()
            try:
                found, note = one_way(writer, reader, table, writer is deltaic)
            except RuntimeError as error:
                found, note = [str(error)], None
            state = "ok" if not found else "DIFFERS"
            failed += bool(found)
            print(f"{writer.name} -> {reader.name}  {table.name}: {state} ({time.time() - start:.1f} s)" + (f", {note}" if note else ""), flush=True)
            for line in found:
                print("   ", line, flush=True)
    deltaic.stop()
    spark.stop()
    if not arguments.keep:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"interop: {2 * len(chosen) - failed} of {2 * len(chosen)} tables are the same to both engines")
    sys.exit(1 if failed or not chosen else 0)


if __name__ == "__main__":
    main()
