"""Honest sessions end without an error: a check that fails by chance would close a peer that did nothing.

Each session has its own base transfers, trees, keys and checks. Ten thousand of them are a slow test.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.full_session import FullSession
from smc.protocols.intersection import exact
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts
from smc.secret.lattice.matrices import HeldMatrix, PeerMatrix, layout_of
from smc.secret.sharing.bounds import Bounds
from tests.support.seeds import seeded

RANDOM = seeded()
EVERYONE = frozenset(Role)
ROWS = 8
FEW, MANY = 12, 10_000
PARTS = 20
"""So many tests share the ten thousand, each with its own draws."""


def compared(session: FullSession, drawn: np.ndarray) -> bool:
    """Comparisons, products and an opening: 1-of-2 and 1-of-16 transfers of both directions."""
    x, y = (
        SecretInts.from_plain(
            session, values if session.role is owner else None, owner, Bounds(-100, 100), ROWS
        )
        for owner, values in zip(Role, drawn, strict=True)
    )
    found = (SecretInts.from_bits(x >= y) * x).reveal(EVERYONE)
    return bool((np.asarray(found) == (drawn[0] >= drawn[1]) * drawn[0]).all())


def silently(session: FullSession, drawn: np.ndarray) -> bool:
    """Comparisons by silent transfers: trees, their reserve, and what checks them."""
    engine, alice = session.oblivious, session.role is Role.ALICE
    own = (drawn[0 if alice else 1] + 100).tolist()
    bits = (engine.greater_equal_x if alice else engine.greater_equal_y)(own, 8, silent=True)
    found = SecretBits(session, np.asarray(bits, dtype=np.uint8)).reveal(EVERYONE)
    return bool((np.asarray(found) == (drawn[0] >= drawn[1])).all())


def matched(session: FullSession, drawn: np.ndarray) -> bool:
    """An intersection of keys."""
    own = drawn[0 if session.role is Role.ALICE else 1].astype(np.uint64)
    keys = np.stack([own, np.arange(ROWS, dtype=np.uint64)], axis=1)
    if session.role is Role.BOB:
        exact.send(session, keys, RowCount(ROWS))
        return True
    found = exact.receive(session, keys, RowCount(ROWS))
    return bool((np.asarray(found) == (drawn[0] == drawn[1])).all())


def multiplied(session: FullSession, drawn: np.ndarray) -> bool:
    """A product by lattice encryption, of which words of 64 bits are opened."""
    layout = layout_of(ROWS, 1, 1, 100, 64)
    assert layout is not None
    if session.role is Role.ALICE:
        shares = PeerMatrix(session, layout).times(drawn[0][:, None])
    else:
        shares = HeldMatrix(session, layout, np.full((1, 1), 7, dtype=np.uint64)).times(ROWS)
    found = SecretInts.from_shares(session, shares[:, 0], Bounds(-700, 700), 0).reveal(EVERYONE)
    return bool((np.asarray(found) == 7 * drawn[0]).all())


PROGRAMS: tuple[tuple[int, Callable[[FullSession, np.ndarray], bool]], ...] = (
    (1, compared),
    (4, matched),
    (6, multiplied),
    (12, silently),
)
"""Programs, and in every how many sessions each runs."""


def sessions(count: int) -> int:
    """So many honest sessions, all of which have to be right; how many programs they ran."""
    made = 0
    for number in range(count):
        drawn = np.array(RANDOM.below(201, 2 * ROWS), dtype=np.int64).reshape(2, ROWS) - 100
        drawn[1, ::3] = drawn[0, ::3]
        for each, program in PROGRAMS:
            if number % each:
                continue
            seeds = RANDOM.bytes(16)
            sources = tuple(Randomness.from_seed(seeds, role.value) for role in Role)
            found = run_pair(
                lambda session, run=program, given=drawn: run(session, given),
                randomness=(sources[0], sources[1]),
                workers=1,
            )
            assert all(found), (number, program.__name__)
            made += 1
    return made


def test_some_honest_sessions_end_without_an_alarm():
    assert sessions(FEW) == FEW + FEW // 4 + FEW // 6 + FEW // 12


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand_honest_sessions_end_without_an_alarm(part):
    assert sessions(MANY // PARTS) > MANY // PARTS, part
