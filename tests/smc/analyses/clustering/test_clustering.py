"""Joint k-means: every layout against the plain twin, and its cost."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from smc.analyses.clustering.program import Program
from smc.analyses.clustering.scaled import scaled_columns
from smc.analyses.clustering.study import CLUSTERING
from smc.analyses.clustering.table import SecretTable, Shape
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.disclosure.release import Release
from smc.analyses.records.fixed_point import DeclaredRange
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.bits import SecretBits
from smc.secret.lattice.factors import LatticePlan
from smc.secret.lattice.sums import SumsPlan
from smc.secret.products import repeated
from tests.smc.analyses.clustering_runs import (
    BASE,
    BOTH,
    COLUMNS,
    HORIZONTAL,
    NAMES,
    RANDOM,
    STATED,
    TENTHS,
    blobs,
    integers,
    joint,
    named,
    parsed,
    plain,
    shape_of,
    sides,
    table,
    text,
    watched,
)
from tests.support.costs import stated
from tests.support.grids import crossed, grid

ALICE, BOB = frozenset({Role.ALICE}), frozenset({Role.BOB})


def check(study, alice, bob, recipients=BOTH):
    """Demand that the joint run agrees with its twin and costs what is declared; both outcomes."""
    outcomes, channels = watched(study, alice, bob, recipients)
    for found, expected in zip(outcomes, plain(study, alice, bob, recipients), strict=True):
        assert found.tables == expected.tables
    declared = stated(study, alice, bob, recipients)
    assert tuple(channel.traffic.sent for channel in channels) == (declared.alice_bytes, declared.bob_bytes)
    assert max(channel.traffic.rounds for channel in channels) == declared.rounds
    return outcomes


@pytest.mark.parametrize(
    ("layout", "extra"),
    grid(
        [
            ("horizontal", ""),
            ("horizontal", 'scaling = "none"\n'),
            ("horizontal", "precision = 18\n"),
            ("vertical", "precision = 4\n"),
            ("arbitrary", ""),
        ],
        [("horizontal", 'scaling = "none"\n'), ("vertical", "precision = 4\n"), ("arbitrary", "")],
    ),
)
def test_every_layout_agrees_with_its_twin(layout, extra):
    check(parsed(text(layout, STATED + extra)), *sides(layout))


@pytest.mark.parametrize("start", [STATED, 'start = "kmeans++"\n'])
@pytest.mark.parametrize("layout", ["horizontal", "vertical", "arbitrary"])
def test_every_layout_by_lattice_encryption(layout, start, monkeypatch):
    """As in large tables, where it sends less; the wide products of a start too."""
    plans = []

    def plan(shape, length, width):
        alice, bob = (shape.entries(role) for role in Role)
        plans.append(LatticePlan.of(alice, bob, (length, length), width, shape.passes))
        return plans[-1]

    monkeypatch.setattr(Shape, "lattice", plan)
    study = parsed(text(layout, start))
    if start == STATED:
        check(study, *sides(layout))
        assert None not in plans
        return
    _, channels = watched(study, *sides(layout))
    declared = stated(study, *sides(layout))
    assert tuple(channel.traffic.sent for channel in channels) == (declared.alice_bytes, declared.bob_bytes)
    widths = {plan.width for plan in plans}
    assert 64 in widths
    assert len(widths) == 2


@pytest.mark.parametrize("start", [STATED, 'start = "random"\n', 'start = "kmeans++"\n'])
@pytest.mark.parametrize("layout", ["horizontal", "vertical", "arbitrary"])
def test_every_layout_with_encrypted_sums(layout, start, monkeypatch):
    """As in large tables, where that sends less."""

    def plan(shape):
        alice, bob = (shape.grouping(role, shape.clusters) for role in Role)
        return SumsPlan.of(alice, bob, shape.sum_bits, (shape.passes + 1) * shape.clusters)

    monkeypatch.setattr(Shape, "lattice_sums", plan)
    study = parsed(text(layout, start))
    if start == STATED:
        check(study, *sides(layout))
        return
    _, channels = watched(study, *sides(layout))
    declared = stated(study, *sides(layout))
    assert tuple(channel.traffic.sent for channel in channels) == (declared.alice_bytes, declared.bob_bytes)
    assert max(channel.traffic.rounds for channel in channels) == declared.rounds


def test_sums_of_large_tables_are_encrypted():
    """By public sizes: rows are encrypted where a run's passes make up for it."""
    declared = {name: DeclaredRange.of(name, TENTHS) for name in NAMES}
    scaled = scaled_columns(parsed().parameters, declared)
    small, large = (Shape.of(parsed().parameters, scaled, rows, rows) for rows in (100, 50_000))
    assert small.lattice_sums() is None
    assert large.lattice_sums() is not None


def test_large_tables_are_multiplied_by_lattice_encryption():
    """By public sizes: by how many rows."""
    declared = {name: DeclaredRange.of(name, TENTHS) for name in NAMES}
    scaled = scaled_columns(parsed().parameters, declared)
    shapes = [Shape.of(parsed().parameters, scaled, rows, rows) for rows in (10, 50_000)]
    assert [shape.lattice(2, scaled.width) is not None for shape in shapes] == [False, True]
    assert shapes[0].lattice(1, 64) is None
    assert shapes[1].lattice(1, 64).width == 64
    plan = shapes[1].lattice(2, scaled.width)
    sent = [
        cost.alice_bytes + cost.bob_bytes
        for cost in (
            plan.cost(),
            repeated.cost(*map(shapes[1].entries, Role), (2, 2), scaled.width, first=False),
        )
    ]
    assert sent[0] < sent[1] / 10


@pytest.mark.parametrize(("layout", "recipients"), crossed(["horizontal", "vertical"], [ALICE, BOB]))
def test_only_recipients_get_results(layout, recipients):
    outcomes = check(parsed(text(layout)), *sides(layout), recipients)
    for role, outcome in zip(Role, outcomes, strict=True):
        assert bool(outcome.tables) is (role in recipients)
        assert ("other party" in " ".join(outcome.notes)) is (role not in recipients)


def test_labels_are_of_own_rows_or_of_all():
    alice, bob = sides("horizontal")
    first, second = joint(parsed(), alice, bob)
    assert [len(named(outcome)["labels"]["row"]) for outcome in (first, second)] == [30, 60]
    for outcome in joint(parsed(text("vertical")), *sides("vertical")):
        assert len(named(outcome)["labels"]["row"]) == 90


def test_labels_can_be_left_out():
    for outcome in check(parsed(HORIZONTAL + "labels = false\n"), *sides("horizontal")):
        assert set(named(outcome)) == {"centres", "fit"}


def test_a_run_stops_when_nothing_moves():
    study = parsed(HORIZONTAL.replace("iterations = 3", "iterations = 30") + 'tolerance = "0"\n')
    alice, bob = sides("horizontal")
    outcome, _ = joint(study, alice, bob)
    assert outcome.tables == plain(study, alice, bob)[0].tables
    assert named(outcome)["fit"]["iterations"][0] < 30


def test_a_run_that_still_moves_at_the_end_costs_what_is_declared():
    values = np.stack([np.arange(-500, 500, 25)] * 3, axis=1)
    study = parsed(HORIZONTAL + 'tolerance = "0"\n')
    check(study, table(values[::2]), table(values[1::2]))


def test_an_empty_cluster_keeps_its_centre():
    far = STATED.replace('"30", "30", "30"', '"50", "-50", "50"')
    values = blobs(40, middles=(-300, 0), spread=20)
    first, _ = check(parsed(BASE + COLUMNS + far), table(values[:20]), table(values[20:]))
    centres = named(first)["centres"]
    assert centres["size"][2] == 0
    assert [centres[name][2] for name in NAMES] == [50, -50, 50]


@pytest.mark.parametrize("clusters", grid([2, 4, 7], [4, 7]))
def test_any_number_of_clusters_with_ties_and_repeated_rows(clusters):
    values = integers(-2, 2, (30, 2)) * 100
    centres = [[str(10 * i - 30), "0"] for i in range(clusters)]
    given = f'clusters = {clusters}\niterations = 2\ncolumns = ["x", "y"]\ncentres = {centres}\n'
    check(parsed(given.replace("'", '"')), table(values[:10], ("x", "y")), table(values[10:], ("x", "y")))


def test_a_side_may_have_no_rows():
    check(parsed(), table(blobs(20)), table(blobs(0)))


def test_wide_columns_leave_32_bits():
    schema = Schema("integer", lower=-(1 << 38), upper=1 << 37)
    values = integers(schema.lower, schema.upper, (40, 2))
    centres = [[str(value) for value in row] for row in values[:3].tolist()]
    given = BASE + 'columns = ["x", "y"]\nprecision = 20\n' + f"centres = {centres}\n".replace("'", '"')
    alice, bob = (table(part, ("x", "y"), schema) for part in (values[:15], values[15:]))
    study = parsed(given)
    assert shape_of(study, alice, bob).scaled.width > 32
    check(study, alice, bob)


@pytest.mark.parametrize(
    ("layout", "start"), crossed(["horizontal", "vertical", "arbitrary"], ["kmeans++", "random"])
)
def test_starts_find_what_is_there(layout, start):
    """Rows at three points only, all of which either start hits: one from each run, or never one twice."""
    values = np.repeat(np.array([[-300, 0, 300], [0, 200, -100], [400, -400, 100]]), 12, axis=0)
    study = parsed(text(layout, f'start = "{start}"\n'))
    if layout == "vertical":
        data = table(values[:, :1], NAMES[:1]), table(values[:, 1:], NAMES[1:])
    elif layout == "arbitrary":
        data = table(values // 2), table(values - values // 2)
    else:
        data = table(values[:18]), table(values[18:])
    outcomes, channels = watched(study, *data)
    found = named(outcomes[0])
    assert found["fit"]["inertia"][0] < 1e-5
    assert found["centres"]["size"] == [12, 12, 12]
    real = sorted(zip(*(found["centres"][name] for name in NAMES), strict=True))
    for centre, expected in zip(real, sorted((values[::12] / 10).tolist()), strict=True):
        assert centre == pytest.approx(expected, abs=0.03)
    declared = stated(study, *data)
    assert channels[0].traffic.sent == declared.alice_bytes
    assert channels[1].traffic.sent == declared.bob_bytes


def test_a_uniform_start_lies_within_the_bounds():
    study = parsed(BASE.replace("3", "40", 1).replace("= 3", "= 1") + COLUMNS + 'start = "uniform"\n')
    values = np.full((50, 3), 500)
    outcomes, channels = watched(study, table(values[:20]), table(values[20:]))
    centres = np.array([named(outcomes[0])["centres"][name] for name in NAMES])
    assert (np.abs(centres) <= 50.0001).all()
    assert len(np.unique(centres[0])) > 30  # all but one cluster stay empty and keep where they started
    declared = stated(study, table(values[:20]), table(values[20:]))
    assert channels[0].traffic.sent == declared.alice_bytes


def test_the_estimate_is_exact():
    alice, bob = sides("horizontal")
    bob = table(blobs(30))
    schemas = {name: column.schema for name, column in alice.items()}
    for extra in (STATED, 'start = "random"\n', 'start = "kmeans++"\n'):
        study = parsed(text("horizontal", extra))
        _, channels = watched(study, alice, bob)
        estimate = estimate_cost(study, schemas, BOTH, RunSetting((30, 30), key_bits=3072))
        assert channels[0].traffic.sent == estimate.alice_bytes
        assert channels[1].traffic.sent == estimate.bob_bytes
        assert channels[0].traffic.rounds == estimate.rounds


@pytest.mark.parametrize("start", ["kmeans++", "random", "centres"])
def test_rows_that_are_not_valid_belong_to_no_cluster(start):
    """The layout by matching: which of the common rows there are in truth stays secret."""
    values = blobs(60)
    valid = RANDOM.bits(60)
    mask = RANDOM.bits(60)
    study = parsed(text("vertical", STATED if start == "centres" else f'start = "{start}"\n'))
    halves = table(values[:, :1], NAMES[:1]), table(values[:, 1:], NAMES[1:])
    shape = shape_of(study, *halves)

    def side(session):
        own = shape.scaled.whole(halves[session.role is Role.BOB], study.columns[session.role])
        shares = mask if session.role is Role.ALICE else mask ^ valid
        secret = SecretTable(session, shape, own, SecretBits(session, shares))
        release = Release(session, study.facts(BOTH).scope, BOTH, NO_LIMITS.of_both)
        return Program(secret, study.parameters, BOTH, release).run()

    first, second = run_pair(side, side)
    assert first.tables == second.tables
    labels = named(first)["labels"]["cluster"]
    assert [label is None for label in labels] == (valid == 0).tolist()
    assert sum(named(first)["centres"]["size"]) == valid.sum()
    if start == "centres":
        kept = [table(values[valid == 1][:, part], NAMES[part]) for part in (slice(0, 1), slice(1, 3))]
        expected = named(plain(study, *kept)[0])
        assert named(first)["centres"] == expected["centres"]
        assert named(first)["fit"] == expected["fit"]


def test_outcomes_are_json_and_registered():
    assert ANALYSES["clustering"] is CLUSTERING
    for outcome in joint(parsed(), *sides("horizontal")):
        assert json.loads(json.dumps(asdict(outcome)))


def test_progress_is_told():
    told = []

    def side(data):
        def run(session):
            if session.role is Role.ALICE:
                session.report = lambda *what: told.append(what)
            return run_study(parsed(), session, data, BOTH, NO_LIMITS.of_both)

        return run

    alice, bob = sides("horizontal")
    run_pair(side(alice), side(bob))
    assert [what for what in told if what[0] == "clustering"] == [("clustering", i, 3) for i in range(4)]
