"""Packs of numbers in plaintexts and ciphertexts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.ciphers.packing import Packing
from smc.ciphers.paillier import OwnPaillier, Paillier
from smc.errors import FreshnessError, KeyMaterialError, ProtocolViolation, UsageError
from smc.forms import Role
from tests.support.keys import paper, toy
from tests.support.seeds import seeded

KEY = toy(Role.ALICE)
POOL = ThreadPoolExecutor(2)
OWN = OwnPaillier(KEY, seeded(), POOL)
PEER = Paillier(KEY.public, seeded(), POOL)


@given(st.integers(1, 90), st.integers(1, 5), st.data())
def test_known_numbers_come_back(slot_bits: int, slots: int, data: st.DataObject) -> None:
    packing = Packing(slot_bits, slots)
    values = data.draw(st.lists(st.integers(0, (1 << slot_bits) - 1), min_size=1, max_size=13))
    packs = packing.join(values)
    assert len(packs) == packing.packs(len(values))
    assert packs[0] == sum(v << slot_bits * i for i, v in enumerate(values[:slots]))
    assert packing.split(packs, len(values)) == values


@pytest.mark.parametrize("count", [1, 4, 5, 6, 50])
@pytest.mark.parametrize("slot_bits", [1, 66, 98, 102])
def test_ciphertexts_pack_like_numbers(slot_bits: int, count: int) -> None:
    packing = Packing(slot_bits, 5)
    values = seeded().below(1 << slot_bits, count)
    before = PEER.operations["square"]
    packs = packing.pack(PEER, PEER.encrypt(values))
    assert PEER.operations["square"] - before == packing.squarings(count) == (count - len(packs)) * slot_bits
    assert OWN.decrypt(packs) == packing.join(values)
    assert packing.split(OWN.decrypt(packs), count) == values
    with pytest.raises(FreshnessError):
        packs.encode()  # type: ignore[attr-defined]


def test_negative_numbers_come_right_once_offsets_are_added() -> None:
    packing = Packing(20, 6)
    values = [-5, 0, 7, -(1 << 18), 1 << 18, -1]
    packs = packing.pack(PEER, PEER.encrypt(values))
    lifted = PEER.add_plain(packs, packing.join([1 << 19] * 6))
    assert packing.split(OWN.decrypt(lifted), 6) == [v + (1 << 19) for v in values]


@pytest.mark.parametrize("key_bits", [512, 1024, 2048, 3072])
@pytest.mark.parametrize("slot_bits", [66, 98, 194])
def test_as_many_slots_as_fit_every_key_of_the_size(key_bits: int, slot_bits: int) -> None:
    packing = Packing.under(key_bits, slot_bits)
    smallest = (1 << key_bits - 1) + 1
    assert (1 << packing.slots * slot_bits) <= smallest
    assert (1 << (packing.slots + 1) * slot_bits) > 2 * smallest - 2
    assert packing.packs(packing.slots) == 1
    assert packing.packs(packing.slots + 1) == 2


def test_keys_too_small() -> None:
    with pytest.raises(KeyMaterialError, match="too small"):
        Packing.under(512, 512)
    with pytest.raises(KeyMaterialError, match="fewer slots"):
        Packing(256, 2).pack(PEER, PEER.encrypt([1, 2]))


def test_ciphertexts_of_another_key_are_refused() -> None:
    other = Paillier(paper(Role.ALICE).public, seeded(), POOL)
    with pytest.raises(KeyMaterialError, match="another key"):
        Packing(66, 2).pack(PEER, other.encrypt([1]))


@pytest.mark.parametrize("value", [-1, 16])
def test_numbers_too_large_for_a_slot(value: int) -> None:
    with pytest.raises(UsageError, match="does not fit"):
        Packing(4, 3).join([1, value])


def test_packs_that_run_over() -> None:
    packing = Packing(4, 3)
    assert packing.split([0xFFF, 0xF], 4) == [15, 15, 15, 15]
    for packs in ([0x1FFF, 0xF], [0xFFF, 0x1F]):
        with pytest.raises(ProtocolViolation, match="more than its slots"):
            packing.split(packs, 4)
    with pytest.raises(UsageError, match="packs"):
        packing.split([0xFFF], 4)
