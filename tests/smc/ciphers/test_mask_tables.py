"""Tables for masks that outlive a session."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import gmpy2
import pytest

from smc.ciphers.masks import Masks, MaskTables
from smc.ciphers.paillier import OwnPaillier, Paillier
from smc.forms import Role
from smc.numeric.modular import FixedBases
from tests.support.keys import toy
from tests.support.seeds import seeded

KEY, OTHER = toy(Role.ALICE), toy(Role.BOB)
POOL = ThreadPoolExecutor(2)


def masks(tables: MaskTables, prime: gmpy2.mpz) -> Masks:
    return Masks(prime, prime, prime * prime, seeded(), POOL, tables)


@pytest.mark.parametrize("batches", [[300], [1] * 150, [43, 1, 1, 60], [10, 200], [75, 1, 1]])
def test_masks_are_distinct_powers_however_they_are_drawn(batches: list[int]) -> None:
    tables = MaskTables()
    source = masks(tables, KEY.p)
    drawn = [mask for batch in batches for mask in source.draw(batch)]
    assert len(set(drawn)) == len(drawn) == sum(batches)
    assert all(gmpy2.powmod(mask, KEY.p - 1, KEY.p_squared) == 1 for mask in drawn)
    assert len(tables) == int(sum(batches) >= 77)


def test_the_next_session_takes_the_table_over() -> None:
    tables = MaskTables()
    first = OwnPaillier(KEY, seeded(), POOL, tables)
    first.encrypt([0] * 200)
    assert len(tables) == 2
    before = tables.find((int(KEY.p), int(KEY.p_squared)))
    second = OwnPaillier(KEY, seeded(), POOL, tables)
    encrypted = second.encrypt(list(range(300)))
    assert second.decrypt(encrypted) == list(range(300))
    assert len(set(encrypted.values)) == 300
    assert tables.find((int(KEY.p), int(KEY.p_squared))) is before
    assert len(tables) == 2


def test_keys_do_not_share_tables() -> None:
    tables = MaskTables()
    for key in (KEY, OTHER):
        cipher = Paillier(key.public, seeded(), POOL, tables)
        encrypted = cipher.encrypt([7] * 200)
        assert OwnPaillier(key, seeded(), POOL, tables).decrypt(encrypted) == [7] * 200
    assert len(tables) == 2


def test_a_table_is_computed_once_whoever_asks() -> None:
    tables = MaskTables()
    built: list[FixedBases] = []
    together = Barrier(4)

    def build() -> FixedBases:
        built.append(FixedBases([3], 1009, 2, 2, POOL))
        return built[-1]

    def ask(number: int) -> FixedBases:
        together.wait(10)
        return tables.get((1, 1009), build)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(ask, range(4)))
    assert len(built) == 1
    assert all(table is built[0] for table in found)


def test_a_failed_computation_is_no_obstacle() -> None:
    tables = MaskTables()

    def fail() -> FixedBases:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        tables.get((1, 1009), fail)
    assert tables.get((1, 1009), lambda: FixedBases([3], 1009, 2, 2, POOL)).width == 2


def test_the_least_used_table_goes() -> None:
    tables = MaskTables(2)
    for modulus in (1009, 1013):
        tables.get((1, modulus), lambda: FixedBases([3], 1009, 2, 2, POOL))
    tables.find((1, 1009))
    tables.get((1, 1019), lambda: FixedBases([3], 1009, 2, 2, POOL))
    assert tables.find((1, 1013)) is None
    assert tables.find((1, 1009)) is not None
    assert len(tables) == 2


def test_nothing_secret_is_shown() -> None:
    tables = MaskTables()
    source = masks(tables, KEY.p)
    source.draw(100)
    assert str(KEY.p) not in repr(tables) + repr(source)
    assert str(KEY.p_squared) not in repr(tables) + repr(source)
