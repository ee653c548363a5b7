"""Planted releases: what leaves by a side door is found, and what is released rightly passes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.gate import alignment
from anonymizer.gate.looks import inspect
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from tests.support.grids import crossed

ROWS = 600
RANDOM = np.random.default_rng(5)
ROLES = Roles(identifiers=("name",), quasi_identifiers=("age", "zip", "sex", "admitted"), sensitive=("ill",))
_GIVEN = ("Anna", "Bert", "Cleo", "Dora", "Emil", "Fritz", "Gerd", "Hans")
_FAMILY = ("Janda", "Berg", "Otto", "Mayer", "Huber", "Kunz")
DAYS = pd.Timestamp("2020-01-01") + pd.to_timedelta(RANDOM.integers(0, 700, ROWS), unit="D")


def _people() -> pd.DataFrame:
    names = [
        f"{given} {family} {number}"
        for given, family, number in zip(
            RANDOM.choice(_GIVEN, ROWS),
            RANDOM.choice(_FAMILY, ROWS),
            RANDOM.integers(0, 40, ROWS),
            strict=True,
        )
    ]
    return pd.DataFrame(
        {
            "name": sorted(names),
            "age": RANDOM.integers(0, 95, ROWS),
            "zip": RANDOM.choice([f"80{number:03}" for number in range(0, 600, 7)], ROWS),
            "sex": RANDOM.choice(["m", "f"], ROWS),
            "admitted": DAYS.strftime("%d.%m.%Y"),
            "ill": RANDOM.choice(["flu", "cold", "measles", "gout"], ROWS, p=[0.5, 0.3, 0.1, 0.1]),
            "bmi": RANDOM.normal(25, 4, ROWS).round(1),
            "smokes": RANDOM.choice([True, False], ROWS),
            "country": "AT",
        }
    )


PEOPLE = _people()
ORIGINAL = Table.of(PEOPLE, ROLES)
PLACE = np.arange(ROWS)


def release(**planted) -> pd.DataFrame:
    frame = PEOPLE.drop(columns="name")
    frame["age"] = (PEOPLE["age"] // 20 * 20).astype(str) + "+"
    frame["zip"] = PEOPLE["zip"].str[:3] + "**"
    frame["sex"] = "*"
    frame["admitted"] = DAYS.strftime("%Y-%m")
    return frame.assign(**planted)


def found(
    frame: pd.DataFrame, *, known: bool = True, original: Table = ORIGINAL, **given
) -> Mapping[str, set]:
    """The rules that report each column, of the release in another order."""
    order = RANDOM.permutation(len(frame))
    shuffled = Table.of(frame.iloc[order].reset_index(drop=True), original.roles.among(frame.columns))
    rules: dict[str, set] = {}
    for one in inspect(original, shuffled, origin=order if known else None, **given):
        rules.setdefault(one.column, set()).add(one.rule)
    return rules


def digest(word: str, salt: str = "", cut: int = 64) -> list[str]:
    return [hashlib.new(word, (salt + name).encode()).hexdigest()[:cut] for name in PEOPLE["name"]]


IDENTIFIERS = {
    "SHA-256, cut": digest("sha256", cut=16),
    "MD5 with a key, cut": digest("md5", "key", 12),
    "MD5 of a part, which repeats": [hashlib.md5(n[:12].encode()).hexdigest() for n in PEOPLE["name"]],
    "base64": [base64.b64encode(name.encode()).decode() for name in PEOPLE["name"]],
    "capital letters": PEOPLE["name"].str.upper(),
    "blanks before": "  " + PEOPLE["name"],
    "from right to left": PEOPLE["name"].str[::-1],
    "with something behind": PEOPLE["name"] + "/" + PEOPLE["ill"],
    "rank": PLACE,
    "rank, scaled": PLACE * -2.54 + 7,
    "rank, one pair exchanged": np.where(PLACE == 3, 590, np.where(PLACE == 590, 3, PLACE)) * 1.5,
    "rank with noise": PLACE + RANDOM.normal(0, 5, ROWS),
    "rank modulo": (PLACE * 7) % 601,
    "in the last digits": RANDOM.normal(25, 4, ROWS).round(1) + PLACE * 1e-7,
    "as a code": [f"P-{number:05}" for number in PLACE],
    "as any number": [f"P-{number:05}" for number in RANDOM.permutation(ROWS)],
    "as a date": (pd.Timestamp("1950-01-01") + pd.to_timedelta(PLACE, unit="D")).strftime("%d.%m.%Y"),
    "in some texts": [
        f"seen, {n.split()[0]} came" if i % 9 == 0 else "seen" for i, n in enumerate(PEOPLE["name"])
    ],
}


@pytest.mark.parametrize(("plant", "known"), crossed(IDENTIFIERS, [True, False]))
def test_an_identifier_in_disguise_is_found(plant, known):
    """More than that the column is new: the looks know it for what it is."""
    assert found(release(code=IDENTIFIERS[plant]), known=known)["code"] - {"new-column"}


@pytest.mark.parametrize("plant", IDENTIFIERS)
def test_an_identifier_in_disguise_that_the_original_has_is_found(plant):
    original = Table.of(PEOPLE.assign(code=IDENTIFIERS[plant]), ROLES)
    rules = found(release(code=IDENTIFIERS[plant]), original=original, kept=("code",))
    assert "new-column" not in rules["code"]
    assert rules["code"]


COPIES = {
    "in months": ("age", PEOPLE["age"] * 12 + RANDOM.integers(0, 12, ROWS)),
    "year of birth": ("age", 2020 - PEOPLE["age"]),
    "named": ("age", [f"a{(age * 37) % 101}" for age in PEOPLE["age"]]),
    "scaled": ("zip", PEOPLE["zip"].astype(int) * 2.5),
    "with more behind": ("zip", PEOPLE["zip"] + RANDOM.choice(["A", "B"], ROWS)),
    "another form of date": ("admitted", DAYS.strftime("%Y-%m-%d")),
    "shifted": ("admitted", (DAYS + pd.Timedelta(days=137)).strftime("%Y-%m-%d")),
    "words": ("sex", PEOPLE["sex"].map({"m": "man", "f": "woman"})),
    "some spoiled": ("sex", np.where(PLACE % 50 == 0, "?", PEOPLE["sex"])),
    "blanks behind": ("sex", np.where(PEOPLE["sex"] == "m", "x", "x ")),
    "capital letter": ("sex", np.where(PEOPLE["sex"] == "m", "x", "X")),
    "last digit": ("sex", 20 + RANDOM.integers(0, 9, ROWS) + 0.001 * (PEOPLE["sex"] == "m")),
}


@pytest.mark.parametrize(("plant", "known"), crossed(COPIES, [True, False]))
def test_a_second_copy_of_a_quasi_identifier_is_found(plant, known):
    original = Table.of(PEOPLE.assign(copy=COPIES[plant][1]), ROLES)
    assert "image" in found(release(copy=COPIES[plant][1]), known=known, original=original)["copy"]


def test_a_copy_of_a_changed_sensitive_column_is_found():
    frame = release(ill=RANDOM.permutation(PEOPLE["ill"]), code=PEOPLE["ill"].map(str.upper))
    original = Table.of(PEOPLE.assign(code=frame["code"]), ROLES)
    assert found(frame, original=original) == {"code": {"image"}}
    without = frame.drop(columns="ill")
    assert found(without, original=original) == {"code": {"image"}}


def test_an_identifier_cut_in_two_is_found():
    rules = found(release(high=PLACE // 25, low=PLACE % 25), added=("high", "low"))
    assert "image" in rules["high"] | rules.get("low", set())
    digits = PEOPLE["zip"].str
    assert "image" in found(release(high=digits[3], low=digits[4]), added=("high", "low"))["high"]


@pytest.mark.parametrize("known", [True, False])
def test_a_right_release_passes(known):
    kept = ("ill", "bmi", "smokes", "country")
    assert found(release(), known=known, kept=kept) == {}


@pytest.mark.parametrize("known", [True, False])
def test_rows_may_be_lost(known):
    order = RANDOM.permutation(ROWS)[:200]
    lost = Table.of(release().iloc[order].reset_index(drop=True), ROLES.among(release().columns))
    assert inspect(ORIGINAL, lost, origin=order if known else None) == ()


def test_sensitive_columns_may_tell_each_other():
    frame = PEOPLE.assign(code=PEOPLE["ill"].map({"flu": 1, "cold": 2, "measles": 3, "gout": 4}))
    roles = Roles(ROLES.identifiers, ROLES.quasi_identifiers, ("ill", "code"))
    assert found(release(code=frame["code"]), original=Table.of(frame, roles)) == {}


@settings(max_examples=20)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_small_tables_pass(rows, seed):
    """Of a few rows anything may be an image of anything."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"n{number}" for number in range(rows)],
            "age": random.integers(0, 3, rows),
            "truth": random.integers(0, 2, rows).astype(bool),
            "ill": random.choice(["a", "b"], rows),
            "weight": random.normal(70, 9, rows),
        }
    )
    original = Table.of(frame, Roles(("name",), ("age",), ("ill",)))
    made = frame.drop(columns="name").assign(age="*")
    assert found(made, original=original, kept=("truth", "ill", "weight")) == {}


@pytest.mark.parametrize("known", [True, False])
def test_identifiers_and_new_columns_are_named(known):
    rules = found(release(name=PEOPLE["name"], random=RANDOM.normal(0, 1, ROWS)), known=known)
    assert "identifier" in rules["name"]
    assert rules["random"] == {"new-column"}
    assert "random" not in found(release(random=RANDOM.normal(0, 1, ROWS)), known=known, added=("random",))


def test_the_order_of_the_original_is_found():
    same_order = Table.of(release(), ROLES.among(release().columns))
    for origin in (PLACE, None):
        rules = [one.rule for one in inspect(ORIGINAL, same_order, origin=origin)]
        assert rules == ["order"]
        assert inspect(ORIGINAL, same_order, origin=origin, ordered=True) == ()


def test_an_order_by_what_is_not_released_is_found():
    """Sorted by the whole postcode, of which three digits are released."""
    original = Table.of(PEOPLE.sort_values("zip", kind="stable").reset_index(drop=True), ROLES)
    order = np.argsort(PEOPLE["zip"].to_numpy(), kind="stable")
    sorted_ = Table.of(release().iloc[order].reset_index(drop=True), ROLES.among(release().columns))
    assert "order" in [one.rule for one in inspect(original, sorted_)]
    assert "order" in [one.rule for one in inspect(ORIGINAL, sorted_)]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("bmi", PEOPLE["bmi"] + 1e-9),
        ("ill", PEOPLE["ill"] + " "),
        ("ill", PEOPLE["ill"].mask(PLACE == 7)),
        ("account", (2**53 + 1 + PLACE * 2).astype(float)),
        ("account", (2**53 + 1 + PLACE * 2).astype(str)),
    ],
)
def test_a_cell_that_is_to_stay_and_does_not_is_found(name, cells):
    frame = PEOPLE.assign(account=2**53 + 1 + PLACE * 2)
    rules = found(release(**{name: cells}), original=Table.of(frame, ROLES), kept=(name,))
    assert ("altered" in rules[name]) == (name != "account" or cells.dtype.kind == "f")


@pytest.mark.parametrize("change", [lambda age: age + 11, lambda age: 100 - age, lambda age: age * 2.5])
def test_a_column_that_is_only_renamed_is_found_in_releases_of_others(change):
    assert found(release(age=change(PEOPLE["age"])), known=False) == {"age": {"renamed"}}
    later = (DAYS + pd.Timedelta(days=137)).strftime("%d.%m.%Y")
    assert found(release(admitted=later), known=False) == {"admitted": {"renamed"}}


def test_rows_that_cannot_be_matched_are_said():
    frame = release()[["age", "zip"]]
    assert found(frame, known=False) == {None: {"unmatched"}}


def test_findings_hold_no_cell():
    frame = release(code=digest("sha256"), name=PEOPLE["name"], copy=PEOPLE["zip"])
    told = Table.of(frame, ROLES)
    for one in inspect(ORIGINAL, told):
        assert not any(cell in str(one) for cell in (*PEOPLE["name"], *PEOPLE["zip"], *digest("sha256")))
        assert set(one.to_json()) == {"rule", "column", "what", "hint"}


def test_polars_nested_cells_and_missing_cells():
    frame = pl.DataFrame({"name": [f"n{i}" for i in range(30)], "age": [None, *range(29)]})
    frame = frame.with_columns(pl.Series("visits", [[i % 3, None] for i in range(30)]))
    original = Table.of(frame, Roles(("name",), ("age",)))
    made = frame.drop("name").with_columns(pl.lit("*").alias("age"))
    order = RANDOM.permutation(30)
    assert inspect(original, Table.of(made[order], Roles((), ("age",))), origin=order) == ()


def test_rows_are_matched_by_their_cells():
    order = RANDOM.permutation(ROWS)[:400]
    frame = release().iloc[order].reset_index(drop=True)
    matched = alignment.align(ORIGINAL, Table.of(frame))
    assert (matched >= 0).mean() > 0.3
    assert (matched[matched >= 0] == order[matched >= 0]).all()
