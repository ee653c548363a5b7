"""The time of each step of the thesis's route for type 1 (section 8.1.4), for its Table 8.2.

Both parties are threads of this process with a channel in memory, so that both can wait for each other at the
borders of the steps and the wall time between two borders belongs to one step.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from smc.ciphers.keys import PrivateKey
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.comparison import encrypted, tree
from smc.protocols.conversion import bit_to_encrypted, encrypted_to_shared, shared_to_encrypted
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.values import Share, Value

_PATIENCE: Final = 600.0


class Clock:
    """Wall time between points that both parties have reached."""

    def __init__(self) -> None:
        self._meet = threading.Barrier(2)
        self._seconds: dict[str, list[float]] = {}

    @contextmanager
    def step(self, name: str, role: Role) -> Iterator[None]:
        """Meet the peer, do the step, meet the peer again; Alice keeps the time."""
        self._meet.wait(_PATIENCE)
        start = time.perf_counter()
        yield
        self._meet.wait(_PATIENCE)
        if role is Role.ALICE:
            self._seconds.setdefault(name, []).append(time.perf_counter() - start)

    def medians(self, skip: int) -> dict[str, float]:
        """Milliseconds of each step, the median of all runs but the first `skip`."""
        return {name: 1000 * statistics.median(times[skip:]) for name, times in self._seconds.items()}


def time_steps(keys: tuple[PrivateKey, PrivateKey], bits: int, repeat: int, skip: int) -> dict[str, float]:
    """The medians of `repeat - skip` comparisons of random numbers, in milliseconds.

    Args:
        keys: Alice's and Bob's.
        bits: bit bound of x and y.
        repeat: comparisons, one after the other in one session.
        skip: of how many at the start the time does not count.

    Raises:
        RuntimeError: a result is wrong.
    """
    clock = Clock()
    modulus = int(keys[0].public.n)
    given = Parameters(1, bits, keys[0].public.bits, keys[1].public.bits, modulus_in=modulus)
    random = Randomness()
    pairs = list(zip(random.below(1 << bits, repeat), random.below(1 << bits, repeat), strict=True))
    masks = [random.below(modulus, 2) for _ in pairs]

    def party(session: Session) -> list[int]:
        shares = [
            values
            if session.role is Role.ALICE
            else [(v - m) % modulus for v, m in zip(pair, values, strict=True)]
            for pair, values in zip(pairs, masks, strict=True)
        ]
        return [_compare(session, given, clock, x, y) for x, y in shares]

    alice, bob = run_pair(party, party, keys=keys, timeout=_PATIENCE)
    if [a ^ b for a, b in zip(alice, bob, strict=True)] != [int(x >= y) for x, y in pairs]:
        raise RuntimeError("The route gave a wrong result.")
    found = clock.medians(skip)
    return {**found, "step 2, outer": found["step 2"] - found["step 2, inner"]}


def _compare(session: Session, given: Parameters, clock: Clock, x: int, y: int) -> int:
    role = session.role
    code = {
        spec.name: spec.alice if role is Role.ALICE else spec.bob
        for spec in (
            *(shared_to_encrypted.SPEC, encrypted.SPEC, tree.SPEC),
            *(bit_to_encrypted.SPEC, encrypted_to_shared.SPEC),
        )
    }

    def inner(within: Parameters, inner_x: Value, inner_y: Value) -> Value:
        with clock.step("step 2, inner", role):
            shared = code["tree"](session, within, inner_x, inner_y)
            result: Value = code["bit-to-encrypted"](session, replace(within, bits=1, modulus_in=2), shared)
            return result

    with clock.step("step 1", role):
        numbers = [code["shared-to-encrypted"](session, given, Share([v], given.number_in)) for v in (x, y)]
    with clock.step("step 2", role):
        delta = code["encrypted"](session, replace(given, modulus_in=None), *numbers, inner)
    with clock.step("step 3", role):
        result: Share = code["encrypted-to-shared"](session, replace(given, bits=1, modulus_out=2), delta)
    return int(result.values[0])
