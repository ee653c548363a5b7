"""Matching of feature vectors: against the reference and in numbers, its cost, limits and messages."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, replace

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.opener import open_gate
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.matching.vectors import inner_products
from smc.analyses.matching.vectors.parameters import VectorParameters
from smc.analyses.matching.vectors.scores import VectorMeasure
from smc.analyses.matching.vectors.study import VectorStudy
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.parameters import read_parameters
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DisclosureRefused, DomainError, DuettoError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from tests.smc.analyses.clustering_runs import Watched, integers
from tests.support import openings

BOTH = frozenset(Role)
ALICE, BOB = frozenset({Role.ALICE}), frozenset({Role.BOB})
NAMES = ("u", "v", "w")
TENTHS = Schema("decimal", scale=1, lower=-1000, upper=1000)
SCHEMAS = dict.fromkeys(NAMES, TENTHS)
COLUMNS = 'columns = ["u", "v", "w"]\n'
NEAR = COLUMNS + 'threshold = "12"\n'
COSINE = COLUMNS + 'similarity = "cosine"\n'
EVERY = [
    NEAR,
    COLUMNS + 'threshold = "0.1"\nscaling = "range"\nprecision = 12\n',
    COLUMNS + "nearest = 1\n",
    COLUMNS + "nearest = 3\nprecision = 11\n",
    COSINE + 'threshold = "0.95"\n',
    COSINE + "nearest = 2\nprecision = 14\n",
]


def parsed(text=NEAR):
    return VectorStudy(read_parameters(VectorParameters, tomllib.loads(text)))


def table(values):
    values = np.asarray(values, dtype=np.int64)
    return {name: Column(values[:, i].copy(), TENTHS) for i, name in enumerate(NAMES)}


def pair_of_tables(alice, bob):
    """Random rows, some of Bob's close to some of Alice's."""
    first, second = integers(-900, 900, (alice, 3)), integers(-900, 900, (bob, 3))
    common = min(alice, bob) // 2
    second[:common] = first[:common] + integers(-30, 30, (common, 3))
    return table(first), table(second)


def watched(study, alice, bob, recipients=BOTH, limits=NO_LIMITS, gate=open_gate):
    def side(data):
        def run(session):
            session.channel = Watched(session.channel)
            return run_study(study, session, data, recipients, limits.of_both, gate), session.channel

        return run

    (first, left), (second, right) = run_pair(side(alice), side(bob))
    return (first, second), (left, right)


def joint(*given, **named):
    return watched(*given, **named)[0]


def pairs(first, second):
    """Pairs of rows of Alice and Bob, with ranks where there are some, from both outcomes."""
    mine, theirs = first.tables[0].columns, second.tables[0].columns
    assert mine["pair"] == theirs["pair"] == list(range(1, len(mine["row"]) + 1))
    ranks = mine.get("rank", [1] * len(mine["row"]))
    assert ranks == theirs.get("rank", ranks)
    return sorted(zip(mine["row"], theirs["row"], ranks, strict=True))


def declared_cost(study, alice, bob, recipients=BOTH):
    return estimate_cost(study, SCHEMAS, recipients, RunSetting((alice, bob)))


@pytest.mark.parametrize("text", EVERY)
def test_every_rule_agrees_with_its_twin(text):
    study = parsed(text)
    alice, bob = pair_of_tables(13, 18)
    outcomes, channels = watched(study, alice, bob)
    assert pairs(*outcomes) == pairs(*study.reference(alice, bob, BOTH))
    declared = declared_cost(study, 13, 18)
    assert tuple(c.traffic.sent for c in channels) == (declared.alice_bytes, declared.bob_bytes)
    assert max(c.traffic.rounds for c in channels) == declared.rounds


@pytest.mark.parametrize(("alice", "bob"), [(1, 1), (1, 6), (7, 1), (2, 9)])
@pytest.mark.parametrize("text", [NEAR, COLUMNS + "nearest = 1\n"])
def test_few_rows(text, alice, bob):
    study = parsed(text)
    data = pair_of_tables(alice, bob)
    assert pairs(*joint(study, *data)) == pairs(*study.reference(*data, BOTH))


@pytest.mark.parametrize("text", [NEAR, COLUMNS + "nearest = 2\n"])
def test_many_tiles(text, monkeypatch):
    monkeypatch.setattr(inner_products, "TILE_ROWS", 4)
    study = parsed(text)
    alice, bob = pair_of_tables(9, 11)
    outcomes, channels = watched(study, alice, bob)
    assert pairs(*outcomes) == pairs(*study.reference(alice, bob, BOTH))
    assert channels[0].traffic.sent == declared_cost(study, 9, 11).alice_bytes


def by_lattice(monkeypatch):
    """Let every run multiply by lattice encryption, however small."""
    honest = inner_products.ProductPlan.of

    def plan(measure, alice, bob):
        layout = inner_products.layout_of(alice, len(measure.bits), bob, measure.largest, measure.width)
        assert layout is not None
        return replace(honest(measure, alice, bob), layout=layout)

    monkeypatch.setattr(inner_products.ProductPlan, "of", plan)


@pytest.mark.parametrize("text", EVERY)
def test_every_rule_by_lattice_encryption(text, monkeypatch):
    by_lattice(monkeypatch)
    monkeypatch.setattr(inner_products, "TILE_ROWS", 4)
    study = parsed(text)
    alice, bob = pair_of_tables(9, 11)
    outcomes, channels = watched(study, alice, bob)
    assert pairs(*outcomes) == pairs(*study.reference(alice, bob, BOTH))
    declared = declared_cost(study, 9, 11)
    assert tuple(c.traffic.sent for c in channels) == (declared.alice_bytes, declared.bob_bytes)
    assert max(c.traffic.rounds for c in channels) == declared.rounds


def test_large_tables_are_multiplied_by_lattice_encryption():
    """What is public settles it, and both ways are chosen for some sizes."""
    measure = VectorMeasure.of(parsed(COSINE + 'threshold = "0.95"\n').parameters, SCHEMAS)
    plans = [inner_products.ProductPlan.of(measure, rows, rows) for rows in (2, 10, 1000)]
    assert [plan.layout is not None for plan in plans] == [False, False, True]
    sent = [plan.cost().alice_bytes + plan.cost().bob_bytes for plan in plans]
    other = replace(plans[-1], layout=None).cost()
    assert sent[-1] < (other.alice_bytes + other.bob_bytes) / 2


def test_distances_are_in_real_units():
    """Points 3, 4 and 12 apart along the axes have the distance 13."""
    alice, bob = table([[0, 0, 0]]), table([[30, 40, 120], [0, 0, 0], [30, 40, 130]])
    for threshold, expected in (("12.9", [2]), ("13.1", [1, 2])):
        study = parsed(COLUMNS + f'threshold = "{threshold}"\nprecision = 16\n')
        first, second = study.reference(alice, bob, BOTH)
        assert [row for _, row, _ in pairs(first, second)] == expected


def test_cosines_are_off_by_the_rounding_only():
    first, second = integers(-900, 900, (60, 3)), integers(-900, 900, (60, 3))
    study = parsed(COSINE + 'threshold = "0"\nprecision = 12\n')
    measure = VectorMeasure.of(study.parameters, SCHEMAS)
    found = -measure.plain(measure.whole(table(first)), measure.whole(table(second))) / 2047**2
    lengths = np.sqrt((first**2).sum(axis=1))[:, None] * np.sqrt((second**2).sum(axis=1))[None]
    # either vector is off by at most half a unit of 2**-11 in each of three coordinates
    assert np.abs(found - first @ second.T / lengths).max() < 2 * np.sqrt(3) / 2 / 2047 + 1e-5


def test_a_row_of_zeros_points_nowhere():
    study = parsed(COSINE + 'threshold = "0.1"\n')
    outcomes = joint(study, table([[0, 0, 0], [100, 0, 0]]), table([[100, 0, 0], [0, 0, 0]]))
    assert pairs(*outcomes) == [(2, 1, 1)]


def test_the_extremes_fit_their_words():
    corners = [[-1000] * 3, [1000] * 3, [-1000, 1000, -1000]]
    for text in (NEAR, COLUMNS + "nearest = 3\n", COSINE + "nearest = 3\n", COSINE + 'threshold = "-1"\n'):
        study = parsed(text)
        data = table(corners), table(corners)
        assert pairs(*joint(study, *data)) == pairs(*study.reference(*data, BOTH))


@pytest.mark.parametrize("recipients", [ALICE, BOB])
def test_only_recipients_get_pairs(recipients):
    study = parsed()
    alice, bob = pair_of_tables(8, 8)
    outcomes, channels = watched(study, alice, bob, recipients)
    expected = study.reference(alice, bob, recipients)
    for role, outcome, twin, channel in zip(Role, outcomes, expected, channels, strict=True):
        opened = [entry for entry in channel.sent if entry[0] in openings.OPENINGS]
        assert bool(outcome.tables) is bool(twin.tables) is (role in recipients)
        assert opened == ([] if role in recipients else [(openings.BITS, 8)])
        if role in recipients:
            assert sorted(outcome.tables[0].columns["row"]) == sorted(twin.tables[0].columns["row"])
    declared = declared_cost(study, 8, 8, recipients)
    assert tuple(c.traffic.sent for c in channels) == (declared.alice_bytes, declared.bob_bytes)


def test_numbers_of_partners_are_drawn_anew():
    """With equal tables row and partner are the same in all of 30 pairs with a chance of 1 in 30!."""
    rows = np.stack([np.arange(-900, 900, 60)] * 3, axis=1)
    columns = joint(parsed(COLUMNS + 'threshold = "1"\n'), table(rows), table(rows))[0].tables[0].columns
    assert sorted(columns["row"]) == sorted(columns["partner"]) == list(range(1, 31))
    assert columns["row"] != columns["partner"]


def test_the_estimate_is_exact():
    for text in (NEAR, COSINE + "nearest = 2\n"):
        study = parsed(text)
        estimate = estimate_cost(study, SCHEMAS, BOTH, RunSetting((10, 10), key_bits=3072))
        declared = declared_cost(study, 10, 10)
        assert (estimate.alice_bytes, estimate.bob_bytes) == (declared.alice_bytes, declared.bob_bytes)
        assert estimate.rounds == declared.rounds


def test_too_few_matches_open_nothing_but_that():
    rows = np.stack([np.arange(-900, 900, 200)] * 3, axis=1)
    alice, bob = table(rows), table(np.concatenate([rows[:4], rows[:1]]))  # five pairs, four of Alice's rows
    limits = Limits(minimum_intersection=5)
    seen = []

    def side(data):
        def run(session):
            session.channel = Watched(session.channel)
            seen.append(session.channel)
            return run_study(parsed(), session, data, BOTH, limits.of_both)

        return run

    with pytest.raises(DisclosureRefused, match="fewer matches or persons"):
        run_pair(side(alice), side(bob))
    for channel in seen:
        assert [entry for entry in channel.sent if entry[0] in openings.OPENINGS] == [(openings.BITS, 1)]
    outcomes = joint(parsed(), alice, bob, limits=replace(limits, minimum_intersection=4))
    assert len(pairs(*outcomes)) == 5


def test_small_sets_are_refused_at_once():
    with pytest.raises(DisclosureRefused, match="20 rows"):
        joint(parsed(), *pair_of_tables(19, 30), limits=Limits(minimum_set=20))


@pytest.mark.parametrize("text", [NEAR, COSINE + "nearest = 1\n"])
def test_messages_depend_on_public_values_alone(text):
    equal = table(np.full((12, 3), 7))
    limits = Limits(minimum_intersection=1)
    near = np.full((12, 3), 7)
    mixed = watched(parsed(text), table(near), table(near + integers(-3, 3, (12, 3))), limits=limits)[1]
    same = watched(parsed(text), equal, equal, limits=limits)[1]
    for one, other in zip(mixed, same, strict=True):
        assert one.sent == other.sent


def test_a_gate_that_raises_keeps_everything_closed():
    seen = []

    def gate(channel):
        seen.append(channel)
        raise UsageError("The ledger could not be written.")

    with pytest.raises(DuettoError, match="ledger"):
        joint(parsed(), *pair_of_tables(5, 5), gate=gate)
    for channel in seen:
        assert not [entry for entry in channel.sent if entry[0] in openings.OPENINGS]


def test_outcomes_are_json_and_registered():
    assert MATCHING.parse({"method": "vectors", **tomllib.loads(NEAR)}) == parsed()
    for outcome in joint(parsed(COLUMNS + "nearest = 1\n"), *pair_of_tables(4, 4)):
        assert json.loads(json.dumps(asdict(outcome)))


@pytest.mark.parametrize(("alice", "bob"), [(0, 4), (4, 0), (4, 2)])
def test_sides_without_rows_are_refused(alice, bob):
    with pytest.raises(DomainError, match="nothing to match with"):
        joint(parsed(COLUMNS + "nearest = 3\n"), *pair_of_tables(alice, bob))


def test_columns_of_different_length_are_refused():
    for text in (NEAR, COSINE + 'threshold = "1"\n'):
        with pytest.raises(DomainError, match="different lengths"):
            joint(parsed(text), table([[1, 2, 3]]) | {"u": Column([], TENTHS)}, table([[1, 2, 3]]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('threshold = "1"', "lacks the key 'columns'"),
        ('columns = []\nthreshold = "1"', "not a list of 1 to 4096 names"),
        ('columns = ["u", "u"]\nthreshold = "1"', "a column twice"),
        (COLUMNS, "either threshold or nearest"),
        (NEAR + "nearest = 1", "either threshold or nearest"),
        (NEAR + 'similarity = "jaccard"', "similarity cannot be 'jaccard'"),
        (COLUMNS + 'threshold = "-1"', "negative distance"),
        (COSINE + 'threshold = "1.1"', "not a valid cosine"),
        (COSINE + 'threshold = "1"\nscaling = "none"', "scaling is only for Euclidean"),
        (NEAR + 'scaling = "z"', "scaling cannot be 'z'"),
        (COLUMNS + "threshold = 0.5", "a float"),
        (COLUMNS + "nearest = 0", "nearest is out of range"),
        (NEAR + "precision = 3", "precision is out of range"),
        (NEAR + "presicion = 8", "Did you mean 'precision'"),
    ],
)
def test_wrong_parameters_are_refused(text, words):
    with pytest.raises(UsageError, match=words):
        parsed(text)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Schema("text"), "distances need numbers"),
        (replace(TENTHS, upper=None), "no declared bounds"),
        (replace(TENTHS, scale=2), "scale of column 'v' differently"),
    ],
)
def test_schemas_are_checked(column, words):
    parsed().check(SCHEMAS, SCHEMAS)
    other = SCHEMAS | {"v": column}
    with pytest.raises(UsageError, match=words):
        parsed().check(SCHEMAS if "differently" in words else other, other)
    with pytest.raises(UsageError, match="Bob declares no column 'v'"):
        parsed().check(SCHEMAS, {"u": TENTHS, "w": TENTHS})
    with pytest.raises(UsageError, match="Nobody"):
        parsed().check_recipients(frozenset())


def test_leakage_says_what_is_opened():
    nearest = parsed(COLUMNS + "nearest = 3\n").leakage(ALICE)
    assert "the 3 nearest of Bob's" in nearest.alice[0]
    assert not nearest.bob
    assert "alike by the threshold" in parsed().leakage(BOB).bob[0]
    assert not parsed().facts(BOTH).exact
    assert not parsed().facts(BOTH).loss


def test_what_too_many_pairs_would_cost_is_refused_at_once():
    alice, _ = pair_of_tables(3, 3)
    schemas = {name: column.schema for name, column in alice.items()}
    study = parsed()
    largest = estimate_cost(study, schemas, BOTH, RunSetting((16_000, 16_000)))
    assert largest.alice_bytes > 16_000**2
    with pytest.raises(DomainError, match="too many pairs"):
        estimate_cost(study, schemas, BOTH, RunSetting((1_000_000, 1_000_000)))
