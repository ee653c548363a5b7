"""Measures of distance in the registry: what has a place, the unit, copies, and releases that know nobody."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest

from anonymizer.measures.registry import MEASURES
from anonymizer.report.assessment import Assessment, Question, assess
from anonymizer.report.page import ReleaseStory, release_page
from anonymizer.risk.distance.p_privacy import p_privacy
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

WORDS = (
    *("hitting-rate", "coverage", "y-privacy", "voronoi-privacy", "p-privacy"),
    *("closest-record", "membership"),
)
ROLES = Roles(quasi_identifiers=("cm", "ward"), sensitive=("kg",))
SCHEMA = Schema(
    {
        "cm": Column("float", 100, 220),
        "kg": Column("float", 0, 300),
        "ward": Column("category", categories=("a", "b", "c")),
    }
)


def people(seed: int, rows: int = 400, schema: Schema = SCHEMA) -> Table:
    random = np.random.default_rng(seed)
    cm = 170 + 10 * random.standard_normal(rows)
    frame = pd.DataFrame(
        {
            "cm": cm.round(2),
            "kg": (cm - 100 + 8 * random.standard_normal(rows)).round(2),
            "ward": random.choice(list("abc"), rows),
            "note": [f"Mrs {seed}-{row}" for row in range(rows)],
        }
    )
    return Table.of(frame, ROLES, None, schema)


def measured(
    original: Table, release: Table, control: Table | None = None, words=WORDS, **more
) -> Assessment:
    return assess(original, release, None, Question(measures=words, control=control, seed=1, **more))


def values(found: Assessment) -> dict:
    return json.loads(json.dumps(found.values))["risk"]


def test_a_table_of_others_knows_nobody_and_a_copy_is_found():
    original, others, held_out = people(1), people(2), people(3)
    fresh = values(measured(original, others, held_out))
    assert set(fresh) == {*WORDS, "distribution"}
    for word in ("closest-record", "membership"):
        low, high = fresh[word]["interval"]
        assert low <= 0.5 <= high
        assert fresh[word]["control"] == 0.5
    assert fresh["hitting-rate"]["rate"] == 0
    assert fresh["y-privacy"]["minimum"] <= fresh["y-privacy"]["median"] <= fresh["y-privacy"]["maximum"]
    copied = measured(original, original, held_out)
    told = values(copied)
    assert told["hitting-rate"]["rate"] == 1
    assert told["y-privacy"]["maximum"] == 0
    assert all(one["part"] == 1 for one in told["coverage"]["by_distance"])
    assert told["closest-record"]["interval"][0] > 0.9
    assert told["membership"]["interval"][0] > 0.9
    assert told["p-privacy"]["hits"] == 400
    assert sum("original" in one or "Membership" in one for one in copied.cautions) >= 2


def test_the_unit_of_a_column_does_not_decide():
    metres = Schema({**SCHEMA, "cm": Column("float", 1, 2.2)})
    before = values(measured(people(1), people(2), words=WORDS[1:4]))
    tables = []
    for seed in (1, 2):
        frame = people(seed).native.assign(cm=lambda f: f.cm / 100)
        tables.append(Table.of(frame, ROLES, None, metres))
    after = values(measured(*tables, words=WORDS[1:4]))
    for word in ("y-privacy", "voronoi-privacy"):
        for name, value in before[word].items():
            if isinstance(value, float):
                assert after[word][name] == pytest.approx(value)


def test_columns_without_a_place_are_left_out_and_named():
    found = values(measured(people(1), people(2), words=("y-privacy",)))["y-privacy"]
    assert found["columns"] == ["cm", "kg", "ward"]
    assert found["left_out"] == {"note": "no bounds or categories are declared"}
    frame = people(2).native.assign(ward="*", kg="[50, 60)")
    coarse = measured(people(1), Table.of(frame, ROLES, None, SCHEMA), words=("y-privacy",))
    told = values(coarse)["y-privacy"]
    assert told["columns"] == ["cm", "kg"]
    assert "missing, or neither numbers" in told["left_out"]["ward"]
    page = release_page(ReleaseStory("t", "o", "r", [], (), coarse.cautions), coarse)
    assert "Not in the distance: ward" in page
    assert "Mrs" not in page


def test_without_declarations_nothing_is_measured_unless_the_original_may_give_the_range():
    bare = [people(seed, schema=Schema()) for seed in (1, 2, 3)]
    found = measured(*bare)
    assert "no shared column is declared" in found.skipped["y-privacy"].detail
    assert set(found.stories) == {"hitting-rate", "p-privacy"}
    told = values(measured(*bare, scale="original"))["y-privacy"]
    assert told["scaled_by_original"] == ["cm", "kg", "ward"]
    assert told["left_out"] == {"note": "it is neither numbers nor at most 100 categories, or constant"}
    declared = values(measured(people(1), people(2), scale="original", words=("y-privacy",)))
    assert declared["y-privacy"]["scaled_by_original"] == []


def test_what_needs_a_hold_out_says_so():
    found = measured(people(1), people(2))
    for word in ("closest-record", "membership"):
        assert found.skipped[word].detail == "no control group is given"
    small = measured(people(1), people(2), people(3, 40), words=("membership",))
    assert "100 records held out" in small.skipped["membership"].detail


def test_gaps_leave_a_column_out_of_p_privacy():
    frame = people(2).native
    frame.loc[3, "kg"] = np.nan
    found = values(
        measured(people(1), Table.of(frame, ROLES, None, SCHEMA), words=("p-privacy", "hitting-rate"))
    )
    assert {name for group in found["p-privacy"]["groups"] for name in group} == {"cm", "ward", "note"}
    assert found["hitting-rate"]["columns"] == 4


def test_p_privacy_of_hundreds_of_columns_counts_more_guesses_than_a_float_does():
    random = np.random.default_rng(1)
    columns = {f"c{at}": random.choice(list("abcdef"), 200) for at in range(450)}
    table = Table.of(pd.DataFrame(columns), Roles(quasi_identifiers=("c0",)), None, Schema())
    found = p_privacy(table, table, list(columns), [[name] for name in columns])
    assert found.candidates == 6**450
    told = MEASURES["p-privacy"].describe(found)
    assert (told.values["p"], told.values["candidates"]) == (0.0, sys.float_info.max)
    assert json.loads(json.dumps(told.values)) == told.values


def test_equal_rows_have_no_boundary_and_that_is_said():
    frame = people(1).native.assign(cm=150.0, kg=50.0, ward="a")
    same = Table.of(frame, ROLES, None, SCHEMA)
    found = measured(same, same, words=("voronoi-privacy", "y-privacy"))
    assert "All records are equal" in found.skipped["voronoi-privacy"].detail
    assert "y-privacy" in found.stories


def test_a_million_rows_of_five_columns_are_within_the_budget():
    for word in WORDS:
        assert MEASURES[word].cost(1_000_000, 5) < 3e10
    assert MEASURES["y-privacy"].cost(1_000_000, 20) > 3e10
