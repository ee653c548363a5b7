"""A run of both parties in one process, with what it sent and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from smc.channel.channel import Traffic
from smc.pair import run_pair
from smc.protocols.full_session import FullSession


@dataclass(frozen=True, slots=True)
class PairRun:
    """A run of both parties in one process.

    Attributes:
        alice: what Alice's function returned.
        bob: what Bob's returned.
        rounds: the longest chain of messages of which each could only be sent after the one before it.
        alice_to_bob: bytes of messages that Alice sent.
        bob_to_alice: bytes of messages that Bob sent.
        seconds: by the clock, both parties on this machine and without a network.
    """

    alice: Any
    bob: Any
    rounds: int
    alice_to_bob: int
    bob_to_alice: int
    seconds: float


def measure_pair(
    alice: Callable[[FullSession], Any], bob: Callable[[FullSession], Any] | None = None, **options: Any
) -> PairRun:
    """Run two role functions against each other as `run_pair` does, and count what they send.

    Args:
        alice: called with Alice's session.
        bob: called with Bob's session; None stands for the same function.
        options: as of `run_pair`.

    Raises:
        Exception: as `run_pair`.
    """
    began = time.monotonic()

    def count(role: Callable[[FullSession], Any]) -> Callable[[FullSession], tuple[Any, Traffic]]:
        return lambda session: (role(session), session.channel.traffic)

    (first, sent), (second, answered) = run_pair(count(alice), count(bob or alice), **options)
    seconds = time.monotonic() - began
    return PairRun(first, second, max(sent.rounds, answered.rounds), sent.sent, answered.sent, seconds)
