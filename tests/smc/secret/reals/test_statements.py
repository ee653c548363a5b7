"""Data outside a stated range end in one bit, at the recipients, and nobody is blamed."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from smc.errors import OutsideRange, ProtocolViolation
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.reals.statements import all_set
from tests.smc.secret.reals.sharing import opened, reals
from tests.smc.secret.secret_runs import secret_bits
from tests.support.held_bounds import unwatched

RECIPIENTS = [{Role.ALICE}, {Role.BOB}, set(Role)]


def squared(session, values, recipients=frozenset(Role)):
    """The squares of numbers of up to 2**20 that are stated to be from -3 to 4."""
    x = reals(session, values, -(2**20), 2**20, 12).within(-3, 4)
    return (x * x).reveal(recipients)


def test_data_within_open_as_ever():
    assert opened(lambda s: squared(s, [-3, 0.5, 4])).tolist() == [9, 0.25, 16]


@pytest.mark.parametrize("bad", [4 + 2**-12, -3 - 2**-12, 2**20, -(2**20), 2**19 + 3])
@pytest.mark.parametrize("recipients", RECIPIENTS)
def test_data_outside_are_told_to_the_recipients_alone(bad, recipients):
    """By a number that is a little off, and by one whose square does not fit the word."""

    def side(session):
        try:
            return squared(session, [0.5, bad, 1], recipients)
        except OutsideRange as error:
            return error

    with unwatched():
        alice, bob = run_pair(side)
    for role, found in zip((Role.ALICE, Role.BOB), (alice, bob), strict=True):
        if role in recipients:
            assert isinstance(found, OutsideRange)
            assert not isinstance(found, ProtocolViolation)
            assert found.stable_code == "outside-range"
            assert "peer has done nothing wrong" in str(found)
        else:
            assert found is None


@pytest.mark.parametrize("recipients", RECIPIENTS)
def test_what_is_sent_does_not_depend_on_it(recipients):
    def sizes(values):
        def side(session):
            with suppress(OutsideRange):
                squared(session, values, recipients)
            return session.channel.traffic

        with unwatched():
            return run_pair(side)

    assert sizes([0.5, 2, 1]) == sizes([0.5, 5, 1])


def test_a_recipient_sees_nothing_but_the_bit():
    """What opens in the place of the figures is the same whatever the data are."""

    def side(session, values):
        x = reals(session, values, -(2**20), 2**20, 12).within(-3, 4)
        return (x + 7).seal(x).ints.reveal()

    with unwatched():
        found = [run_pair(lambda s, v=v: side(s, v))[0].tolist() for v in ([0, 5], [1, -9], [2**20, 0])]
    assert found[0] == found[1] == found[2] == [4 << 12, 4 << 12, 0, 0, 0]


def test_what_one_statement_breaks_another_cannot_mend():
    """What is computed of a number that is too large wraps, and may lie within what is stated of it."""

    def side(session):
        x = reals(session, [2.0**20], -(2**20), 2**20, 12).within(-4, 4)
        big = x * x * x
        (big * 0).within(-1, 1).reveal()

    with unwatched(), pytest.raises(OutsideRange):
        run_pair(side)


def test_statements_go_wherever_their_numbers_go():
    def side(session):
        x = reals(session, [9.0, 1], -20, 20, 12).within(-4, 4)
        y = reals(session, [0.5, 0.5], 0, 1, 12)
        n = reals(session, [3.0, 2], 1, 5, 0)
        bits = y.ints >= y.ints
        follow = [x + y, y - x, y * x, x[1:], x.T, x.sum(), x.cumsum(), y.given(x), x.over(n, 20, 4)]
        follow += [y.select(bits, x), y @ x, x.rescale(3), -x, x.known(-1, 1), x.within(-1, 1), 1 - x, n * x]
        for each in follow:
            with pytest.raises(OutsideRange):
                each.reveal()
        sealed = y.seal(n, x)
        with pytest.raises(OutsideRange):
            sealed.read(sealed.ints.reveal())
        return y.reveal()

    with unwatched():
        assert run_pair(side)[0].tolist() == [0.5, 0.5]


def test_figures_open_together():
    def side(session):
        x = reals(session, [[0.5, -1], [2, 3]], -20, 20, 12).within(-4, 4)
        n = reals(session, [3.0], 1, 5, 0)
        sealed = x.seal(n, x.sum())
        assert sealed.tested
        return sealed.read(sealed.ints.reveal({Role.BOB}))

    alice, bob = run_pair(side)
    assert alice is None
    assert [part.tolist() for part in bob] == [[[0.5, -1], [2, 3]], [3], [4.5]]


def test_a_figure_that_follows_from_no_data_blames_the_peer():
    """Each figure is held against its own bounds, not those of all together."""

    def side(session):
        x = reals(session, [0.5], -1, 1, 12)
        sealed = x.seal(reals(session, [100.0], 90, 100, 12))
        return sealed.read(np.array([2 << 12, 95 << 12], dtype=np.int64))

    with pytest.raises(ProtocolViolation):
        run_pair(side)


def test_what_follows_from_the_bounds_is_not_tested():
    def side(session):
        x = reals(session, [0.5], -1, 1, 12).within(-1, 2)
        assert x.statements == ()
        return x.seal().tested

    assert run_pair(side) == (False, False)


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_all_of_many_bits(count):
    for missing in (None, 0, count - 1):
        bits = np.ones(count, dtype=np.uint8)
        if missing is not None:
            bits[missing] = 0
        mask = np.arange(count, dtype=np.uint8) % 2
        alice, bob = run_pair(lambda s, b=bits, m=mask: all_set(secret_bits(s, b, m)).reveal())
        assert alice.tolist() == bob.tolist() == [missing is None]
