#!/usr/bin/env python3
"""Interop: `delta_kernel` reads the tables that Deltaic wrote.

    kernel.py --deltaic BINARY --kernel BINARY [--only TEXT] [--keep FOLDER]

For each table of tables.py and more_tables.py, Deltaic and the kernel must agree on: the columns and rows of every version
that is still there; the change feed, whole and of each version; the identifiers of rows, where they are tracked. A scan of
the kernel that leaves out files by statistics must not lose a row. Then the kernel writes a checkpoint, and Deltaic goes on
from it. What the kernel refuses is listed here with its words; a refusal that no longer comes fails the run.
"""
import argparse
import collections
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from more_tables import MORE
from run import Deltaic, rows, same, versions
from tables import CONTINUED, TABLES

# Tables whose rows the kernel does not read, with a piece of its error.
UNREAD = {}
# Tables whose change feed it does not read.
UNREAD_CHANGES = {
    "changes_of_new_columns": "Start and end version schemas are different",
}
# Tables that it does not write a checkpoint for.
UNWRITTEN = {
    "feature_checks": "Feature 'checkConstraints' is not supported",
    "feature_identity": "Feature 'identityColumns' is not supported",
    "generated_and_defaults": "Feature 'generatedColumns' is not supported",
    # Its protocol is the old (2, 5), which has all of them.
    "renamed_and_dropped": "Feature 'checkConstraints' is not supported",
}


class Refused(RuntimeError):
    """The kernel answered with an error."""


class Kernel:
    """The reader of crosscheck/kernel on a pipe."""

    name = "delta_kernel"

    def __init__(self, binary):
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, path, **request):
        self.process.stdin.write(json.dumps({"path": str(path), **request}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the kernel's pipe closed at {request}")
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    def stop(self):
        self.process.stdin.close()
        self.process.wait(60)


class Check:
    """One table."""

    def __init__(self, deltaic, kernel, table):
        self.deltaic, self.kernel, self.table = deltaic, kernel, table
        self.path = deltaic.warehouse / table.name
        self.at = f"delta.`{self.path}`"
        self.counts = collections.Counter()

    def run(self):
        """What differs, one line each."""
        for statement in self.table.statements:
            self.deltaic.ask(statement)
        self.present = [v for v in versions(self.path) if v not in self.table.lost_versions]
        found = self.refusable(UNREAD, "rows", self.reads)
        if self.table.name in UNREAD or found:
            return found
        found += self.state()
        properties = dict(self.deltaic.ask(f"SHOW TBLPROPERTIES {self.at}")["rows"])
        if properties.get("delta.enableRowTracking") == "true":
            found += self.row_ids()
        if properties.get("delta.enableChangeDataFeed") == "true":
            found += self.refusable(UNREAD_CHANGES, "changes", self.changes)
        return found + self.refusable(UNWRITTEN, "checkpoint", self.checkpoint)

    def refusable(self, expected, what, check):
        """Does the check, where the kernel is expected to refuse looks that it does so in these words."""
        words = expected.get(self.table.name)
        try:
            found = check()
        except Refused as refusal:
            # One that was not expected fails the table.
            if words is not None and words in str(refusal):
                self.counts[f"refused {what}"] += 1
                return []
            return [f"{what}: {self.kernel.name} refuses: {refusal}"]
        if words is not None:
            return [f"{what}: {self.kernel.name} no longer refuses with «{words}»: take the table from the list"]
        return found

    def reads(self):
        found = []
        for version in [None, *self.present]:
            title = "now" if version is None else f"version {version}"
            want = self.deltaic.ask(f"SELECT * FROM {self.at}" + ("" if version is None else f" VERSION AS OF {version}"))
            got = self.kernel.ask(self.path, version=version)
            found += same(f"columns {title}", [c[:2] for c in want["columns"]], got["columns"])
            kinds = [c[1] for c in want["columns"]]
            found += same(f"rows {title}", rows(parsed(want, kinds)), rows(parsed(got, kinds)))
            self.counts["versions"] += 1
        for version in (None, self.present[len(self.present) // 2]):
            skipping = self.kernel.ask(self.path, version=version, skipping=True)
            found += [f"statistics of version {version}: {line}" for line in skipping["lost"][:3]]
            self.counts["conditions"] += skipping["conditions"]
            self.counts["rows left out"] += skipping["rows_left_out"]
        return found

    def changes(self):
        found = []
        since = self.table.changes_since
        for first, last in [(since, self.present[-1])] + [(v, v) for v in self.present if v >= since]:
            want = self.deltaic.ask(f"SELECT * FROM table_changes_by_path('{self.path}', {first}, {last})")
            got = self.kernel.ask(self.path, changes=[first, last])
            title = f"changes {first} to {last}"
            found += same(f"{title}: columns", [c[:2] for c in want["columns"]], got["columns"])
            kinds = [c[1] for c in want["columns"]]
            found += same(title, rows(parsed(want, kinds)), rows(parsed(got, kinds)))
            self.counts["feeds"] += 1
        return found

    def state(self):
        """What the log says besides rows: checksum files, clustering, the times of commits."""
        answer = self.deltaic.ask(f"DESCRIBE DETAIL {self.at}")
        detail = dict(zip([c[0] for c in answer["columns"]], answer["rows"][0]))
        history = self.deltaic.ask(f"DESCRIBE HISTORY {self.at}")["rows"]
        times = {row[0]: datetime.datetime.fromisoformat(row[1] + "+00:00").timestamp() for row in history}
        state, found = self.kernel.ask(self.path, state=True), []
        if state["files"] is None:
            found.append("the newest version has no checksum file that the kernel takes")
        else:
            self.counts["checksum files"] += 1
            found += same("files and bytes", [detail["numFiles"], detail["sizeInBytes"]], [state["files"], state["bytes"]])
        found += same("clustering", detail["clusteringColumns"], state["clustering"] or [])
        for version in self.present:
            at = self.kernel.ask(self.path, version=version, state=True)["in_commit_timestamp"]
            if at is not None:
                found += same(f"time of version {version}", times[version], at / 1000)
                self.counts["commit times"] += 1
        return found

    def row_ids(self):
        """Identifiers are unique in a version; a row keeps its own, and the version of its last change while it is the same."""
        found, states = [], {}
        for version in self.present:
            if version < self.table.tracked_since:
                continue
            got = self.kernel.ask(self.path, version=version, row_ids=True)
            ids = [row[-2] for row in got["rows"]]
            if len(set(ids)) < len(ids) or None in ids:
                found.append(f"row ids of version {version} are not unique: {sorted(ids)}")
            key = [c[0] for c in got["columns"]].index(self.table.row_key)
            states[version] = {row[key]: row for row in got["rows"]}
            found += moved(version, states.get(self.table.restored.get(version, version - 1), {}), states[version])
            self.counts["row ids"] += len(ids)
        return found

    def checkpoint(self):
        """The kernel writes a checkpoint; Deltaic reads the table from it, and goes on."""
        query = f"SELECT * FROM {self.at}"
        want = self.deltaic.ask(query)
        version = self.kernel.ask(self.path, checkpoint=True)["version"]
        if version != self.present[-1]:
            return [f"checkpoint of version {version}, but the newest is {self.present[-1]}"]
        self.deltaic.forget()
        found = same("rows from the kernel's checkpoint", rows(want), rows(self.deltaic.ask(query)))
        for statement in CONTINUED.get(self.table.name, []):
            self.deltaic.ask(statement.format(t=self.at))
        kinds = [c[1] for c in want["columns"]]
        want, got = self.deltaic.ask(query), self.kernel.ask(self.path)
        self.counts["checkpoints"] += 1
        return found + same("rows after the kernel's checkpoint", rows(parsed(want, kinds)), rows(parsed(got, kinds)))


def moved(version, before, after):
    """Rows that a version has from an earlier one, but with another identifier or a wrong version of their last change."""
    found = []
    for word in before.keys() & after.keys():
        *values, row_id, changed = after[word]
        *values_before, row_id_before, changed_before = before[word]
        if row_id != row_id_before:
            found.append(f"row id of {word} goes from {row_id_before} to {row_id} in version {version}")
        expected = changed_before if values == values_before else version
        if changed != expected:
            found.append(f"row of {word} was changed by version {changed}, not {expected}, in version {version}")
    return found


def parsed(answer, kinds):
    """Variants as values: of their text only the meaning counts."""
    places = [n for n, kind in enumerate(kinds) if kind == "variant"]
    for row in answer["rows"]:
        for n in places:
            row[n] = None if row[n] is None else json.loads(row[n], parse_int=number)
    return answer


def number(text):
    """The kernel's side writes a double without a fraction as an integer."""
    return int(text) if len(text) < 20 else float(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deltaic", required=True)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", help="leave the tables in this folder")
    arguments = parser.parse_args()
    chosen = [t for t in TABLES + MORE if arguments.only in t.name]
    folder = Path(os.path.realpath(arguments.keep or tempfile.mkdtemp(prefix="deltaic-kernel-")))
    folder.mkdir(parents=True, exist_ok=True)
    deltaic, kernel = Deltaic(arguments.deltaic, folder), Kernel(arguments.kernel)
    counts, failed = collections.Counter(), 0
    for table in chosen:
        start = time.time()
        check = Check(deltaic, kernel, table)
        try:
            found = check.run()
        except RuntimeError as error:
            found = [str(error)]
        counts += check.counts
        failed += bool(found)
        state = "DIFFERS" if found else "ok"
        print(f"Deltaic -> {kernel.name}  {table.name}: {state} ({time.time() - start:.1f} s)", flush=True)
        for line in found:
            print("   ", line, flush=True)
    deltaic.stop()
    kernel.stop()
    if not arguments.keep:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"kernel: {len(chosen) - failed} of {len(chosen)} tables are the same to both")
    print("   " + ", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    sys.exit(1 if failed or not chosen else 0)


if __name__ == "__main__":
    main()
