"""Joint k-means over rows that are matched by keys in secret."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DisclosureRefused, DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.spec import Cost
from smc.secret.noise.laplace import DiscreteLaplace
from tests.smc.analyses.clustering_runs import (
    BASE,
    BOTH,
    NAMES,
    SPLIT,
    STATED,
    Watched,
    blobs,
    integers,
    joint,
    named,
    parsed,
    plain,
    table,
    watched,
)
from tests.support.costs import stated
from tests.support.grids import crossed
from tests.support.studies import changed

ALICE, BOB = Role.ALICE, Role.BOB
KEY = Schema("text")
MATCH = '[match]\nkeys = ["id"]\nduplicates = "{}"\n[match.normalization]\nid = ["trim"]\n'
UNIFORM = 'start = "uniform"\n'


def job(extra=STATED, duplicates="error"):
    return parsed(BASE + SPLIT + extra + MATCH.format(duplicates))


def side(keys, values, names, persons=None):
    return {"id": Column([f" key-{key} " for key in keys], KEY), **table(values, names, persons=persons)}


def tables(alice=40, bob=60, common=25, persons=None):
    """Alice's x and Bob's y and z; rows with a key in common lie around the same middle, in another order."""
    every = blobs(alice + bob - common)
    first = np.argsort(integers(0, 1 << 40, alice))
    second = np.arange(bob) + alice - common
    return (
        side(first, every[first, :1], NAMES[:1], persons),
        side(second, every[second, 1:], NAMES[1:]),
    )


def sent(study, alice, bob, recipients=BOTH, limits=NO_LIMITS):
    """Kinds and sizes of what both sides sent."""
    return [channel.sent for channel in watched(study, alice, bob, recipients, limits)[1]]


def check(study, alice, bob, recipients=BOTH, limits=NO_LIMITS):
    """Demand that the joint run agrees with its twin and costs what is declared; both outcomes."""
    outcomes, channels = watched(study, alice, bob, recipients, limits)
    for found, expected in zip(outcomes, plain(study, alice, bob, recipients), strict=True):
        assert found.tables == expected.tables
    total: Cost = stated(study, alice, bob, recipients, limits)
    assert tuple(channel.traffic.sent for channel in channels) == (total.alice_bytes, total.bob_bytes)
    assert max(channel.traffic.rounds for channel in channels) == total.rounds
    return outcomes


def by_hand(alice, bob):
    """The joined rows, by a join of the keys."""
    places = {text.strip(): place for place, text in enumerate(bob["id"].texts)}
    return [
        (int(alice["x"].array[i]), *(int(bob[name].array[places[text.strip()]]) for name in ("y", "z")))
        for i, text in enumerate(alice["id"].texts)
        if text.strip() in places
    ]


@pytest.mark.parametrize(
    ("rows", "extra"), crossed([(40, 60), (60, 40), (30, 30)], ["", 'scaling = "none"\nprecision = 20\n'])
)
def test_clusters_are_those_of_the_joined_rows(rows, extra):
    first, second = check(job(STATED + extra), *tables(*rows))
    assert set(named(first)) == set(named(second)) == {"centres", "fit"}
    assert sum(named(first)["centres"]["size"]) == 25


def test_the_same_as_of_rows_that_are_in_order():
    """A job that joins by hand and brings both sides' columns in the same order finds the same."""
    alice, bob = tables()
    rows = np.array(by_hand(alice, bob))
    together = parsed(BASE + SPLIT + STATED + "labels = false\n")
    expected = joint(together, table(rows[:, :1], NAMES[:1]), table(rows[:, 1:], NAMES[1:]))
    found = joint(job(), alice, bob)
    assert [outcome.tables for outcome in found] == [outcome.tables for outcome in expected]


@pytest.mark.parametrize("recipients", [frozenset({ALICE}), frozenset({BOB})])
def test_only_recipients_get_results(recipients):
    outcomes = check(job(), *tables(), recipients)
    for role, outcome in zip(Role, outcomes, strict=True):
        assert bool(outcome.tables) is (role in recipients)


@pytest.mark.parametrize("common", [0, 1, 30])
def test_few_matches_and_all(common):
    first, _ = check(job(), *tables(30, 30, common))
    assert sum(named(first)["centres"]["size"]) == common


def test_far_matches_do_not_count_their_empty_slots():
    """Rows without a match, and empty slots, lie at 0 or nearer to a centre than those that match."""
    alice, bob = tables(30, 30, 12)
    alice["x"] = Column(np.full(30, -500), alice["x"].schema)
    first, _ = check(job(), alice, bob)
    assert sum(named(first)["centres"]["size"]) == 12


@pytest.mark.parametrize("start", ["random", "uniform"])
def test_drawn_starts_end_at_means_of_the_matched_rows(start):
    """When nothing moves any more, centres times sizes are the sums of the matched rows, up to rounding."""
    given = changed(job(f'start = "{start}"\ntolerance = "0"\n'), iterations=30)
    alice, bob = tables(40, 40, 30)
    found = named(joint(given, alice, bob)[0])
    assert found["fit"]["iterations"][0] < 30
    rows = np.array(by_hand(alice, bob)) / 10
    for place, name in enumerate(NAMES):
        weighted = np.dot(found["centres"]["size"], found["centres"][name])
        assert weighted == pytest.approx(rows[:, place].sum(), abs=30 * 0.03)
    assert sum(found["centres"]["size"]) == 30


def test_a_random_start_without_any_match():
    check(job('start = "random"\n'), *tables(30, 40, 0))


def test_a_random_start_takes_rows_that_match():
    """One match: every centre is that row, as the first one takes it and the others start at it."""
    alice, bob = tables(30, 30, 1)
    outcomes, channels = watched(job('start = "random"\n'), alice, bob)
    found = named(outcomes[0])["centres"]
    row = [value / 10 for value in by_hand(alice, bob)[0]]
    for cluster in range(3):
        assert [found[name][cluster] for name in NAMES] == pytest.approx(row, abs=0.2)
    assert found["size"] == [1, 0, 0]
    declared_rounds = stated(job('start = "random"\n'), alice, bob).rounds
    assert max(channel.traffic.rounds for channel in channels) == declared_rounds


def test_repeated_keys():
    alice, bob = tables(30, 30, 20)
    alice["id"] = Column([*alice["id"].texts[:-1], alice["id"].texts[0]], KEY)
    with pytest.raises(DomainError, match="repeat the key"):
        joint(job(), alice, bob)
    expected = plain(job(duplicates="distinct"), alice, bob)
    assert [outcome.tables for outcome in joint(job(duplicates="distinct"), alice, bob)] == [
        outcome.tables for outcome in expected
    ]


@pytest.mark.parametrize(
    ("counts", "limits"),
    crossed([(30, 40), (40, 30)], [NO_LIMITS, Limits(minimum_intersection=0, minimum_set=10)]),
)
def test_messages_do_not_tell_how_many_rows_match(counts, limits):
    every = [sent(job(UNIFORM), *tables(*counts, common), limits=limits) for common in (0, 30)]
    assert every[0] == every[1]


def test_refusals_look_alike_for_any_intersection_that_is_too_small():
    limits = Limits(minimum_intersection=26)

    def refused(common):
        def side(data):
            def run(session):
                session.channel = Watched(session.channel)
                with pytest.raises(DisclosureRefused, match="fewer matches or persons"):
                    run_study(job(), session, data, BOTH, limits.of_both)
                return session.channel.sent

            return run

        return run_pair(*map(side, tables(40, 60, common)), timeout=60)

    assert refused(0) == refused(25)
    check(job(), *tables(40, 60, 26), limits=limits)


def test_small_groups_count_for_the_matches_and_for_clusters():
    values = np.array([-300] * 8 + [300] * 8 + [0] * 2)
    alice = side(range(18), values[:, None], NAMES[:1])
    bob = side(range(18), np.stack([values] * 2, axis=1), NAMES[1:])
    outcomes = joint(job(), alice, bob, limits=Limits(minimum_group=5))
    assert named(outcomes[0])["centres"]["size"] == [None, None, 8]
    found = check(job(), alice, bob, limits=Limits(minimum_group=2))
    assert named(found[0])["centres"]["size"] == [8, 2, 8]
    with pytest.raises(DisclosureRefused, match="fewer matches or persons"):
        joint(job(), *tables(40, 40, 4), limits=Limits(minimum_group=5))


def test_the_sets_have_to_be_large_enough_and_alike():
    with pytest.raises(DisclosureRefused, match="one has fewer"):
        joint(job(), *tables(), limits=Limits(minimum_set=50))
    with pytest.raises(DomainError, match="3 clusters"):
        joint(job(), *tables(2, 30, 1))


def test_persons_with_several_rows():
    data = tables(30, 30, 20, persons=[0, 0, *range(1, 29)])
    with pytest.raises(DomainError, match="about one person"):
        joint(job(), *data, limits=Limits(minimum_group=3))
    assert PERSONS in data[0]
    check(job(), *data)


def test_columns_are_keys_and_values():
    assert job().columns[ALICE] == ("id", "x")
    assert job().columns[BOB] == ("id", "y", "z")
    assert job().parameters.start.value == "centres"
    assert job("").parameters.start.value == "random"
    assert not job().parameters.labels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BASE + SPLIT + STATED + "labels = true\n" + MATCH, "which rows match"),
        (BASE + SPLIT + 'start = "kmeans++"\n' + MATCH, "kmeans"),
        (BASE + SPLIT + 'epsilon = "1"\n' + MATCH.replace("{}", "distinct"), "does not go with epsilon"),
        (BASE + SPLIT + 'epsilon = "1"\n' + MATCH.replace("{}", "multiset"), "does not go with epsilon"),
        (BASE + 'columns = ["x"]\n' + MATCH, "match"),
        (BASE + SPLIT + MATCH + "[match.more]\n", "more"),
        (BASE + SPLIT + "match = 3\n", "match"),
    ],
)
def test_parameters_that_do_not_go(text, message):
    with pytest.raises(UsageError, match=message):
        parsed(text.format("error"))


def test_keys_are_checked_with_the_schemas():
    alice, bob = ({name: column.schema for name, column in data.items()} for data in tables())
    job().check(alice, bob)
    with pytest.raises(UsageError, match="no column 'id'"):
        job().check({"x": alice["x"]}, bob)
    with pytest.raises(UsageError, match="cannot be a key"):
        job().check({**alice, "id": alice["x"]}, bob)


def test_people_are_told_of_the_matches():
    told = job().leakage(frozenset({ALICE}))
    assert any("how many rows match" in line for line in told.alice)
    assert not any("how many rows match" in line for line in told.bob)
    for lines in (told.alice, told.bob):
        assert any("least intersection" in line for line in lines)


def test_the_estimate_is_what_a_run_of_both_costs():
    alice, bob = tables(30, 30, 10)
    schemas = {name: column.schema for data in (alice, bob) for name, column in data.items()}
    estimate = estimate_cost(job(), schemas, BOTH, RunSetting((30, 30)))
    total = stated(job(), alice, bob)
    assert (estimate.rounds, estimate.alice_bytes) == (total.rounds, total.alice_bytes)


def test_noisy_sizes_are_those_of_the_matches_and_noise():
    given = changed(job(STATED + 'epsilon = "3"\n'), iterations=1)
    alice, bob = tables(300, 400, 250)
    outcomes, channels = watched(given, alice, bob)
    first, second = map(named, outcomes)
    assert first == second
    assert set(first) == {"centres"}
    exact = named(joint(changed(given, epsilon=None), alice, bob)[0])
    total = stated(given, alice, bob)
    assert max(channel.traffic.rounds for channel in channels) == total.rounds
    distribution = DiscreteLaplace.of(Fraction(3, 8))
    differences = np.array(first["centres"]["size"]) - exact["centres"]["size"]
    assert (np.abs(differences) <= distribution.half_width(Fraction(1, 10**7) / 3)).all()
    assert "replaced" in outcomes[0].details["neighbours"]


def test_an_epsilon_does_not_go_with_a_least_intersection():
    given = job(STATED + 'epsilon = "3"\n')
    with pytest.raises(DisclosureRefused, match="least intersection"):
        joint(given, *tables(), limits=Limits(minimum_intersection=5))
    assert not any("one bit" in line for line in given.leakage(BOTH).alice)
