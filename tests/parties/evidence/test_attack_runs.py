"""Attacks on what covert runs leave behind: a peer that destroys it, crashes, and what commitments tell."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest

from parties.auditors.audit import Outcome, audit
from parties.certificates.verification import read_certificate
from parties.cli.evidence import _read_exhibit
from parties.client import job_text
from parties.contracts.state import State
from parties.errors import StorageError
from parties.evidence.cells import Committer, commitment, decode_column, encode_column
from parties.evidence.covert import CovertRun
from parties.evidence.run_case import Inputs
from parties.evidence.seeds import COMMITMENT_BYTES, PART_BYTES
from parties.evidence.store import BROKEN_OFF, COIN, DUE, EvidenceStore
from parties.jobs.checks.admission import Admission
from parties.jobs.run import Run
from parties.persons.gate import text_digest
from parties.persons.roles import Act
from parties.ports.interfaces import SessionHeader
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import Column, Schema
from smc.channel.memory import memory_pair
from smc.errors import DuettoError, PeerLost
from smc.forms import Role
from tests.parties.evidence.covert import covert, finding, shown
from tests.parties.evidence.test_covert_jobs import KINDS, SHORT, prepare, standing
from tests.parties.jobs.joined import ANN
from tests.parties.persons.made import begin, signed
from tests.support.keys import toy

NOW = "2026-01-01T00:00:00Z"
NAMES = ("north", "south")


def header(institutions, job_id):
    """What north says when it begins a session of its job."""
    record = institutions.network.managers["north"].store.get(job_id)
    keys = {name: institutions.network.identities[name].paillier.fingerprint for name in NAMES}
    return SessionHeader(bytes(32), job_id, record.contract.digest, Role.ALICE, keys["north"], keys["south"])


def test_a_second_session_of_a_job_does_not_delete_the_evidence_of_the_first(institutions):
    """Two openings at once are both answered; the second goes on when the first is over.

    Else a peer could have an honest party show nothing of a run that is due.
    """
    prepare(institutions)
    south = institutions.network.managers["south"]
    second = []
    accept = south.accept_session

    def twice(peer, said):
        first = accept(peer, said)
        if not second:
            second.append(accept(peer, said))
        return first

    south.accept_session = twice
    job_id = institutions.submit(covert(KINDS[SHORT]))
    for record in institutions.ended(job_id).values():
        assert record.state is State.FINISHED
    late = second[0].evidence
    late.commit(bytes(COMMITMENT_BYTES))
    late.give(bytes(PART_BYTES))
    with contextlib.suppress(DuettoError):
        late.record(memory_pair(1.0)[0])
    second[0].ended(PeerLost("It is gone."))
    assert standing(institutions, "south", job_id) == (DUE, COIN)
    found = finding(institutions, "south", job_id)
    assert (found.outcome, found.signed) == (Outcome.CLEARED, "end"), found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [SHORT, "comparison, plain result"])
def test_a_party_whose_daemon_dies_after_the_gate_is_not_convicted(institutions, monkeypatch, name, kind):
    """Of its record there is what was on the disk when the gate was passed."""
    prepare(institutions)
    ended, role = CovertRun.end, {"north": Role.ALICE, "south": Role.BOB}[name]

    def killed(run, *, whole):
        return BROKEN_OFF if run._role is role else ended(run, whole=whole)

    monkeypatch.setattr(CovertRun, "end", killed)
    job_id = institutions.submit(covert(KINDS[kind]))
    institutions.ended(job_id)
    store = EvidenceStore(institutions.folder / name)
    store.interrupt(NOW)
    assert standing(institutions, name, job_id) == (DUE, BROKEN_OFF)
    found = finding(institutions, name, job_id)
    assert found.outcome is Outcome.PARTIAL, found
    assert found.signed == "gate"
    case, inputs, frames = shown(institutions, name, job_id)
    at_the_office = audit(case, inputs, frames, ANALYSES)  # without its Paillier key
    assert at_the_office.outcome in (Outcome.PARTIAL, Outcome.UNDECIDED), at_the_office


def test_a_run_that_ended_before_data_were_kept_can_be_shown(institutions, monkeypatch):
    """Else a peer that breaks off early has this side get the verdict that it shows nothing."""
    prepare(institutions)

    def fail(*_):
        raise PeerLost("It is gone.")

    monkeypatch.setattr(Run, "_keep_data", fail)
    job_id = institutions.submit(covert(KINDS[SHORT]))
    institutions.ended(job_id)
    assert standing(institutions, "south", job_id) == (DUE, BROKEN_OFF)
    exhibit = _read_exhibit(EvidenceStore(institutions.folder / "south"), job_id)
    found = audit(exhibit.case, exhibit.inputs, exhibit.frames, ANALYSES, toy(Role.BOB))
    assert found.outcome is not Outcome.CONVICTED, found


def test_a_record_that_could_not_be_settled_is_due_after_a_restart(institutions, monkeypatch):
    prepare(institutions)
    with monkeypatch.context() as patch:

        def full(*_):
            raise StorageError("The disk is full.", "Free some space.")

        patch.setattr(CovertRun, "end", full)
        patch.setattr(CovertRun, "end", lambda *_, **__: full())
        job_id = institutions.submit(covert(KINDS[SHORT]))
        institutions.ended(job_id)
    institutions.stop("south")
    institutions.start("south")
    assert standing(institutions, "south", job_id) == (DUE, BROKEN_OFF)


def test_a_contract_that_commits_to_nothing_is_not_run(institutions, monkeypatch):
    """South declares columns and commits to none, so that no audit could hold data against anything."""
    prepare(institutions)
    made, keep = Admission.commitments, Run._keep_data

    def nothing(admission, task, local):
        return {} if task.role is Role.BOB else made(admission, task, local)

    def unkept(run, evidence, task, local, days):
        if task.role is Role.BOB:
            evidence.keep_data({}, {}, days)
        else:
            keep(run, evidence, task, local, days)

    monkeypatch.setattr(Admission, "commitments", nothing)
    monkeypatch.setattr(Run, "_keep_data", unkept)
    try:
        job_id = institutions.submit(covert(KINDS[SHORT]))
        records = institutions.ended(job_id)
    except DuettoError:
        return
    if records["north"].state is State.FINISHED:
        case, _, frames = shown(institutions, "south", job_id)
        assert audit(case, Inputs(), frames, ANALYSES, toy(Role.BOB)).outcome is Outcome.CONVICTED
        pytest.fail("north ran a job in which south had committed to nothing")


def column(*values):
    return Column(list(values), Schema("text"))


def test_a_salt_that_an_auditor_has_seen_opens_no_later_commitment():
    """An auditor gets the salts with a bundle; the column of a later contract may have one row more."""
    committer = Committer(b"k" * 32, "south", "people", {"age": "age"})
    shown_once = {"age": column("a", "b")}
    later = {"age": column("a", "b", "c")}
    guess = commitment(committer.salts(shown_once)["age"], encode_column(later["age"]))
    assert committer.commitments(later)["age"] != guess


def test_commitments_do_not_tell_whether_rows_were_left_out(institutions):
    """A peer may ask for one column with and without another: equality would tell of missing cells there."""
    prepare(institutions)
    seen = []
    for columns in (("age",), ("age", "cost")):
        document = covert(KINDS[SHORT])
        document["alice"]["columns"] = document["bob"]["columns"] = {name: name for name in columns}
        document["parameters"]["queries"] = [{"kind": "mean", "column": name} for name in columns]
        record = institutions.network.managers["north"].store.get(institutions.submit(document))
        contract = institutions.ended(record.job_id)["north"].contract
        seen.append(contract.commitments[Role.BOB]["age"])
    assert seen[0] != seen[1]


def test_the_proposers_signed_approval_of_a_covert_draft_is_in_its_certificate(institutions):
    prepare(institutions)
    north = institutions.network.managers["north"]
    policy = institutions.folder / "north" / "policy.toml"
    policy.write_text(policy.read_text().replace('"auto"', '"person"'))
    begin(north.gate, institutions.folder / "north", institutions.network.identities["south"])
    toml = job_text(institutions.file(covert(KINDS[SHORT])))
    job_id = north.submit(toml, signed(north.gate, Act.SUBMIT, text_digest(toml), "adler")).job_id
    digest = north.store.digest(job_id).hex()
    north.approve(job_id, ANN, digest, signed(north.gate, Act.APPROVE, digest, "weber", "south"))
    record = institutions.ended(job_id)["north"]
    assert record.state is State.FINISHED, record.error_what
    found = read_certificate(json.dumps(north.certificate(job_id)).encode())
    assert [entry.actor for entry in found.approvals] == ["Dr Weber"]


def test_a_run_that_takes_the_partys_key_is_cleared_at_home_and_undecided_elsewhere(institutions):
    prepare(institutions)
    document = covert(KINDS["comparison, plain result"])
    document["parameters"]["engine"] = "paillier"
    job_id = institutions.submit(document)
    for record in institutions.ended(job_id).values():
        assert record.state is State.FINISHED, record.error_what
    outcomes = []
    for name in NAMES:
        assert finding(institutions, name, job_id).outcome is Outcome.CLEARED
        case, inputs, frames = shown(institutions, name, job_id)
        elsewhere = audit(case, inputs, frames, ANALYSES).outcome
        assert elsewhere is (Outcome.UNDECIDED if case.needs_key else Outcome.CLEARED)
        outcomes.append(elsewhere)
    assert Outcome.UNDECIDED in outcomes


ODD = ["", "e\u0301", "\u00e9", "\ud800", "\x00", "\u2028", "a,b\n", "\U0001f600", "\u202e", '"']


@pytest.mark.parametrize(
    "one",
    [
        Column(ODD, Schema("text")),
        Column([], Schema("text")),
        Column(np.array([], dtype=np.int64), Schema("integer", lower=0, upper=9)),
        Column([], Schema("integer", lower=0, upper=1 << 80)),
        Column([0, -(1 << 80), 1 << 6144], Schema("ciphertext")),
        Column(np.array([-(1 << 62), 0, 1 << 62]), Schema("decimal", 18, -(1 << 62), 1 << 62)),
        Column(np.array([0, 1]), Schema("category", 0, 0, 1, ("\ud800", "é"), unit="€")),
    ],
)
def test_any_column_is_read_back_as_it_was(one):
    read = decode_column(encode_column(one))
    assert list(read.values) == list(one.values)
    assert (read.schema, encode_column(read)) == (one.schema, encode_column(one))
