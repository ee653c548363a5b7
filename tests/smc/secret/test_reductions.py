"""Figures of whole vectors and powers, as people write them with numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from smc.errors import UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.orders.order import Order
from smc.secret.sharing.bounds import Bounds

STEPS = np.arange(51).reshape(3, 17)
VALUES = {Role.ALICE: STEPS * 37 % 181 - 90, Role.BOB: STEPS * 101 % 181 - 90}
SUM = VALUES[Role.ALICE] + VALUES[Role.BOB]


def both(program: Callable[[SecretInts], SecretInts]) -> tuple[np.ndarray[Any, Any], int]:
    """What a program makes of the sums of both parties' numbers, and its scale."""

    def party(session: Any) -> Any:
        x, y = SecretInts.from_both(session, VALUES[session.role], (-90, 90))
        made = program(x + y)
        return made.reveal(), made.scale

    (alice, scale), (bob, _) = run_pair(party)
    assert (alice == bob).all()
    return alice, scale


@pytest.mark.parametrize(
    ("program", "plain"),
    [
        (abs, np.abs(SUM)),
        (lambda x: x % 7, SUM % 7),
        (lambda x: x**3, SUM**3),
        (lambda x: x**1, SUM),
        (lambda x: x.max(), SUM.max(axis=-1)),
        (lambda x: x.min(axis=0), SUM.min(axis=0)),
        (lambda x: Order.of(x[0]).apply(x[0])[0], np.sort(SUM[0])),
    ],
    ids=["abs", "mod", "cube", "power 1", "max", "min of columns", "sort"],
)
def test_what_numpy_makes_of_the_plain_numbers_comes_out(program: Any, plain: Any) -> None:
    found, scale = both(program)
    assert scale == 0
    assert (found == plain).all()


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_means_and_variances_are_rounded_down_to_their_digits(axis: int | None) -> None:
    for program, plain in (
        (lambda x: x.mean(axis, scale=12), SUM.mean(axis=axis)),
        (lambda x: x.var(axis, scale=12), SUM.var(axis=axis)),
    ):
        found, scale = both(program)
        error = np.asarray(plain) - found / (1 << scale)
        assert scale == 12
        assert (error >= -1e-9).all()
        assert (error < 1 / (1 << 12)).all()


def test_bounds_follow() -> None:
    def party(session: Any) -> list[Bounds]:
        x, _ = SecretInts.from_both(session, VALUES[session.role], (-90, 90))
        return [made.bounds for made in (abs(x), x % 7, x**2, x.max(), x.var(scale=4))]

    found, _ = run_pair(party)
    assert found[:4] == [Bounds(0, 90), Bounds(0, 6), Bounds(0, 8100), Bounds(-90, 90)]
    assert found[4].lower == 0


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda x: x / 2, "divide"),
        (lambda x: x / x, "divide"),
        (lambda x: x**0, "from 1 on"),
        (lambda x: x**0.5, "from 1 on"),
        (lambda x: x[:0].mean(), "at least one"),
    ],
)
def test_what_cannot_be_asked_says_what_can(program: Any, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        both(program)
    assert words in f"{refused.value.what} {refused.value.hint}"
