#!/usr/bin/env python3
"""Write down what Spark + Delta answer to scenario files; the conformance run compares with it.

    record.py --jars A,B,... --out FOLDER [--case TEXT] [--lessons] SCENARIO|FOLDER...

Each scenario runs in a process and in a warehouse of its own. The warehouse's name is taken out of the recording.
With --lessons the catalog `main`, which only Deltaic has, is played by Spark's own catalog, a table without USING
is a Delta table, and the parameters of `-- param:` and `-- keep:` lines are written into the statements.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import scenario
import spark as reference

MOST_ROWS = 200


class Recorder:
    """One scenario on one session."""

    def __init__(self, warehouse, jars, lessons):
        self.warehouse, self.lessons, self.parameters = warehouse, lessons, {}
        more = {"spark.sql.sources.default": "delta"} if lessons else {}
        self.spark = reference.session(warehouse, jars, more)
        self.folder = scenario.Folder(warehouse)

    def fill_in(self, text):
        text = text.replace("@WAREHOUSE_URI@", f"file:{self.warehouse}").replace("@WAREHOUSE@", self.warehouse)
        if self.lessons:
            for name, value in self.parameters.items():
                text = re.sub(rf":{name}\b", f"'{value}'", text)
            text = text.replace("'main'", "'spark_catalog'").replace("main.", "spark_catalog.")
            text = text.replace("main.cat/", "")
        return text

    def take_out(self, text):
        for written in (f"file://{self.warehouse}", f"file:{self.warehouse}"):
            text = text.replace(written, "@WAREHOUSE_URI@")
        text = text.replace(self.warehouse, "@WAREHOUSE@").replace(f"cwd=file:{os.getcwd()}", "cwd=@CWD@")
        if self.lessons:
            text = text.replace("spark_catalog", "main")
            for start in ("@WAREHOUSE@/", "@WAREHOUSE_URI@/"):
                text = text.replace(start, f"{start}main.cat/")
        return text

    def run(self, kind, text):
        if kind == "sql":
            return reference.answer(self.spark.sql(self.fill_in(text)), MOST_ROWS)
        verb, _, rest = text.partition(" ")
        rest = self.fill_in(rest)
        if verb == "sql":
            request = json.loads(rest)
            return reference.answer(self.spark.sql(request["q"], args=request["args"] or None), MOST_ROWS)
        if verb == "py":
            value = eval(rest, {"spark": self.spark})  # a scenario is code of this repository
            if hasattr(value, "collect"):
                return reference.answer(value, MOST_ROWS)
            return {"value": reference.json_value(value)}
        done = getattr(self.folder, verb)(*rest.split(" "))
        if verb in ("rm", "mtime"):
            reference.forget_tables(self.spark)
        return done

    def record(self, file):
        recorded = []
        for number, (kind, text, marks) in enumerate(scenario.steps(file.read_text("utf-8"))):
            step = {"n": number, kind: text}
            self.parameters |= marks.get("param", {})
            try:
                step |= self.run(kind, text)
                names = [column[0] for column in step.get("columns", [])]
                for name, column in marks.get("keep", {}).items():
                    self.parameters[name] = step["rows"][0][names.index(column)]
            except Exception as error:  # whatever it is, it is the answer
                step["error"] = reference.failure(error)
            recorded.append(step)
        versions = {"spark": self.spark.version, "delta": os.environ.get("DELTA_VERSION", "")}
        return {"scenario": file.name, "engine": versions, "steps": recorded}


def record_one(file, arguments):
    warehouse = os.path.realpath(tempfile.mkdtemp(prefix="deltaic-reference-"))
    try:
        recorder = Recorder(warehouse, arguments.jars, arguments.lessons)
        document = recorder.record(file)
        text = recorder.take_out(json.dumps(document, indent=1, ensure_ascii=False))
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / f"{file.stem}.json").write_text(text + "\n", "utf-8")
        failed = sum("error" in step for step in document["steps"])
        print(f"{file.name}: {len(document['steps'])} steps, {failed} of them errors", flush=True)
        recorder.spark.stop()
    finally:
        shutil.rmtree(warehouse, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="+", type=Path)
    parser.add_argument("--jars", required=True)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--case", default="")
    parser.add_argument("--lessons", action="store_true")
    parser.add_argument("--alone", action="store_true", help="this process is the one of the only scenario")
    arguments = parser.parse_args()
    files = [f for s in arguments.scenarios for f in (sorted(s.glob("*.sql")) if s.is_dir() else [s])]
    files = [f for f in files if arguments.case in f.stem]
    if arguments.alone:
        record_one(files[0], arguments)
        return
    delta = next((j for j in arguments.jars.split(",") if "delta-storage" in j), "")
    environment = {**os.environ, "TZ": "UTC", "DELTA_VERSION": Path(delta).stem.rpartition("-")[2]}
    broken = 0
    for file in files:
        words = [sys.executable, __file__, str(file), "--jars", arguments.jars, "--out", str(arguments.out), "--alone"]
        if arguments.lessons:
            words.append("--lessons")
        broken += subprocess.run(words, env=environment, stderr=subprocess.DEVNULL).returncode != 0
    sys.exit(f"{broken} scenarios were not recorded" if broken else 0)


if __name__ == "__main__":
    main()
