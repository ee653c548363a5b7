"""Covert jobs of every kind: an audit clears who followed the program and convicts who did not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from parties.auditors.audit import Outcome, audit
from parties.auditors.receipts import open_receipt
from parties.contracts.state import State
from parties.errors import JobError, PolicyError
from parties.evidence.covert import CovertRun
from parties.evidence.run_case import decode_case
from parties.evidence.seeds import COMMITMENT_BYTES, PART_BYTES
from parties.evidence.statements import SIGNATURE_BYTES, Closed, Recorded
from parties.evidence.store import BROKEN_OFF, CASE, COIN, DUE, RECEIPT, EvidenceStore
from parties.ledger.entries import EXACT, SPENT
from parties.rpc.codec import packet_bytes
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from scripts.soak.kinds import furnish, kinds
from smc.analyses.registry import ANALYSES
from smc.channel.message import Frame
from smc.forms import Role
from tests.parties.evidence.covert import AUDITED, FOLLOWED, Deviating, covert, finding, shown
from tests.parties.jobs.joined import ANN
from tests.support.grids import grid
from tests.support.keys import toy

ROWS = 40
SHORT = "statistics, noisy"
NAMES = ("north", "south")
KINDS = {
    name: job
    for name, job in kinds(NAMES).items()
    if not name.endswith(", then") and job["job"]["analysis"] != "preparation"
}


_BACKWARDS, _BUT_ONE = slice(None, None, -1), slice(1, None)


def prepare(institutions, **entries):
    for number, name in enumerate(NAMES):
        furnish(institutions.folder / name, number, ROWS, **{**AUDITED, **entries})


def standing(institutions, name, job_id):
    found = EvidenceStore(institutions.folder / name).standing(job_id)
    return found.state, found.why


@pytest.mark.parametrize("kind", grid(KINDS, list(KINDS)[::4]))
def test_both_sides_of_an_honest_run_are_cleared(institutions, kind):
    prepare(institutions)
    check_both_are_cleared(institutions, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_honest_runs_convict_nobody(institutions, kind):
    prepare(institutions)
    for _ in range(-(-1000 // len(KINDS))):
        check_both_are_cleared(institutions, kind)


def check_both_are_cleared(institutions, kind):
    job_id = institutions.submit(covert(KINDS[kind]))
    for name, record in institutions.ended(job_id).items():
        assert record.state is State.FINISHED, (name, record.error_code, record.error_what)
    for name in NAMES:
        assert standing(institutions, name, job_id) == (DUE, COIN)
        found = finding(institutions, name, job_id)
        assert (found.outcome, found.signed) == (Outcome.CLEARED, "end"), found


@pytest.mark.parametrize("kind", ["matching, exact sums", SHORT])
def test_a_covert_run_takes_no_more_rounds_and_a_signature_more(institutions, kind):
    """Beside the handshake, with 88 bytes more each way, and the end, with 80."""
    prepare(institutions)
    facts = []
    for document in (KINDS[kind], covert(KINDS[kind])):
        job_id = institutions.submit(document)
        institutions.ended(job_id)
        facts.append(json.loads(institutions.network.managers["north"].result(job_id))["facts"])
    plain, audited = facts
    assert audited["rounds"] == plain["rounds"]
    for way in ("sent", "received"):
        assert audited[way] - plain[way] == 64
        assert audited["estimate"][way] - plain["estimate"][way] == 64


@pytest.mark.parametrize(("sequence", "depth"), [(50, 40), (1 << 20, 1 << 14)])
def test_a_covert_run_sends_at_most_300_bytes_more_each_way(sequence, depth):
    """With what stands around them on the wire: after a million frames as well."""
    frames = ((Recorded, SIGNATURE_BYTES), (Closed, SIGNATURE_BYTES + PART_BYTES))
    at_the_end = sum(
        packet_bytes(Frame(sequence, kind.kind(), depth, size, bytes(size))) for kind, size in frames
    )
    said = {"commitment": bytes(COMMITMENT_BYTES), "public": bytes(PART_BYTES)}
    dialler = (
        pb.Opening(commitment=said["commitment"]).ByteSize() + pb.Confirm(public=said["public"]).ByteSize()
    )
    assert dialler == pb.Answer(**said).ByteSize()
    assert dialler + at_the_end <= 300


def test_what_the_peer_has_signed_is_on_the_disk_before_anything_is_opened(institutions, monkeypatch):
    """A daemon that dies after it has opened something still holds the peer to its record."""
    prepare(institutions)
    kept, honest = [], CovertRun.hear

    def hear(run, channel):
        honest(run, channel)
        for name in NAMES:
            store = EvidenceStore(institutions.folder / name)
            for held in store.all():
                case = decode_case(store.read(held.job_id, CASE))
                if case.seed == run._secrets.seed:
                    kept.append(set(case.gate_signatures))

    monkeypatch.setattr(CovertRun, "hear", hear)
    job_id = institutions.submit(covert(KINDS[SHORT]))
    institutions.ended(job_id)
    assert kept == [set(Role), set(Role)]


@pytest.mark.parametrize("kind", ["evidence-recorded", "evidence-closed"])
@pytest.mark.parametrize("at", [0, -1])
def test_a_changed_statement_about_the_record_ends_the_run(institutions, kind, at):
    """What is signed wrongly at the gate opens nothing; a run that ends wrongly is due."""
    prepare(institutions)
    institutions.network.bends[Role.BOB] = lambda transport: Deviating(transport, kind, lambda _: at)
    job_id = institutions.submit(covert(KINDS[SHORT]))
    record = institutions.ended(job_id)["north"]
    ledger = institutions.network.managers["north"].ledger
    events = {entry.event for entry in ledger.of_job(record.contract.digest.hex())}
    if kind == "evidence-recorded":
        assert (record.state, record.error_code) == (State.FAILED, "protocol-violation")
        assert not {EXACT, SPENT} & events
    assert standing(institutions, "north", job_id) == (DUE, BROKEN_OFF)
    # A part of the coin that was not committed to comes with a signature that holds.
    signed = "nothing" if kind == "evidence-recorded" else "gate" if at == 0 else "end"
    assert finding(institutions, "north", job_id).signed == signed
    assert finding(institutions, "north", job_id).outcome in FOLLOWED


def test_of_a_run_that_is_not_due_a_receipt_is_left(institutions):
    """Else whoever says that the run broke off could demand what nobody had to keep."""
    prepare(institutions)
    job_id = institutions.submit(covert(KINDS[SHORT], rate="1/1000000"))
    institutions.ended(job_id)
    for name in NAMES:
        kept = {path.name for path in (institutions.folder / name / "evidence" / job_id).iterdir()}
        assert kept == {"receipt", "state.json"}
        receipt = decode_case(EvidenceStore(institutions.folder / name).read(job_id, RECEIPT))
        assert not open_receipt(receipt).was_due
        assert (receipt.seed, receipt.sent, receipt.papers) == (b"", {}, [])
        forged = replace(receipt, parts={**receipt.parts, Role.BOB: bytes(16)})
        assert open_receipt(forged).was_due


def test_a_record_that_the_policy_keeps_is_kept_for_its_days(institutions):
    prepare(institutions, evidence_days=3)
    job_id = institutions.submit(covert(KINDS[SHORT], rate="1/1000000"))
    institutions.ended(job_id)
    store = EvidenceStore(institutions.folder / "north")
    assert standing(institutions, "north", job_id) == ("kept", "")
    assert finding(institutions, "north", job_id).outcome is Outcome.CLEARED
    assert store.prune("2000-01-01T00:00:00Z") == 0
    assert store.prune("2999-01-01T00:00:00Z") == 1
    assert store.standing(job_id).state == "passed"
    with pytest.raises(JobError, match="no evidence"):
        store.standing("00" * 8)


def test_another_seed_other_data_or_other_frames_convict(institutions):
    """Who shows something else than was signed is convicted by that alone."""
    prepare(institutions)
    job_id = institutions.submit(covert(KINDS[SHORT]))
    institutions.ended(job_id)
    case, inputs, frames = shown(institutions, "north", job_id)
    name, column = next((name, column) for name, column in inputs.data.items() if name == "age")
    other, fewer = (replace(column, values=column.values[part].copy()) for part in (_BACKWARDS, _BUT_ONE))
    longer = case.contract.replace('"seconds":600', '"seconds":601')
    for changed, ground in (
        ((replace(case, seed=bytes(32)), inputs, frames), "seed"),
        ((case, replace(inputs, data={**inputs.data, name: other}), frames), "data of column"),
        ((case, replace(inputs, data={**inputs.data, "more": column}), frames), "other columns"),
        ((case, replace(inputs, data={**inputs.data, name: fewer}), frames), "different lengths"),
        ((case, inputs, frames[:-2]), "frames"),
        ((replace(case, sent={0: case.sent[0][:3]}), inputs, frames), "signed at the gate"),
        ((replace(case, contract=longer), inputs, frames), "contract"),
        *(
            (
                (replace(case, **{name: {**getattr(case, name), role: bytes(64)}}), inputs, frames),
                f"signature of {role.value} under the record",
            )
            for name in ("gate_signatures", "end_signatures")
            for role in Role
        ),
    ):
        found = audit(*changed, ANALYSES, toy(Role.ALICE))
        assert found.outcome is Outcome.CONVICTED, found
        assert ground in found.ground, found


def test_a_job_below_the_level_of_the_rule_is_refused(institutions):
    prepare(institutions, security="covert", audit_rate="1/2")
    with pytest.raises(PolicyError, match="not covert"):
        institutions.submit(KINDS[SHORT])
    with pytest.raises(PolicyError, match="audit_rate"):
        institutions.submit(covert(KINDS[SHORT], rate="1/3"))
    strange = covert(KINDS[SHORT])
    strange["audit"]["key"] = "00" * 32
    with pytest.raises(PolicyError, match="auditor"):
        institutions.submit(strange)


def test_data_that_changed_after_the_contract_are_refused(institutions):
    """A contract commits to the columns, and a run takes no others."""
    prepare(institutions, approval="person")
    job_id = institutions.submit(covert(KINDS[SHORT]))
    manager = institutions.network.managers["north"]
    manager.approve(job_id, ANN, manager.store.get(job_id).contract.digest.hex())
    home = institutions.folder / "north"
    lines = (home / "people.csv").read_text().splitlines()
    (home / "people.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    manager = institutions.network.managers["south"]
    manager.store.wait_for(lambda: bool(manager.store.all(State.WAITING_OWN)), 20)
    manager.approve(job_id, ANN, manager.store.get(job_id).contract.digest.hex())
    record = institutions.ended(job_id)["north"]
    assert (record.state, record.error_code) == (State.FAILED, "data-changed"), record.error_what
