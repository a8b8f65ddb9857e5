"""Measures deltaic-bench beside other engines on the same tables, and prints a table in Markdown.

    python compare.py PROGRAM FOLDER [--only a_open,b_open] [--runs 3]

Each run is a process of its own; its CPU seconds and peak memory are what the system counted, Python's start and imports
taken off the peers' (`noop`). Figures are medians. Engines that answer the same question must give the same answer.
`compare.py peer ENGINE SCENARIO TABLE` is one such process.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

# scenario: (title, table, whether the table changes, engines beside ours)
SCENARIOS = {
    "a_open": ("open the checkpoint and list the paths", "files", False, ["deltalake", "polars", "duckdb"]),
    "a_add_actions": ("all that it says of the files", "files", False, ["deltalake"]),
    "a_prune": ("files that a predicate leaves", "files", False, ["deltalake"]),
    "l_checkpoint": ("write the checkpoint", "files", True, ["deltalake"]),
    "b_open": ("open 10,000 commits", "commits", False, ["deltalake", "polars", "duckdb"]),
    "c_history": ("the newest 1,000 entries of the history", "commits", False, ["deltalake"]),
    "i_travel": ("a version by its number", "commits", False, ["deltalake", "polars"]),
    "i_travel_ts": ("a version by a moment", "commits", False, ["deltalake"]),
    "d_dry_lite": ("VACUUM LITE, dry run", "vacuum", False, ["deltalake"]),
    "d_dry_full": ("VACUUM FULL, dry run", "vacuum", False, ["deltalake"]),
    "e_count": ("number of rows", "data", False, ["bare", "deltalake", "polars", "duckdb"]),
    "e_part": ("one partition", "data", False, ["bare", "deltalake", "polars", "duckdb"]),
    "e_point": ("one row", "data", False, ["bare", "deltalake", "polars", "duckdb"]),
    "e_agg": ("all rows, aggregated", "data", False, ["bare", "deltalake", "polars", "duckdb"]),
    "f_delete_scatter": ("DELETE of 1 %, rewriting", "data", True, ["deltalake"]),
    "f_delete_dv": ("DELETE of 1 %, deletion vectors", "data_dv", True, []),
    "f_update": ("UPDATE of 1 %, rewriting", "data", True, ["deltalake"]),
    "g_append": ("1,000 appends through one handle", "empty", True, ["deltalake"]),
}
QUERIES = {
    "e_count": "SELECT count(*) AS n FROM t",
    "e_part": "SELECT count(*) AS n, sum(v) AS s FROM t WHERE grp = 7",
    "e_point": "SELECT * FROM t WHERE id = 7654321",
    "e_agg": "SELECT k % 10 AS g, count(*) AS n, sum(v) AS sv, sum(amount) AS sa FROM t GROUP BY 1 ORDER BY 1",
}


def answer_of(scenario, columns):
    """What engines are compared by: the number of rows, or sums over columns."""
    if scenario == "e_point":
        return str(len(columns[0]))
    if scenario == "e_agg":
        columns = columns[1:]
        return [sum(columns[0]), round(float(sum(columns[1])), 2), float(sum(columns[2]))]
    return [round(float(sum(column)), 3) for column in columns]


def with_deltalake(scenario, place):
    from deltalake import DeltaTable, QueryBuilder, write_deltalake
    if scenario == "i_travel":
        return len(DeltaTable(place, version=5000).file_uris())
    table = DeltaTable(place)
    if scenario in ("a_open", "b_open"):
        return len(table.file_uris())
    if scenario == "a_add_actions":
        return table.get_add_actions(flatten=True).num_rows
    if scenario == "a_prune":
        return len(table.file_uris(file_pruning_predicate="date = '2024-06-15-150' or id = 500000500"))
    if scenario == "l_checkpoint":
        table.create_checkpoint()
        return table.version()
    if scenario == "c_history":
        return len(table.history(1000))
    if scenario == "i_travel_ts":
        table.load_as_version("2024-01-01T01:23:20Z")
        return table.version()
    if scenario.startswith("d_"):
        return len(table.vacuum(retention_hours=168, dry_run=True, full=scenario == "d_dry_full"))
    if scenario in QUERIES:
        rows = QueryBuilder().register("t", table).execute(QUERIES[scenario]).read_all()
        return answer_of(scenario, [rows.column(at).to_pylist() for at in range(len(rows.schema))])
    if scenario == "f_delete_scatter":
        return table.delete("k < 10")["num_deleted_rows"]
    if scenario == "f_update":
        return table.update(predicate="k < 10", updates={"v": "v + 1.0"})["num_updated_rows"]
    import pyarrow as pa
    for number in range(1000):
        row = pa.table({"id": pa.array([number], pa.int64()), "name": [f"row-{number}"]})
        write_deltalake(table, row, mode="append")
    return DeltaTable(place).version()


def with_polars(scenario, place):
    import polars as pl
    rows = pl.scan_delta(place, **({"version": 5000} if scenario == "i_travel" else {}))
    if scenario in ("a_open", "b_open", "i_travel"):
        # It has no list of files to show; a plan needs the log as well.
        rows.collect_schema()
        return None
    if scenario == "e_count":
        rows = rows.select(pl.len())
    elif scenario == "e_part":
        rows = rows.filter(pl.col("grp") == 7).select(pl.len(), pl.col("v").sum())
    elif scenario == "e_point":
        rows = rows.filter(pl.col("id") == 7654321)
    else:
        rows = rows.group_by((pl.col("k") % 10).alias("g"))
        rows = rows.agg(pl.len(), pl.col("v").sum(), pl.col("amount").sum()).sort("g")
    return answer_of(scenario, [column.to_list() for column in rows.collect().get_columns()])


def with_duckdb(scenario, place):
    import duckdb
    from importlib.resources import files
    extension = next(files("duckdb_extension_delta").joinpath("extensions").rglob("*.duckdb_extension"))
    session = duckdb.connect(config={"threads": os.cpu_count()})
    session.execute(f"LOAD '{extension}'")
    if scenario in ("a_open", "b_open"):
        return session.execute(f"SELECT count(*) FROM delta_list_files('{place}')").fetchone()[0]
    session.execute(f"CREATE VIEW t AS SELECT * FROM delta_scan('{place}')")
    rows = session.execute(QUERIES[scenario]).fetchall()
    return answer_of(scenario, [list(column) for column in zip(*rows)])


def peer(engine, scenario, place):
    if scenario == "noop":
        {"deltalake": lambda: __import__("deltalake"), "polars": lambda: __import__("polars"),
         "duckdb": lambda: __import__("duckdb")}[engine]()
        answer = None
    else:
        answer = {"deltalake": with_deltalake, "polars": with_polars, "duckdb": with_duckdb}[engine](scenario, place)
    print(json.dumps({"check": answer}, default=str), flush=True)
    # Threads of some libraries end the process with an abort otherwise.
    os._exit(0)


def run(command):
    """Answer, CPU seconds and peak MiB of one process."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}")
    line = json.loads(said.strip().splitlines()[-1])
    return line.get("check"), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, line.get("phases", {})


def copied(table, work):
    """A table that may be changed: files of rows are linked, the log is copied."""
    shutil.rmtree(work, ignore_errors=True)
    link = lambda source, target: (shutil.copy2 if "_delta_log" in source else os.link)(source, target)
    shutil.copytree(table, work, copy_function=link)
    return work


def measured(command, table, changes, runs):
    figures = []
    for number in range(runs + 1):
        place = copied(table, table + ".work") if changes else table
        result = run([word.replace("@", place) for word in command])
        if number:  # the first one warms the caches
            figures.append(result)
    shutil.rmtree(table + ".work", ignore_errors=True)
    middle = lambda at: statistics.median(figure[at] for figure in figures)
    return figures[-1][0], middle(1), middle(2), figures[-1][3]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("folder")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    names = [name for name in given.only.split(",") if name] or list(SCENARIOS)
    python = [sys.executable, os.path.abspath(__file__), "peer"]
    engines = ["deltalake", "polars", "duckdb"]
    idle = {engine: run(python + [engine, "noop", "-"])[1] for engine in engines}
    print("| what | Deltaic | deltalake | polars | DuckDB | DataFusion on the bare files |\n|---|---|---|---|---|---|")
    wrong = []
    for name in names:
        title, kind, changes, beside = SCENARIOS[name]
        table = os.path.join(given.folder, kind)
        if not os.path.exists(os.path.join(table, "_delta_log")):
            shutil.rmtree(table, ignore_errors=True)
            run([given.program, f"make_{kind}", table])
        check, cpu, memory, phases = measured([given.program, name, "@"], table, changes, given.runs)
        cells = {"ours": f"{cpu:.2f} s, {memory:.0f} MiB"}
        if name == "g_append":
            cells["ours"] += f"; each {phases['median_first100'] * 1000:.1f} to {phases['median_last100'] * 1000:.1f} ms"
        for engine in beside:
            bare = engine == "bare"
            command = [given.program, "bare_" + name[2:], "@"] if bare else python + [engine, name, "@"]
            answer, theirs, their_memory, _ = measured(command, table, changes, given.runs)
            theirs = max(theirs - idle.get(engine, 0.0), 0.001)
            cells[engine] = f"{theirs:.2f} s ({theirs / cpu:.1f}×), {their_memory:.0f} MiB"
            if not bare and answer is not None and answer != check:
                wrong.append(f"{name}: {check}, but {engine} says {answer}")
        row = [f"{title} (`{name}`)", cells["ours"]] + [cells.get(engine, "") for engine in engines + ["bare"]]
        print("| " + " | ".join(row) + " |", flush=True)
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    if sys.argv[1:2] == ["peer"]:
        peer(*sys.argv[2:5])
    main()
