"""What a party sees of a run: sizes that say nothing, and uniform bits."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.oblivious.base_ot import BaseAnswer, BaseKeyOffer, BaseKeys, BaseOffer
from smc.oblivious.prepared import Triples
from tests.smc.oblivious.engine_runs import both, compare
from tests.support.seeds import seeded

RANDOM = seeded()
BASE = {BaseOffer.kind(), BaseKeyOffer.kind(), BaseAnswer.kind()}
Z = 4.9  # standard deviations: a false alarm once in a million


def recorded(monkeypatch):
    """Bodies of all messages received, by receiving channel."""
    honest = Channel._message
    seen: dict[int, list[tuple[str, bytes]]] = {}

    def message(self, kind, size):
        data = honest(self, kind, size)
        seen.setdefault(id(self), []).append((kind, data))
        return data

    monkeypatch.setattr(Channel, "_message", message)
    return seen


@pytest.mark.parametrize("value", [0, (1 << 32) - 1])
def test_sizes_do_not_depend_on_inputs(monkeypatch, value):
    seen = recorded(monkeypatch)
    compare([value] * 33, [(1 << 32) - 1 - value] * 33, 32)
    sizes = sorted([(kind, len(data)) for kind, data in rows] for rows in seen.values())
    seen.clear()
    compare(RANDOM.below(1 << 32, 33), RANDOM.below(1 << 32, 33), 32)
    assert sizes == sorted([(kind, len(data)) for kind, data in rows] for rows in seen.values())


@pytest.mark.parametrize(("x", "y"), [(0, 0), (0, 255), (255, 0), (255, 255)])
def test_shares_and_views_are_uniform_for_constant_inputs(monkeypatch, x, y):
    count = 20_000
    seen = recorded(monkeypatch)
    (a, _), (b, _) = both(
        lambda e: e.greater_equal_x([x] * count, 8), lambda e: e.greater_equal_y([y] * count, 8)
    )
    for shares in (a, b):
        assert abs(int(shares.sum()) - count / 2) < Z * (count / 4) ** 0.5
    assert ((a ^ b) == (x >= y)).all()
    for rows in seen.values():
        for kind, data in rows:
            if kind in BASE:
                continue  # points, keys and ciphertexts: uniform in groups and rings, not as bytes
            bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8))
            padding = 7
            assert abs(int(bits.sum()) - len(bits) / 2) < Z * (len(bits) / 4) ** 0.5 + padding


def test_shares_are_independent_of_the_result():
    count = 40_000
    x, y = RANDOM.below(4, count), RANDOM.below(4, count)
    (a, _), (b, _) = both(lambda e: e.greater_equal_x(x, 2), lambda e: e.greater_equal_y(y, 2))
    truth = np.array([i >= j for i, j in zip(x, y, strict=True)])
    for shares in (a, b):
        for part in (truth, ~truth):
            ones, size = int(shares[part].sum()), int(part.sum())
            assert abs(ones - size / 2) < Z * (size / 4) ** 0.5


def test_word_shares_are_uniform_in_their_top_bits():
    count = 40_000
    bits = np.zeros(count, dtype=np.uint8)
    for shares, _ in both(lambda e: e.bits_to_arithmetic(bits), lambda e: e.bits_to_arithmetic(bits)):
        counts = np.bincount((shares >> np.uint64(60)).astype(int), minlength=16)
        statistic = float(((counts - count / 16) ** 2 / (count / 16)).sum())
        assert statistic < 56.5  # chi-square with 15 degrees, 1e-6


def test_secrets_are_not_in_reprs():
    secret = np.array([123456789], dtype=np.uint64)
    for record in (
        BaseKeys(b"s", [(b"k0", b"k1")], secret, b"n"),
        Triples(secret, secret, secret),
    ):
        assert "123456789" not in repr(record)
        assert "k0" not in repr(record)
