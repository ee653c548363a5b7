"""A side whose program was changed inside is convicted, and the other one cleared, seen or unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parties.auditors import audit as audits
from parties.auditors.audit import Outcome, audit
from parties.contracts.contract import parse_contract, signed_text
from parties.contracts.state import State
from parties.evidence.covert import CovertRun
from parties.evidence.run_case import Inputs
from parties.evidence.seeds import Secrets, run_seed
from parties.jobs import run as jobs_run
from parties.jobs.checks.admission import Admission
from parties.jobs.run import Run
from parties.ledger.entries import EXACT as EXACT_RELEASE
from parties.ledger.entries import SPENT
from smc.analyses.disclosure.limits import NO_LIMITS, Agreed
from smc.analyses.disclosure.owned import Owned
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import MARK, missing_mark
from smc.channel.message import END
from smc.errors import OutOfMemory
from smc.forms import Role
from smc.numeric.random import Randomness
from tests.parties.evidence.covert import FOLLOWED, Deviating, covert, finding, place, shown
from tests.parties.evidence.leaving import nothing_of
from tests.parties.evidence.test_covert_jobs import KINDS, NAMES, SHORT, prepare
from tests.parties.jobs.joined import ROLES
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
    """The states of both sides after a run, what an audit says of north, and where it convicts south."""
    prepare(institutions, **entries)
    job_id = institutions.submit(covert(KINDS[kind]))
    states = {name: record.state for name, record in institutions.ended(job_id).items()}
    north, south = (finding(institutions, name, job_id) for name in NAMES)
    return states, north.outcome, place(institutions, "north", job_id, south)


@pytest.mark.parametrize(("kind", "named"), [(SHORT, "opened-shares"), (EXACT, "store-piece")])
def test_other_data_than_were_committed(institutions, monkeypatch, kind, named):
    bend_study(monkeypatch, other_data)
    states, north, convicted = judged(institutions, kind)
    assert states == dict.fromkeys(NAMES, State.FINISHED)
    assert north is Outcome.CLEARED
    assert convicted == (named, 0)


def test_other_limits_than_were_agreed_on(institutions, monkeypatch):
    """A side that asks nothing of the intersection does not say what the program says."""
    bend_study(monkeypatch, no_limits)
    _, north, convicted = judged(institutions, EXACT, minimum_group=5, minimum_intersection=5)
    assert north in FOLLOWED
    assert convicted == ("store-seed", 0)


@pytest.mark.parametrize(("kind", "named"), [(SHORT, "tree-digest"), (EXACT, "coin-commitment")])
def test_other_randomness_than_was_committed(institutions, monkeypatch, kind, named):
    """The first message that has anything random in it."""
    honest = CovertRun.randomness
    monkeypatch.setattr(
        CovertRun, "randomness", lambda self: OTHER if self._role is Role.BOB else honest(self)
    )
    states, north, convicted = judged(institutions, kind)
    assert states == dict.fromkeys(NAMES, State.FINISHED)
    assert north is Outcome.CLEARED
    assert convicted == (named, 0)


def sent_kinds(institutions, kind):
    """The kinds of messages with a bit that Bob sends in an honest run."""
    prepare(institutions)
    job_id = institutions.submit(covert(KINDS[kind]))
    institutions.ended(job_id)
    _, _, came = shown(institutions, "north", job_id)
    return sorted({each.kind for each in came if each.data} - {END, *OF_PAPERS})


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
        assert found["north"].outcome in FOLLOWED, (bent, found["north"])
        assert place(institutions, "north", job_id, found["south"]) == (bent, 0)


CHOSEN = bytes(range(16))


def test_other_bytes_of_the_peer_for_the_own_seed(institutions, monkeypatch):
    """South takes bytes that it likes for those that north gave, runs on them, and shows them."""
    with monkeypatch.context() as patch:
        honest = CovertRun.randomness

        def chosen(run):
            if run._role is Role.ALICE:
                return honest(run)
            return Randomness.of_run(run_seed(run._secrets.seed, CHOSEN))

        patch.setattr(CovertRun, "randomness", chosen)
        prepare(institutions)
        job_id = institutions.submit(covert(KINDS[SHORT]))
        assert {one.state for one in institutions.ended(job_id).values()} == {State.FINISHED}
    assert finding(institutions, "north", job_id).outcome is Outcome.CLEARED
    convicted = place(institutions, "north", job_id, finding(institutions, "south", job_id))
    assert convicted == ("tree-digest", 0)
    case, inputs, frames = shown(institutions, "south", job_id)
    given = {**case.start.given, Role.ALICE: CHOSEN}
    found = audit(replace(case, start=case.start._replace(given=given)), inputs, frames, ANALYSES)
    assert (found.outcome, "signature" in found.ground) == (Outcome.CONVICTED, True), found


def test_who_signs_other_bytes_than_the_peer_gave_opens_nothing(institutions, monkeypatch):
    give = CovertRun.give
    monkeypatch.setattr(
        CovertRun, "give", lambda run, public: give(run, CHOSEN if run._role is Role.BOB else public)
    )
    prepare(institutions)
    job_id = institutions.submit(covert(KINDS[SHORT]))
    record = institutions.ended(job_id)["north"]
    assert (record.state, record.error_code) == (State.FAILED, "protocol-violation")
    events = {
        entry.event
        for entry in institutions.network.managers["north"].ledger.of_job(record.contract.digest.hex())
    }
    assert not {EXACT_RELEASE, SPENT} & events


def committed(institutions, monkeypatch, change):
    """What an audit says of south, which commits to columns that were changed and runs on the honest ones."""
    made, keep = Admission.commitments, Run._keep_data

    def commitments(admission, task, local):
        return made(admission, task, bent(local) if task.role is Role.BOB else local)

    def kept(run, evidence, task, local, days):
        if task.role is Role.ALICE:
            keep(run, evidence, task, local, days)
        else:
            columns = bent(local).columns
            evidence.keep_data(columns, run._admission.committer(task).salts(columns), days)

    def bent(local):
        return replace(local, columns=change(dict(local.columns)))

    with monkeypatch.context() as patch:
        patch.setattr(Admission, "commitments", commitments)
        patch.setattr(Run, "_keep_data", kept)
        prepare(institutions)
        job_id = institutions.submit(covert(KINDS[SHORT]))
        assert {one.state for one in institutions.ended(job_id).values()} == {State.FINISHED}
    assert finding(institutions, "north", job_id).outcome is Outcome.CLEARED
    return finding(institutions, "south", job_id)


def uneven(columns):
    return {**columns, "age": replace(columns["age"], values=columns["age"].values[1:])}


def out_of_bounds(columns):
    values = columns["age"].values.copy()
    values[0] = columns["age"].schema.upper + 1
    return {**columns, "age": replace(columns["age"], values=values)}


def of_another_schema(columns):
    """The values are within what was declared; the program takes bounds and scale from the column."""
    schema = columns["age"].schema
    return {**columns, "age": replace(columns["age"], schema=replace(schema, upper=schema.upper + 1))}


def undeclared(columns):
    return {**columns, "@spare": columns["age"]}


def wrong_marks(columns):
    return {**columns, missing_mark("age"): replace(columns["age"], schema=MARK)}


@pytest.mark.parametrize(
    ("change", "ground"),
    [
        (uneven, "different lengths"),
        (out_of_bounds, "outside the bounds"),
        (of_another_schema, "otherwise in the contract"),
        (undeclared, "does not declare"),
        (wrong_marks, "outside the bounds"),
    ],
)
def test_data_that_no_data_set_has_convict(institutions, monkeypatch, change, ground):
    found = committed(institutions, monkeypatch, change)
    assert (found.outcome, ground in found.ground) == (Outcome.CONVICTED, True), found


def test_a_contract_that_commits_to_fewer_columns_than_it_declares_convicts(institutions):
    """Both have signed it, by programs that do not look; what follows from it could be made up later."""
    prepare(institutions)
    job_id = institutions.submit(covert(KINDS[SHORT]))
    institutions.ended(job_id)
    case, inputs, frames = shown(institutions, "south", job_id)
    contract = parse_contract(case.contract.encode())
    held = contract.commitments[Role.BOB]
    for kept, ground in ((held, ""), ({name: held[name] for name in held if name != "age"}, "fewer columns")):
        other = replace(contract, commitments={**contract.commitments, Role.BOB: kept})
        made = Secrets(case.seed, case.parts[Role.BOB]).commitment(other.digest, Role.BOB)
        signatures = {
            role: institutions._identities[name].signing.sign(signed_text(other.digest, role))
            for name, role in ROLES.items()
        }
        less = replace(
            nothing_of(case),
            contract=other.encode().decode(),
            signatures=signatures,
            start=case.start._replace(commitments={**case.start.commitments, Role.BOB: made}),
        )
        found = audit(
            less,
            Inputs({name: inputs.data[name] for name in kept}, {name: inputs.salts[name] for name in kept}),
            frames,
            ANALYSES,
        )
        if ground:
            assert (found.outcome, ground in found.ground) == (Outcome.CONVICTED, True), found
        else:
            assert found.outcome is Outcome.UNSIGNED, found


@pytest.mark.parametrize("error", [IndexError, ZeroDivisionError, RecursionError])
def test_data_that_the_program_cannot_read_end_in_a_verdict(institutions, monkeypatch, error):
    prepare(institutions)
    job_id = institutions.submit(covert(KINDS[SHORT]))
    institutions.ended(job_id)

    def unread(*_):
        raise error

    monkeypatch.setattr(audits, "run_study", unread)
    found = finding(institutions, "south", job_id)
    assert (found.outcome, error.__name__ in found.ground) == (Outcome.CONVICTED, True), found


@pytest.mark.parametrize("error", [MemoryError, OSError, OutOfMemory])
def test_a_machine_that_does_not_suffice_convicts_nobody(institutions, monkeypatch, error):
    prepare(institutions)
    job_id = institutions.submit(covert(KINDS[SHORT]))
    institutions.ended(job_id)

    def poor(*_):
        raise error

    monkeypatch.setattr(audits, "run_study", poor)
    assert finding(institutions, "south", job_id).outcome is Outcome.UNDECIDED
