"""What joint k-means refuses, and when: schemas, tables and declarations that do not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smc.analyses.clustering.scaled import scaled_columns
from smc.analyses.clustering.sides import check_sides
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.records.fixed_point import DeclaredRange
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import DomainError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.exchange.records import counts_cost
from tests.smc.analyses.clustering_runs import (
    BOTH,
    HORIZONTAL,
    NAMES,
    TENTHS,
    blobs,
    joint,
    parsed,
    shape_of,
    sides,
    table,
    text,
)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.full((1, 3), 7), "too few rows for 3 clusters: 2"),
        (np.full((9, 3), 501), "outside its declared bounds"),
    ],
)
def test_unfit_data_are_refused_before_they_move(values, words):
    def side(data):
        def run(session):
            with pytest.raises(DomainError, match=words):
                run_study(parsed(), session, data, BOTH, NO_LIMITS.of_both)
            assert session.channel.traffic.messages <= 2  # row counts
            assert session.channel.traffic.sent == counts_cost(1).alice_bytes

        return run

    run_pair(side(table(values)), side(table(values)))


def test_columns_of_different_length_are_refused():
    broken = table(blobs(9)) | {"z": Column([1], TENTHS)}

    def side(session):
        with pytest.raises(DomainError, match="different lengths"):
            run_study(parsed(), session, broken, BOTH, NO_LIMITS.of_both)

    run_pair(side, side)


@pytest.mark.parametrize("layout", ["vertical", "arbitrary"])
def test_common_rows_have_to_be_common(layout):
    alice, bob = sides(layout)
    bob = {name: Column(column.array[:-1], column.schema) for name, column in bob.items()}
    with pytest.raises(DomainError, match="same rows"):
        joint(parsed(text(layout)), alice, bob)


def test_a_peer_with_impossible_declarations_is_refused(monkeypatch):
    honest = DeclaredRange.range.fget
    monkeypatch.setattr(
        DeclaredRange, "range", property(lambda self: (1 << 40) - 1 if self.scale else honest(self))
    )
    with pytest.raises((ProtocolViolation, UsageError)):
        joint(parsed(text("vertical")), *sides("vertical"))


def test_too_many_rows_for_the_start_are_refused():
    shape = shape_of(parsed(text("horizontal", 'precision = 20\nstart = "kmeans++"\n')), *sides("horizontal"))
    study = parsed(text("horizontal", 'precision = 20\nstart = "kmeans++"\n'))
    alice, bob = sides("horizontal")
    assert shape.count * shape.scaled.diagonal >= 1 << 45
    with pytest.raises(DomainError, match="are too large to choose"):
        joint(study, alice, bob)


def test_nobody_receives_is_refused():
    with pytest.raises(UsageError, match="Nobody"):
        joint(parsed(), *sides("horizontal"), frozenset())


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Schema("category", categories=("a",)), "distances need numbers"),
        (Schema("decimal", scale=1, lower=-500), "no declared bounds"),
        (Schema("decimal", scale=1, lower=-500, upper=-500), "one value only"),
        (Schema("decimal", scale=1, lower=-500, upper=1 << 41), "too wide"),
        (Schema("decimal", scale=1, lower=-500, upper=499, unit="kg"), "upper of column 'y' differently"),
        (replace(TENTHS, unit="g"), "unit of column 'y' differently"),
    ],
)
def test_schemas_are_checked(column, words):
    fine = dict.fromkeys(NAMES, TENTHS)
    parsed().check(fine, fine)
    both = fine | {"y": column}
    with pytest.raises(UsageError, match=words):
        parsed().check(fine if "differently" in words else both, both)
    with pytest.raises(UsageError, match="Bob has no column 'y'"):
        parsed().check(fine, {"x": TENTHS, "z": TENTHS})


def test_the_sides_of_a_vertical_layout_bring_their_own_columns():
    study = parsed(text("vertical"))
    assert study.columns[Role.ALICE] == ("x",)
    assert study.columns[Role.BOB] == ("y", "z")
    bob = {"y": Schema("integer", lower=-100, upper=90), "z": TENTHS}
    study.check({"x": TENTHS}, bob)


def test_stated_centres_lie_within_the_bounds():
    schemas = dict.fromkeys(NAMES, TENTHS)
    outside = parsed(HORIZONTAL.replace('"30", "30", "30"', '"30", "50.1", "30"'))
    with pytest.raises(UsageError, match="bounds of column 'y'"):
        outside.check(schemas, schemas)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Schema("integer", lower=0, upper=1 << 30), "too narrow"),
        (Schema("decimal", scale=18, lower=0, upper=1), "too wide"),
    ],
)
def test_columns_that_cannot_be_computed_with_are_refused(column, words):
    wide = Schema("integer", lower=0, upper=1 << 38) if words == "too wide" else column
    schemas = {"x": Schema("integer", lower=0, upper=1), "y": wide, "z": column}
    with pytest.raises(DomainError, match=words):
        parsed(HORIZONTAL + 'scaling = "none"\n').check(schemas, schemas)


def test_the_widest_job_fits_its_words():
    names = tuple(f"c{i}" for i in range(1000))
    columns = ", ".join(f'"{name}"' for name in names)
    study = parsed(f'clusters = 2\nlayout = "arbitrary"\ncolumns = [{columns}]\nprecision = 20\n')
    schemas = dict.fromkeys(names, Schema("integer", lower=0, upper=1 << 30))
    assert scaled_columns(study.parameters, check_sides(study.parameters, schemas, schemas)).width == 58
