"""Estimates are those of the machine that makes them."""

from __future__ import annotations

from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest

from parties import speed
from smc.analyses.studies.study import Cheaper, Estimate
from smc.network import LAN
from smc.planning.cost import Slowdown, estimate_seconds
from smc.protocols.spec import Cost, Parameters

_GIVEN = Parameters(1000, 32, 2048, 2048)
_COST = Cost(alice_bytes=1000, bob_bytes=1000, alice_operations={"ot": 10**6}, bob_operations={"ot": 10**6})


@pytest.fixture
def trials(monkeypatch):
    """Of this test alone: seconds as it says, and what each trial finds."""
    at, found, made = (
        [0.0],
        iter([Slowdown(3, 1), Slowdown(2, 9), Slowdown(9, 2)] + [Slowdown(2, 2)] * 99),
        [],
    )
    monkeypatch.setattr(speed, "_trials", defaultdict(lambda: deque(maxlen=speed.KEPT)))
    monkeypatch.setattr(speed, "monotonic", lambda: at[0])
    monkeypatch.setattr(speed, "_try_machine", lambda reference: made.append(reference) or next(found))
    return at, made


def test_what_counts_is_the_median_of_trials_a_minute_apart(trials):
    at, made = trials
    assert [speed.slowdown(), speed.slowdown()] == [Slowdown(3, 1)] * 2
    assert len(made) == 1
    at[0] += 61
    assert speed.slowdown() == Slowdown(2.5, 5)
    at[0] += 59
    assert speed.slowdown(again=True) == Slowdown(3, 2)
    assert len(made) == 3


def test_threads_that_ask_at_once_wait_for_one_trial(trials, monkeypatch):
    tries = speed._try_machine
    monkeypatch.setattr(speed, "_try_machine", lambda reference: sleep(0.05) or tries(reference))
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: speed.slowdown(), range(8)))
    assert found == [Slowdown(3, 1)] * 8
    assert len(trials[1]) == 1


def test_old_trials_are_forgotten(trials):
    for _ in range(3 + speed.KEPT):
        found = speed.slowdown(again=True)
    assert found == Slowdown(2, 2)


def test_a_trial_gives_a_factor_in_its_range():
    found = speed.slowdown()
    assert 0.5 <= found.words <= 10
    assert 0.5 <= found.numbers <= 10
    assert speed.slowdown() == found


def test_seconds_of_computing_grow_with_it_and_those_of_the_network_do_not():
    waiting = LAN.seconds(_COST.rounds, _COST.alice_bytes, _COST.bob_bytes)
    once, thrice = (
        estimate_seconds(_COST, _GIVEN, LAN, Slowdown(factor, 7.0)) - waiting for factor in (1.0, 3.0)
    )
    assert thrice == pytest.approx(3 * once)


def test_a_machine_without_wide_vectors_is_not_slower_at_large_numbers():
    powers = Cost(alice_operations={"power": 1000}, bob_operations={"power": 1000})
    once, words, numbers = (
        estimate_seconds(powers, _GIVEN, LAN, slowdown)
        for slowdown in (Slowdown(), Slowdown(words=2.0), Slowdown(numbers=2.0))
    )
    assert words == pytest.approx(once, rel=0.001)
    assert numbers == pytest.approx(2 * once, rel=0.001)


def test_an_estimate_of_this_machine_changes_in_its_seconds_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(speed, "slowdown", lambda: Slowdown(2.5, 1.0))
    other = Cheaper('engine = "auto"', "oblivious", 1.0)
    found = speed.on_this_machine(Estimate(3, 10, 20, 4.0, "route", 7, other))
    assert found == Estimate(3, 10, 20, 10.0, "route", 7, Cheaper('engine = "auto"', "oblivious", 2.5))
    assert speed.on_this_machine(Estimate(3, 10, 20, 4.0, "route", None)).cheaper is None


def test_a_trial_that_was_disturbed_does_not_go_beyond_the_range(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(speed, "_trials", defaultdict(deque))
    monkeypatch.setattr(speed, "_least_seconds", lambda _: 1.0)
    assert speed.slowdown() == Slowdown(10, 10)
