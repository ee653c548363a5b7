"""The named deviations: whatever has to end somehow has tests, and they are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.named import EVERY, PRODUCTS, STORES, TRANSFERS, End, Named

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("named", EVERY, ids=lambda named: named.what)
def test_what_is_said_to_be_tested_is(named: Named):
    for test in (*named.tests, *named.audits):
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), test


@pytest.mark.parametrize("named", EVERY, ids=lambda named: named.what)
def test_each_end_has_its_tests_and_open_ones_have_none(named: Named):
    if named.end in (End.ERROR, End.HARMLESS):
        assert named.tests
    assert bool(named.audits) == (named.end is End.UNSEEN)
    if named.end is End.OPEN:
        assert not named.tests


def test_there_is_room_for_the_twelve_of_transfers_and_four_of_products_and_of_stores():
    assert (len(TRANSFERS), len(PRODUCTS), len(STORES)) == (12, 4, 4)
    assert all(named.tests for named in (*TRANSFERS, *PRODUCTS, *STORES))
    assert len({named.what for named in EVERY}) == len(EVERY)
