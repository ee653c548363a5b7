"""Looking at what is sent, and spoiling it."""

from __future__ import annotations

import numpy as np

from smc.channel.channel import Channel
from tests.support.transcript import Shortened

_DEVIATIONS = 4.9
"""A standard normal variable is beyond this on either side with probability 1e-6."""


def chi_square(octets):
    """Whether bytes look uniform; false alarm rate 1e-6 (Wilson and Hilferty's approximation)."""
    counts = np.bincount(np.asarray(octets).reshape(-1), minlength=256)
    expected = counts.sum() / 256
    degrees = 255
    statistic = ((counts - expected) ** 2 / expected).sum()
    spread = 2 / (9 * degrees)
    return bool(abs((statistic / degrees) ** (1 / 3) - (1 - spread)) < _DEVIATIONS * spread**0.5)


def spoiled(monkeypatch, kind):
    """Let every message of this kind lose a byte."""
    honest = Channel.send

    def send(self, message):
        honest(self, Shortened(message) if type(message).__name__ == kind else message)

    monkeypatch.setattr(Channel, "send", send)
