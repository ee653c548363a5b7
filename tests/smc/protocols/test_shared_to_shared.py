"""Shares modulo one number to shares modulo another: every share of small values, and large moduli."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from smc.forms import ComparisonType, Role
from smc.moduli import Modulus
from smc.pair import run_pair
from smc.planning.route import plan_comparison
from smc.protocols.conversion.shared_to_shared import SPEC
from smc.protocols.correlated import CorrelatedCorrections
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.values import Share
from tests.smc.planning.test_every_type import compare, expected
from tests.support.holdings import edge_pairs, number
from tests.support.keys import toy
from tests.support.transcript import BYTES_BOUND, byte_statistic, transcripts

KEYS = (toy(Role.ALICE), toy(Role.BOB))
N = number(Role.ALICE, KEYS)
Rows = Sequence[tuple[int, int]]


def convert(session: Session, rows: Rows, bits: int, taken: int, gives: int, mirrored: bool) -> Share:
    """One side of converting (value, Alice's share)."""
    alice = session.role is Role.ALICE
    own = [share if alice else (value - share) % taken for value, share in rows]
    given = Parameters(len(rows), bits, 512, 512, taken, gives)
    assert SPEC.applies(given)
    result = (SPEC.alice if alice is not mirrored else SPEC.bob)(session, given, Share(own, taken))
    assert isinstance(result, Share)
    assert result.modulus == gives
    assert all(0 <= share < gives for share in result.values)
    return result


def check(cases: Sequence[tuple[Rows, int, int, int]], *, mirrored: bool = False) -> None:
    """Convert all cases, each rows, bits, modulus in and modulus out, in one session."""

    def party(session: Session) -> list[Share]:
        return [convert(session, *case, mirrored) for case in cases]

    for (rows, _, taken, gives), first, second in zip(cases, *run_pair(party, party), strict=True):
        found = [(int(a) + int(b)) % gives for a, b in zip(first.values, second.values, strict=True)]
        assert found == [value for value, _ in rows], (taken, gives)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_all_shares_of_all_values_modulo_all_small_numbers(bits: int, mirrored: bool) -> None:
    cases = [
        (list(product(range(1 << bits), range(taken))), bits, taken, gives)
        for taken, gives in product(range(2 << bits, 21), range(1 << bits, 13))
        if taken != gives
    ]
    check(cases, mirrored=mirrored)


LARGE = [1 << 32, 10**9 + 7, (1 << 32) + 15, (1 << 63) - 25, 1 << 63, (1 << 64) - 59, 1 << 64, (1 << 64) + 13]
LARGE += [1 << 128, (1 << 256) - 189, N]


@pytest.mark.parametrize("taken", LARGE)
def test_shares_at_the_borders_of_large_moduli(taken: int) -> None:
    bits = taken.bit_length() - 2
    cases = []
    for gives in (*LARGE, 2, 3, 5, 255, 256):
        fit = min(bits, gives.bit_length() - 1)
        values = sorted({0, 1, 1 << fit - 1, (1 << fit) - 1})
        shares = sorted({0, 1, taken // 2 - 1, taken // 2, (taken + 1) // 2, taken - 2, taken - 1})
        if gives != taken:
            cases.append((list(product(values, shares)), fit, taken, gives))
    check(cases)


@pytest.mark.parametrize("gives", [6, 256, 10**9 + 7, 1 << 64, (1 << 64) - 59, N])
@pytest.mark.parametrize(("value", "share"), [(0, 0), (0, 999), (5, 0), (5, 600)])
def test_both_shares_are_uniform_whatever_the_values_are(gives: int, value: int, share: int) -> None:
    """Chi-square with 4 degrees of freedom exceeds 33.4 once in a million."""
    count, taken = 4000, 1000

    def party(session: Session) -> Share:
        return convert(session, [(value, share)] * count, 2 if gives == 6 else 8, taken, gives, False)

    for half in run_pair(party, party):
        parts = np.bincount([int(own) * 5 // gives for own in half.values], minlength=5)
        sizes = np.array([-(-gives * (i + 1) // 5) - -(-gives * i // 5) for i in range(5)], dtype=float)
        wanted = sizes / gives * count
        assert ((parts - wanted) ** 2 / wanted).sum() < 33.4


@pytest.mark.parametrize("share", [0, (1 << 64) - 1])
def test_what_bob_receives_is_noise(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def party(session: Session) -> Any:
        return convert(session, [(3, share)] * 4000, 8, 1 << 64, 1 << 40, False)

    _, seen = transcripts(monkeypatch, party)
    body = next(data for kind, data in seen[Role.BOB] if kind == CorrelatedCorrections.__name__)
    assert len(body) == 5 * 4000
    assert byte_statistic(body) < BYTES_BOUND


def test_values_need_room_below_half_of_the_modulus() -> None:
    def fits(bits: int, taken: Modulus, gives: Modulus, key_bits: int = 512) -> bool:
        return SPEC.applies(Parameters(1, bits, key_bits, 512, taken, gives))

    assert fits(8, 512, 256)
    assert not fits(8, 511, 256)
    assert not fits(8, 512, 512)
    assert fits(64, Role.ALICE, 1 << 64)
    assert fits(64, Role.ALICE, Role.BOB)
    assert not fits(64, Role.ALICE, Role.ALICE)
    assert fits(62, Role.ALICE, 1 << 64, 64)
    assert not fits(63, Role.ALICE, 1 << 64, 64)


@pytest.mark.parametrize("engine", ["oblivious", "silent"])
@pytest.mark.parametrize("modulus", [Role.ALICE, Role.BOB], ids=str)
def test_shares_modulo_a_key_are_compared_without_ciphertexts(modulus: Role, engine: str) -> None:
    given = Parameters(1000, 32, 3072, 3072)
    plan = plan_comparison(
        ComparisonType.parse("SS-SS-SS"), given, engine=engine, x_modulus=modulus, y_modulus=modulus
    )
    assert plan.route == f"x: shared-to-shared; y: shared-to-shared; shared [{engine}]"


@pytest.mark.parametrize("engine", ["oblivious", "auto"])
@pytest.mark.parametrize(
    "moduli", [(1 << 64, Role.BOB), (10**9 + 7, 1 << 32), (Role.ALICE, Role.BOB)], ids=str
)
def test_inputs_of_different_moduli_can_be_compared(moduli: tuple[Modulus, Modulus], engine: str) -> None:
    pairs = edge_pairs(8)
    kind = ComparisonType.parse("SS-SS-SS")
    results, _ = compare(kind, pairs, 8, engine=engine, modulus=moduli[0], y_modulus=moduli[1])
    assert results == expected(pairs)


@pytest.mark.parametrize("moduli", [(1 << 64, 2), (2, 7), (2, 2), (Role.ALICE, 2)], ids=str)
def test_bits_of_different_moduli_can_be_compared(moduli: tuple[Modulus, Modulus]) -> None:
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)] * 4
    kind = ComparisonType.parse("SS-SS-SS")
    results, _ = compare(kind, pairs, 1, engine="oblivious", modulus=moduli[0], y_modulus=moduli[1])
    assert results == expected(pairs)
