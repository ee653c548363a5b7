"""Whole jobs of two managers over real connections that are cut: one result, one loss, one end for both."""

from __future__ import annotations

import threading
from dataclasses import replace
from fractions import Fraction

import pytest

from parties.contracts.state import State
from tests.parties.jobs.joined import job_file, spent, wait_final
from tests.parties.jobs.wired import IDENTITIES, LIMITS, OTHER, finished_once, losses, wired

FRAMES = {"send": 4, "receive": 4}
"""What is announced and written of the loss, the sum, and END."""
EVERYWHERE = [
    (name, (doing, number))
    for name in IDENTITIES
    for doing, count in FRAMES.items()
    for number in range(1, count + 1)
]
SAMPLE = EVERYWHERE[1::4]


@pytest.mark.parametrize(
    ("name", "place"),
    [pytest.param(*each, marks=() if each in SAMPLE else pytest.mark.slow) for each in EVERYWHERE],
)
def test_a_job_that_is_cut_anywhere_spends_once_and_finishes_on_both_sides(tmp_path, name, place):
    with wired(tmp_path) as pair:
        met = []
        pair.around[name] = (place, lambda: met.append(pair.cut()))
        job_id = pair.managers["north"].submit(job_file("1/2")).job_id
        finished_once(pair, job_id)
        assert met == [None]


def test_cuts_all_the_time_change_nothing(tmp_path):
    """At whatever moment: greetings, proposals, handshakes, frames and words are all cut."""
    with wired(tmp_path) as pair:
        jobs = []
        for pause in (0.0, 0.01, 0.02, 0.03, 0.05, 0.08):
            jobs.append(pair.managers["north"].submit(job_file("1/2")).job_id)
            threading.Timer(pause, pair.cut).start()
            for name in IDENTITIES:
                assert wait_final(pair.managers[name], jobs[-1]).state.is_final
        ends = {tuple(pair.managers[n].store.summary(j).state for n in IDENTITIES) for j in jobs}
        assert ends == {(State.FINISHED, State.FINISHED)}
        for name, other in OTHER.items():
            assert len(losses(pair.managers[name])) == len(jobs)
            assert spent(pair.managers[name], other) == Fraction(len(jobs), 2)


def test_past_the_limit_a_job_fails_on_both_sides_and_what_was_spent_stays_spent(tmp_path):
    with wired(tmp_path, replace(LIMITS, reconnect_seconds=1)) as pair:
        pair.around["north"] = (("receive", 2), lambda: pair.cut(2.5))
        job_id = pair.managers["north"].submit(job_file("1/2")).job_id
        ends = {name: wait_final(manager, job_id) for name, manager in pair.managers.items()}
        assert {end.state for end in ends.values()} == {State.FAILED}
        assert {end.error_code for end in ends.values()} <= {"peer-lost", "peer-failed"}
        assert "peer-lost" in {end.error_code for end in ends.values()}
        assert all(len(losses(manager)) <= 1 for manager in pair.managers.values())
