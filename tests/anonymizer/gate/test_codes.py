"""Times and code-like numbers single out persons; measurements that all differ do not have to be codes."""

from __future__ import annotations

import hashlib
from datetime import datetime, time, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anonymizer.gate.codes import are_codes
from anonymizer.gate.traces import looks_like_an_identifier
from anonymizer.gate.views import ColumnView
from anonymizer.tables.table import Table

ROWS = 2000
RANDOM = np.random.default_rng(12)
SPEC = """
[roles]
identifiers = ["name"]
quasi_identifiers = ["age"]
sensitive = ["ill"]
[hierarchies]
age = { levels = [[0, 50, 120]] }
[[steps]]
method = "local-recoding"
k = 5
"""
SECONDS = RANDOM.choice(60_000_000, ROWS, replace=False)
TIMES = [datetime(2022, 1, 1) + timedelta(seconds=int(second)) for second in SECONDS]
DIGESTS = [hashlib.sha256(f"salt {number}".encode()).hexdigest() for number in range(ROWS)]
INCOMES = RANDOM.lognormal(10.4, 0.6, ROWS)

CODES = {
    "datetime": TIMES,
    "microseconds": [
        one.replace(hour=8, minute=0, second=0, microsecond=int(s) % 10**6)
        for one, s in zip(TIMES, SECONDS, strict=True)
    ],
    "time": [time(int(s) % 24, int(s) % 60, int(s) % 59, int(s) % 10**6) for s in SECONDS],
    "duration": [timedelta(seconds=int(s) % 10**6) for s in SECONDS],
    "ISO": [one.isoformat() for one in TIMES],
    "ISO with zone": [one.isoformat(" ", "milliseconds") + "+01:00" for one in TIMES],
    "German": [one.strftime("%d.%m.%Y %H:%M:%S") for one in TIMES],
    "American": [one.strftime("%m/%d/%Y %I:%M %p") for one in TIMES],
    "time of day": [f"{s % 24:02}:{s % 60:02}:{s % 59:02}.{s % 1000:03}" for s in SECONDS],
    "epoch": [1_640_995_200 + int(s) for s in SECONDS],
    "epoch in milliseconds": [1000 * (1_640_995_200 + int(s)) + int(s) % 997 for s in SECONDS],
    "epoch with a point": [1_640_995_200.5 + int(s) for s in SECONDS],
    "digits of the clock": [int(one.strftime("%Y%m%d%H%M%S")) for one in TIMES],
    "digest of 32 bits": [int(one[:8], 16) for one in DIGESTS],
    "digest of 60 bits": [int(one[:15], 16) for one in DIGESTS],
    "digest between 0 and 1": [int(one[:16], 16) / 2**64 for one in DIGESTS],
    "digest of 200 bits": [str(int(one[:50], 16)) for one in DIGESTS],
    "account": [int(number) for number in 10**9 + RANDOM.integers(0, 8 * 10**9, ROWS)],
}
MEASURED = {
    "income with cents": INCOMES.round(2),
    "income": INCOMES.round(),
    "income in cents": (INCOMES * 100).round().astype(int),
    "income in yen": (INCOMES * 120).round(-3).astype(int),
    "assets in millions": (RANDOM.lognormal(16, 2, ROWS)).round(),
    "creatinine": RANDOM.lognormal(0, 0.4, ROWS).round(4),
    "body mass, computed": RANDOM.normal(75, 12, ROWS).round(1) / RANDOM.normal(1.7, 0.1, ROWS).round(2) ** 2,
    "logarithm": np.log(INCOMES),
    "score, standardized": RANDOM.normal(0, 1, ROWS),
    "height in millimetres": RANDOM.normal(1700, 100, ROWS).round(1),
    "share": RANDOM.beta(2, 5, ROWS),
    "distance in metres": RANDOM.gamma(2, 4000, ROWS).round(2),
    "day": [one.date() for one in TIMES],
    "day and no time": [f"{one:%Y-%m-%d} 00:00:00" for one in TIMES],
}


def look(cells) -> str | None:
    return looks_like_an_identifier(ColumnView.of(Table.of(pl.DataFrame({"more": list(cells)})), "more"))


@pytest.mark.parametrize("kind", CODES)
def test_times_and_codes_are_identifying(kind):
    assert look(CODES[kind])


@pytest.mark.parametrize("kind", MEASURED)
def test_measurements_are_not(kind):
    assert look(MEASURED[kind]) is None


def test_codes_that_repeat_are_none():
    assert look(RANDOM.choice(CODES["epoch"][:200], ROWS)) is None
    assert look([one.isoformat() for one in RANDOM.choice(TIMES[:200], ROWS).tolist()]) is None


@pytest.mark.parametrize("rows", [1, 5, 19])
def test_nothing_is_said_of_few_rows(rows):
    assert all(look(cells[:rows]) is None for cells in CODES.values())


def test_drawn_samples_of_measured_shapes_are_no_codes():
    for _ in range(50):
        rows = int(RANDOM.integers(20, 3000))
        for sample in (RANDOM.normal(50, 9, rows), RANDOM.exponential(3, rows), RANDOM.gamma(3, 1, rows)):
            assert not are_codes(sample)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["datetime", "epoch", "digest of 60 bits", "digest between 0 and 1"])
def test_a_release_with_such_a_column_needs_a_reason(run, tmp_path, monkeypatch, ending, kind):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(
        {
            "name": [f"n{number}" for number in range(ROWS)],
            "age": RANDOM.integers(0, 100, ROWS),
            "ill": RANDOM.choice(["flu", "cold", "gout"], ROWS),
            "more": CODES[kind],
        }
    )
    frame.write_csv("data.csv") if ending == "csv" else frame.write_parquet("data.parquet")
    Path("s.toml").write_text(SPEC)
    error = run(f"anonymize data.{ending} --spec s.toml -o out.{ending}", 65)[1].replace("\n", " ")
    assert "nearly every row" in error
    Path("s.toml").write_text(
        SPEC + '[[accept]]\nfinding = "identifying"\ncolumn = "more"\nwhy = "drawn anew"\n'
    )
    run(f"anonymize data.{ending} --spec s.toml -o out.{ending}")


def test_what_noise_has_made_is_no_code(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(
        {
            "name": [f"n{number}" for number in range(ROWS)],
            "age": RANDOM.integers(0, 100, ROWS),
            "ill": RANDOM.choice(["flu", "cold", "gout"], ROWS),
            "assets": RANDOM.integers(10, 90, ROWS) * 10**6,
        }
    ).write_csv("data.csv")
    Path("s.toml").write_text(
        SPEC + '[[steps]]\nmethod = "noise"\nscales = { assets = 1000 }\ncolumns = ["assets"]\n'
    )
    run("anonymize data.csv --spec s.toml -o out.csv")
