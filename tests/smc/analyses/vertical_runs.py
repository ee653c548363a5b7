"""Statistics jobs over matched rows, tables for them, and joint runs."""

from __future__ import annotations

import numpy as np

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.pair import run_pair
from tests.smc.analyses.statistics_runs import BOTH, parsed

ID = Schema("text")
AGE = Schema("integer", lower=0, upper=100, unit="years")
DOSE = Schema("decimal", scale=1, lower=-50, upper=50)
SEX = Schema("category", categories=("f", "m"))
COSTS = Schema("decimal", scale=2, lower=0, upper=100_000, unit="EUR")
STATE = Schema("category", categories=("well", "ill", "dead"))
SIDES = (
    {"id": ID, "age": AGE, "dose": DOSE, "sex": SEX},
    {"id": ID, "costs": COSTS, "state": STATE},
)
SCHEMAS = {**SIDES[0], **SIDES[1]}

HEAD = """
epsilon = "{epsilon}"
maximum_rows = 5000
layout = "vertical"
alice_columns = {alice}
bob_columns = {bob}
"""
MATCH = """
[match]
keys = ["id"]
duplicates = "{duplicates}"
[match.normalization]
id = ["trim"]
"""
KINDS = {
    "count": 'kind = "count"',
    "size": 'kind = "count"\ncolumn = "age"\nby = "state"',
    "sum": 'kind = "sum"\ncolumn = "costs"\nlower = "10.5"\nupper = "800"',
    "sum by": 'kind = "sum"\ncolumn = "age"\nby = "state"',
    "mean": 'kind = "mean"\ncolumn = "age"',
    "weighted": 'kind = "weighted-mean"\ncolumn = "costs"\nweight = "age"',
    "variance": 'kind = "variance"\ncolumn = "costs"\nby = "sex"',
    "deviation": 'kind = "deviation"\ncolumn = "dose"',
    "covariance": 'kind = "covariance"\ncolumns = ["dose", "costs"]',
    "correlation": 'kind = "correlation"\ncolumns = ["costs", "age"]',
    "regression": 'kind = "regression"\non = ["age", "dose"]\ntarget = "costs"',
    "histogram": 'kind = "histogram"\ncolumn = "state"',
    "ranges": 'kind = "histogram"\ncolumn = "age"\nedges = [0, 18, 65, 100]\nby = "state"',
    "crosstab": 'kind = "crosstab"\ncolumns = ["sex", "state"]\ntest = true',
    "grid": 'kind = "crosstab"\ncolumns = ["age", "costs"]\nedges = { age = [0, 50, 100], '
    'costs = ["0", "333.33", "1000"] }',
    "median": 'kind = "median"\ncolumn = "age"\nstep = 10',
    "quantile": 'kind = "quantile"\ncolumn = "costs"\nlevel = "0.9"\npoints = 21\nby = "sex"',
    "t-test": 'kind = "t-test"\ncolumn = "costs"\nby = "sex"',
    "ratio": 'kind = "standardised-ratio"\ncolumn = "state"\nevent = "dead"\nstrata = "sex"\n'
    'rates = { f = "0.02", m = "0.5" }',
    "risks": 'kind = "risks"\ncolumn = "state"\nevent = "dead"\nby = "sex"',
    "survival": 'kind = "survival"\ntime = "age"\nevent = "state"\nevents = ["dead"]\nby = "sex"\n'
    'every = 20\nuntil = 80\ntest = "log-rank"',
}
USED = {
    side: [name for name in schemas if name != "id"]
    for side, schemas in zip(("alice", "bob"), SIDES, strict=True)
}


def job(*queries, epsilon="4", duplicates="error"):
    """A parsed job; columns that no query names are left out."""
    asked = [f'[[queries]]\nname = "{place}"\n{query}\n' for place, query in enumerate(queries)]
    brought = {side: [n for n in names if f'"{n}"' in "".join(asked)] for side, names in USED.items()}
    head = HEAD.format(epsilon=epsilon, **brought)
    return parsed(head + MATCH.format(duplicates=duplicates) + "".join(asked))


def side(place, ids, seed, persons=None):
    """A side's columns over rows with these keys."""
    drawn = np.random.default_rng(seed)
    data = {"id": Column([f" key-{number}" for number in ids], ID)}
    for name, schema in SIDES[place].items():
        if schema.kind != "text":
            low, high = schema.lower or 0, schema.upper or len(schema.categories) - 1
            data[name] = Column(drawn.integers(low, high + 1, len(ids)), schema)
    if persons is not None:
        data[PERSONS] = Column(np.array(persons, dtype=np.int64), Schema("integer"))
    return data


def tables(alice=60, bob=90, common=25, seed=1):
    """Both sides; Alice's keys are in another order than Bob's, whose columns follow Alice's a little."""
    first = np.random.default_rng(seed).permutation(alice)
    return side(0, first, seed), side(1, np.arange(bob) + alice - common, seed + 1)


def joint(study, alice, bob, recipients=BOTH, limits=NO_LIMITS):
    return run_pair(
        lambda s: run_study(study, s, alice, recipients, limits.of_both),
        lambda s: run_study(study, s, bob, recipients, limits.of_both),
    )


def traffic(study, alice, bob, recipients=BOTH, limits=NO_LIMITS):
    """What both sides sent and received."""

    def one(data):
        def run(session):
            run_study(study, session, data, recipients, limits.of_both)
            return session.channel.traffic

        return run

    return run_pair(one(alice), one(bob))
