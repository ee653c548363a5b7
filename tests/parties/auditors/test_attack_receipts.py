"""Attacks by what is not shown: a side that leaves after the gate, or shows half; honest ones that die."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from parties.auditors.audit import Outcome, audit
from parties.auditors.keys import make_keys
from parties.auditors.receipts import open_receipt
from parties.auditors.verdicts import read_verdict, sign_missing, sign_verdict, signed_text
from parties.certificates.document import signed_text as certificate_text
from parties.certificates.verification import read_certificate
from parties.contracts.state import State
from parties.errors import DataError, JobError
from parties.evidence.covert import CovertRun
from parties.evidence.store import BROKEN_OFF, EvidenceStore
from smc.analyses.registry import ANALYSES
from smc.errors import PeerLost
from smc.forms import Role
from tests.parties.auditors.test_attack_bundles import NOW, certificates, verdict
from tests.parties.evidence.covert import shown
from tests.parties.evidence.leaving import Late, Leaving, nothing_of, receipt, up_to_the_gate
from tests.parties.evidence.test_covert_jobs import SHORT, prepare
from tests.support.keys import toy

ROLES = {"north": Role.ALICE, "south": Role.BOB}


@pytest.fixture
def left(institutions, covert, office):
    """A job in which south deviates before the gate, and leaves after it; its name."""
    prepare(institutions, auditors={"office": office.public.fingerprint})
    institutions.network.bends[Role.BOB] = Leaving
    job_id = institutions.submit(covert(SHORT))
    assert {record.state for record in institutions.ended(job_id).values()} == {State.FAILED}
    with pytest.raises(JobError):
        institutions.network.managers["north"].certificate(job_id)
    return job_id


def read(document):
    return read_verdict(json.dumps(document).encode())


def test_who_leaves_after_the_gate_is_held_to_what_it_signed(institutions, left, office):
    case, inputs, frames = shown(institutions, "south", left)
    assert audit(case, inputs, frames, ANALYSES, toy(Role.BOB)).outcome is Outcome.CONVICTED
    less, held = nothing_of(case), receipt(institutions, "north", left)
    assert held.signed[Role.BOB].keys() == {"gate"}
    alone, signed = verdict(less, inputs, (), office)
    assert alone.outcome is Outcome.UNSIGNED
    with pytest.raises(DataError, match="less than"):
        signed.confirm_receipt(held)
    found = audit(less, inputs, (), ANALYSES, toy(Role.BOB), held)
    assert (found.outcome, found.signed) == (Outcome.INCOMPLETE, "nothing")
    read(sign_verdict(less, found, office, NOW)).confirm_receipt(held)
    found = audit(case, inputs, frames, ANALYSES, toy(Role.BOB), held)
    assert found.outcome is Outcome.CONVICTED
    read(sign_verdict(case, found, office, NOW)).confirm_receipt(held)


def test_who_shows_nothing_of_a_run_that_broke_off_after_the_gate_is_missing(institutions, left, office):
    held = receipt(institutions, "north", left)
    found = read(sign_missing(held, Role.BOB, office, NOW))
    assert found.finding.outcome is Outcome.MISSING
    found.confirm_receipt(held)
    nothing = open_receipt(nothing_of(held.case))
    with pytest.raises(DataError, match="no signature of bob"):
        sign_missing(nothing, Role.BOB, office, NOW)


def test_the_side_that_was_left_is_not_blamed(institutions, left, office):
    """Its record reaches as far as it has signed, whatever the other side shows of that."""
    held = receipt(institutions, "south", left)
    case, inputs, frames = shown(institutions, "north", left)
    for given in (None, held):
        found = audit(case, inputs, frames, ANALYSES, toy(Role.ALICE), given)
        assert (found.outcome, found.signed) == (Outcome.PARTIAL, "gate"), found
    read(sign_verdict(case, found, office, NOW)).confirm_receipt(held)


def test_who_shows_half_is_not_cleared(institutions, ran, office):
    """The run has ended, and south has changed what it opened."""
    job_id = ran(bends={Role.BOB: Late})
    case, inputs, frames = shown(institutions, "south", job_id)
    assert audit(case, inputs, frames, ANALYSES, toy(Role.BOB)).outcome is Outcome.CONVICTED
    held = receipt(institutions, "north", job_id)
    assert held.signed[Role.BOB].keys() == {"gate", "end"}
    half, first = up_to_the_gate(case, frames)
    found, signed = verdict(half, inputs, first, office)
    assert (found.outcome, found.signed, signed.is_whole) == (Outcome.PARTIAL, "gate", False)
    with pytest.raises(DataError, match=r"at the end.*less than"):
        signed.confirm_receipt(held)
    found = audit(half, inputs, first, ANALYSES, toy(Role.BOB), held)
    assert found.outcome is Outcome.INCOMPLETE
    for certificate in certificates(institutions, job_id).values():
        read(sign_verdict(half, found, office, NOW)).confirm(certificate)


def test_a_certificate_that_is_false_of_the_end_voids_no_verdict(institutions, ran, office):
    """South is convicted, and gives its certificate with another end than both have signed."""
    job_id = ran(bends={Role.BOB: Late})
    document = institutions.network.managers["south"].certificate(job_id)
    body = document["certificate"]
    body["record"]["end"] = dict.fromkeys(body["record"]["end"], "00" * 32)
    signature = institutions._identities["south"].signing.sign(certificate_text(body)).hex()
    false = read_certificate(json.dumps({"certificate": body, "signature": signature}).encode())
    for name, outcome in (("north", Outcome.CLEARED), ("south", Outcome.CONVICTED)):
        found, signed = verdict(*shown(institutions, name, job_id), office, toy(ROLES[name]))
        assert found.outcome is outcome
        signed.confirm(false)
        with pytest.raises(DataError, match="another record at the gate"):
            signed.confirm(replace(false, record=replace(false.record, gate=signed.record["end"])))


@pytest.mark.parametrize("name", ROLES)
@pytest.mark.parametrize("at", ["hear", "_hear_end"])
def test_a_party_that_dies_once_it_has_sent_its_signature_can_show_what_it_signed(
    institutions, covert, office, monkeypatch, name, at
):
    """Of its record there is what was on the disk; the other side has its signature."""
    prepare(institutions, auditors={"office": office.public.fingerprint})
    ended, honest = CovertRun.end, getattr(CovertRun, at)

    def dies(run, *given):
        if run._role is ROLES[name]:
            raise PeerLost("It is gone.")
        honest(run, *given)

    def killed(run, *, whole):
        return BROKEN_OFF if run._role is ROLES[name] else ended(run, whole=whole)

    monkeypatch.setattr(CovertRun, at, dies)
    monkeypatch.setattr(CovertRun, "end", killed)
    job_id = institutions.submit(covert(SHORT))
    institutions.ended(job_id)
    EvidenceStore(institutions.folder / name).interrupt(NOW)
    other = next(one for one in ROLES if one != name)
    held = receipt(institutions, other, job_id)
    assert {"hear": "gate", "_hear_end": "end"}[at] in held.signed[ROLES[name]]
    case, inputs, frames = shown(institutions, name, job_id)
    found = audit(case, inputs, frames, ANALYSES, toy(ROLES[name]), held)
    assert found.outcome in (Outcome.CLEARED, Outcome.PARTIAL), found
    read(sign_verdict(case, found, office, NOW)).confirm_receipt(held)


def test_a_receipt_of_another_run_or_by_another_key_is_refused(institutions, ran):
    first, second = ran(), ran()
    case, inputs, frames = shown(institutions, "south", first)
    with pytest.raises(DataError, match="another job"):
        audit(case, inputs, frames, ANALYSES, toy(Role.BOB), receipt(institutions, "north", second))
    held = receipt(institutions, "north", first)
    with pytest.raises(DataError, match="does not hold"):
        open_receipt(replace(held.case, end=held.case.end._replace(sent=bytes(32))))
    other = replace(held.case, keys={**held.case.keys, Role.BOB: held.case.keys[Role.ALICE]})
    with pytest.raises(DataError, match="does not hold"):
        open_receipt(other)


def test_a_verdict_of_an_auditor_whom_the_contract_does_not_name_is_not_confirmed(institutions, ran, office):
    """A stranger signs the finding of the office under the office's name."""
    job_id = ran()
    _, signed = verdict(*shown(institutions, "north", job_id), office, toy(Role.ALICE))
    for certificate in certificates(institutions, job_id).values():
        signed.confirm(certificate)
    stranger = make_keys("office")
    body = {**signed.body, "auditor": stranger.public.document()}
    forged = read({"verdict": body, "signature": stranger.signing.sign(signed_text(body)).hex()})
    for certificate in certificates(institutions, job_id).values():
        with pytest.raises(DataError, match="another auditor"):
            forged.confirm(certificate)
    with pytest.raises(DataError, match="names the auditor"):
        forged.confirm_receipt(receipt(institutions, "south", job_id))
