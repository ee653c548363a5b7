"""An assessment and a search as plain JSON values, by stable names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from anonymizer.report.assessment import Assessment, worst_records
from anonymizer.risk.attacks.outcome import Attack, Rate
from anonymizer.risk.measures import RowRisk
from anonymizer.risk.simulator import Simulation
from anonymizer.search.search import SearchResult
from anonymizer.utility.loss import InformationLoss


def risk_values(assessment: Assessment) -> Mapping[str, Any]:
    """The risks; what was not measured is None."""
    classes, unique = assessment.classes, assessment.uniqueness
    return _finite(
        {
            "k": classes and classes.k,
            "classes": classes and classes.classes,
            "l": classes and classes.l,
            "entropy_l": classes and classes.entropy_l,
            "t": classes and classes.t,
            "prosecutor": _rows(assessment.prosecutor),
            "journalist": _rows(assessment.journalist),
            "uniqueness": unique
            and {
                "fraction": unique.fraction,
                "sample": unique.sample,
                "population": unique.population,
                "zayatz": unique.zayatz,
                "pitman": unique.pitman,
                "match": unique.match,
            },
            "simulator": assessment.simulation and _simulation(assessment.simulation),
            "distribution": dict(worst_records(assessment)),
            "attacks": [_attack(one) for one in assessment.attacks],
        }
    )


def utility_values(assessment: Assessment) -> Mapping[str, Any]:
    """Utility and information loss; what was not measured is None."""
    return _finite({"learning": assessment.learning, "loss": assessment.loss and _loss(assessment.loss)})


def search_values(result: SearchResult) -> Mapping[str, Any]:
    """All trials, and which lie within the limit and on the front."""
    trials = [
        {
            "parameters": dict(one.point),
            "risk": one.risk,
            "utility": one.utility,
            "allowed": not one.problem and one.risk <= result.limit,
            "front": bool(front),
            "problem": one.problem,
        }
        for one, front in zip(result.trials, result.front, strict=True)
    ]
    return _finite({"limit": result.limit, "trials": trials})


def _rows(risk: RowRisk | None) -> Mapping[str, float] | None:
    if risk is None:
        return None
    return {"highest": risk.highest, "marketer": risk.average, "above_a_fifth": risk.above(0.2)}


def _simulation(found: Simulation) -> Mapping[str, Any]:
    return {
        "records": len(found.found),
        "risk": found.risk,
        "n_q": found.n_q,
        "average": float(found.risks.mean()),
        "found": float(found.found.mean()),
        "confident": float(found.confident.mean()),
        "revealing": {
            name: {
                "risk": found.revealing_risk(name),
                "probabilistic": found.revealing_risk(name, probabilistic=True),
            }
            for name in found.kinds
        },
    }


def _attack(found: Attack) -> Mapping[str, Any]:
    return {
        "name": found.name,
        "risk": found.risk,
        "interval": list(found.interval),
        "level": found.level,
        "main": _rate(found.main),
        "control": found.control and _rate(found.control),
        "naive": _rate(found.naive),
        "conclusive": found.conclusive,
    }


def _rate(rate: Rate) -> Mapping[str, float]:
    return {"rate": rate.value, "successes": rate.successes, "attempts": rate.attempts}


def _loss(loss: InformationLoss) -> Mapping[str, Any]:
    return {
        "rows": loss.rows,
        "ncp": dict(loss.ncp),
        "mean_ncp": loss.mean_ncp,
        "discernibility": loss.discernibility,
        "class_size": loss.class_size,
        "marginals": {n: {"kl": one.kl, "hellinger": one.hellinger} for n, one in loss.marginals.items()},
        "correlations": loss.correlations.difference,
        "propensity": {"pmse": loss.propensity.pmse, "ratio": loss.propensity.ratio},
    }


def _finite(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same with None for what JSON has no number for."""
    return {key: _plain(value) for key, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _finite(value)
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
