"""The watch over declared bounds can fail: it finds a wrong bound before any operation, and sends nothing."""

from __future__ import annotations

from pkgutil import resolve_name

import numpy as np
import pytest

from smc.forms import Role
from smc.pair import run_pair
from smc.secret.comparison import msb
from smc.secret.division import truncation
from smc.secret.sharing.bounds import Bounds
from tests.smc.secret.secret_runs import Secret, measured
from tests.support.held_bounds import GATED, LOW_BITS, OutsideBounds, watched

HELD = np.array([3, -1, 40])
RIGHT, WRONG = Bounds(-1, 40), (Bounds(0, 40), Bounds(-1, 39))
OPERATIONS = {
    "nonnegative": lambda a: msb.nonnegative(a.session, a.shares, a.bounds),
    "zero": lambda a: msb.zero(a.session, a.shares, a.bounds),
    "shift": lambda a: truncation.shift(a.session, a.shares, a.bounds, 2),
    "shift_near": lambda a: truncation.shift_near(a.session, [(a.shares, a.bounds, 2)]),
    "divide": lambda a: truncation.divide(a.session, a.shares, a.bounds, 3),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_wrong_bound_is_found_at_every_operation(name):
    secret = Secret(HELD, RIGHT)
    with watched() as watch:
        unseen = measured(OPERATIONS[name], secret)
    assert watch.seen[f"{__name__}.<lambda>"] == 3
    assert unseen == measured(OPERATIONS[name], secret)
    for bounds in WRONG:
        with pytest.raises(OutsideBounds, match="is declared to be in"):
            measured(OPERATIONS[name], Secret(HELD, bounds))


def test_what_a_caller_vouches_for_is_held_against_it():
    secret = Secret(HELD, RIGHT)

    def side(session):
        return secret.at(session).with_bounds(Bounds(-1, 9)) >= 2

    with pytest.raises(OutsideBounds, match="-3 to 38"):
        run_pair(side)


def test_two_sides_with_other_bounds_are_found():
    secret = Secret(HELD, RIGHT)

    def side(session):
        own = secret.at(session)
        return own.with_bounds(Bounds(-1, 40 + (session.role is Role.BOB))) >= 2

    with pytest.raises(OutsideBounds, match="at the peer"):
        run_pair(side)


@pytest.mark.parametrize("name", sorted({*LOW_BITS, *GATED}))
def test_functions_that_are_held_to_less_are_there(name):
    assert callable(resolve_name(name.partition(".<locals>")[0]))
