"""The dealer of the tests hands out what the real exchange does, in messages of the same kinds and sizes."""

from __future__ import annotations

import numpy as np
import pytest

from smc.forms import Role
from smc.oblivious.base_ot import BaseTransfers
from tests.smc.oblivious.test_base_ot import exchanging
from tests.support import dealt
from tests.support.transcript import shapes, transcripts


@pytest.mark.parametrize("way", [BaseTransfers, dealt.BaseTransfers])
def test_the_receiver_gets_the_chosen_key_of_each_pair(monkeypatch, way):
    count = 64
    (alice, bob), seen = transcripts(monkeypatch, exchanging(count, way))
    for (sent, _), (received, chosen) in ((alice, bob), (bob, alice)):
        for pair, choice, key in zip(sent.pairs, received.choices, chosen, strict=True):
            assert key == pair[choice] != pair[1 - choice]
        assert 10 < np.sum(received.choices) < count - 10
    assert alice[0].session == bob[0].session
    _, honest = transcripts(monkeypatch, exchanging(count))
    assert shapes(seen) == shapes(honest)
    assert set(seen) == set(Role)
