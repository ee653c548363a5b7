"""Empty cells: where they stand gives withheld columns back, and is looked at like a value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anonymizer.gate.finding import Finding
from anonymizer.gate.looks import inspect
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROWS = 2000
ROLES = Roles(identifiers=("name",), quasi_identifiers=("age", "sex"), sensitive=("ill",))
SPEC = """
[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "sex"]
sensitive = ["ill"]
[hierarchies]
age = { levels = [[0, 50, 120]] }
sex = { rows = [["f", "*"], ["m", "*"]] }
[[steps]]
"""
WITHHELD = 'method = "local-recoding"\nk = 10\nlimits = { sex = [1, 1], age = [1, 2] }\n'
BY_ROWS = 'method = "generalization"\nlevels = { sex = 1, age = 1 }\n'


def people(seed: int = 5) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"n{number}" for number in random.permutation(ROWS)],
            "age": random.integers(0, 100, ROWS),
            "sex": random.choice(["f", "m"], ROWS),
            "ill": random.choice(["flu", "cold", "gout", "burn"], ROWS),
        }
    )


def filled(where: pl.Series, cells: object) -> pl.DataFrame:
    """A column `more` that holds cells in some rows and nothing in the others."""
    return pl.DataFrame({"where": where, "cells": cells}).select(
        pl.when("where").then("cells").otherwise(None).alias("more")
    )


def spelled(codes: np.ndarray, digits: int) -> pl.DataFrame:
    """Laboratory values whose empty cells spell a number in each row."""
    random = np.random.default_rng(3)
    values = random.normal(5, 1, (len(codes), digits)).round(1)
    gaps = codes[:, None] >> np.arange(digits) & 1
    return pl.DataFrame(
        {
            f"lab{place}": pl.Series(np.where(gaps[:, place], np.nan, values[:, place]))
            for place in range(digits)
        }
    ).fill_nan(None)


def planted(frame: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    random = np.random.default_rng(8)
    women, men = frame["sex"] == "f", frame["sex"] == "m"
    return {
        "pregnancies": filled(women, random.integers(0, 5, ROWS)),
        "psa": filled(men, random.normal(2, 1, ROWS).round(2)),
        "pap": filled(women, ["normal"] * ROWS),
        "pension": filled(frame["age"] >= 65, random.integers(8, 30, ROWS) * 100),
        "row number": spelled(np.arange(ROWS), 11),
        "row number, shuffled": spelled(random.permutation(ROWS), 11),
        "age": spelled(frame["age"].to_numpy(), 7),
    }


ATTACKS = tuple(planted(people()))


def given(frame: pl.DataFrame, steps: str = WITHHELD) -> None:
    frame.write_csv("data.csv")
    Path("s.toml").write_text(SPEC + steps)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("words", ["", "--chunk-rows 1000"], ids=["whole", "by chunks"])
def test_a_pattern_of_empty_cells_that_tells_what_is_withheld_is_refused(run, attack, words):
    frame = people()
    given(frame.hstack(planted(frame)[attack]), BY_ROWS if words else WITHHELD)
    error = run(f"anonymize data.csv --spec s.toml -o out.csv {words}", 65)[1].replace("\n", " ")
    assert "empty" in error
    assert not Path("out.csv").exists()


@pytest.mark.parametrize("attack", ["pregnancies", "pension"])
def test_the_pattern_of_a_sensitive_column_is_refused_too(run, attack):
    frame = people()
    given(frame.hstack(planted(frame)[attack]))
    text = Path("s.toml").read_text().replace('["ill"]', '["ill", "more"]')
    Path("s.toml").write_text(text)
    assert "pattern of the empty cells" in run("anonymize data.csv --spec s.toml -o out.csv", 65)[1].replace(
        "\n", " "
    )


@pytest.mark.parametrize("word", ["n.d.", "<0.1", "n.b.", "≥ 90 mg/l"])
@pytest.mark.parametrize("role", ["sensitive", ""])
def test_words_for_a_missing_number_are_looked_at_like_empty_cells(run, word, role):
    """A specification need not name them: who reads them reads the sex, as in empty cells."""
    frame = people()
    given(frame.hstack(planted(frame)["psa"].select(pl.col("more").cast(pl.String).fill_null(word))))
    if role:
        Path("s.toml").write_text(Path("s.toml").read_text().replace('["ill"]', '["ill", "more"]'))
    error = run("anonymize data.csv --spec s.toml -o out.csv", 65)[1].replace("\n", " ")
    assert "image" in error
    assert "pattern of the empty cells" in error or "decides" in error


def test_words_for_a_missing_number_that_tell_nothing_pass(run):
    frame = people()
    random = np.random.default_rng(9)
    value = np.where(random.random(ROWS) < 0.6, random.integers(0, 9, ROWS).astype(str), "n.d.")
    given(frame.with_columns(lab=pl.Series(value)))
    run("anonymize data.csv --spec s.toml -o out.csv")


def test_a_pattern_can_be_accepted_with_a_reason(run):
    frame = people()
    given(frame.hstack(planted(frame)["row number, shuffled"]))
    Path("s.toml").write_text(
        Path("s.toml").read_text() + '[[accept]]\nfinding = "identifying"\nwhy = "gaps were drawn"\n'
    )
    run("anonymize data.csv --spec s.toml -o out.csv")


def test_gaps_that_tell_nothing_pass(run):
    """Tests that not everybody has had, as chance will have it."""
    frame = people()
    random = np.random.default_rng(9)
    gaps = [filled(pl.Series(random.random(ROWS) < 0.6), random.integers(0, 9, ROWS)) for _ in range(6)]
    more = pl.concat(
        [one.rename({"more": f"lab{place}"}) for place, one in enumerate(gaps)], how="horizontal"
    )
    given(frame.hstack(more))
    run("anonymize data.csv --spec s.toml -o out.csv")
    given(frame.hstack(more), BY_ROWS)
    run("anonymize releases data.csv --withdraw 0 --why unused")
    run("anonymize data.csv --spec s.toml -o by_rows.csv --chunk-rows 1000")


def test_gaps_that_the_released_quasi_identifier_tells_pass(run):
    frame = people()
    given(frame.hstack(filled(frame["age"] >= 50, ["yes"] * ROWS)))
    run("anonymize data.csv --spec s.toml -o out.csv")


@pytest.mark.parametrize(
    "step",
    [
        'method = "local-suppression"\nk = 5\ncolumns = ["age", "sex"]\n',
        'method = "suppress-cells"\nminimum_rows = 25\ncolumns = ["age", "rare"]\n',
        'method = "suppress-records"\nk = 2\nmaximum_suppression = 0.9\n',
    ],
    ids=["local-suppression", "suppress-cells", "suppress-records"],
)
def test_what_methods_suppress_is_no_pattern(run, step):
    frame = people().with_columns(rare=pl.col("age").pow(2) * 7 % 501)
    given(frame, step)
    Path("s.toml").write_text(
        Path("s.toml").read_text().replace('["age", "sex"]', '["age", "sex", "rare"]', 1)
    )
    text = Path("s.toml").read_text().replace('columns = ["age", "sex"]', 'columns = ["age", "sex", "rare"]')
    Path("s.toml").write_text(text + '[[accept]]\nfinding = "narrow"\nwhy = "a test of gaps"\n')
    run("anonymize data.csv --spec s.toml -o out.csv")


def found(original: pl.DataFrame, released: pl.DataFrame, roles: Roles = ROLES) -> list[Finding]:
    order = np.random.default_rng(2).permutation(len(released))
    shuffled = Table.of(released[order], roles.among(released.columns))
    return list(inspect(Table.of(original, roles), shuffled, origin=order))


def test_where_a_withheld_column_is_empty_is_withheld():
    """A phone that some have, and a column that says who."""
    random = np.random.default_rng(4)
    has = pl.Series(random.random(ROWS) < 0.5)
    frame = people().with_columns(filled(has, random.integers(0, 40, ROWS))["more"].alias("age"), reached=has)
    assert [
        (one.rule, one.column) for one in found(frame, frame.drop("name").with_columns(age=pl.lit("*")))
    ] == [("image", "reached")]
    shown = frame.drop("name").with_columns(
        age=pl.when(pl.col("age").is_null()).then(None).otherwise(pl.lit("any"))
    )
    assert found(frame, shown) == []


def test_a_sensitive_column_may_be_empty_where_a_withheld_one_is():
    random = np.random.default_rng(4)
    has = pl.Series(random.random(ROWS) < 0.5)
    frame = people().with_columns(
        filled(has, random.integers(0, 40, ROWS))["more"].alias("age"),
        filled(has, random.choice(["flu", "gout"], ROWS))["more"].alias("ill"),
    )
    assert found(frame, frame.drop("name").with_columns(age=pl.lit("*"))) == []


def test_only_the_columns_that_it_takes_are_named():
    frame = (
        people()
        .hstack(spelled(np.arange(ROWS), 11))
        .with_columns(other=filled(pl.Series(np.arange(ROWS) % 3 > 0), ["x"] * ROWS)["more"])
    )
    made = frame.drop("name").with_columns(age=pl.lit("*"), sex=pl.lit("*"))
    told = next(one for one in found(frame, made) if one.rule == "identifying")
    assert set(told.together) == {f"lab{place}" for place in range(11)}


@pytest.mark.parametrize("rows", [2, 7, 19])
def test_small_tables_with_gaps_pass(rows):
    random = np.random.default_rng(rows)
    for _ in range(30):
        frame = people(int(random.integers(1000)))[:rows].with_columns(
            **{
                f"g{place}": pl.Series(
                    [None if one else 1 for one in random.integers(0, 2, rows)], dtype=pl.Int64
                )
                for place in range(8)
            }
        )
        made = frame.drop("name").with_columns(age=pl.lit("*"), sex=pl.lit("*"))
        assert found(frame, made) == []


def test_what_init_proposes_passes_where_gaps_tell_the_row(run):
    people().hstack(spelled(np.arange(ROWS), 11)).write_csv("data.csv")
    run("anonymize init data.csv -o first.toml")
    run("anonymize data.csv --spec first.toml -o out.csv")
