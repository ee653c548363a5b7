"""The check of extended transfers: honest ones pass, and one that touches c bits of D passes once in 2**c."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.oblivious import correlated_transfers
from smc.oblivious.consistency import TransferChallenge, TransferProof
from smc.oblivious.correlated_transfers import TransferChoiceColumns, TransferColumns, TransferMask
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
    honest = Channel._send

    def send(self, sent, depth):
        if isinstance(sent, message):
            change(sent)
        honest(self, sent, depth)

    monkeypatch.setattr(Channel, "_send", send)


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


@pytest.mark.parametrize("message", [TransferProof, TransferChallenge])
def test_a_changed_proof_or_key_ends_the_session(monkeypatch, message):
    def change(sent):
        field = sent.digest if message is TransferProof else sent.seed
        changed = field.values.copy()
        changed[0, 0] ^= 1
        object.__setattr__(field, "values", changed)

    bent(monkeypatch, message, change)
    x, y, _ = compare(64, 8)
    with pytest.raises(ProtocolViolation, match="not consistent"):
        both(x, y)


def test_a_key_for_transfers_that_nobody_made_is_refused(monkeypatch):
    honest = correlated_transfers.Sender.send

    def twice(self, width, form):
        found = honest(self, width, form)
        self._checker.tell(self._checker.batch())
        return found

    monkeypatch.setattr(correlated_transfers.Sender, "send", twice)
    x, y, _ = compare(64, 8)
    with pytest.raises(ProtocolViolation):
        both(x, y)


def test_a_check_without_transfers_since_the_last_one_sends_nothing():
    def run(engine):
        engine.setup()
        before = engine._channel.traffic
        engine.verify()
        assert engine._channel.traffic == before
        bits = np.ones(64, dtype=np.uint8)
        engine.and_bits(bits, bits)
        engine.verify()
        after = engine._channel.traffic
        engine.verify()
        assert engine._channel.traffic == after
        return engine._role is Role.ALICE

    assert both(run, run)[0][0]
