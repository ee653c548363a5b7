"""What a specification, a file or an option could let out, or break, beside the columns that are named."""

from __future__ import annotations

import gzip
import json
import os
import tomllib
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.grids import crossed

ROWS = 300
SPEC = """
[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "zip", "sex"]
sensitive = ["illness"]
[hierarchies]
age = { widths = [5, 10, 20, 40], lower = 0, upper = 120 }
zip = { prefix = 5 }
sex = { rows = [["f", "*"], ["m", "*"]] }
[[steps]]
"""
RECODING = 'method = "local-recoding"\nk = 5\n'


def people(**more: object) -> pl.DataFrame:
    chance = np.random.default_rng(7)
    given = [
        f"{one}{other}" for one in ("Ada", "Ben", "Cleo", "Dora", "Emil") for other in ("", "lin", "rich")
    ]
    family = [
        f"{one}{other}" for one in ("Berg", "Dorn", "Eder", "Graf") for other in ("", "er", "mann", "li", "s")
    ]
    names = [f"{one} {other}" for one in given for other in family]
    chance.shuffle(names)
    return pl.DataFrame(
        {
            "name": names[:ROWS],
            "age": chance.integers(18, 95, ROWS),
            "zip": [f"8{one}" for one in chance.integers(1000, 1300, ROWS)],
            "sex": chance.choice(["f", "m"], ROWS),
            "illness": chance.choice(["flu", "cold", "gout", "burn"], ROWS),
            **more,
        }
    )


def given(frame: pl.DataFrame, steps: str = RECODING, ending: str = "csv") -> None:
    frame.write_csv("data.csv") if ending == "csv" else frame.write_parquet("data.parquet")
    Path("s.toml").write_text(SPEC + steps)


def refused(run, words: str = "", ending: str = "csv", status: int = 65) -> str:
    before = sorted(os.listdir())
    error = run(f"anonymize data.{ending} --spec s.toml -o out.{ending} {words}", status)[1]
    assert sorted(os.listdir()) == before
    return error


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("age", lambda frame: frame["age"] // 10),
        ("zip", lambda frame: frame["zip"].str.slice(0, 4)),
        ("zip", lambda frame: "town " + (frame["zip"].cast(pl.Int64) * 7919 % 61).cast(pl.String)),
    ],
    ids=["decade", "region", "town"],
)
def test_what_a_quasi_identifier_decides_has_to_be_one_too(run, name, made):
    given(people().with_columns(more=made(people())))
    assert f"more is decided by {name}" in refused(run)
    spec = Path("s.toml").read_text().replace('"sex"]', '"sex", "more"]')
    Path("s.toml").write_text(spec.replace("[hierarchies]", "[hierarchies]\nmore = { prefix = 7 }"))
    run("anonymize data.csv --spec s.toml -o out.csv")


def test_what_the_released_quasi_identifier_decides_tells_no_more(run):
    frame = people()
    given(
        frame.with_columns(more=frame["age"] // 10),
        'method = "generalization"\nlevels = { age = 1, zip = 4 }\n',
    )
    run("anonymize data.csv --spec s.toml -o out.csv")


def test_init_gives_such_a_column_a_role(run):
    frame = people()
    given(frame.with_columns(word=("town " + (frame["zip"].cast(pl.Int64) * 7919 % 61).cast(pl.String))))
    run("anonymize init data.csv -o first.toml")
    run("anonymize data.csv --spec first.toml -o out.csv")
    roles = tomllib.loads(Path("first.toml").read_text())["roles"]
    assert "word" in (*roles["quasi_identifiers"], *roles["identifiers"])


def test_init_proposes_what_passes_where_every_person_has_several_rows(run):
    pl.concat([people()] * 5).write_csv("data.csv")
    run("anonymize init data.csv -o first.toml")
    run("anonymize data.csv --spec first.toml -o out.csv")


def test_only_taking_identifiers_out_is_no_release(run):
    given(people(), 'method = "drop-identifiers"\n')
    assert "no step has changed a cell" in refused(run)


def test_names_are_not_released_as_sensitive(run):
    given(people())
    text = (
        Path("s.toml")
        .read_text()
        .replace('identifiers = ["name"]\n', "")
        .replace('["illness"]', '["illness", "name"]')
    )
    Path("s.toml").write_text(text)
    assert "texts that differ in nearly every row" in refused(run)


@pytest.mark.parametrize("part", [slice(None), slice(1)], ids=["name", "first word"])
def test_bytes_are_read_as_texts(run, part):
    frame = people()
    cells = [" ".join(name.split()[part]).encode() for name in frame["name"]]
    given(frame.with_columns(more=pl.Series(cells)), ending="parquet")
    assert "more holds" in refused(run, ending="parquet")


def test_the_bits_of_a_nan_carry_nothing_out(run):
    frame = people()
    bits = np.array([0x7FF8000000000000 + int(age) for age in frame["age"]], dtype=np.uint64)
    given(frame.with_columns(more=pl.Series(bits.view(np.float64))), ending="parquet")
    run("anonymize data.parquet --spec s.toml -o out.parquet")
    left = pq.read_table("out.parquet")["more"].to_numpy().view(np.uint64)
    assert len(np.unique(left)) == 1


def test_a_name_in_the_first_line_is_found(run):
    frame = people()
    given(frame.with_columns(pl.lit(1).alias(frame["name"][0])))
    assert "is a value of the identifier name" in refused(run)


def test_a_row_in_the_place_of_the_names_is_refused(run):
    people().write_csv("data.csv", include_header=False)
    assert "looks like a row" in run("anonymize init data.csv -o first.toml", 65)[1]
    assert not Path("first.toml").exists()
    people().with_columns(flu=pl.lit("flu"), other=pl.lit("other")).write_csv("ticked.csv")
    run("anonymize init ticked.csv")


@pytest.mark.parametrize("place", ["out.csv", "out.csv.manifest.json", "r.html"])
def test_folders_are_not_replaced(run, place):
    given(people())
    Path(place).mkdir()
    (Path(place) / "kept").write_text("precious")
    assert "it is a folder" in refused(run, "--report r.html")
    assert (Path(place) / "kept").read_text() == "precious"


def test_pipes_and_devices_are_neither_read_nor_replaced(run):
    given(people())
    os.mkfifo("pipe.csv")
    os.mkfifo("out.csv")
    assert "not a regular file" in refused(run)
    assert "not a regular file" in run("anonymize init pipe.csv", 65)[1]
    assert "not a regular file" in run("anonymize pipe.csv --spec s.toml -o o.csv", 65)[1]
    assert "not a regular file" in run("risk pipe.csv data.csv --roles s.toml", 65)[1]


def test_a_seeded_shuffle_is_said(run):
    given(people())
    _, error = run("anonymize data.csv --spec s.toml -o out.csv --seed 4")
    assert "puts them back into the order" in error
    assert json.loads(Path("out.csv.manifest.json").read_text())["seeded"] is True
    _, error = run("anonymize data.csv --spec s.toml -o out.csv")
    assert "seed" not in error
    assert json.loads(Path("out.csv.manifest.json").read_text())["seeded"] is False


def test_small_chunks_hide_no_order(run):
    given(people(), 'method = "generalization"\nlevels = { age = 3, zip = 4, sex = 1 }\n')
    assert "in the order of the original" in refused(run, "--chunk-rows 99", status=2).replace("\n", " ")
    run("anonymize data.csv --spec s.toml -o out.csv --chunk-rows 100")
    run("anonymize data.csv --spec s.toml -o out.csv --chunk-rows 9 --keep-order")


FAR = {
    "decimal256": pa.array([Decimal(10**60 + row % 9) for row in range(ROWS)], pa.decimal256(70, 0)),
    "day": pa.array([-(10**8), 10**8] * (ROWS // 2), pa.date32()),
    "time": pa.array([-(2**63) + 1, 2**63 - 1] * (ROWS // 2), pa.timestamp("us", "UTC")),
    "duration": pa.array([-(2**63) + 1, 2**63 - 1] * (ROWS // 2), pa.duration("ms")),
}


@pytest.mark.parametrize("name", FAR)
@pytest.mark.filterwarnings("error")
def test_cells_that_python_has_no_words_for_are_named(run, name):
    pq.write_table(people().to_arrow().append_column("odd", FAR[name]), "data.parquet")
    assert "'odd'" in run("anonymize init data.parquet", 65)[1]


LARGE = {
    "whole": [2**63 - 1 - row % 70 for row in range(ROWS)],
    "unsigned": pl.Series([2**64 - 1 - row % 70 for row in range(ROWS)], dtype=pl.UInt64),
    "denormal": [5e-324 * (row % 70) for row in range(ROWS)],
    "infinite": [float("inf"), float("-inf"), float("nan"), 1.5] * (ROWS // 4),
    "decimal": [Decimal(10**37 + row % 70) for row in range(ROWS)],
    "near": [1 + (row % 70) * 2.0**-52 for row in range(ROWS)],
    "dates": [date(1, 1, 1), date(9999, 12, 31)] * (ROWS // 2),
    "none": [None] * ROWS,
}


@pytest.mark.parametrize(("name", "ending"), crossed(LARGE, ["csv", "parquet"]))
def test_numbers_at_the_ends_of_their_types_go_through_all_commands(run, name, ending):
    given(people().with_columns(age=pl.Series(LARGE[name], strict=False)), ending=ending)
    run(f"anonymize init data.{ending} -o first.toml")
    run(f"anonymize data.{ending} --spec first.toml -o out.{ending} --report r.html")
    run(f"risk data.{ending} out.{ending} --roles first.toml")


@pytest.mark.parametrize("text", ["a,b\n" + ",\n" * 100, "a\n" + '""\n' * 100])
def test_a_table_of_empty_cells_gets_a_specification(run, text):
    Path("data.csv").write_text(text)
    run("anonymize init data.csv -o first.toml")
    run("anonymize data.csv --spec first.toml -o out.csv")


@pytest.mark.parametrize("place", range(10, 400, 13))
def test_a_damaged_archive_is_refused(run, place):
    plain = bytearray(gzip.compress(people().write_csv().encode()))
    plain[place] ^= 0xFF
    Path("data.csv.gz").write_bytes(plain)
    assert "cut short or damaged" in run("anonymize init data.csv.gz -o first.toml", 65)[1]
    assert not Path("first.toml").exists()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_empty_cells_and_zeros_have_one_form(run, ending):
    frame = people()
    women = frame["sex"] == "f"
    empty = pl.Series([None if woman else float("nan") for woman in women], dtype=pl.Float64)
    zero = pl.Series([0.0 if woman else -0.0 for woman in women])
    given(frame.with_columns(empty=empty, zero=zero), ending="parquet")
    run(f"anonymize data.parquet --spec s.toml -o out.{ending}")
    if ending == "csv":
        assert "-0" not in Path("out.csv").read_text()
        return
    left = pq.read_table("out.parquet")
    assert left["empty"].null_count == ROWS
    assert not np.signbit(left["zero"].to_numpy()).any()


@pytest.mark.parametrize(
    ("women", "men"),
    [("{:.1f}", "{:.1f}0"), ("{:.1f}", "+{:.1f}"), ("{:.1f}", "{:.2e}"), ("{:.1f}", " {:.1f}"), ("0", "-0")],
)
def test_the_way_of_writing_numbers_carries_nothing_out(run, women, men):
    frame = people()
    values = np.random.default_rng(3).normal(50, 2, ROWS)
    texts = [
        (women if sex == "f" else men).format(one) for sex, one in zip(frame["sex"], values, strict=True)
    ]
    given(frame.with_columns(more=pl.Series(texts)), RECODING + "limits = { sex = [1, 1] }\n")
    assert "sex, which is not released" in refused(run).replace("\n", " ")
    even = [women.format(one) for one in values]
    given(frame.with_columns(more=pl.Series(even)), RECODING + "limits = { sex = [1, 1] }\n")
    run("anonymize data.csv --spec s.toml -o out.csv")
