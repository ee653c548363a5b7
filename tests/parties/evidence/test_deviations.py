"""A side whose program was changed inside is convicted, and the other one cleared, seen or unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parties.auditors.audit import Outcome
from parties.contracts.state import State
from parties.evidence.covert import CovertRun
from parties.jobs import run as jobs_run
from smc.analyses.disclosure.limits import NO_LIMITS, Agreed
from smc.analyses.disclosure.owned import Owned
from smc.channel.message import END
from smc.forms import Role
from tests.parties.evidence.covert import Deviating, covert, finding, shown
from tests.parties.evidence.test_covert_jobs import KINDS, NAMES, SHORT, prepare
from tests.support.grids import grid
from tests.support.seeds import seeded

EXACT = "matching, exact sums under a smallest group"
OF_PAPERS = ("evidence-recorded", "evidence-closed", "ledger-announced", "ledger-written")
"""Kinds whose changes the peer notices at once: see `test_covert_jobs` and the tests of the gate."""

OTHER = seeded()
Bend = Callable[[dict[str, Any]], dict[str, Any]]


def bend_study(monkeypatch: pytest.MonkeyPatch, bend: Bend) -> None:
    """Let Bob run a study with other data or limits than were agreed on."""
    honest = jobs_run.run_study

    def run(study, session, data, recipients, limits, gate, auditor):
        given = {"data": data, "limits": limits}
        changed = bend(given) if session.role is Role.BOB else given
        return honest(study, session, changed["data"], recipients, changed["limits"], gate, auditor)

    monkeypatch.setattr(jobs_run, "run_study", run)


def other_data(given):
    """Every whole number one more, within its bounds."""
    found = {}
    for name, column in given["data"].items():
        values, upper = column.values, column.schema.upper
        if isinstance(values, np.ndarray) and upper is not None:
            values = np.minimum(values + 1, upper)
        found[name] = replace(column, values=values)
    return {**given, "data": found}


def no_limits(given):
    return {**given, "limits": Agreed(Owned(NO_LIMITS), NO_LIMITS)}


def judged(institutions, kind, **entries):
    """The states of both sides after a run, and what audits say of them."""
    prepare(institutions, **entries)
    job_id = institutions.submit(covert(KINDS[kind]))
    states = {name: record.state for name, record in institutions.ended(job_id).items()}
    return states, {name: finding(institutions, name, job_id) for name in NAMES}


@pytest.mark.parametrize("kind", [SHORT, EXACT])
def test_other_data_than_were_committed(institutions, monkeypatch, kind):
    bend_study(monkeypatch, other_data)
    states, found = judged(institutions, kind)
    assert states == dict.fromkeys(NAMES, State.FINISHED)
    assert found["north"].outcome is Outcome.CLEARED
    assert found["south"].outcome is Outcome.CONVICTED


def test_other_limits_than_were_agreed_on(institutions, monkeypatch):
    """A side that asks nothing of the intersection does not say what the program says."""
    bend_study(monkeypatch, no_limits)
    _, found = judged(institutions, EXACT, minimum_group=5, minimum_intersection=5)
    assert found["north"].outcome is Outcome.CLEARED
    assert found["south"].outcome is Outcome.CONVICTED


@pytest.mark.parametrize("kind", [SHORT, EXACT])
def test_other_randomness_than_was_committed(institutions, monkeypatch, kind):
    honest = CovertRun.randomness
    monkeypatch.setattr(
        CovertRun, "randomness", lambda self: OTHER if self._role is Role.BOB else honest(self)
    )
    states, found = judged(institutions, kind)
    assert states == dict.fromkeys(NAMES, State.FINISHED)
    assert found["north"].outcome is Outcome.CLEARED
    assert found["south"].outcome is Outcome.CONVICTED


def sent_kinds(institutions, kind):
    """The kinds of messages with a bit that Bob sends in an honest run."""
    prepare(institutions)
    job_id = institutions.submit(covert(KINDS[kind]))
    institutions.ended(job_id)
    _, _, came = shown(institutions, "north", job_id)
    return sorted({each.frame.kind for each in came if each.frame.data} - {END, *OF_PAPERS})


@pytest.mark.parametrize("kind", grid(KINDS, [SHORT]))
def test_one_bit_of_each_kind_of_message_convicts(institutions, kind):
    """Of Bob's; whether Alice notices or not, she is cleared, and it is said which kind it was."""
    every = sent_kinds(institutions, kind)
    assert every
    for bent in every:
        institutions.network.bends[Role.BOB] = lambda transport, bent=bent: Deviating(transport, bent)
        job_id = institutions.submit(covert(KINDS[kind]))
        institutions.ended(job_id)
        found = {name: finding(institutions, name, job_id) for name in NAMES}
        assert found["north"].outcome is Outcome.CLEARED, (bent, found["north"])
        assert found["south"].outcome is Outcome.CONVICTED, (bent, found["south"])
        assert found["south"].departure.kind == bent
