"""Scenario files: statements that end with a `;` at the end of a line, and directives in lines that begin with `--!`.

    --! files PATH            names and sizes of the files under PATH, relative to the warehouse
    --! log TABLE             the commits of a table, action by action
    --! cat PATH              a text file
    --! parquet PATH          schema and rows of a Parquet file
    --! stray PATH DAYS       a small file there, DAYS old, that no table knows
    --! rm PATH               remove a file, and the checksum that Hadoop keeps beside it
    --! mtime TABLE V TIME    the modification time of commit V
    --! sql JSON              a statement with parameters: {"q": text, "args": object or array}
    --! py EXPRESSION         an expression of PySpark

In lessons, a comment before a statement may hold a mark: `-- param: NAME = DEFAULT`, `-- keep: NAME = COLUMN` (of the
first row of the answer).

`@WAREHOUSE@` and `@WAREHOUSE_URI@` stand for the folder of the warehouse as a path and as a `file:` URI.
"""
import calendar
import datetime
import json
import os
import re
import time
from pathlib import Path

MARK = re.compile(r"-- (param|keep): (\w+) = (.+)")
COMMIT = re.compile(r"\d{20}\.json")


def steps(text):
    """("sql" | "directive", text, marks) in the order of the file."""
    found, statement, marks = [], [], {}
    for line in text.splitlines():
        mark = MARK.fullmatch(line.strip())
        if line.startswith("--!"):
            found.append(("directive", line[3:].strip(), {}))
        elif statement or (line.strip() and not line.startswith("--")):
            statement.append(line)
            if line.rstrip().endswith(";"):
                found.append(("sql", "\n".join(statement).strip()[:-1], marks))
                statement, marks = [], {}
        elif mark:
            marks.setdefault(mark[1], {})[mark[2]] = mark[3]
    if "".join(statement).strip():
        raise ValueError("the last statement does not end with a semicolon")
    return found


class Folder:
    """The directives that look at the warehouse's files, or change them behind the engine's back."""

    def __init__(self, root):
        self.root = Path(root)

    def files(self, path):
        base, found = self.root / path, []
        for folder, _, names in os.walk(base):
            for name in names:
                if not (name.startswith(".") and name.endswith(".crc")):
                    full = Path(folder) / name
                    found.append([os.path.relpath(full, base), full.stat().st_size])
        return {"files": sorted(found)}

    def log(self, table):
        folder = self.root / table / "_delta_log"
        commits = sorted(p for p in folder.iterdir() if COMMIT.fullmatch(p.name))
        return {"log": {p.name: [json.loads(x) for x in p.read_text("utf-8").splitlines()] for p in commits}}

    def cat(self, path):
        return {"text": (self.root / path).read_text("utf-8")}

    def parquet(self, path):
        import pyarrow.parquet

        from spark import json_value

        table = pyarrow.parquet.read_table(self.root / path)
        return {"schema": str(table.schema.remove_metadata()), "rows": json_value(table.to_pylist())}

    def stray(self, path, days):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"junk")
        then = time.time() - 86400 * float(days)
        os.utime(file, (then, then))
        return {}

    def rm(self, path):
        file = self.root / path
        file.unlink()
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
        return {}

    def mtime(self, table, version, moment):
        when = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
        seconds = calendar.timegm(when.utctimetuple()) + when.microsecond / 1e6
        os.utime(self.root / table / "_delta_log" / f"{int(version):020}.json", (seconds, seconds))
        return {}
