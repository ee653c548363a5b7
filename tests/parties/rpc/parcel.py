"""A message for tests of the network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smc.channel.message import Message
from smc.channel.vectors import ByteRows

SIZE = 64


@dataclass(frozen=True)
class Parcel(Message, kind="test-parcel"):
    """Some bytes."""

    body: ByteRows


def parcel(data: bytes) -> Parcel:
    """A parcel of these bytes."""
    return Parcel(ByteRows(np.frombuffer(data, dtype=np.uint8).reshape(1, -1)))
