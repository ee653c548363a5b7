"""Random transfers of 128 bits."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import UsageError
from smc.oblivious.cost import matrix_bytes
from tests.smc.oblivious.engine_runs import both
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic

RANDOM = seeded()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 70_000])
def test_the_receiver_gets_the_pad_that_it_chose(count):
    choices = RANDOM.bits(count)

    def receive(engine):
        engine.setup()
        return engine.receive_blocks(choices)

    (pads, there), ((zero, one), _) = both(receive, lambda e: e.send_blocks(count))
    assert pads.shape == zero.shape == one.shape == (count, 2)
    assert (pads == np.where(choices[:, None] == 1, one, zero)).all()
    assert (zero != one).any(axis=1).all()
    (_, before), _ = both(lambda e: e.setup(), lambda e: e.setup())
    assert there.sent - before.sent == matrix_bytes(count)


def test_pads_are_uniform_and_fresh():
    count = 20_000
    choices = np.zeros(count, dtype=np.uint8)

    def twice(call):
        return lambda e: (call(e), call(e))

    ((first, second), _), _ = both(
        twice(lambda e: e.receive_blocks(choices)), twice(lambda e: e.send_blocks(count))
    )
    assert byte_statistic(first.tobytes()) < BYTES_BOUND
    assert byte_statistic((first ^ second).tobytes()) < BYTES_BOUND


def test_choices_are_bits():
    with pytest.raises(UsageError, match="zeros and ones"):
        both(lambda e: e.receive_blocks(np.array([2], dtype=np.uint8)), lambda e: e.send_blocks(1))
