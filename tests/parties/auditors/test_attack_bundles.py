"""Attacks on audits: bundles of somebody else, with less than was kept, or malformed; and honest parties."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from parties.auditors.audit import Outcome, audit
from parties.auditors.bundles import Exhibit, open_bundle, seal_bundle
from parties.auditors.receipts import open_receipt
from parties.auditors.verdicts import read_verdict, sign_verdict
from parties.certificates.verification import read_certificate
from parties.disclosure.history import History
from parties.errors import DataError
from parties.evidence.run_case import Inputs, decode_case
from parties.evidence.store import RECEIPT, EvidenceStore
from smc.analyses.registry import ANALYSES
from smc.forms import Role
from tests.parties.evidence.covert import FOLLOWED, Deviating, shown
from tests.parties.evidence.test_covert_jobs import prepare
from tests.support.keys import toy

NOW = "2026-01-01T00:00:00Z"


def certificates(institutions, job_id):
    return {
        name: read_certificate(json.dumps(manager.certificate(job_id)).encode())
        for name, manager in institutions.network.managers.items()
    }


def verdict(case, inputs, frames, office, own=None):
    """What the auditor finds and signs, read again."""
    found = audit(case, inputs, frames, ANALYSES, own)
    document = sign_verdict(case, found, office, NOW)
    return found, read_verdict(json.dumps(document).encode())


def test_a_bundle_in_the_name_of_the_peer_does_not_convict_it(institutions, ran, office, monkeypatch):
    """North has all that a case of south states, but its seed and data: no auditor may take it for one."""
    job_id = ran()
    case, _, _ = shown(institutions, "north", job_id)
    forged, encode = replace(case, role=Role.BOB, seed=bytes(32)), type(case).encode
    signing = institutions._identities["north"].signing
    with pytest.raises(DataError, match="another key"):
        seal_bundle(Exhibit(forged, Inputs(), ()), "south", office.public, signing)
    monkeypatch.setattr(type(case), "encode", lambda _: encode(forged))
    bundle = seal_bundle(Exhibit(case, Inputs(), ()), "south", office.public, signing)
    try:
        opened = open_bundle(bundle, office)
        _, signed = verdict(opened.case, opened.inputs, opened.frames, office)
        for certificate in certificates(institutions, job_id).values():
            signed.confirm(certificate)
    except DataError:
        return
    assert signed.finding.outcome is not Outcome.CONVICTED, signed.body


def test_a_party_that_shows_less_than_both_have_signed_is_not_cleared(institutions, ran, office):
    """South deviates before the gate, and shows an empty record of a run of which it has a certificate."""
    job_id = ran(bends={Role.BOB: lambda transport: Deviating(transport, "triple-openings")})
    case, inputs, frames = shown(institutions, "south", job_id)
    assert audit(case, inputs, frames, ANALYSES, toy(Role.BOB)).outcome is Outcome.CONVICTED
    less = replace(case, sent={}, received={}, gate=None, end=None, gate_signatures={}, end_signatures={})
    found, signed = verdict(less, inputs, (), office)
    assert found.outcome is Outcome.UNSIGNED
    for certificate in certificates(institutions, job_id).values():
        with pytest.raises(DataError, match="less than"):
            signed.confirm(certificate)


def test_a_case_with_another_key_of_the_peer_than_the_contract_is_not_cleared(institutions, ran, office):
    job_id = ran()
    case, inputs, frames = shown(institutions, "north", job_id)
    other = replace(case, paillier={**case.paillier, Role.BOB: case.paillier[Role.ALICE]})
    try:
        found, _ = verdict(other, inputs, frames, office)
    except DataError:
        return
    assert found.outcome is Outcome.CONVICTED


def test_a_party_that_says_that_its_key_was_taken_is_audited_all_the_same(institutions, ran, office):
    """Else whoever deviated in a run that took no key says so, and gets the verdict that nothing is known."""
    job_id = ran(bends={Role.BOB: lambda transport: Deviating(transport, "triple-openings")})
    case, inputs, frames = shown(institutions, "south", job_id)
    found, _ = verdict(replace(case, needs_key=True), inputs, frames, office)
    assert found.outcome is Outcome.CONVICTED, found


@pytest.mark.parametrize("kind", ["statistics, exact", "matching, exact sums under a smallest group"])
def test_a_party_whose_history_withholds_is_cleared(institutions, covert, office, monkeypatch, kind):
    """What was released before decides whether a table is opened, and the peer is told so in a bit."""
    prepare(institutions, auditors={"office": office.public.fingerprint})
    document = covert(kind)
    monkeypatch.setattr(History, "allows", lambda *_: False)
    job_id = institutions.submit(document)
    institutions.ended(job_id)
    for name, role in (("north", Role.ALICE), ("south", Role.BOB)):
        found = audit(*shown(institutions, name, job_id), ANALYSES, toy(role))
        assert found.outcome in FOLLOWED, (name, found)


def test_a_run_of_a_plugin_that_the_auditor_has_not_is_undecided(institutions, ran):
    job_id = ran()
    fewer = {name: each for name, each in ANALYSES.items() if name != "statistics"}
    assert audit(*shown(institutions, "north", job_id), fewer).outcome is Outcome.UNDECIDED


WRONG = (
    lambda d: d["paillier"].update(alice=float("inf"), bob=float("inf")),
    lambda d: d["paillier"].clear(),
    lambda d: d["paillier"].update(bob="0"),
    lambda d: d["paillier"].update(bob="-7"),
    lambda d: d["sent"].update({"-1": [["end", "00" * 32]]}),
    lambda d: d["sent"].update({"70000": [["end", "00" * 32]]}),
    lambda d: d["commitments"].clear(),
    lambda d: d["commitments"].pop("bob"),
    lambda d: d["commitments"].update(alice=""),
    lambda d: d["keys"].update(alice="zz"),
    lambda d: d["parts"].clear(),
    lambda d: d.update(gate=["00", "00", "00"]),
    lambda d: d.update(end_counts=[{}, {}]),
    lambda d: d.update(end_counts=[{"-1": 3}, {"99999999": 1 << 200}]),
    lambda d: d.update(end_signatures={"alice": "", "bob": ""}),
    lambda d: d.update(job_id=""),
    lambda d: d.update(seed=""),
    lambda d: d.update(papers=["00"] * 9),
    lambda d: d["given"].clear(),
    lambda d: d["given"].update(alice=""),
    lambda d: d.update(gate=None),
    lambda d: d.update(gate_counts=[]),
)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_malformed_case_is_a_finding_or_an_error_that_says_so(institutions, ran, office, number):
    job_id = ran()
    case, inputs, frames = shown(institutions, "north", job_id)
    document = json.loads(case.encode())
    WRONG[number](document)
    try:
        verdict(decode_case(json.dumps(document).encode()), inputs, frames, office)
    except DataError:
        return


@pytest.mark.parametrize("part", ["parts", "commitments", "end_signatures"])
def test_a_receipt_that_lacks_something_shows_nothing(institutions, ran, part):
    job_id = ran(rate="1/1000000")
    receipt = decode_case(EvidenceStore(institutions.folder / "south").read(job_id, RECEIPT))
    assert not open_receipt(receipt).was_due
    if part == "commitments":
        less = replace(receipt, start=receipt.start._replace(commitments=dict.fromkeys(Role, bytes(64))))
        with pytest.raises(DataError, match="does not hold"):
            open_receipt(less)
    else:
        assert open_receipt(replace(receipt, **{part: {}})).was_due
