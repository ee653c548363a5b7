"""What a study states that a run over two tables takes."""

from __future__ import annotations

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.forms import Role

BOTH = frozenset(Role)


def stated(study, alice, bob, recipients=BOTH, limits=NO_LIMITS):
    """The estimate by the declarations of both sides, for as many rows as they have."""
    schemas = {name: each.schema for data in (alice, bob) for name, each in data.items() if name[0] != "@"}
    rows = len(next(iter(alice.values()))), len(next(iter(bob.values())))
    return estimate_cost(study, schemas, recipients, RunSetting(rows, limits))
