"""Tables and specifications that are drawn for the fuzz of the anonymizer."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random  # noqa: TID251 - seeded: a failure has to repeat
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Make = Callable[[Random, int], str]

NASTY = (
    "",
    " ",
    "*",
    "(missing)",
    "NA",
    "?",
    "'",
    '"',
    "a,b",
    "a;b",
    "a\nb",
    "=1+1",
    "é",
    "e\u0301",
    "😀",
    "\u202e",
    "-0",
    "nan",
)
"""Cells that have meant something to a reader or writer before."""

TEXTS: dict[str, Make] = {
    "name": lambda r, i: (
        f"{r.choice(['Ada', 'Ben', 'Cleo', 'Dora'])} {r.choice(['Berg', 'Dorn', 'Eder'])}{i}"
    ),
    "id": lambda _r, i: str(1000 + i),
    "age": lambda r, _i: str(r.randrange(18, 95)),
    "zip": lambda r, _i: f"{r.randrange(800, 860):05d}",
    "sex": lambda r, _i: r.choice("fm"),
    "illness": lambda r, _i: r.choice(["flu", "cold", "gout", "burn"]),
    "born": lambda r, _i: str(date(1930, 1, 1) + timedelta(days=r.randrange(30_000))),
    "seen": lambda r, _i: (date(2025, 1, 1) + timedelta(days=r.randrange(90))).strftime("%d/%m/%Y"),
    "income": lambda r, _i: f"{r.uniform(0, 9e4):.2f}",
    "odd": lambda r, _i: r.choice(NASTY),
    "note": lambda r, i: "x" * r.randrange(50) + str(i),
    "huge": lambda r, _i: str(r.choice([2**63 - 1, -(2**63), 2**64, 10**30, 10**400]) - r.randrange(50)),
    "tiny": lambda r, _i: repr(r.choice([5e-324, 1e308, -1e308, 1e-300, 0.0, -0.0, 1.5])),
    "mixed": lambda r, _i: r.choice(["39", "39.0", " 39", "+39", "039", "3.9e1", "x", ""]),
    "limits": lambda r, _i: r.choice(["inf", "-inf", "nan", "1", "2.5"]),
    "far": lambda r, _i: r.choice(["0001-01-01", "9999-12-31", "0000-00-00", "2020-02-30"]),
    "none": lambda _r, _i: "",
    "one": lambda _r, _i: "same",
    "area": lambda r, _i: str(r.randrange(8)),
}
HEADERS = ("größe", "a b", "a.b = [1]", "a\nb", '"', "x" * 300, "AGE", "1", "#", "日本")

TYPED: dict[str, Callable[[Random, int], Any]] = {
    "list": lambda r, n: pa.array(
        [[r.randrange(3)] * r.randrange(3) for _ in range(n)], pa.list_(pa.int64())
    ),
    "struct": lambda r, n: pa.array(
        [{"a": r.randrange(3)} for _ in range(n)], pa.struct([("a", pa.int64())])
    ),
    "bytes": lambda r, n: pa.array([r.randbytes(2) for _ in range(n)], pa.binary()),
    "null": lambda _r, n: pa.nulls(n),
    "truth": lambda r, n: pa.array([r.choice([True, False, None]) for _ in range(n)], pa.bool_()),
    "unsigned": lambda r, n: pa.array([2**64 - 1 - r.randrange(60) for _ in range(n)], pa.uint64()),
    "decimal": lambda r, n: pa.array(
        [Decimal(10**37 + r.randrange(60)) for _ in range(n)], pa.decimal128(38, 0)
    ),
    "wide": lambda _r, n: pa.array([Decimal(10**60) for _ in range(n)], pa.decimal256(70, 0)),
    "float": lambda r, n: pa.array(
        [r.choice([float("nan"), float("inf"), None, 1.5]) for _ in range(n)], pa.float64()
    ),
    "half": lambda r, n: pa.array([float(r.randrange(60)) for _ in range(n)], pa.float32()),
    "day": lambda r, n: pa.array([r.randrange(-(10**6), 10**6) for _ in range(n)], pa.date32()),
    "moment": lambda r, n: pa.array(
        [r.randrange(-(2**62), 2**62) for _ in range(n)], pa.timestamp("ns", "UTC")
    ),
    "late": lambda r, n: pa.array(
        [r.choice([-(2**63) + 1, 2**63 - 1]) for _ in range(n)], pa.timestamp("us")
    ),
    "span": lambda r, n: pa.array([r.randrange(90) for _ in range(n)], pa.duration("s")),
    "clock": lambda r, n: pa.array([r.randrange(86_400) for _ in range(n)], pa.time32("s")),
    "kinds": lambda r, n: pa.array([r.choice("abc") for _ in range(n)], pa.string()).dictionary_encode(),
}


@dataclass
class Table:
    """A drawn table.

    Attributes:
        columns: texts by name, in the order of the rows.
        typed: further columns, for Parquet.
        kind: csv, csv.gz or parquet.
        delimiter: of CSV.
        encoding: of CSV.
        damaged: whether bytes of the file were changed afterwards.
    """

    columns: dict[str, list[str]]
    typed: dict[str, Any] = field(default_factory=dict)
    kind: str = "csv"
    delimiter: str = ","
    encoding: str = "utf-8"
    damaged: bool = False

    @property
    def name(self) -> str:
        """Of the file."""
        return f"data.{self.kind}"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def write(self, random: Random) -> None:
        """Write the file."""
        if self.kind == "parquet":
            made = {name: _column(random, cells) for name, cells in self.columns.items()} | self.typed
            pq.write_table(pa.table(made), self.name)
            return
        self.columns = {
            name: [cell.encode(self.encoding, "replace").decode(self.encoding) for cell in cells]
            for name, cells in self.columns.items()
        }
        text = io.StringIO(newline="")
        quoting = (
            csv.QUOTE_ALL
            if "" in {c for cells in self.columns.values() for c in cells}
            else csv.QUOTE_MINIMAL
        )
        writer = csv.writer(
            text, delimiter=self.delimiter, lineterminator=random.choice(["\n", "\r\n"]), quoting=quoting
        )
        writer.writerow(self.columns)
        writer.writerows(zip(*self.columns.values(), strict=True))
        plain = text.getvalue().encode(self.encoding, "replace")
        Path(self.name).write_bytes(gzip.compress(plain) if self.kind == "csv.gz" else plain)


def _column(random: Random, cells: list[str]) -> Any:
    """Texts, or the numbers that they are, with gaps."""
    given: list[Any] = [cell or None for cell in cells]
    if random.random() < 0.5:
        for read, kind in ((int, pa.int64()), (float, pa.float64())):
            try:
                return pa.array([None if cell is None else read(cell) for cell in given], kind)
            except (ValueError, OverflowError):
                continue
    return pa.array(given, pa.string())


def drawn(random: Random) -> Table:
    """A table of few columns, ugly in one or two ways."""
    rows = random.choice([0, 1, 2, 3, 9, 30, 60, 120, 240])
    chosen = random.sample(sorted(TEXTS), random.randrange(1, 8))
    if random.random() < 0.7:
        chosen = list(dict.fromkeys(["name", "age", "zip", "sex", "illness", *chosen[:2]]))
    columns = {name: [TEXTS[name](random, row) for row in range(rows)] for name in chosen}
    if random.random() < 0.2:
        columns[random.choice(HEADERS)] = [str(random.randrange(5)) for _ in range(rows)]
    if random.random() < 0.3:
        gaps = random.choice(chosen)
        columns[gaps] = [cell if random.random() < 0.8 else "" for cell in columns[gaps]]
    if random.random() < 0.15:
        columns = {name: cells * 3 for name, cells in columns.items()}
    kind = random.choice(["csv", "csv", "csv", "csv.gz", "parquet", "parquet"])
    form: tuple[str, str] = (",", "utf-8")
    if kind != "parquet" and random.random() < 0.3:
        form = (
            random.choice([",", ";", "\t", "|"]),
            random.choice(["utf-8", "utf-16", "utf-8-sig", "cp1252"]),
        )
    count = len(next(iter(columns.values())))
    typed = {}
    if kind == "parquet" and random.random() < 0.7:
        typed = {name: TYPED[name](random, count) for name in random.sample(sorted(TYPED), 2)}
    return Table(columns, typed, kind, *form)


def wide(random: Random) -> Table:
    """Very many columns, or very long cells."""
    if random.random() < 0.5:
        return Table({f"c{place}": [str(random.randrange(9)) for _ in range(60)] for place in range(300)})
    return Table(
        {
            "age": [str(row % 70) for row in range(60)],
            "note": ["x" * 20_000 + str(row % 3) for row in range(60)],
        }
    )


def damaged(random: Random, path: Path) -> None:
    """Cut, change or add bytes."""
    plain = bytearray(path.read_bytes())
    place = random.randrange(len(plain) + 1)
    how = random.randrange(4)
    if how == 0:
        del plain[place:]
    elif how == 1:
        plain[place:place] = random.randbytes(3)
    elif how == 2:
        plain[place : place + 1] = random.choice([b'"', b"\n", b",", b"\x00", b";"])
    else:
        plain += plain[:place]
    path.write_bytes(plain)


NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "5",
    "0.5",
    "0.9",
    "-1",
    "1e-300",
    "1e300",
    "inf",
    "nan",
    "true",
    '"x"',
    "[]",
    "99999999999999999999",
)
STEPS: dict[str, tuple[str, ...]] = {
    "local-recoding": ("k = 3", "k = 2"),
    "mondrian": ("k = 3", "k = 2\nrelaxed = true"),
    "incognito": ("k = 3", "k = 2\nmaximum_suppression = 0.1"),
    "k-member": ("k = 3",),
    "one-pass-clustering": ("k = 3",),
    "local-suppression": ("k = 2",),
    "mdav": ("k = 3", 'k = 3\ndistance = "robust"'),
    "suppress-records": ("k = 2\nmaximum_suppression = 1.0", "k = 2\nmaximum_suppression = 0.1"),
    "suppress-cells": ("minimum_rows = 3",),
    "suppress-missing": ("",),
    "drop-identifiers": ("",),
    "generalization": ("levels = { age = 1 }", "levels = { zip = 2, sex = 1 }", "levels = { odd = 9 }"),
    "top-bottom-coding": ("bounds = { age = [30, 60] }", "quantiles = [0.1, 0.9]"),
    "sampling": ("rate = 0.5", "rate = 1.0"),
    "swapping": ("rate = 0.5", 'rate = 0.9\nwithin = ["sex"]'),
    "rank-swapping": ("percent = 10",),
    "pram": ("retention = 0.5", "retention = 0.7\ninvariant = true"),
    "exponential-mechanism": ("epsilon = 1.0",),
    "noise": ("epsilon = 0.5", "scales = { age = 2.0 }", "epsilon = 0.1\ndigits = 0"),
    "correlated-noise": ("factor = 0.3",),
    "multiplicative-noise": ("deviation = 0.2",),
    "dp-noise": (
        'epsilon = 1.0\ncolumns = ["age"]',
        'epsilon = 1.0\ncolumns = ["age"]\ndistribution = "gaussian"\ndelta = 1e-6',
    ),
    "anatomy": ('l = 2\nsensitive = "illness"',),
    "splu-gen": ("gamma = 3", "gamma = 2"),
    "dbr": ("",),
}
"""Methods, and entries that fit them."""

HIERARCHIES = {
    "age": (
        "widths = [5, 10, 20, 40], lower = 0, upper = 120",
        "equal_frequency = [8, 2]",
        "levels = [[0, 40, 120]]",
    ),
    "zip": ("prefix = 5", "prefix = 3"),
    "sex": ('rows = [["f", "*"], ["m", "*"]]',),
    "born": ('dates = ["month", "year"]',),
    "seen": ('dates = ["month"], format = "%d/%m/%Y"', 'dates = ["month"]'),
    "area": ('correlation = "illness", groups = [3]',),
}
COLUMNS = {
    "age": 'type = "integer", bounds = [0, 120], missing = "impute"',
    "income": 'type = "float", bounds = [0, 100000], step = 0.5',
    "illness": 'type = "category", categories = ["flu", "cold", "gout", "burn"], ordered = true',
    "odd": 'missing = "value"',
}
CONSTRAINTS = (
    '{ model = "distinct-l-diversity", column = "illness", l = 2 }',
    '{ model = "entropy-l-diversity", column = "illness", l = 1.5 }',
    '{ model = "t-closeness", column = "illness", t = 0.5 }',
    '{ model = "recursive-cl-diversity", column = "illness", l = 2, c = 3 }',
    '{ model = "delta-disclosure", column = "illness", delta = 2 }',
)


def specification(random: Random, data: Table) -> tuple[str, bool, bool]:
    """A specification for a table, whether it has ranges to search, and whether it ends in `splu-gen`."""
    known = {
        "identifiers": ("name", "id", "note"),
        "quasi_identifiers": ("age", "zip", "sex", "born", "area"),
        "sensitive": ("illness",),
    }
    lines = []
    if data.kind != "parquet" and (data.delimiter, data.encoding) != (",", "utf-8"):
        lines += [
            "[csv]",
            f"delimiter = {data.delimiter!r}".replace("'", '"'),
            f'encoding = "{data.encoding}"',
        ]
    lines.append("[roles]")
    for role, names in known.items():
        there = [name for name in names if name in data.columns and random.random() < 0.95]
        if there or random.random() < 0.1:
            lines.append(f"{role} = {there!r}".replace("'", '"'))
    lines.append("[columns]")
    lines += [
        f"{name} = {{ {text} }}"
        for name, text in COLUMNS.items()
        if name in data.columns and random.random() < 0.6
    ]
    lines.append("[hierarchies]")
    lines += [
        f"{name} = {{ {random.choice(texts)} }}"
        for name, texts in HIERARCHIES.items()
        if name in data.columns
    ]
    methods = random.choices(sorted(STEPS), k=random.choice([1, 1, 1, 2, 2, 3]))
    searched = random.random() < 0.12
    for method in methods:
        entries = random.choice(STEPS[method])
        if searched and method in ("local-recoding", "mondrian", "noise", "generalization"):
            entries = {"noise": "epsilon = { from = 0.1, to = 1.0, points = 2 }"}.get(
                method, "k = { choices = [2, 3] }"
            )
        lines += ["[[steps]]", f'method = "{method}"', *entries.split("\n")]
        if (
            entries.startswith("k = ")
            and method in ("local-recoding", "mondrian", "incognito")
            and random.random() < 0.3
        ):
            lines.append(f"constraints = [{random.choice(CONSTRAINTS)}]")
    text = "\n".join(line for line in lines if line) + "\n"
    return (_mutated(random, text) if random.random() < 0.3 else text), searched, methods[-1] == "splu-gen"


def _mutated(random: Random, text: str) -> str:
    """A line left out or doubled, a value exchanged, a word cut, or bytes of another kind."""
    lines = text.split("\n")
    place = random.randrange(len(lines))
    how = random.randrange(5)
    if how == 0:
        del lines[place]
    elif how == 1:
        lines.insert(place, random.choice(lines))
    elif how == 2 and " = " in lines[place]:
        lines[place] = f"{lines[place].split(' = ')[0]} = {random.choice(NUMBERS)}"
    elif how == 3:
        lines[place] = lines[place][:-1]
    else:
        lines.insert(
            place,
            random.choice(
                ['new = "x"', "k = 0", "[columns]", "seed = 1", '[[accept]]\nfinding = "image"\nwhy = "x"']
            ),
        )
    return "\n".join(lines)
