"""What is withheld of clusters, what is opened and when, and what the messages show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.analyses.disclosure.clusters import (
    Assignment,
    failing,
    find_withheld,
    most_failing,
    plain_fails,
    plain_withheld,
)
from smc.analyses.disclosure.limits import SHOWN, Limits
from smc.channel.channel import Channel
from smc.errors import DisclosureRefused, DuettoError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.masks import MaskedWords
from smc.tracing.session import trace
from tests.smc.analyses.clustering_runs import (
    BASE,
    BOTH,
    COLUMNS,
    HORIZONTAL,
    NAMES,
    SPLIT,
    STATED,
    blobs,
    integers,
    joint,
    named,
    parsed,
    plain,
    table,
    watched,
)
from tests.smc.secret.secret_runs import tight
from tests.support import openings
from tests.support.costs import stated

FIVES = Limits(minimum_group=5, zeros=SHOWN)

PART = st.tuples(st.integers(0, 12), st.sampled_from([0, 0, 0, 3])).map(lambda part: (part[0], sum(part)))
"""Persons and rows of a side in a cluster; some rows are about persons whose first row lies elsewhere."""


@st.composite
def counted(draw):
    """Two assignments, each with the parts of one side or of two: persons and rows, shape (k,) each."""
    clusters, parts = draw(st.integers(2, 7)), draw(st.integers(1, 2))
    every = st.lists(PART, min_size=clusters, max_size=clusters)
    return [[tuple(np.array(draw(every), dtype=np.int64).T) for _ in range(parts)] for _ in range(2)]


def plainly(ways, minimum, zeros):
    return plain_withheld(ways, minimum, plain_fails(ways, minimum, zeros=zeros), zeros=zeros)


@given(counted(), st.integers(1, 6), st.booleans())
def test_the_rule_in_the_clear(ways, minimum, zeros):
    """Of no cluster that is shown, nor of those withheld together, a side has but a few persons."""
    hidden = plainly(ways, minimum, zeros)
    for way in ways:
        total = sum(persons for persons, _ in way)
        assert (total[~hidden] >= minimum).all()
        for persons, rows in way if len(way) > 1 else ():
            assert ((persons >= minimum) | ((rows == 0) & zeros))[~hidden].all()
            assert hidden.all() or persons[hidden].sum() >= minimum or not rows[hidden].any()
        assert hidden.all() or not hidden.any() or total[hidden].sum() >= minimum
    assert hidden.any() == plain_fails(ways, minimum, zeros=zeros).any()
    assert hidden.sum() != 1


@settings(max_examples=12)
@given(counted(), st.integers(1, 6), st.booleans())
def test_the_rule_on_secret_sizes(ways, minimum, zeros):
    parts, clusters, most = len(ways[0]), len(ways[0][0][0]), 300
    flat = [tight(count.tolist()) for way in ways for part in way for count in part]

    def side(session):
        session.oblivious.setup()
        counts = [each.at(session).with_bounds(Bounds(0, most)) for each in flat]
        secret = [
            Assignment(tuple(found[::2]), tuple(found[1::2]) if parts > 1 else ())
            for found in (counts[: 2 * parts], counts[2 * parts :])
        ]
        fails = failing(secret, minimum, zeros=zeros)
        return find_withheld(secret, minimum, fails, zeros=zeros).reveal(), session.channel.traffic

    (found, alice), (_, bob) = run_pair(side, side)
    assert (found == plainly(ways, minimum, zeros)).all()

    def traced(session):
        session.oblivious.setup()
        counts = [
            SecretInts.from_shares(session, session.random.words(clusters), Bounds(0, most)) for _ in flat
        ]
        secret = [
            Assignment(tuple(found[::2]), tuple(found[1::2]) if parts > 1 else ())
            for found in (counts[: 2 * parts], counts[2 * parts :])
        ]
        find_withheld(secret, minimum, failing(secret, minimum, zeros=zeros), zeros=zeros).reveal()

    stated = trace(traced)
    assert (alice.sent, bob.sent) == (stated.alice_bytes, stated.bob_bytes)


def test_a_side_with_few_persons_in_a_large_cluster_is_protected():
    """Bob, who has 28 of the 30 rows, would take his own out of the centre and find Alice's two."""
    values = three_sizes(20)
    alice = table(np.concatenate([values[:10], values[20:22]]))
    bob = table(np.concatenate([values[10:20], values[22:]]))
    found = [named(outcome) for outcome in joint(parsed(), alice, bob, limits=FIVES)]
    for tables in found:
        assert tables["centres"]["size"][1] is None
        assert tables["centres"]["size"].count(None) == 2
    assert found[0]["labels"]["cluster"].count(None) == 12
    enough = table(np.concatenate([values[:10], values[20:25]]))
    less = table(np.concatenate([values[10:20], values[25:]]))
    assert named(joint(parsed(), enough, less, limits=FIVES)[0])["centres"]["size"] == [
        20,
        30,
        20,
    ]


def test_a_cluster_of_one_side_alone_is_shown():
    values = three_sizes(20)
    alice, bob = table(values[:20]), table(values[20:])
    found = named(joint(parsed(), alice, bob, limits=FIVES)[1])
    assert found["centres"]["size"] == [20, 30, 20]


def three_sizes(small):
    """Rows at three places, 20, 30 and `small` of them, and how they lie."""
    values = np.repeat(np.array([[-300], [0], [300]]), [20, 30, small], axis=0)
    return np.repeat(values, 3, axis=1)


def test_small_clusters_and_those_that_shield_them_are_withheld():
    values = three_sizes(4)
    study = parsed()
    outcomes, channels = watched(study, table(values[:10]), table(values[10:]), limits=FIVES)
    first, second = map(named, outcomes)
    assert first["centres"]["size"] == [None, 30, None]
    assert first["centres"]["x"][0] is None
    assert first["centres"]["x"][1] == pytest.approx(0, abs=0.02)
    assert first["labels"]["cluster"] == [None] * 10
    assert second["labels"]["cluster"] == [None] * 10 + [2] * 30 + [None] * 4
    assert first["fit"]["inertia"] == [None]
    assert any("withheld" in note for note in outcomes[0].notes)
    declared = stated(study, table(values[:10]), table(values[10:]), limits=FIVES)
    assert tuple(c.traffic.sent for c in channels) == (declared.alice_bytes, declared.bob_bytes)
    assert channels[0].traffic.rounds == declared.rounds


def test_large_clusters_are_all_shown():
    values = three_sizes(5)
    outcome, _ = joint(parsed(), table(values[:10]), table(values[10:]), limits=FIVES)
    assert outcome.tables == plain(parsed(), table(values[:10]), table(values[10:]))[0].tables
    assert not outcome.notes


def test_persons_are_counted_not_rows():
    """The third cluster has ten rows of two persons."""
    values = three_sizes(10)
    persons = [*range(50), *([50, 51] * 5)]
    alice = table(values[:10], persons=persons[:10])
    bob = table(values[10:], persons=persons[10:])
    limits = FIVES
    assert named(joint(parsed(), alice, bob, limits=limits)[0])["centres"]["size"] == [None, 30, None]
    rows = table(values[10:])
    assert named(joint(parsed(), alice, rows, limits=limits)[0])["centres"]["size"] == [20, 30, 10]


@pytest.mark.parametrize("role", list(Role))
def test_either_side_may_know_the_persons_of_common_rows(role):
    values = three_sizes(10)
    persons = [*range(50), *([50, 51] * 5)]
    given = {Role.ALICE: None, Role.BOB: None} | {role: persons}
    alice = table(values[:, :1], NAMES[:1], persons=given[Role.ALICE])
    bob = table(values[:, 1:], NAMES[1:], persons=given[Role.BOB])
    study = parsed(BASE + SPLIT + STATED)
    outcomes, channels = watched(study, alice, bob, limits=FIVES)
    assert named(outcomes[0])["centres"]["size"] == [None, 30, None]
    declared = stated(study, alice, bob, limits=FIVES)
    assert channels[0].traffic.sent == declared.alice_bytes


def test_a_centre_counts_the_rows_that_it_is_the_mean_of():
    """After one iteration the second centre is one row's, though many rows are nearest to it by then."""
    values = np.array([[0] * 3] * 10 + [[340] * 3] * 9 + [[360] * 3])
    stated = 'centres = [["20", "20", "20"], ["50", "50", "50"]]\n'
    study = parsed("clusters = 2\niterations = 1\n" + COLUMNS + stated)
    alice, bob = table(values[:5]), table(values[5:])
    twin = named(plain(study, alice, bob)[0])["centres"]
    assert twin["size"] == [10, 10]
    assert twin["x"][1] == pytest.approx(36, abs=0.1)
    found = named(joint(study, alice, bob, limits=FIVES)[0])["centres"]
    assert found["size"] == [None, None]


def test_fewer_rows_than_a_group_are_refused_at_once():
    with pytest.raises(DisclosureRefused, match="20 persons"):
        joint(parsed(), table(blobs(9)), table(blobs(10)), limits=Limits(minimum_group=20))


def test_nothing_at_all_is_shown_of_too_few_persons():
    alice = table(three_sizes(5)[:30], persons=[0] * 30)
    bob = table(three_sizes(5)[30:], persons=[0, 1] * 12 + [1])
    with pytest.raises(DisclosureRefused, match="Too many clusters"):
        joint(parsed(), alice, bob, limits=Limits(minimum_group=4))


def test_a_side_without_rows_in_a_cluster_is_protected_where_zeros_are_withheld():
    """In one cluster; where it has none in two of three, which ones would tell where its rows are."""
    values, limits = three_sizes(20), Limits(minimum_group=5)
    alice = table(np.concatenate([values[:10], values[20:35]]))
    outcome, _ = joint(parsed(), alice, table(np.concatenate([values[10:20], values[35:]])), limits=limits)
    assert named(outcome)["centres"]["size"].count(None) == 2
    with pytest.raises(DisclosureRefused, match="Too many clusters"):
        joint(parsed(), table(values[:10]), table(values[10:]), limits=limits)


@pytest.mark.parametrize(("clusters", "most"), [(1, 1), (3, 1), (19, 1), (20, 2), (35, 3)])
def test_one_cluster_in_ten_may_stay_closed(clusters, most):
    assert most_failing(clusters) == most


@pytest.mark.parametrize("text", [HORIZONTAL, BASE + COLUMNS + 'start = "kmeans++"\n'])
def test_messages_depend_on_public_values_alone(text):
    """Two pairs of tables of one shape, one of them of equal rows: the same kinds, sizes and order."""
    study = parsed(text)
    limits = Limits(minimum_group=3, zeros=SHOWN)
    mixed = watched(study, table(blobs(20)), table(blobs(30)), limits=limits)[1]
    equal = np.repeat(np.repeat([[-500], [0], [500]], [20, 20, 10], axis=0), 3, axis=1)
    same = watched(study, table(equal[::5].repeat(2, axis=0)), table(equal[20:]), limits=limits)[1]
    for one, other in zip(mixed, same, strict=True):
        assert one.sent == other.sent


@pytest.mark.parametrize("recipients", [BOTH, frozenset({Role.ALICE}), frozenset({Role.BOB})])
def test_what_is_opened_is_what_is_declared(recipients):
    study = parsed(HORIZONTAL)
    _, channels = watched(study, table(blobs(20)), table(blobs(30)), recipients)
    for role, channel in zip(Role, channels, strict=True):
        opened = [entry for entry in channel.sent if entry[0] in openings.OPENINGS]
        labels = {Role.ALICE: 8, Role.BOB: 12}[role.other]  # 20 and 30 rows of 3 bits
        sizes, centres, inertia = 8 * 3, 8 * 9, 8
        expected = [(openings.SHARES, size) for size in (sizes, centres, inertia)]
        expected += [(openings.BITS, labels)]
        assert opened == (expected if role.other in recipients else [])


def test_only_the_bit_to_stop_is_opened_on_the_way():
    study = parsed(HORIZONTAL + 'tolerance = "0"\n')
    values = np.stack([np.arange(-500, 500, 25)] * 3, axis=1)
    _, channels = watched(study, table(values[::2]), table(values[1::2]), frozenset({Role.ALICE}))
    for channel, ends in zip(channels, ([], [24, 72, 8, 8]), strict=True):
        assert [size for kind, size in channel.sent if kind in openings.OPENINGS] == [1, 1, 1, *ends]


def test_corrections_of_equal_rows_are_uniform():
    """Chi-square over the bytes of all masked words at a false-alarm rate of 1e-6: 255 degrees of freedom."""
    study = parsed(HORIZONTAL)
    equal = np.full((120, 3), -500)
    _, channels = watched(study, table(equal[:60]), table(equal[60:]))
    for channel in channels:
        octets = np.concatenate(
            [m.words.values.reshape(-1) for m in channel.messages if isinstance(m, MaskedWords)]
        )
        counts = np.bincount(octets, minlength=256)
        expected = len(octets) / 256
        assert expected > 50
        assert ((counts - expected) ** 2 / expected).sum() < 377


def test_a_gate_that_raises_keeps_everything_closed(monkeypatch):
    honest = Channel.send
    sent = []

    def send(self, message):
        sent.append(type(message).__name__)
        honest(self, message)

    def gate(channel):
        raise UsageError("The ledger could not be written.")

    monkeypatch.setattr(Channel, "send", send)
    with pytest.raises(DuettoError, match="ledger"):
        joint(parsed(HORIZONTAL + 'tolerance = "0"\n'), table(blobs(20)), table(blobs(20)), gate=gate)
    assert MaskedWords.__name__ in sent
    assert not set(sent).intersection(openings.OPENINGS)


def test_the_gate_is_passed_once():
    passed = []
    joint(
        parsed(HORIZONTAL + 'tolerance = "0"\n'),
        table(integers(-500, 500, (20, 3))),
        table(blobs(20)),
        gate=passed.append,
    )
    assert len(passed) == 2
    assert passed[0] is not passed[1]
