"""What a program may give: fractions by following the hint, bounds as two numbers, recipients by word."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed

FRACTIONS = {Role.ALICE: [1.5, 2.5], Role.BOB: [0.25, 3.5]}
WHOLE = {Role.ALICE: [1, 9, 3], Role.BOB: [4, 5, 6]}


def test_the_hint_about_fractions_is_followed_to_the_letter():
    def given(session):
        with pytest.raises(UsageError, match="with scale=8 and bounds in units of"):
            SecretInts.from_both(session, FRACTIONS[session.role], Bounds(0, 10))
        fixed = Fixed.of(FRACTIONS[session.role], 8)
        with pytest.raises(UsageError, match="State scale=8"):
            SecretInts.from_both(session, fixed, Bounds(0, 10 << 8))
        x, y = SecretInts.from_both(session, fixed, Bounds(0, 10 << 8), scale=8)
        return (x + y).reveal() / 2.0**8

    assert [found.tolist() for found in run_pair(given)] == [[1.75, 6.0]] * 2


@pytest.mark.parametrize("recipients", ["alice", Role.ALICE, {Role.ALICE}])
def test_bounds_and_recipients_may_be_written_shortly(recipients):
    def larger(session):
        x, y = SecretInts.from_both(session, WHOLE[session.role], (0, 10))
        return (x + y).reveal(recipients), (x >= y).reveal(recipients)

    (sums, bits), others = run_pair(larger)
    assert (sums == [5, 14, 9]).all()
    assert (bits == np.array([False, True, False])).all()
    assert others == (None, None)


@pytest.mark.parametrize("bounds", [(0,), (0, 1.5), "ab", 7, [0, 1]])
def test_what_is_no_bounds_is_named(bounds):
    with pytest.raises(UsageError, match="not two integers"):
        run_pair(lambda session: SecretInts.from_both(session, WHOLE[session.role], bounds))


@pytest.mark.parametrize("recipients", ["eve", 7, {"mallory"}])
def test_who_is_no_party_gets_nothing(recipients):
    def opened(session):
        x, _ = SecretInts.from_both(session, WHOLE[session.role], (0, 10))
        return x.reveal(recipients)

    with pytest.raises(UsageError, match="is no recipient"):
        run_pair(opened)
