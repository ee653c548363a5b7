"""The `[parameters]` of a job of models, checked and frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from commons.settings.shapes import Document, keys_schema
from smc.analyses.records.numbers import NUMBER, number
from smc.analyses.studies.parameters import reject_unknown, take
from smc.errors import UsageError

AUC: Final = "auc"
"""What a logistic model can report besides."""

MAX_MODELS: Final = 20
MAX_COVARIATES: Final = 30
MAX_NAME: Final = 100

LINEAR, LOGISTIC, POISSON, COX = KINDS = ("linear", "logistic", "poisson", "cox")
"""`[[parameters.models]]` of these kinds: of numbers, of yes or no, of counts, of times until an event."""

_NOISE: Final = frozenset({"noise", "epsilon", "delta", "rho"})
_COMMON: Final = frozenset({"name", "kind", "on", "range"})
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    LINEAR: _COMMON | {"outcome"},
    LOGISTIC: _COMMON | {"outcome", "label", "report"},
    POISSON: _COMMON | {"outcome", "exposure"},
    COX: _COMMON | {"time", "event", "events", "strata"},
}


@dataclass(frozen=True, slots=True)
class Model:
    """One model that a job asks for.

    Attributes:
        name: unique in the job.
        kind: one of `KINDS`.
        outcome: the column that is explained; of a Cox model that of the times.
        terms: what explains it, one or two columns each, of which the second one stands for an interaction.
        ranges: of columns, in their real units, where they are not the declared ones.
        event: of a Cox model the column that says whether the time ended with the event; else empty.
        labels: of a column of labels, those that are the outcome or the event; else none.
        exposure: of a model of counts the column of person-time; else empty.
        strata: columns by whose labels the baseline of a Cox model differs, besides the side.
        report: whether the AUC of a logistic model is asked for.
    """

    name: str
    kind: str
    outcome: str
    terms: tuple[tuple[str, ...], ...]
    ranges: Mapping[str, tuple[Fraction, Fraction]]
    event: str = ""
    labels: tuple[str, ...] = ()
    exposure: str = ""
    strata: tuple[str, ...] = ()
    report: bool = False

    @property
    def has_constant(self) -> bool:
        """Whether there is an intercept; the baseline of a Cox model is one."""
        return self.kind != COX

    @property
    def covariates(self) -> tuple[str, ...]:
        """The columns of all terms, each once."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, each once."""
        others = (self.outcome, self.event, self.exposure, *self.strata)
        return tuple(dict.fromkeys((*filter(None, others), *self.covariates)))


@dataclass(frozen=True, slots=True)
class ModelsParameters:
    """Parsed parameters.

    Attributes:
        models: in the job's order.
    """

    models: tuple[Model, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all models, each once."""
        return tuple(dict.fromkeys(name for model in self.models for name in model.columns))


def parse(parameters: Mapping[str, Any]) -> ModelsParameters:
    """Check the `[parameters]` of a job over the rows of both.

    Raises:
        UsageError: a key is unknown or missing, or a value impossible; names the place.
    """
    return ModelsParameters(parse_models(parameters))


def parse_models(parameters: Mapping[str, Any]) -> tuple[Model, ...]:
    """Check the models of a job. Raises as `parse`."""
    if noise := sorted(_NOISE & parameters.keys()):
        raise UsageError(
            f"parameters.{noise[0]}: models have no noise.",
            'Leave it out; with noise there is kind = "regression" of statistics, which is linear.',
        )
    reject_unknown(parameters, {"models"}, "parameters")
    tables = take(parameters, "models", list, "parameters")
    if not 1 <= len(tables) <= MAX_MODELS:
        raise UsageError(
            f"parameters.models must hold 1 to {MAX_MODELS} models.", "Write [[parameters.models]] tables."
        )
    models = tuple(_model(table, f"parameters.models[{place}]") for place, table in enumerate(tables))
    names = [model.name for model in models]
    if len(set(names)) < len(names):
        raise UsageError("Two models have the same name.", "Give each its own name.")
    return models


def parameters_schema() -> Document:
    """JSON Schema of `[parameters]`: which keys a model has, by its kind."""
    models = (
        keys_schema(sorted(keys), ("kind", "on", "time" if kind == COX else "outcome"), kind={"const": kind})
        for kind, keys in _KEYS.items()
    )
    items: Document = {"anyOf": [*models], "definitions": {"number": dict(NUMBER)}}
    return keys_schema(("models",), ("models",), models={"type": "array", "items": items})


def _model(table: Any, place: str) -> Model:
    if not isinstance(table, Mapping):
        raise UsageError(f"{place} is not a table.", "Write [[parameters.models]] tables.")
    kind = table.get("kind")
    if kind not in KINDS:
        raise UsageError(f"{place}.kind is not a known model.", f"Choose one of {', '.join(KINDS)}.")
    reject_unknown(table, _KEYS[kind], f"{place} ({kind})")
    outcome = take(table, "time" if kind == COX else "outcome", str, place)
    event = take(table, "event", str, place) if kind == COX else ""
    terms = _terms(table, place)
    strata = tuple(_names(table["strata"], f"{place}.strata")) if "strata" in table else ()
    exposure = take(table, "exposure", str, place, "")
    labels = tuple(_names(table["events"], f"{place}.events")) if "events" in table else ()
    if "label" in table:
        labels = (take(table, "label", str, place),)
    model = Model(
        _name(take(table, "name", str, place, f"{kind} model of {event or outcome}"), place),
        kind,
        outcome,
        terms,
        _ranges(table, place),
        event,
        labels,
        exposure,
        strata,
        report=_reports(table, place),
    )
    others = [name for name in (outcome, event, exposure, *strata) if name]
    if len(set(others)) < len(others) or set(others) & set(model.covariates):
        raise UsageError(
            f"{place} names a column for two purposes.",
            "A column is outcome, event, exposure, stratum or covariate.",
        )
    if set(model.ranges) - {*model.covariates, *([outcome] if kind == LINEAR else [])}:
        raise UsageError(
            f"{place}.range names a column that is no covariate.", "State ranges of columns of `on`."
        )
    return model


def _terms(table: Mapping[str, Any], place: str) -> tuple[tuple[str, ...], ...]:
    found: list[tuple[str, ...]] = []
    for position, entry in enumerate(take(table, "on", list, place)):
        where = f"{place}.on[{position}]"
        if isinstance(entry, Mapping):
            reject_unknown(entry, {"product"}, where)
            names = tuple(_names(entry.get("product"), f"{where}.product"))
            if len(names) != 2:
                raise UsageError(f"{where}.product does not name two columns.", 'Write product = ["a", "b"].')
            found.append(names)
        elif isinstance(entry, str) and entry:
            found.append((entry,))
        else:
            raise UsageError(f"{where} is not a column.", 'Write its name, or { product = ["a", "b"] }.')
    keys = [frozenset(term) for term in found]
    if not 1 <= len(found) <= MAX_COVARIATES or len(set(keys)) < len(keys):
        raise UsageError(
            f"{place}.on does not hold 1 to {MAX_COVARIATES} different covariates.", "Name each once."
        )
    return tuple(found)


def _ranges(table: Mapping[str, Any], place: str) -> dict[str, tuple[Fraction, Fraction]]:
    found = {}
    for name, ends in take(table, "range", dict, place, {}).items():
        where = f"{place}.range.{name}"
        if not isinstance(ends, Sequence) or isinstance(ends, str) or len(ends) != 2:
            raise UsageError(f"{where} is not a pair of numbers.", 'Write ["20", "95"].')
        lower, upper = (number(end, where) for end in ends)
        if lower >= upper:
            raise UsageError(f"{where} is empty.", "Write the lower end first.")
        found[name] = (lower, upper)
    return found


def _names(value: Any, place: str) -> list[str]:
    if (
        not isinstance(value, Sequence)
        or isinstance(value, str)
        or not all(isinstance(name, str) and name for name in value)
        or len(set(value)) < len(value)
    ):
        raise UsageError(f"{place} is not a list of different columns.", 'Write ["...", "..."].')
    return list(value)


def _reports(table: Mapping[str, Any], place: str) -> bool:
    names = _names(table.get("report", ()), f"{place}.report")
    if set(names) - {AUC}:
        raise UsageError(
            f"{place}.report has an unknown entry.",
            f'Write report = ["{AUC}"]; calibration is a figure of the analysis validation.',
        )
    return bool(names)


def _name(value: str, place: str) -> str:
    if not value.strip() or len(value) > MAX_NAME or '"' in value:
        raise UsageError(
            f"{place}.name is not a name of 1 to {MAX_NAME} characters without quotation marks.",
            "Write a shorter text.",
        )
    return value
