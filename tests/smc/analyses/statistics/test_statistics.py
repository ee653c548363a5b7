"""Joint statistics between two parties."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.channel.channel import Channel
from smc.errors import DuettoError, UsageError
from smc.forms import Role
from smc.oblivious.correlated_transfers import TransferColumns
from smc.oblivious.transfers import TransferCorrections
from smc.pair import run_pair
from smc.secret.noise.laplace import DiscreteLaplace
from tests.smc.analyses.statistics_runs import (
    AGE,
    BOTH,
    GROUP,
    SCHEMAS,
    WEIGHT,
    joint,
    parsed,
    results,
    table,
)
from tests.support import openings


def test_plain_twin_against_sums_by_hand():
    alice, bob = table(200), table(100)
    got = results(parsed().reference(alice, bob, BOTH)[0])
    ages = np.array([*alice["age"].values, *bob["age"].values])
    weights = np.array([*alice["weight"].values, *bob["weight"].values])
    assert got["patients"]["value"] == 300
    assert got["sum of age"]["value"] == int(np.clip(ages, 18, 90).sum())
    assert Decimal(got["sum of weight"]["value"]) * 10 == int(weights.sum())
    assert got["mean of weight"]["value"] == pytest.approx(np.clip(weights / 10, 40.5, 120).mean(), rel=1e-12)
    for row in got.values():
        assert row["value"] == row["lower_95"] == row["upper_95"]
        assert row["noise_scale"] == 0


def test_histograms_against_numpy():
    alice, bob = table(200), table(100)
    alice["age"] = Column([0, 19, 20, 59, 60, 120, 121, *list(alice["age"].values)[7:]], AGE)
    _, ages, groups = parsed().reference(alice, bob, BOTH)[1].tables
    every = [*alice["age"].values, *bob["age"].values]
    assert ages.columns["count"] == np.histogram(every, [0, 20, 40, 60, 120])[0].tolist()
    assert ages.columns["bin"] == ["[0, 20)", "[20, 40)", "[40, 60)", "[60, 120]"]
    held = [*alice["group"].values, *bob["group"].values]
    assert groups.columns["bin"] == ["B", "0"]
    assert groups.columns["count"] == [held.count(1), held.count(3)]


def test_the_joint_run_agrees_with_its_twin_up_to_the_noise():
    study, alice, bob = parsed(), table(200), table(300)
    first, second = joint(study, alice, bob)
    assert first == second
    exact = study.reference(alice, bob, BOTH)[0]
    assert [t.name for t in first.tables] == [t.name for t in exact.tables]
    assert [list(t.columns) for t in first.tables] == [list(t.columns) for t in exact.tables]
    miss = Fraction(1, 10**7)
    part = Fraction(4, 6)
    got, truth = results(first), results(exact)
    for name, sensitivity, scale in (("patients", 1, 1), ("sum of age", 90, 1), ("sum of weight", 2500, 10)):
        width = Decimal(DiscreteLaplace.of(part / sensitivity).half_width(miss)) / scale
        assert abs(Decimal(got[name]["value"]) - Decimal(truth[name]["value"])) <= width
        assert got[name]["noise_scale"] == pytest.approx(float(sensitivity / scale / part))
    assert (
        got["mean of weight"]["lower_95"]
        <= got["mean of weight"]["value"]
        <= got["mean of weight"]["upper_95"]
    )
    for noisy, plain in zip(first.tables[1:], exact.tables[1:], strict=True):
        width = DiscreteLaplace.of(part).half_width(miss)
        for a, b in zip(noisy.columns["count"], plain.columns["count"], strict=True):
            assert abs(a - b) <= width


def test_outcomes_are_json():
    first, second = joint(parsed(), table(5), table(6), frozenset({Role.BOB}))
    for outcome in (first, second, *parsed().reference(table(5), table(6), BOTH)):
        assert json.loads(json.dumps(asdict(outcome)))


@pytest.mark.parametrize("recipient", list(Role))
def test_only_recipients_get_tables_and_shares(recipient, monkeypatch):
    honest = Channel.send
    opened: list[Channel] = []

    def send(self, message):
        if type(message).__name__ == openings.SHARES:
            opened.append(self)
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    channels = {}

    def side(data):
        def run(session):
            channels[session.role] = session.channel
            return run_study(parsed(), session, data, frozenset({recipient}), NO_LIMITS.of_both)

        return run

    outcomes = dict(zip(Role, run_pair(side(table(5)), side(table(6))), strict=True))
    assert opened == [channels[recipient.other]]
    assert len(outcomes[recipient].tables) == 3
    assert outcomes[recipient.other].tables == ()
    assert outcomes[recipient.other].details == outcomes[recipient].details
    plain = dict(zip(Role, parsed().reference(table(5), table(6), frozenset({recipient})), strict=True))
    assert plain[recipient].tables
    assert not plain[recipient.other].tables


def test_the_guarantee_is_stated():
    details = joint(parsed(), table(3), table(3))[0].details
    assert details["epsilon"] == "4"
    assert 0 < details["delta"] < 2**-40
    assert details["delta"] == pytest.approx(
        sum(query["delta"] for query in details["queries"]), rel=1e-9, abs=0
    )
    stated = {query["query"]: query for query in details["queries"]}
    assert all(query["epsilon"] == "2/3" for query in stated.values())
    assert stated["sum of weight"]["sensitivity"] == "250"
    assert stated["sum of age"]["noise_scale"] == "135"
    assert stated["mean of weight"]["sensitivity"] == "39.8"  # 120 - floor(80.25 * 10) / 10
    assert stated["groups"]["sensitivity"] == "1"


@pytest.mark.parametrize(("lower", "upper", "sensitivity"), [(-200, 90, 200), (-20, 90, 90), (-7, -3, 7)])
def test_a_sum_is_as_sensitive_as_its_farther_bound(lower, upper, sensitivity):
    text = f'[[queries]]\nkind = "sum"\ncolumn = "age"\nlower = {lower}\nupper = {upper}'
    details = joint(parsed('epsilon = "1"\n' + text), table(1), table(1))[0].details
    assert details["queries"][0]["sensitivity"] == details["queries"][0]["noise_scale"] == str(sensitivity)


def test_delta_counts_both_sides_of_the_likelihood():
    details = joint(parsed('epsilon = "2"\n[[queries]]\nkind = "count"\ncolumn = "age"'), table(1), table(1))[
        0
    ].details
    distance = float(DiscreteLaplace.of(Fraction(2)).distance)
    assert details["delta"] == pytest.approx((1 + exp(2)) * distance, rel=1e-9, abs=0)


@pytest.mark.parametrize("recipients", [BOTH, frozenset({Role.ALICE}), frozenset({Role.BOB})])
def test_cost_is_as_declared(recipients):
    def side(data):
        def run(session):
            run_study(parsed(), session, data, recipients, NO_LIMITS.of_both)
            return session.channel.traffic

        return run

    alice, bob = run_pair(side(table(50)), side(table(1)))
    declared = estimate_cost(parsed(), SCHEMAS, recipients, RunSetting((60, 60)))
    assert (alice.sent, bob.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(alice.rounds, bob.rounds) == declared.rounds
    # Alice sends last before the opening: one to Bob alone needs no round of its own.
    assert declared.rounds == (11 if recipients == {Role.BOB} else 12)


def test_empty_sides():
    first, _ = joint(parsed(), table(0), table(0))
    assert len(results(first)) == 6
    plain = results(parsed().reference(table(0), table(0), BOTH)[0])
    assert plain["mean of weight"]["value"] is None
    assert plain["patients"]["value"] == 0


def test_extremes_do_not_wrap():
    bound, rows = 1 << 50, 1000
    schema = Schema("integer", lower=-bound, upper=bound)
    study = parsed('epsilon = "1"\nmaximum_rows = 1000\n[[queries]]\nkind = "sum"\ncolumn = "x"')
    for sign in (-1, 1):
        data = {"x": Column([sign * bound] * rows, schema)}
        value = results(joint(study, data, data)[0])["sum of x"]["value"]
        assert abs(value - 2 * rows * sign * bound) < 40 * bound


def test_counts_can_be_negative_and_say_so():
    labels = tuple(str(index) for index in range(200))
    schema = Schema("category", categories=labels)
    study = parsed('epsilon = "0.5"\n[[queries]]\nkind = "histogram"\ncolumn = "x"')
    outcome, _ = joint(study, {"x": Column([], schema)}, {"x": Column([], schema)})
    assert min(outcome.tables[1].columns["count"]) < 0
    assert any("negative" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: data.pop("age"), "no column 'age'"),
        (lambda data: data.update(age=Column([1] * 1001, AGE), weight=Column([1] * 1001, WEIGHT),
                                  group=Column([1] * 1001, GROUP)), "maximum_rows"),
        (lambda data: data.update(age=Column([1, 2], AGE)), "different lengths"),
    ],
)  # fmt: skip
def test_unfit_own_data_is_refused_before_anything_is_sent(spoil, words):
    data = table(10)
    spoil(data)

    def side(session):
        with pytest.raises(UsageError, match=words):
            run_study(parsed(), session, data, BOTH, NO_LIMITS.of_both)
        assert session.channel.traffic.messages == 0

    run_pair(side, side)


def test_nobody_receives_is_refused():
    with pytest.raises(UsageError, match="Nobody"):
        joint(parsed(), table(1), table(1), frozenset())


@pytest.mark.parametrize("refusing", list(Role))
def test_a_gate_that_raises_keeps_everything_closed(refusing, monkeypatch):
    honest = Channel.send
    sent: list[tuple[Channel, str]] = []

    def send(self, message):
        sent.append((self, type(message).__name__))
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    channels = {}

    def gate(channel):
        if channel is channels[refusing]:
            raise UsageError("The ledger could not be written.")

    def side(session):
        channels[session.role] = session.channel
        return run_study(parsed(), session, table(3), frozenset({refusing.other}), NO_LIMITS.of_both, gate)

    with pytest.raises(DuettoError, match="ledger"):
        run_pair(side, side)
    assert {name for _, name in sent} >= {TransferColumns.__name__, TransferCorrections.__name__}
    assert not [name for _, name in sent if name == openings.SHARES]


def test_the_gate_comes_after_the_noise_and_before_the_first_share():
    events: dict[Role, list[str]] = {role: [] for role in Role}

    class Watched:
        def __init__(self, channel, role):
            self._channel, self._role = channel, role

        def __getattr__(self, name):
            return getattr(self._channel, name)

        def send(self, message):
            events[self._role].append(type(message).__name__)
            self._channel.send(message)

    def side(session):
        session.channel = Watched(session.channel, session.role)

        def gate(channel):
            events[session.role].append("gate")

        return run_study(parsed(), session, table(3), BOTH, NO_LIMITS.of_both, gate)

    run_pair(side, side)
    for role in Role:
        assert events[role][-2:] == ["gate", openings.SHARES]
        assert events[role].count("gate") == 1
