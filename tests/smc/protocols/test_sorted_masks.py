"""Masks in order: their layout, the way there and back, and what of the peer's is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.errors import ProtocolViolation
from smc.protocols.intersection.sorted_masks import STATISTICAL_BITS, MaskLayout, locate, pack
from tests.support.seeds import seeded

RANDOM = seeded()


def values(count):
    return RANDOM.words(2 * count).reshape(-1, 2)


@given(st.integers(1, 1 << 27), st.integers(1, 1 << 27))
def test_masks_are_wide_enough(own, peer):
    layout = MaskLayout.of(own, peer)
    bits = layout.upper + 8 * layout.lower
    assert own * peer * 2.0**-bits < 2**-STATISTICAL_BITS
    assert own * peer * 2.0 ** (1 - bits) >= 2.0 ** -(STATISTICAL_BITS + 1)
    # As many bits one by one, in whole bytes, are never fewer.
    assert layout.size <= own * -(-bits // 8) + 8


@pytest.mark.parametrize(
    ("own", "peer", "most"), [(10**6, 10**6, 8.14), (10**7, 10**4, 7.18), (10**4, 10**7, 8.3), (1, 1, 8)]
)
def test_a_mask_takes_few_bytes(own, peer, most):
    assert MaskLayout.of(own, peer).size <= most * own


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 100))
def test_common_masks_are_found_and_no_others(own, common, peer):
    offered = values(own)
    wanted = np.concatenate([offered[: min(common, own)], values(peer)])
    wanted = wanted[RANDOM.permutation(len(wanted))]
    layout = MaskLayout.of(max(own, 1), len(wanted)) if own else MaskLayout(0, 40, 1)
    if not own:
        return
    octets, order = pack(layout, offered)
    assert len(octets) == layout.size
    places = locate(layout, octets, wanted)
    known = {row.tobytes(): number for number, row in enumerate(offered)}
    assert [order[p] if p >= 0 else -1 for p in places] == [known.get(row.tobytes(), -1) for row in wanted]


@pytest.mark.parametrize("layout", [MaskLayout(500, 3, 1), MaskLayout(500, 0, 2), MaskLayout(500, 9, 8)])
def test_masks_that_agree_in_part_are_told_apart(layout):
    """Few bits, so that many begin alike, or are the same."""
    few = values(500)
    few[:, 1] &= np.uint64(0xFF00000000000001)
    octets, order = pack(layout, few)
    halves = list(zip(*(half.tolist() for half in layout.halves(few)), strict=True))
    wanted = values(200)
    wanted[:100] = few[:100]
    own = list(zip(*(half.tolist() for half in layout.halves(wanted)), strict=True))
    for mask, place in zip(own, locate(layout, octets, wanted).tolist(), strict=True):
        assert (halves[order[place]] == mask) if place >= 0 else (mask not in halves)


@pytest.mark.parametrize(
    ("layout", "kept"),
    [
        (MaskLayout.of(2000, 10), (1 << 64) - 1),
        (MaskLayout(2000, 4, 8), 0xFF),  # the first 64 bits agree for many, the last ones do not
        (MaskLayout(2000, 30, 8), 0xFF),
    ],
)
def test_the_form_says_nothing_of_the_order_of_values(layout, kept):
    some = values(2000)
    some[:, 1] &= np.uint64(kept)
    some[:, 0] &= np.uint64(0xF if kept == 0xFF else (1 << 64) - 1)
    assert pack(layout, some)[0].tobytes() == pack(layout, some[::-1].copy())[0].tobytes()


@pytest.mark.parametrize("bend", ["one more", "one less", "behind the end"])
def test_rows_of_bits_of_another_form_are_refused(bend):
    layout = MaskLayout(3, 4, 1)  # 18 bits in 3 bytes
    octets = np.zeros(layout.size, dtype=np.uint8)
    octets[0] = {"one more": 0b1111, "one less": 0b11, "behind the end": 0b11}[bend]
    octets[2] = 0b100 if bend == "behind the end" else 0
    with pytest.raises(ProtocolViolation):
        locate(layout, octets, values(2))
