"""The engine of the core: the same results as that of every session, and no silent transfers or pools."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import UsageError
from smc.forms import Role
from smc.pair import run_pair
from tests.support.plain_sessions import run_plain

NUMBERS = np.arange(100, dtype=np.uint64)
X, Y = NUMBERS << np.uint64(57), NUMBERS[::-1] << np.uint64(56)


def compared(session):
    """Comparison, AND with equality, and conversion of what comes out."""
    engine, is_alice = session.oblivious, session.role is Role.ALICE
    at_least = engine.greater_equal_x(X, 64) if is_alice else engine.greater_equal_y(Y, 64)
    same = engine.equal((NUMBERS if is_alice else NUMBERS[::-1]) % 3, 2, holds_x=is_alice)
    return engine.bits_to_arithmetic(engine.and_bits(at_least, same)), session.channel.traffic


def test_an_engine_of_the_core_computes_and_sends_what_every_engine_does():
    told = []
    for run in (run_plain, run_pair):
        (alice, there), (bob, back) = run(compared)
        assert np.array_equal(alice + bob, (X >= Y) & (NUMBERS[::-1] % 3 == NUMBERS % 3))
        told.append((there, back))
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "step",
    [
        lambda engine: engine.setup_silent(),
        lambda engine: engine.order_silent(1),
        lambda engine: engine.deliver(1),
        lambda engine: engine.greater_equal_x(X, 64, silent=True),
        lambda engine: engine.below(X, Y, silent=True),
        lambda engine: engine.send_blocks(5, silent=True),
        lambda engine: engine.receive_blocks(np.ones(5, np.uint8), silent=True),
    ],
)
def test_an_engine_of_the_core_makes_extended_transfers_alone(step):
    def program(session):
        with pytest.raises(UsageError, match="extended transfers alone"):
            step(session.oblivious)
        return session.channel.traffic.sent

    assert run_plain(program) == (0, 0)
    with pytest.raises(AttributeError):
        run_plain(lambda session: session.oblivious.use_pool)
