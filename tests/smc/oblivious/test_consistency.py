"""The checks of transfers: honest ones pass, and one that touches c bits of D passes once in 2**c."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.channel.vectors import Bits
from smc.errors import DuettoError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.oblivious.consistency import MASK_WORDS, Prover
from smc.oblivious.correlated_ggm import PuncturedTrees
from smc.oblivious.correlated_transfers import (
    KINDS,
    Conversation,
    TransferChoiceColumns,
    TransferColumns,
    TransferMask,
    TransferProof,
)
from smc.oblivious.correlation_robust_hash import HASH_WORDS, NO_OFFSET, RowHash
from smc.oblivious.kernels import make_kernels
from smc.oblivious.lpn import PRODUCTION
from smc.oblivious.silent_consistency import MASK_ROWS, ReceiverSums, SenderSums
from smc.oblivious.silent_ot import ROW_BYTES
from smc.oblivious.silent_transfers import Refill
from smc.oblivious.softspoken import BitReceiver, BitSender
from smc.oblivious.transfers import TransferCorrections
from smc.oblivious.workspace import Workspace
from smc.pair import run_pair
from smc.secret.sharing.opening import OpenedBits
from tests.smc.oblivious.engine_runs import both
from tests.support.seeds import seeded

RANDOM = seeded()


def compare(count=300, bits=32):
    """Both sides of comparisons, each with a check at its end."""
    values = RANDOM.words(2 * count).reshape(2, count) >> np.uint64(64 - bits)

    def x(engine):
        found = engine.greater_equal_x(values[0], bits)
        engine.verify()
        return found

    def y(engine):
        found = engine.greater_equal_y(values[1], bits)
        engine.verify()
        return found

    return x, y, values[0] >= values[1]


def bent(monkeypatch, message, change):
    """Let something change messages of a kind before they leave."""
    honest = Channel.send

    def send(self, sent):
        if isinstance(sent, message):
            change(sent)
        honest(self, sent)

    monkeypatch.setattr(Channel, "send", send)


def ends(x, y):
    """Whether the session ends since transfers are not consistent."""
    try:
        both(x, y)
    except ProtocolViolation as error:
        return "not consistent" in str(error)
    return False


def test_honest_transfers_pass_and_results_are_right():
    x, y, expected = compare()
    (mine, _), (theirs, _) = both(x, y)
    assert ((mine ^ theirs) == expected).all()


@pytest.mark.parametrize("message", [TransferColumns, TransferChoiceColumns, TransferMask])
def test_a_changed_bit_of_a_matrix_ends_the_session_before_anything_is_opened(monkeypatch, message):
    """One bit of one matrix of either side: it touches one tree, so it passes in 1 of 16 or 1 of 4 runs."""
    caught = 0
    runs = 40
    for _ in range(runs):
        with monkeypatch.context() as patch:
            state = {"left": 1}

            def change(sent, state=state):
                if state["left"]:
                    state["left"] = 0
                    rows = sent.matrix.values
                    rows[RANDOM.below(rows.shape[0], 1)[0], RANDOM.below(rows.shape[1], 1)[0]] ^= 1

            bent(patch, message, change)
            x, y, _ = compare(64, 8)
            caught += ends(x, y)
    # At least 1/2 fails (a matrix of one symbol of two bits passes with 1/4 or 1/2): 40 runs of which fewer
    # than 8 fail would come once in a million at a rate of 1/2.
    assert caught >= 8


@pytest.mark.parametrize("field", ["tags", "digest", "mask"])
def test_a_changed_proof_or_mask_ends_the_session(monkeypatch, field):
    def change(sent):
        changed = getattr(sent, field).values.copy()
        changed.reshape(-1)[0] ^= 1
        object.__setattr__(getattr(sent, field), "values", changed)

    bent(monkeypatch, TransferProof, change)
    x, y, _ = compare(64, 8)

    def twice(step):  # the second batch is the one that a mask serves
        return lambda engine: (step(engine), step(engine))

    # A bit of a mask touches one tree: it passes where it guesses that tree's bits.
    assert any(ends(twice(x), twice(y)) for _ in range(20 if field == "mask" else 1))


@pytest.mark.parametrize("leaves", [False, True], ids=["stays", "leaves"])
def test_a_peer_that_uses_both_choices_gets_nothing_sent_under_the_pads(monkeypatch, leaves):
    """Half of the trees with one choice, half with the other one: each pad then holds 64 bits of D alone.

    A correction under such pads, differing by few values, would give D to whoever meets in the middle, and a
    peer that leaves before its proof would not be found out. So no correction leaves before the proof.
    """
    honest, sent = Channel.send, []

    def send(self, message):
        sent.append(type(message))
        if leaves and isinstance(message, TransferProof):
            raise UsageError("The peer leaves.", "")
        if isinstance(message, TransferColumns):
            message.matrix.values[:16] ^= 255
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    bits = np.zeros(64, dtype=np.uint8)
    with pytest.raises(DuettoError, match="leaves" if leaves else "not consistent"):
        both(lambda engine: engine.bits_to_arithmetic(bits), lambda engine: engine.bits_to_arithmetic(bits))
    assert TransferColumns in sent
    assert TransferCorrections not in sent


def test_a_batch_that_is_sent_again_for_another_key_draws_another_key():
    """The key of a piece depends on all matrices of its kind and direction so far, and on nothing else."""
    matrices = RANDOM.words(3 * 32 * 2).reshape(3, 32, 2)
    columns = RANDOM.words(128 * 2).reshape(128, 2)
    kernels = make_kernels(Workspace())

    def digest(name, order):
        prover = Prover(1, kernels, name)
        prover.begin(matrices[0], columns[:1], columns)
        for number in order:
            prover.add(matrices[number], columns[:1], columns)
        return prover.prove()[1].tobytes()

    runs = [(b"a", (1, 2)), (b"a", (2, 1)), (b"a", (1, 1)), (b"b", (1, 2))]
    assert len({digest(*run) for run in runs}) == len(runs)
    assert digest(*runs[0]) == digest(*runs[0])


def test_a_check_without_silent_transfers_since_the_last_one_sends_nothing():
    def run(engine):
        bits = np.ones(64, dtype=np.uint8)
        engine.and_bits(bits, bits)
        before = engine._channel.traffic
        engine.verify()
        assert engine._channel.traffic == before
        return engine._role is Role.ALICE

    assert both(run, run)[0][0]


def silently(count=64, bits=8):
    """Both sides of silent comparisons, each with a check at its end."""
    values = RANDOM.words(2 * count).reshape(2, count) >> np.uint64(64 - bits)

    def x(engine):
        found = engine.greater_equal_x(values[0], bits, silent=True)
        engine.verify()
        return found

    def y(engine):
        found = engine.greater_equal_y(values[1], bits, silent=True)
        engine.verify()
        return found

    return x, y, values[0] >= values[1]


def test_honest_silent_transfers_pass_check_after_check():
    x, y, expected = silently()

    def twice(step):
        return lambda engine: (step(engine), step(engine))

    (mine, _), (theirs, _) = both(twice(x), twice(y))
    for one, other in zip(mine, theirs, strict=True):
        assert ((one ^ other) == expected).all()


@pytest.mark.parametrize("level", [0, PRODUCTION.depth - 1])
def test_a_bent_sum_of_a_silent_refill_ends_the_session(monkeypatch, level):
    """The receiver uses the sum on every path, and the sender cannot tell how that changes its leaves."""

    def change(sent):
        sums = sent.sums.values.reshape(-1, PRODUCTION.depth, PRODUCTION.group, ROW_BYTES).copy()
        sums[0, level, 0, 5] ^= 4
        object.__setattr__(sent.sums, "values", sums.reshape(1, -1))

    bent(monkeypatch, Refill, change)
    assert ends(*silently()[:2])


def test_one_silent_tree_of_another_difference_ends_the_session(monkeypatch):
    honest = PuncturedTrees.grow
    seen = []

    def grow(self, seeds, offset):
        if not seen:
            seen.append(self)
            leaves, sums = honest(self, seeds, offset)
            other = offset ^ np.array([1 << 40, 0], dtype=np.uint64)
            self._number -= 1  # the same key
            bad, bad_sums = honest(self, seeds, other)
            leaves, sums = leaves.copy(), sums.copy()
            leaves.reshape(-1, PRODUCTION.group, 2)[:, 0] = bad.reshape(-1, PRODUCTION.group, 2)[:, 0]
            sums[:, 0] = bad_sums[:, 0]
            return leaves, sums
        return honest(self, seeds, offset)

    monkeypatch.setattr(PuncturedTrees, "grow", grow)
    assert ends(*silently()[:2])


def test_the_proof_of_an_earlier_session_ends_the_session(monkeypatch):
    kept = {}  # by length: whether Alice's or Bob's goes out first is open

    def keep(sent):
        kept[len(sent.tags.values)] = (sent.tags.values, sent.digest.values)

    bent(monkeypatch, TransferProof, keep)
    both(*compare(64, 8)[:2])
    monkeypatch.undo()

    def replay(sent):
        tags, digest = kept[len(sent.tags.values)]
        object.__setattr__(sent.tags, "values", tags)
        object.__setattr__(sent.digest, "values", digest)

    bent(monkeypatch, TransferProof, replay)
    assert ends(*compare(64, 8)[:2])


def test_rows_that_are_equal_by_design_give_unlike_pads():
    """Trees that were drawn until two rows are equal: what is hashed differs by the salt."""
    columns = np.tile(RANDOM.words(128)[:, None] & np.uint64(1), (1, HASH_WORDS))
    columns = np.negative(columns)  # all rows of the block are equal
    hashing = RowHash(bytes(32), Role.ALICE, b"purpose1", Workspace(), RANDOM.bytes(16))
    salted = columns.copy()
    hashing.add_salt(salted)
    pads = hashing.words(salted, NO_OFFSET)[0]
    assert len(np.unique(pads)) == pads.size


def test_rows_of_different_blocks_that_are_equal_by_design_are_given_unlike():
    """Rows that others hash, all under one key: drawn trees must not make two of them equal in any blocks."""
    hashing = RowHash(bytes(32), Role.ALICE, b"purpose1", Workspace(), RANDOM.bytes(16))
    seen = []
    for _ in range(2):  # two batches of two blocks
        columns = np.zeros((128, 2 * HASH_WORDS), dtype=np.uint64)
        hashing.add_salt(columns)
        seen.append(hashing.rows(columns, NO_OFFSET)[0].reshape(-1, 2))
    rows = np.concatenate(seen)
    assert len(np.unique(rows, axis=0)) == len(rows) == 4 * 64 * HASH_WORDS


@pytest.mark.parametrize("method", ["words", "blocks"])
def test_transfers_over_rows_that_are_equal_by_design_have_unlike_pads(monkeypatch, method):
    """As above, where the tweak is used: both ends add it, and the check has nothing against such rows."""
    for end in (BitReceiver, BitSender):
        honest = end.extend

        def extend(self, given, *columns, honest=honest):
            found = honest(self, given, *columns)
            rows = columns[0] if columns else found
            if rows.shape[1] != MASK_WORDS:  # those of the mask have choices of their own
                rows[:] = 0
            return found

        monkeypatch.setattr(end, "extend", extend)
    choices = np.zeros(64 * (MASK_WORDS + 1), dtype=np.uint8)
    deltas = np.zeros(len(choices), dtype=np.uint64)
    if method == "words":
        (sent, _), (received, _) = both(lambda e: e.correlate(deltas), lambda e: e.receive(choices))
        pads = np.negative(sent)
    else:
        ((pads, _), _), (received, _) = both(
            lambda e: e.send_blocks(len(choices)), lambda e: e.receive_blocks(choices)
        )
    assert np.array_equal(pads, received)
    assert len(np.unique(received, axis=0)) == len(received)


def test_names_of_transfers_differ_by_session_direction_and_kind():
    """They are in the keys of checks: those of an earlier session serve no other one."""
    names = set()
    for session in (bytes(32), bytes(31) + b"\1"):
        shared = Conversation(session, Role.ALICE, None, RANDOM, Workspace())
        names |= {shared.name(role, kind) for role in Role for kind in KINDS}
    assert len(names) == 2 * len(Role) * len(KINDS)


def silent_sums(kind, mask):
    """Sums of one end of silent transfers."""
    return kind(bytes(32), Role.ALICE, make_kernels(Workspace()), mask)


def test_the_key_of_a_silent_block_depends_on_all_blocks_before_it():
    """Else a sender would draw keys of a block as it likes, and change another one alone."""
    mask, rows = np.zeros((MASK_ROWS, 2), dtype=np.uint64), RANDOM.words(256).reshape(128, 2)
    first, other, second = RANDOM.words(3 * 8).reshape(3, 8)

    def total(*messages):
        sums = silent_sums(SenderSums, mask)
        for number, message in enumerate(messages):
            # The first block's leaves are zero, so that only the key of the last one counts.
            sums.add(message, rows if number == len(messages) - 1 else np.zeros_like(rows), marked=False)
        sums.end_iteration(mask)
        sums.count_in(1)
        return sums._hide().tobytes()

    assert total(first, second) == total(first, second)
    assert len({total(first, second), total(other, second), total(second)}) == 3


class Heard:
    """A channel that keeps what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(message)


def test_a_silent_challenge_tells_nothing_of_the_places_of_missing_leaves():
    """Theorem 4 of docs/proofs/transfers.md: over the mask's random choices each challenge is as likely.

    A challenge is the sum of places plus a linear image of the mask's 128 choices, and that has full rank.
    """

    def challenge(choices, places):
        mask, rows = (np.zeros((MASK_ROWS, 2), dtype=np.uint64) for _ in range(2))
        mask[:, 0], rows[:, 0] = choices, places
        sums = silent_sums(ReceiverSums, mask)
        sums.add(np.zeros(8, dtype=np.uint64), rows, marked=True)
        sums.end_iteration(mask)
        sums.count_in(1)
        heard = Heard()
        sums.challenge(heard)
        return int.from_bytes(heard.sent[0].words.values.tobytes(), "little")

    none = np.zeros(MASK_ROWS, dtype=np.uint64)
    some = none.copy()
    some[[3, 77]] = 1
    assert challenge(none, some) != challenge(none, none) == 0
    images = [challenge(unit, none) for unit in np.eye(MASK_ROWS, dtype=np.uint64)]
    assert rank(images) == MASK_ROWS
    assert challenge(some, some) == challenge(some, none) ^ challenge(none, some)


def rank(rows):
    """Of a matrix over bits, whose rows are integers."""
    kept = []
    for row in rows:
        for one in kept:
            row = min(row, row ^ one)  # noqa: PLW2901
        if row:
            kept.append(row)
    return len(kept)


def test_silent_transfers_that_are_unchecked_hold_messages_back():
    def forgetful(session):
        engine = session.oblivious
        engine.setup_silent()
        engine.verify()
        if session.role is Role.ALICE:
            engine.send_blocks(64, silent=True)
        else:
            engine.receive_blocks(np.zeros(64, dtype=np.uint8), silent=True)
        with pytest.raises(UsageError, match="unchecked transfers"):
            session.channel.send(OpenedBits(Bits(np.zeros(8, dtype=np.uint8))))
        engine.verify()
        return True

    assert run_pair(forgetful, forgetful) == (True, True)
