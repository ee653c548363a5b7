"""What releases, noise and exact matching compute with has no product of secrets."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import UsageError
from smc.forms import Role
from smc.secret.linear_ints import LinearInts, concatenate, select
from smc.secret.sharing.bounds import Bounds
from tests.support.plain_sessions import run_plain

X, Y = np.array([3, -4, 0, 9]), np.array([5, -4, -1, 2])


def sides(session):
    """The integers of Alice and of Bob."""
    return [
        LinearInts.from_plain(session, held if session.role is role else None, role, Bounds(-10, 10), 4)
        for role, held in zip(Role, (X, Y), strict=True)
    ]


@pytest.mark.parametrize("multiply", [lambda x, y: x * y, lambda x, y: x @ y, lambda x, _: x * x])
def test_there_is_no_product_of_secrets(multiply):
    def program(session):
        with pytest.raises(UsageError):
            multiply(*sides(session))
        return session.channel.traffic.sent

    assert run_plain(program) == (0, 0)


@pytest.mark.parametrize("name", ["truncate", "rescale", "divide", "__floordiv__"])
def test_there_is_no_division(name):
    assert not hasattr(LinearInts, name)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lambda x, y: x + 2 * y - 1, X + 2 * Y - 1),
        (lambda x, y: (x - y).sum(), [(X - Y).sum()]),
        (lambda x, y: select(x >= y, x, y), np.maximum(X, Y)),
        (lambda x, y: concatenate([x, y]).maximum()[1], [max(X.max(), Y.max())]),
        (lambda x, y: np.array([[1, 0, 2, 0]]) @ (x + y), [(X + Y)[0] + 2 * (X + Y)[2]]),
        (lambda x, y: LinearInts.from_bits(x == y).sum(), [(X == Y).sum()]),
    ],
)
def test_what_there_is_runs_in_a_plain_session(program, expected):
    for found in run_plain(lambda session: program(*sides(session)).reveal()):
        assert found.tolist() == list(expected)
