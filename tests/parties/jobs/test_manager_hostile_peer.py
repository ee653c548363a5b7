"""A peer that does not keep to the rules: words out of place, forged drafts, probing, piles of jobs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from parties.contracts import canonical
from parties.contracts.contract import parse_contract, sign
from parties.contracts.state import State
from parties.errors import JobError, PeerRefused, PolicyError
from parties.jobs.agreement.messages import JobStatus, PeerState, parse_status
from parties.ports.interfaces import SessionHeader
from smc.analyses.disclosure.limits import Limits
from smc.errors import DuettoError, ProtocolViolation
from smc.forms import Role
from tests.parties.jobs.joined import ANN, approve, job_file, wait_final


def pending(pair):
    pair.allow("south", approval="person")
    return pair.north.submit(job_file())


def test_a_session_needs_both_signatures_and_the_right_header(pair):
    record = pending(pair)
    keys = {name: pair.network.identities[name].paillier.fingerprint for name in ("north", "south")}
    good = SessionHeader(
        bytes(32), record.job_id, record.contract.digest, Role.ALICE, keys["north"], keys["south"]
    )
    with pytest.raises(JobError, match="not ready"):
        pair.south.accept_session("north", good)
    pair.network.down = True
    approve(pair.south, record.job_id)
    with pytest.raises(JobError, match="not ready"):
        pair.south.accept_session("north", good)
    signature = sign(
        pair.south.store.get(record.job_id).contract, Role.ALICE, pair._identities["north"].signing
    )
    pair.south.tell("north", JobStatus(record.job_id, PeerState.CONFIRMED, "", signature).encode())
    for bad in (
        replace(good, job_digest=bytes(32)),
        replace(good, dialler_role=Role.BOB),
        replace(good, dialler_key=keys["south"]),
        replace(good, own_key=keys["north"]),
        replace(good, job_id="0" * 16),
    ):
        with pytest.raises(JobError):
            pair.south.accept_session("north", bad)
    with pytest.raises(JobError):
        pair.south.accept_session("west", good)
    pair.south.accept_session("north", good)


def test_words_out_of_place_are_refused(pair):
    record = pending(pair)
    contract = pair.south.store.get(record.job_id).contract
    signatures = {
        n: sign(contract, r, pair._identities[n].signing)
        for n, r in (("north", Role.ALICE), ("south", Role.BOB))
    }
    job_id = record.job_id
    for manager, peer, word, signature, kind in [
        (pair.south, "north", PeerState.CONFIRMED, signatures["north"], JobError),
        (pair.south, "north", PeerState.APPROVED, signatures["north"], JobError),
        (pair.north, "south", PeerState.CONFIRMED, signatures["south"], JobError),
        (pair.north, "south", PeerState.APPROVED, signatures["north"], ProtocolViolation),
        (pair.north, "south", PeerState.APPROVED, bytes(64), ProtocolViolation),
    ]:
        with pytest.raises(kind):
            manager.tell(peer, JobStatus(job_id, word, "", signature).encode())
    assert pair.north.store.get(job_id).state is State.WAITING_PEER
    assert pair.south.store.get(job_id).state is State.WAITING_OWN
    for word, signature in ((PeerState.CANCELLED, b""), (PeerState.CONFIRMED, signatures["north"])):
        answer = pair.south.tell("west", JobStatus(job_id, word, "", signature).encode())
        assert parse_status(answer) == JobStatus(job_id, PeerState.UNKNOWN), (
            "the same as of a job that is not"
        )
    assert pair.south.store.get(job_id).state is State.WAITING_OWN


def test_a_job_that_was_not_proposed_yet_is_known_to_nobody(pair):
    pair.allow("north", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    for word in (PeerState.CANCELLED, PeerState.PENDING, PeerState.FAILED):
        answer = pair.north.tell("south", JobStatus(job_id, word).encode())
        assert parse_status(answer).word is PeerState.UNKNOWN
    assert pair.north.store.get(job_id).state is State.WAITING_OWN


def test_a_peer_cannot_end_or_change_what_has_finished(pair):
    job_id = pair.north.submit(job_file()).job_id
    wait_final(pair.north, job_id)
    wait_final(pair.south, job_id)
    for word in PeerState:
        if word not in (PeerState.UNFIT, PeerState.APPROVED, PeerState.CONFIRMED):
            answer = pair.south.tell("north", JobStatus(job_id, word).encode())
            assert parse_status(answer).word is PeerState.FINISHED
    assert pair.south.store.get(job_id).state is State.FINISHED
    assert pair.south.result(job_id)


@pytest.mark.parametrize(
    "change",
    [
        {"job_id": "0" * 15},
        {"word": "unfit"},
        {"word": "perhaps"},
        {"code": "data"},
        {"word": "failed", "code": "No Code!"},
        {"word": "failed", "code": "x" * 65},
        {"signature": "00" * 64},
        {"word": "approved"},
        {"signature": "00"},
        {"more": ""},
        {"code": 1},
    ],
)
def test_malformed_standings_are_refused(change):
    good = {"job_id": "0" * 16, "word": "pending", "code": "", "signature": ""}
    assert parse_status(canonical.encode(good)) == JobStatus("0" * 16, PeerState.PENDING)
    with pytest.raises(ProtocolViolation):
        parse_status(canonical.encode(good | change))


def test_a_forged_draft_is_refused(pair):
    record = pending(pair)
    draft = record.contract.draft
    pair.stop("south")
    south = pair.start("south", resume=False)
    side = draft.schemas[Role.ALICE]
    swapped = replace(draft.spec, alice=draft.spec.bob, bob=draft.spec.alice)
    for bad in (
        replace(draft, keys={**draft.keys, Role.BOB: "0" * 64}),
        replace(draft, keys={**draft.keys, Role.ALICE: "0" * 64}),
        replace(draft, proposer=Role.BOB, schemas={Role.ALICE: None, Role.BOB: side}),
        replace(draft, schemas={Role.ALICE: None, Role.BOB: None}),
        replace(draft, schemas={Role.ALICE: side, Role.BOB: side}),
        replace(draft, schemas={Role.ALICE: {}, Role.BOB: None}),
        replace(draft, schemas={Role.ALICE: {**side, "w": side["v"]}, Role.BOB: None}),
        replace(draft, spec=swapped),
    ):
        with pytest.raises(JobError):
            south.propose("north", bad.encode())
    with pytest.raises(JobError):
        south.propose("west", draft.encode())
    for raw in (b"", b"{}", b"null", draft.encode() + b" ", draft.encode()[:-1], b"[" * 100000):
        with pytest.raises(ProtocolViolation):
            south.propose("north", raw)


def test_a_repeated_proposal_gets_the_same_answer(pair):
    record = pending(pair)
    draft = record.contract.draft.encode()
    first = pair.south.propose("north", draft)
    assert pair.south.propose("north", draft) == first
    assert len(pair.south.store.all()) == 1
    pair.south.deny(record.job_id, ANN, "")
    with pytest.raises(PolicyError) as caught:
        pair.south.propose("north", draft)
    assert caught.value.stable_code == "denied"


def test_an_answer_with_another_contract_is_never_signed(pair):
    def other(change):
        def spoil(answer):
            document = canonical.decode(answer, 1 << 20)
            contract = change(parse_contract(document["contract"].encode()))
            document["contract"] = contract.encode().decode()
            return canonical.encode(document)

        return spoil

    changes = [
        lambda c: replace(c, nonce="0" * 64),
        lambda c: replace(c, spec=replace(c.spec, recipients=frozenset({Role.BOB}))),
        lambda c: c.draft,
        lambda c: replace(c, schemas={**c.schemas, Role.BOB: {}}),
        lambda c: replace(c, limits={**c.limits, Role.ALICE: Limits(7)}),
        lambda c: replace(c, limits={**c.limits, Role.BOB: None}),
        lambda c: replace(
            c, schemas={**c.schemas, Role.BOB: {"v": replace(c.schemas[Role.BOB]["v"], upper=7)}}
        ),
        lambda c: replace(
            c, schemas={**c.schemas, Role.ALICE: {"v": replace(c.schemas[Role.ALICE]["v"], upper=7)}}
        ),
    ]
    for change in changes:
        pair.network.spoil = {"propose": other(change)}
        with pytest.raises(DuettoError):
            pair.north.submit(job_file())
        failed = pair.north.store.get(pair.north.store.all()[0].job_id)
        assert failed.state is State.FAILED
        assert failed.own_signature == b""
    for raw in (b"{}", b"x" * 300_000, b""):
        pair.network.spoil = {"propose": lambda answer, raw=raw: raw}
        with pytest.raises(ProtocolViolation):
            pair.north.submit(job_file())


def test_the_same_proposal_many_times_at_once_is_one_job(pair):
    draft = pending(pair).contract.draft
    again = replace(draft, nonce="0" * 64).encode()
    with ThreadPoolExecutor(6) as pool:
        answers = set(pool.map(lambda _: pair.south.propose("north", again), range(6)))
    assert len(answers) == 1
    assert len(pair.south.store.all()) == 2


@pytest.mark.parametrize(("before", "after"), [('"numbers"', '"wages"'), ('"value"', '"income"')])
def test_a_peer_cannot_probe_for_names_or_bad_data(pair, before, after):
    (pair.folder / "south" / "numbers.csv").write_text("value\nx\n")
    head, bob = job_file().split("[bob]")
    with pytest.raises(PeerRefused) as caught:
        pair.north.submit(head + "[bob]" + bob.replace(before, after))
    assert caught.value.stable_code == "policy"


def test_a_peer_cannot_pile_up_jobs(pair, monkeypatch):
    monkeypatch.setattr("parties.jobs.agreement.negotiation.OPEN_JOBS", 2)
    pair.allow("south", approval="person")
    for _ in range(2):
        pair.north.submit(job_file())
    with pytest.raises(PeerRefused) as caught:
        pair.north.submit(job_file())
    assert caught.value.stable_code == "too-many-open"
    # Jobs of the other direction do not count.
    assert pair.south.submit(job_file()).state is not State.FAILED


def test_a_peer_cannot_fill_the_disk_with_jobs_that_it_withdraws(pair, monkeypatch):
    """Withdrawn jobs are not open, so no limit on open ones held."""
    monkeypatch.setattr("parties.jobs.agreement.negotiation.PROPOSED_BYTES", 30_000)
    pair.allow("south", approval="person")
    for _ in range(3):
        pair.north.cancel(pair.north.submit(job_file()).job_id, ANN)
    with pytest.raises(PeerRefused) as caught:  # noqa: PT012
        for _ in range(10):
            pair.north.cancel(pair.north.submit(job_file()).job_id, ANN)
    assert caught.value.stable_code == "too-many-today"
    # Jobs of the other direction do not count.
    assert pair.south.submit(job_file()).state is not State.FAILED
