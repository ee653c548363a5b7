"""The gate: what both parties announce, write and sign before a result is opened."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parties.errors import BudgetError
from parties.ledger.accounting import Account, Budget, RunLimits
from parties.ledger.book import UNSIGNED_PER_DAY, Ledger
from parties.ledger.commit import (
    _ANNOUNCED,
    _WRITTEN,
    GATE_BYTES,
    Announced,
    LedgerCommit,
    Written,
    _text,
    is_announced,
    make_gate,
    signed_text,
)
from parties.ledger.entries import COUNTERSIGNED, EXACT, RUN, SPENT, LedgerError
from smc.analyses.studies.loss import Loss
from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import DuettoError, PeerLost, ProtocolViolation
from smc.forms import Role
from tests.support.clocks import standing

KEYS = {role: Ed25519PrivateKey.generate() for role in Role}
DIGEST = bytes(range(32))
PERSONS = "ab" * 32


def spending(role, digest=DIGEST, epsilon="1/2", limit="1", **further):
    """What a job releases at one side of two ledgers that have one account."""
    peer = KEYS[role.other].public_key()
    loss, budget = Loss(Fraction(epsilon)), Budget(Fraction(limit))
    whose = (Account.of("d"), "d", role.other.value)
    return LedgerCommit(digest, role, *whose, loss, budget, KEYS[role], peer, **further)


def run_gates(tmp_path, alice, bob, patched=lambda role, channel: channel):
    """Pass the gate at both sides; the ledgers, and what was raised, by role."""
    ledgers = {role: Ledger(tmp_path / f"{role.value}.jsonl") for role in Role}
    ends = dict(zip(Role, memory_pair(2.0), strict=True))
    caught = {}

    def side(role, given):
        channel = patched(role, Channel(ends[role]))
        try:
            make_gate(ledgers[role], given)(channel)
        except DuettoError as error:
            caught[role] = error
            channel.abort(error.stable_code)

    threads = [threading.Thread(target=side, args=pair) for pair in ((Role.ALICE, alice), (Role.BOB, bob))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return ledgers, caught


def spent(ledger, peer):
    return ledger.spending(Account.of("d"), peer).loss.epsilon


def events(ledger):
    return [entry.event for entry in ledger.entries()]


def test_both_write_and_keep_the_other_signature(tmp_path):
    for number in range(2):
        digest = bytes([number]) * 32
        ledgers, caught = run_gates(tmp_path, *(spending(role, digest) for role in Role))
        assert not caught
    for role in Role:
        entries = ledgers[role].entries()
        theirs = ledgers[role.other].entries()
        assert events(ledgers[role]) == [SPENT, COUNTERSIGNED] * 2
        kept = entries[3]
        assert (kept.subject, kept.peer_hash) == (entries[2].hash, theirs[2].hash)
        packed = [(e.sequence.to_bytes(8, "big") + bytes.fromhex(e.hash)) for e in (theirs[2], entries[0])]
        key = KEYS[role.other].public_key()
        key.verify(bytes.fromhex(kept.signature), signed_text(digest, role.other, *packed))
        # The entry itself keeps what the peer announced.
        assert is_announced(key, digest, role.other, packed[1], bytes.fromhex(entries[2].signature))
        assert not is_announced(key, DIGEST, role.other, packed[1], bytes.fromhex(entries[2].signature))


@pytest.mark.parametrize("epsilon", ["0", "1/2"])
def test_an_exact_release_is_written_with_its_persons_and_countersigned(tmp_path, epsilon):
    for role in Role:
        ledger = Ledger(tmp_path / f"{role.value}.jsonl")
        ledger.begin(DIGEST.hex(), Account.of("d"), "d", role.other.value, RunLimits("r"))
    kept = []

    @contextmanager
    def attend(is_released):
        assert not is_released()
        yield PERSONS
        assert is_released()
        kept.append(0)

    given = [spending(role, epsilon=epsilon, attend=attend) for role in Role]
    ledgers, caught = run_gates(tmp_path, *given)
    assert (caught, len(kept)) == ({}, 2)
    for role, ledger in ledgers.items():
        written = [RUN, EXACT] if epsilon == "0" else [RUN, EXACT, SPENT]
        assert events(ledger) == [*written, COUNTERSIGNED]
        entries = ledger.entries()
        assert entries[-1].subject == entries[-2].hash
        assert ledger.exact(Account.of("d"), role.other.value) == {PERSONS: 1}
        assert ledger.exact(Account.of("e"), role.other.value) == {}


def test_a_job_that_writes_nothing_more_has_its_beginning_countersigned(tmp_path):
    given = [spending(role, epsilon="0", limit="0") for role in Role]
    _, caught = run_gates(tmp_path, *given)
    assert any(isinstance(error, LedgerError) for error in caught.values())
    for role in Role:
        ledger = Ledger(tmp_path / f"{role.value}.jsonl")
        ledger.begin(DIGEST.hex(), Account.of("d"), "d", role.other.value, RunLimits("r"))
    ledgers, caught = run_gates(tmp_path, *given)
    assert not caught
    for ledger in ledgers.values():
        assert events(ledger) == [RUN, COUNTERSIGNED]
        assert ledger.entries()[1].subject == ledger.entries()[0].hash


def test_if_one_cannot_pay_nobody_does(tmp_path):
    ledgers, caught = run_gates(tmp_path, spending(Role.ALICE), spending(Role.BOB, limit="1/4"))
    assert isinstance(caught[Role.BOB], BudgetError)
    assert caught[Role.ALICE].stable_code == "peer-aborted"
    assert ledgers[Role.ALICE].entries() == ledgers[Role.BOB].entries() == ()


class Stops(Channel):
    """A peer's channel that breaks before the n-th message of the gate is sent."""

    def __init__(self, channel, before):
        self._channel, self._left = channel, before

    def send(self, message):
        if self._left == 0:
            raise PeerLost("stopped")
        self._left -= 1
        self._channel.send(message)

    def recv(self, *expected):
        return self._channel.recv(*expected)

    def abort(self, code):
        self._channel.abort(code)


def stopping(tmp_path, number, before, epsilon="1", limit="5"):
    given = [spending(role, bytes([number]) * 32, epsilon, limit) for role in Role]
    return run_gates(
        tmp_path, *given, lambda role, channel: Stops(channel, before) if role is Role.BOB else channel
    )


def test_a_peer_that_stops_at_the_gate_costs_nothing(tmp_path):
    """As one did that let five jobs of epsilon 1 come to the gate: all of five was gone."""
    for number in range(5):
        ledgers, caught = stopping(tmp_path, number, 0)
        assert caught[Role.ALICE].stable_code == "peer-aborted"
    assert ledgers[Role.ALICE].entries() == ()
    ledgers, caught = run_gates(tmp_path, *(spending(role, epsilon="5", limit="5") for role in Role))
    assert not caught
    assert spent(ledgers[Role.ALICE], "bob") == 5


def test_a_peer_that_announces_and_stops_costs_a_bounded_part_and_leaves_its_word(tmp_path):
    for number in range(UNSIGNED_PER_DAY):
        ledgers, caught = stopping(tmp_path, number, 1, "1/8")
        assert caught[Role.ALICE].stable_code == "peer-aborted"
    alice = ledgers[Role.ALICE]
    assert spent(alice, "bob") == Fraction(UNSIGNED_PER_DAY, 8)
    for entry in alice.entries():
        announced = (bytes.fromhex(entry.peer_seen), bytes.fromhex(entry.signature))
        assert is_announced(KEYS[Role.BOB].public_key(), bytes.fromhex(entry.job), Role.BOB, *announced)
    for number in range(UNSIGNED_PER_DAY, 9):
        ledgers, caught = stopping(tmp_path, number, 1, "1/8")
        assert caught[Role.ALICE].stable_code == "budget"
        assert "tomorrow" in caught[Role.ALICE].hint
    assert spent(alice, "bob") == Fraction(UNSIGNED_PER_DAY, 8)
    later = Ledger(alice.path, standing("2999-01-01T00:00:00Z"))
    with later.reserve("ff" * 32, Account.of("d"), "bob", Loss(Fraction(1)), Budget(Fraction(5))):
        pass
    # Another peer has nothing to do with it.
    with alice.reserve("ff" * 32, Account.of("d"), "carol", Loss(Fraction(1)), Budget(Fraction(5))):
        pass


def test_what_is_announced_is_held_back_until_it_is_written_or_given_up(tmp_path):
    ledger = Ledger(tmp_path / "l.jsonl")
    account, half, whole = Account.of("d"), Loss(Fraction(1, 2)), Budget(Fraction(1))
    first, second, third = (f"{n:064x}" for n in range(3))
    with ledger.reserve(first, account, "bob", half, whole):
        with ledger.reserve(second, account, "bob", half, whole):
            with (
                pytest.raises(BudgetError, match=r"makes epsilon 1\.5 of 1"),
                ledger.reserve(third, account, "bob", half, whole),
            ):
                pass
            with ledger.reserve(third, account, "carol", half, whole):
                pass
            with pytest.raises(BudgetError):
                ledger.spend(third, account, "d", "bob", half, whole)
            ledger.spend(second, account, "d", "bob", half, whole)
        with pytest.raises(BudgetError), ledger.reserve(third, account, "bob", half, whole):
            pass
    ledger.spend(third, account, "d", "bob", half, whole)
    assert ledger.spending(account, "bob").loss.epsilon == 1


def test_a_signature_for_another_job_or_role_is_refused(tmp_path):
    _, caught = run_gates(tmp_path, spending(Role.ALICE), spending(Role.BOB, bytes(32)))
    assert any(isinstance(error, ProtocolViolation) for error in caught.values())
    wrong = replace(spending(Role.BOB), signing_key=KEYS[Role.ALICE])
    _, caught = run_gates(
        tmp_path, spending(Role.ALICE, bytes([7]) * 32), replace(wrong, job_digest=bytes([7]) * 32)
    )
    assert isinstance(caught[Role.ALICE], ProtocolViolation)


@pytest.mark.parametrize("role", list(Role))
def test_an_old_copy_of_a_ledger_is_noticed(tmp_path, role):
    run_gates(tmp_path, *(spending(r) for r in Role))
    path = tmp_path / f"{role.value}.jsonl"
    old = path.read_bytes()
    second = bytes([2]) * 32
    run_gates(tmp_path, *(spending(r, second) for r in Role))
    path.write_bytes(old)
    third = bytes([3]) * 32
    _, caught = run_gates(tmp_path, *(spending(r, third, "1/4", "9") for r in Role))
    assert isinstance(caught[role], LedgerError)
    assert role.other in caught


def words(kind, domain, said, seen=b"", digest=DIGEST):
    """A message of Bob's as its pieces."""
    return kind, [
        bytearray(said),
        bytearray(KEYS[Role.BOB].sign(_text(domain, digest, Role.BOB, said + seen))),
    ]


@pytest.mark.parametrize("message", [0, 1])
@pytest.mark.parametrize("part", [0, 1])
def test_a_flipped_bit_in_any_part_of_the_messages_is_refused(tmp_path, message, part):
    own, peer = memory_pair(2.0)
    there = Channel(peer)
    said = [words(Announced, _ANNOUNCED, bytes(40)), words(Written, _WRITTEN, bytes(40), bytes(40))]
    said[message][1][part][5] ^= 1
    for kind, pieces in said[: message + 1]:
        there.send(kind(*(ByteRows(np.frombuffer(bytes(p), np.uint8).reshape(1, -1)) for p in pieces)))
    ledger = Ledger(tmp_path / "l.jsonl")
    with pytest.raises(ProtocolViolation):
        make_gate(ledger, spending(Role.ALICE))(Channel(own))
    assert events(ledger) == [SPENT][:message]


def test_an_announcement_does_not_pass_for_the_word_that_it_is_written(tmp_path):
    own, peer = memory_pair(2.0)
    there = Channel(peer)
    for kind, pieces in (words(Announced, _ANNOUNCED, bytes(40)), words(Written, _ANNOUNCED, bytes(40))):
        there.send(kind(*(ByteRows(np.frombuffer(bytes(p), np.uint8).reshape(1, -1)) for p in pieces)))
    with pytest.raises(ProtocolViolation):
        make_gate(Ledger(tmp_path / "l.jsonl"), spending(Role.ALICE))(Channel(own))


def test_a_silent_peer_costs_nothing(tmp_path):
    own, peer = memory_pair(0.05)
    ledger = Ledger(tmp_path / "l.jsonl")
    with pytest.raises(PeerLost):
        make_gate(ledger, spending(Role.ALICE))(Channel(own))
    assert ledger.entries() == ()
    parts = Channel(peer).recv(Announced, ExpectedByteRows(1, 40), ExpectedByteRows(1, 64))
    assert sum(part.size for part in parts) == GATE_BYTES // 2


@pytest.mark.parametrize("loss", [Loss(rho=Fraction(1, 100)), Loss(delta=Fraction(1, 2**40))])
def test_a_loss_without_epsilon_passes_the_gate_and_is_spent(tmp_path, loss):
    given = [replace(spending(role), loss=loss, budget=Budget(Fraction(3))) for role in Role]
    ledgers, caught = run_gates(tmp_path, *given)
    assert not caught
    for role in Role:
        assert [entry.event for entry in ledgers[role].entries()] == ["spent", "countersigned"]
        assert ledgers[role].spending(Account.of("d"), role.other.value).loss == loss
    short = [replace(one, job_digest=bytes(32), budget=Budget(Fraction(0), Fraction(0))) for one in given]
    _, caught = run_gates(tmp_path, *short)
    assert any(isinstance(error, BudgetError) for error in caught.values())


def test_no_key_in_a_repr():
    assert "Ed25519" not in repr(spending(Role.ALICE))
