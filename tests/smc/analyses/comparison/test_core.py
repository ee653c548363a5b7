"""Whoever plans a comparison: delta comes in the form of its type, and after the gate."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from smc.analyses.comparison.question import Question
from smc.analyses.comparison.run import run
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.disclosure.opener import open_gate
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.scope import Kind, Scope
from smc.analyses.studies.columns import Column, Schema
from smc.errors import DisclosureRefused, DomainError
from smc.forms import ComparisonType, Role
from smc.protocols.comparison import oblivious
from smc.values import Plain
from tests.support.plain_sessions import run_plain

NUMBER = Schema("integer", lower=0, upper=255)
SHARED = Question(ComparisonType.parse("PN-NP-SS"), 8, 0, {})
X, Y = [3, 200, 7, 9], [4, 8, 7, 1]


class Route:
    """A router whose route is a function."""

    def __init__(self, run):
        self.notes, self.details, self.run = (), {}, run

    def prepare(self, count, moduli):
        assert (count, list(moduli)) == (len(X), [])
        return self


def by_transfer(session):
    """The route of the core: comparison by oblivious transfer."""
    role_code = oblivious.alice if session.role is Role.ALICE else oblivious.bob
    return lambda x, y: role_code(session, SimpleNamespace(count=len(x), bits=8), x, y)


def joint(route, gate=open_gate):
    """The outcomes of both sides."""
    scope = Scope(frozenset({Kind.ROWS}))

    def side(session):
        name, values = ("x", X) if session.role is Role.ALICE else ("y", Y)
        release = Release(session, scope, frozenset(Role), NO_LIMITS.of_both, gate)
        return run(session, SHARED, Route(route(session)), {name: Column(np.array(values), NUMBER)}, release)

    return run_plain(side)


def test_numbers_are_compared_in_a_plain_session():
    shares = [outcome.tables[0].columns["share"] for outcome in joint(by_transfer)]
    assert [a ^ b for a, b in zip(*shares, strict=True)] == [int(x >= y) for x, y in zip(X, Y, strict=True)]


def test_delta_in_another_form_is_refused():
    with pytest.raises(DomainError, match="delta in form SS"):
        joint(lambda _: lambda x, y: Plain([1] * len(x)))


def test_a_gate_that_raises_lets_no_route_run():
    ran = []

    def gate(channel):
        del channel
        raise DisclosureRefused("closed")

    with pytest.raises(DisclosureRefused, match="closed"):
        joint(lambda _: lambda x, y: ran.append(1), gate)
    assert not ran
