"""Made-up cohorts that `scripts/bench/analyses` follows: whom, for how long, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from smc.analyses.studies.columns import Column, Data, Schema
from smc.forms import Role
from smc.numeric.random import Randomness

COVARIATES: Final = tuple(f"x{number}" for number in range(10))
"""From -1 to 1, with three digits."""

_DAYS: Final = 3600
_ARM: Final = Schema("category", categories=("standard", "new"))
_OUTCOME: Final = Schema("category", categories=("alive", "died"))
_TIME: Final = Schema("integer", lower=0, upper=_DAYS, unit="days")
_FEATURE: Final = Schema("decimal", scale=3, lower=-1000, upper=1000)
_COST: Final = Schema("integer", lower=-10_000, upper=10_000)
_SITE: Final = Schema("category", categories=tuple(f"site {number}" for number in range(100)))
_ID: Final = Schema("text")


def cohorts(source: Randomness, rows: int) -> Mapping[Role, Data]:
    """Cohorts of so many rows for both sides, in which events come sooner the more the features weigh.

    Row by row both sides have the same key, for models over matched rows.
    """

    def uniform(*shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        words = source.words(int(np.prod(shape))).reshape(shape)
        return (words >> np.uint64(11)).astype(np.float64) / (1 << 53)

    def side() -> Data:
        features = np.rint(2000 * uniform(rows, len(COVARIATES)) - 1000).astype(np.int64)
        weighed = features @ np.linspace(-0.8, 0.8, len(COVARIATES)) / 1000
        arm = (uniform(rows) < 0.5).astype(np.int64)
        until = -1500 * np.log1p(-uniform(rows)) * np.exp(-weighed - 0.3 * arm)
        leaves = 100 + (_DAYS - 100) * uniform(rows)
        times = np.ceil(np.minimum(until, leaves)).astype(np.int64)
        made = {
            "arm": Column(arm, _ARM),
            "days": Column(times, _TIME),
            "outcome": Column((until <= leaves).astype(np.int64), _OUTCOME),
            "id": Column([f"P{number:09d}" for number in range(rows)], _ID),
            "site": Column(np.arange(rows) % len(_SITE.categories), _SITE),
            "cost": Column(np.rint(1000 * (weighed + uniform(rows))).astype(np.int64), _COST),
        }
        return made | {
            name: Column(features[:, place].copy(), _FEATURE) for place, name in enumerate(COVARIATES)
        }

    return {role: side() for role in Role}


_SURVIVAL: Final = {"kind": "survival", "time": "days", "event": "outcome", "events": ["died"], "by": "arm"}
_COX: Final = {"kind": "cox", "time": "days", "event": "outcome", "events": ["died"], "on": [*COVARIATES]}
_LOGISTIC: Final = {"kind": "logistic", "outcome": "outcome", "label": "died", "on": [*COVARIATES]}


def _matched(model: Mapping[str, Any], *columns: str) -> Mapping[str, Any]:
    """The model by eight covariates, four of either side; its other columns are Alice's."""
    return {
        "layout": "vertical",
        "match": {"keys": ["id"]},
        "alice_columns": [*columns, *COVARIATES[:4]],
        "bob_columns": [*COVARIATES[4:8]],
        "models": [{**model, "on": [*COVARIATES[:8]]}],
    }


JOBS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = MappingProxyType(
    {
        "survival": (
            "statistics",
            {
                "noise": "none",
                "queries": [{**_SURVIVAL, "every": 30, "until": _DAYS, "test": "log-rank"}],
            },
        ),
        "survival-noise": (
            "statistics",
            {
                "epsilon": "1",
                "queries": [{**_SURVIVAL, "every": 36, "step": 4, "until": _DAYS, "test": "log-rank"}],
            },
        ),
        "mantel-haenszel": (
            "statistics",
            {
                "noise": "none",
                "maximum_rows": 100_000,
                "queries": [
                    {
                        "kind": "mantel-haenszel",
                        "column": "outcome",
                        "event": "died",
                        "by": "arm",
                        "strata": "site",
                    }
                ],
            },
        ),
        "model-cox": ("models", {"models": [_COX]}),
        "model-cox-matched": ("models", _matched(_COX, "days", "outcome")),
        "model-logistic": ("models", {"models": [_LOGISTIC]}),
        "model-logistic-matched": ("models", _matched(_LOGISTIC, "outcome")),
        "model-linear": (
            "models",
            {"models": [{"kind": "linear", "outcome": "cost", "on": [*COVARIATES]}]},
        ),
    }
)
"""Analysis and parameters of each."""
