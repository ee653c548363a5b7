"""No program can take a secret for true: every way by which Python asks raises an error that says so."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import UsageError
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from tests.smc.secret.secret_runs import tight

pytestmark = pytest.mark.attack

ASKS = {
    "if": lambda x, y: 1 if x >= y else 0,
    "if ints": lambda x, y: 1 if x else 0,
    "bool": lambda x, y: bool(x == y),
    "while": lambda x, y: next(iter(lambda: not (x < y), False)),
    "not": lambda x, y: not (x >= 5),
    "and": lambda x, y: (x >= 5) and (y >= 5),
    "or": lambda x, y: (x >= 5) or (y >= 5),
    "chain": lambda x, y: 1 < x < 5,
    "in a list": lambda x, y: x in [y],
    "a number in ints": lambda x, y: 9 in x,
    "a secret in ints": lambda x, y: y[:1] in x,
    "True in bits": lambda x, y: True in (x >= y),
    "not in": lambda x, y: 9 not in x,
    "max": lambda x, y: max(x),
    "max of two": max,
    "min": min,
    "sorted": lambda x, y: sorted(x),
    "any": lambda x, y: any(x >= y),
    "all": lambda x, y: all([x >= y]),
    "lists": lambda x, y: [x] == [y],
    "tuples": lambda x, y: (1, x) != (1, y),
    "dictionaries": lambda x, y: {"a": x} == {"a": y},
    "index": lambda x, y: [x].index(y),
    "numpy any": lambda x, y: np.any([x >= y]),
    "assert": lambda x, y: _asserted(x == y),
}


def _asserted(bits):
    assert bits


@pytest.mark.parametrize("name", ASKS)
def test_a_secret_has_no_truth_value(name):
    first, second = tight([1, 9, 3]), tight([7, 2, 3])

    def side(session):
        x, y = first.at(session), second.at(session)
        with pytest.raises(UsageError, match="neither party knows") as met:
            ASKS[name](x, y)
        assert "reveal" in str(met.value.hint)

    run_pair(side)


def test_an_empty_or_owned_vector_has_none_either():
    def side(session):
        own = np.zeros(0, dtype=np.uint64)
        empty = SecretInts.from_shares(session, own, Bounds(0, 1))
        for asked in (empty, empty >= 1, empty[:0]):
            with pytest.raises(UsageError, match="truth"):
                bool(asked)

    run_pair(side)


def test_sums_and_loops_over_elements_work_as_before():
    secret = tight([1, 9, 3])

    def side(session):
        x = secret.at(session)
        return sum(x).reveal().tolist(), [int(each.reveal()[0]) for each in x], len(x), list(reversed([1]))

    assert run_pair(side)[0] == ([13], [1, 9, 3], 3, [1])
