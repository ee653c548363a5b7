"""The dealer of the tests hands out what the real exchange does, in messages of the same kinds and sizes."""

from __future__ import annotations

import numpy as np
import pytest

from smc.forms import Role
from smc.oblivious.base_ot import TRANSFERS, exchange
from tests.support import dealt
from tests.support.transcript import shapes, transcripts


@pytest.mark.parametrize("way", [exchange, dealt.exchange])
def test_the_receiver_gets_the_chosen_key_of_each_pair(monkeypatch, way):
    (alice, bob), seen = transcripts(monkeypatch, lambda s: way(s.role, s.channel, s.random))
    for sender, receiver in ((alice, bob), (bob, alice)):
        for pair, choice, key in zip(sender.pairs, receiver.choices, receiver.chosen, strict=True):
            assert key == pair[choice] != pair[1 - choice]
        assert 100 < np.sum(receiver.choices) < TRANSFERS - 100
    assert alice.session == bob.session
    _, honest = transcripts(monkeypatch, lambda s: exchange(s.role, s.channel, s.random))
    assert shapes(seen) == shapes(honest)
    assert set(seen) == set(Role)
