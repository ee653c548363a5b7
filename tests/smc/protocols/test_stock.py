"""Which pools both parties keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from smc.channel.vectors import ByteRows
from smc.errors import ProtocolViolation, UsageError
from smc.oblivious.pool import PoolInfo
from smc.pair import run_pair
from smc.protocols.stock import PoolNames, compare_stock


class Kept:
    """Pools of which only the descriptions are there."""

    def __init__(self, *numbers: int) -> None:
        self._kept = [PoolInfo(bytes([number]) * 32, 64, 8, True) for number in numbers]

    def pools(self) -> Sequence[PoolInfo]:
        return self._kept

    def put(self, stored: PoolInfo, data: bytes) -> None:
        raise AssertionError("a comparison of stocks keeps nothing")

    def take(self, name: bytes) -> bytes | None:
        raise AssertionError("a comparison of stocks takes nothing out")


def compared(*kept: Kept | None) -> list[tuple[list[int], list[int]]]:
    def side(index: int):
        def go(session):
            session.precomputed = kept[index]
            stock = compare_stock(session, 4)
            return [p.name[0] for p in stock.common], [p.name[0] for p in stock.lost]

        return go

    return list(run_pair(side(0), side(1)))


def test_what_both_have_and_what_only_one_has() -> None:
    assert compared(Kept(1, 2, 3), Kept(3, 4, 1, 5)) == [([1, 3], [2]), ([3, 1], [4, 5])]


def test_who_keeps_none_makes_the_others_lost() -> None:
    assert compared(Kept(7), None) == [([], [7]), ([], [])]


def test_a_name_of_zeros_is_nobodys() -> None:
    assert compared(Kept(1), Kept(2)) == [([], [1]), ([], [2])]


def test_more_than_are_compared() -> None:
    with pytest.raises(UsageError, match="5 pools are kept, more than the 4"):
        compared(Kept(1, 2, 3, 4, 5), Kept())


def test_another_number_of_names_is_refused() -> None:
    def short(session) -> None:
        session.channel.send(PoolNames(ByteRows(np.zeros((3, 32), np.uint8))))

    with pytest.raises(ProtocolViolation):
        run_pair(lambda session: compare_stock(session, 4), short)
