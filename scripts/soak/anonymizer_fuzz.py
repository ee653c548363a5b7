#!/usr/bin/env python3
"""Commands of the anonymizer on ugly tables and mutated specifications: each must end well.

PYTHONPATH=. scripts/soak/anonymizer_fuzz.py --commands 500

A command fails the fuzz if it ends with an undocumented exit status, shows a traceback, takes longer than
`--limit`, changes an input, leaves a file behind though it was refused, or makes a release that another
reading (csv and pyarrow only) finds to hold an identifier, fewer rows alike than promised, or cells that the
table does not have.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import hashlib
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random  # noqa: TID251 - seeded: a failure has to repeat

import pyarrow.parquet as pq

from anonymizer.releases import ledger
from parties.cli.main import main as duetto
from scripts.soak.anonymizer_inputs import Table, damaged, drawn, specification, wide
from scripts.soak.seeds import add_seed, chosen

STATUS = frozenset({0, 2, 65, 69, 78})
"""What a command may end with: success, usage, data, a missing library, a specification."""

MEMORY = 8 << 30


class Late(BaseException):
    """A command did not end in time."""


@dataclass
class Fuzz:
    """Commands in a folder, and what was wrong with them.

    Attributes:
        folder: emptied for each case.
        random: draws everything.
        limit: seconds for a command.
        ended: commands by name and exit status.
        wrong: failures, a sentence each with what repeats them.
    """

    folder: Path
    random: Random
    limit: int
    ended: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def run(self, case: str, *words: str) -> tuple[int, str]:
        """One command; looks at all that does not depend on what it made."""
        before = state()
        out, err = io.StringIO(), io.StringIO()
        code: object = 0
        signal.alarm(self.limit)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                duetto(list(words))
        except SystemExit as end:
            code = end.code or 0
        except BaseException as problem:
            code = type(problem).__name__
        finally:
            signal.alarm(0)
        self.ended[f"{words[0]} {words[1] if words[1] == 'init' else ''}: {code}"] += 1
        told = (err.getvalue() + out.getvalue()).strip()
        after = state()
        lost = [name for name, digest in before.items() if after.get(name) != digest]
        made = sorted(set(after) - set(before))
        for reason, failed in (
            (f"exit status {code}", code not in STATUS),
            ("a traceback", "Traceback (most recent" in told),
            (f"changed {lost}", bool(lost)),
            (f"left {made}", code != 0 and bool(made)),
        ):
            if failed:
                self.fail(case, words, f"{reason}; {told[-300:]}")
        return (code if isinstance(code, int) else -1), out.getvalue()

    def fail(self, case: str, words: tuple[str, ...], what: str) -> None:
        """Note a failure, and keep the files."""
        kept = self.folder.parent / f"failed-{len(self.wrong)}"
        shutil.copytree(self.folder, kept, dirs_exist_ok=True)
        self.wrong.append(f"{case} in {kept}: duetto {' '.join(words)}: {what}")
        print(self.wrong[-1], file=sys.stderr, flush=True)

    def release(self, case: str, data: Table, spec: str, out: str, *more: str) -> bool:
        """Make a release; look at it by itself."""
        words = ("anonymize", data.name, "--spec", spec, "-o", out, "--json", *more)
        code, told = self.run(case, *words)
        if code == 0:
            for what in flaws(data, tomllib.loads(Path(spec).read_text("utf-8")), out, json.loads(told)):
                self.fail(case, words, what)
        return code == 0

    def proposed(self, case: str, data: Table) -> None:
        """The two commands that lead from an unknown table to a release, and a look at it."""
        ending = data.name.partition(".")[2]
        if self.run(case, "anonymize", "init", data.name, "-o", "first.toml")[0] != 0:
            return
        report = ("--report", "r.html") if self.random.random() < 0.3 else ()
        if not self.release(case, data, "first.toml", f"out.{ending}", *report):
            self.fail(case, ("anonymize", data.name), "the proposal of init makes no release")
            return
        self.run(case, "risk", data.name, f"out.{ending}", "--roles", "first.toml")

    def written(self, case: str, data: Table) -> None:
        """A drawn specification, perhaps mutated, and commands on what it makes."""
        text, searched, counted = specification(self.random, data)
        Path("s.toml").write_text(text, "utf-8")
        out = f"out.{self.random.choice(['csv', 'csv', 'parquet', 'csv.gz'])}"
        if searched:
            words = (
                "search",
                data.name,
                "--spec",
                "s.toml",
                "--limit",
                self.random.choice(["1/3", "0.5", "2", "x"]),
            )
            self.run(case, *words, "-o", "best.toml", "--seed", "1")
            return
        options = self.random.choice(
            [(), (), (), ("--keep-order",), ("--seed", "3"), ("--chunk-rows", "100"), ("--chunk-rows", "3")]
        )
        made = self.release(case, data, "s.toml", out, *options)
        name = self.random.choice([*data.columns, "nothing"])
        if made and counted:
            relation = self.random.choice(["=", "!=", "<", "in", "~", ""])
            self.run(
                case,
                "query",
                out,
                "--where",
                f'"{name}" {relation} "{self.random.choice(["a", "3", "", "f"])}"',
            )
        if made or self.random.random() < 0.3:
            second = out if made else data.name
            more = self.random.choice(
                [(), (), ("--attacks", "--seed", "1"), ("--fraction", "0.1"), ("--weights", name)]
            )
            self.run(case, "risk", data.name, second, "--roles", "s.toml", *more)

    def case(self, number: int) -> None:
        """One table and some commands on it."""
        for one in self.folder.iterdir():
            one.unlink()
        case = f"case {number}"
        data = wide(self.random) if self.random.random() < 0.02 else drawn(self.random)
        data.write(self.random)
        if self.random.random() < 0.15:
            damaged(self.random, Path(data.name))
            data.damaged = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (self.proposed if self.random.random() < 0.4 else self.written)(case, data)


def state() -> dict[str, str]:
    """The digests of all files in the folder, temporary ones included, but for the ledger, which grows."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path().rglob("*")
        if path.is_file() and path.name != ledger.NAME
    }


def cells(
    name: str, delimiter: str = ",", encoding: str = "utf-8"
) -> tuple[list[str], list[tuple[str, ...]]]:
    """The names of the columns and the rows of a file as texts, by no part of the anonymizer."""
    if name.endswith(".parquet"):
        table = pq.read_table(name)
        return table.column_names, list(
            zip(*(list(map(str, one.to_pylist())) for one in table.columns), strict=True)
        )
    plain = Path(name).read_bytes()
    text = (gzip.decompress(plain) if name.endswith(".gz") else plain).decode(encoding)
    csv.field_size_limit(1 << 27)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    return rows[0], [tuple(row) for row in rows[1:]]


def flaws(data: Table, spec: dict[str, object], out: str, told: dict[str, object]) -> Iterator[str]:
    """What is wrong with a release: read anew, and measured without the anonymizer."""
    form = spec.get("csv", {})
    names, rows = cells(out, form.get("delimiter") or ",", form.get("encoding") or "utf-8")
    roles = spec.get("roles", {})
    manifest = json.loads(Path(f"{out}.manifest.json").read_text("utf-8"))
    if manifest["files"][out] != hashlib.sha256(Path(out).read_bytes()).hexdigest():
        yield "the manifest has another digest"
    if named := set(names) & set(roles.get("identifiers", ())):
        yield f"identifiers are released: {named}"
    if len(rows) != manifest["rows"] or (len(rows) > len(data) and not data.damaged):
        yield f"{len(rows)} rows, the manifest says {manifest['rows']}"
    for one in manifest["guarantees"]:
        if one["kind"] == "k-anonymity" and rows:
            places = [names.index(name) for name in one["columns"]]
            least = min(Counter(tuple(row[place] for place in places) for row in rows).values())
            if least < one["parameters"]["k"]:
                yield f"k is {least} in {one['columns']}, {one['parameters']['k']} was promised"
    yield from _kept(
        data,
        names,
        rows,
        {*told.get("changed", ()), *roles.get("quasi_identifiers", ())},
        roles,
        text=not out.endswith("parquet"),
        tokens="missing_tokens" in form,
    )


def _kept(
    data: Table,
    names: list[str],
    rows: list[tuple[str, ...]],
    changed: set[str],
    roles: dict[str, list[str]],
    *,
    text: bool,
    tokens: bool,
) -> Iterator[str]:
    """Cells that are released as they are, and identifiers under other names.

    Quasi-identifiers are converted, and so are all columns that go from CSV to Parquet.
    """
    if data.damaged or data.kind != "csv" or not text:
        return
    secret = {
        cell.casefold()
        for name in roles.get("identifiers", ())
        for cell in data.columns.get(name, ())
        if len(cell) > 6
    }
    for place, name in enumerate(names):
        there = Counter(row[place] for row in rows)
        if tokens:  # they stand for missing cells, which are released as empty ones
            there.pop("", None)
        if name in data.columns and name not in changed and there - Counter(data.columns[name]):
            yield f"column {name!r} has cells that the table does not have"
        met = {cell.casefold() for cell in there} & secret
        if len(secret) > 20 and 2 * len(met) > len(secret):
            yield f"column {name!r} holds {len(met)} identifiers"


def main() -> None:
    """Print one report; exit status 1 if a command failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=500)
    add_seed(parser)
    parser.add_argument("--limit", type=int, default=120, help="Seconds for a command.")
    parser.add_argument("--only", type=int, help="Run the case of this number alone.")
    given = parser.parse_args()
    seed = chosen(given.seed)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def late(*_: object) -> None:
        raise Late

    signal.signal(signal.SIGALRM, late)
    root = Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder = root / "case"
    folder.mkdir()
    os.chdir(folder)
    began, number = time.monotonic(), 0
    fuzz = Fuzz(folder, Random(seed), given.limit)
    while sum(fuzz.ended.values()) < given.commands:
        fuzz.random = Random(f"{seed}/{number if given.only is None else given.only}")
        fuzz.case(number)
        number += 1
        if given.only is not None:
            break
    seconds = round(time.monotonic() - began, 1)
    print(
        json.dumps(
            {
                "seed": seed,
                "cases": number,
                "seconds": seconds,
                "ended": dict(sorted(fuzz.ended.items())),
                "wrong": fuzz.wrong,
            }
        )
    )
    if not fuzz.wrong:
        shutil.rmtree(root)
    raise SystemExit(bool(fuzz.wrong))


if __name__ == "__main__":
    main()
