"""Which engine a comparison job takes, and when people are warned that another one is far cheaper."""

from __future__ import annotations

import pytest

from smc.analyses.comparison.cost import DEAR
from smc.analyses.comparison.study import COMPARISON
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.forms import Role
from smc.planning.registry import AUTO, BY_NAME_ONLY, DEFAULT_ENGINE, ENGINES
from smc.protocols.against import Against

BOTH = frozenset(Role)
NUMBERS = {name: Schema("integer", lower=0, upper=100) for name in "xy"}


def cost(rows, kind="PN-NP-PN", **parameters):
    study = COMPARISON.parse({"type": kind, "bits": 8, **parameters})
    return estimate_cost(study, NUMBERS, BOTH, RunSetting((rows, rows), key_bits=3072))


def test_a_job_leaves_the_engine_to_the_planner_and_a_benchmark_takes_the_thesis():
    assert COMPARISON.parse({"type": "PN-NP-PN"}).parameters.engine == AUTO
    assert DEFAULT_ENGINE == "paillier"
    assert cost(3000) == cost(3000, engine=AUTO)
    assert cost(3000).seconds * DEAR < cost(3000, engine="paillier").seconds


def test_a_plan_that_is_a_hundred_times_dearer_names_the_other():
    for engine in ENGINES:
        for rows in (1, 100, 10_000):
            own, best = cost(rows, engine=engine), cost(rows)
            assert (own.cheaper is not None) is (own.seconds >= DEAR * best.seconds)
            if own.cheaper is not None:
                assert own.cheaper.change == f'engine = "{AUTO}"'
                assert own.cheaper.seconds == best.seconds
                assert own.cheaper.engine not in {engine, *BY_NAME_ONLY}


@pytest.mark.parametrize(("engine", "warned"), [(None, False), ("oblivious", False), ("paillier", True)])
def test_the_warning_is_of_the_same_job(engine, warned):
    found = cost(10_000, **({"engine": engine} if engine else {}))
    assert (found.cheaper is not None) is warned


@pytest.mark.parametrize(
    ("parameters", "level"),
    [
        ({}, Against.PRIVATE),
        ({"engine": "oblivious"}, Against.PRIVATE),
        ({"engine": "elgamal"}, Against.SEMI_HONEST),
        ({"pool": True}, Against.SEMI_HONEST),
    ],
    ids=str,
)
def test_a_job_that_names_nothing_is_private_whatever_its_size(parameters, level):
    """Pools hold what their record says, and an engine by its name what it does."""
    for rows in (1, 50, 3000):
        assert cost(rows, **parameters).against is level
