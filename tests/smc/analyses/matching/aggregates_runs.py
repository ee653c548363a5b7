"""Jobs about a secret intersection, data for them, and joint runs."""

from __future__ import annotations

import tomllib

import numpy as np

from smc.analyses.disclosure.limits import Limits
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.forms import Role
from smc.pair import run_pair

ALICE, BOB = Role.ALICE, Role.BOB
BOTH = frozenset(Role)
ID = Schema("integer", lower=0, upper=10**9)
AMOUNT = Schema("decimal", scale=2, lower=-100_000, upper=100_000)
AGE = Schema("integer", lower=0, upper=120)
SIZE = 'method = "exact"\nkeys = ["id"]\noutput = "size"\n'
STATISTICS = """
method = "exact"
keys = ["id"]
output = "statistics"
[[values]]
side = "alice"
column = "amount"
[[values]]
side = "bob"
column = "age"
[[values]]
side = "alice"
column = "age"
"""
ONE_EACH = STATISTICS.rsplit("[[values]]", 1)[0]
"""One value of each side, as limits ask for."""
SHARES = STATISTICS.replace("statistics", "shares")
NOISY = 'epsilon = "2"\n' + STATISTICS


def parsed(text):
    return MATCHING.parse(tomllib.loads(text))


def side(numbers, amounts=None, ages=None, persons=None):
    """The columns of a side."""
    amounts = [37 * n % 20_001 - 10_000 for n in numbers] if amounts is None else amounts
    ages = [n % 100 for n in numbers] if ages is None else ages
    data = {
        "id": Column(np.array(numbers, dtype=np.int64), ID),
        "amount": Column(np.array(amounts, dtype=np.int64), AMOUNT),
        "age": Column(np.array(ages, dtype=np.int64), AGE),
    }
    if persons is not None:
        data[PERSONS] = Column(np.array(persons, dtype=np.int64), Schema("integer"))
    return data


def run(text, alice, bob, recipients=BOTH, limits=None, program=None):
    """Both outcomes; `program` is called with the session at the end."""
    study = parsed(text)
    data = {ALICE: alice, BOB: bob}

    def one(session):
        outcome = run_study(study, session, data[session.role], recipients, (limits or Limits()).of_both)
        return outcome if program is None else program(session)

    return run_pair(one, one)


def tables(outcomes):
    return [[(t.name, {k: list(v) for k, v in t.columns.items()}) for t in o.tables] for o in outcomes]
