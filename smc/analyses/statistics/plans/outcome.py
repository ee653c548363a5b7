"""Result tables, notes and guarantees of a statistics job, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from smc.analyses.records.conditions import Presence
from smc.analyses.records.numbers import text
from smc.analyses.records.p_values import benjamini_hochberg, holm
from smc.analyses.statistics.kinds.statistic import Result, Statistic
from smc.analyses.statistics.plans.plan import MIN_STATED_DELTA
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.plans.table_one import SMD, SMD_NOTE, TABLE_ONE_NOTE, tables_one
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.query import OF_EVENTS, POOLED_KINDS
from smc.analyses.statistics.queries.table_one import LABELS, SUMMARY
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import NUMBER, Outcome, Table

Reported = tuple[Query, Statistic, str | None, Result]
"""A query, its statistic, the group, and the result."""

EXACT_DETAILS: Final[Mapping[str, Any]] = {"guarantee": "none: exact values"}

_EXACT: Final = ("value", "lower_95", "upper_95", "epsilon", "rho")

_WITH_SAMPLING: Final = ("with_sampling_lower_95", "with_sampling_upper_95")

_SAMPLED: Final = frozenset({"correlation", "t-test", *OF_EVENTS})
"""Kinds whose figures have an interval that speaks of sampling, too."""

_TESTS: Final = frozenset({"t-test", "risks", "mantel-haenszel"})
"""Kinds that are tests; a cross table may be one."""

_ADJUSTED: Final = ("p_holm", "p_benjamini_hochberg")
"""P-values adjusted for the number of tests in the job."""

_ADJUSTED_NOTE: Final = (
    "p_holm and p_benjamini_hochberg are adjusted for all tests of the job, also those that could not be "
    "made: by Holm for the chance of any false rejection, by Benjamini and Hochberg for the false ones' part."
)

_NOISE_ALONE: Final = (
    "The 95 % intervals cover the exact statistic of the joined table, from the quantiles of the "
    "noise, each taken alone; they do not include sampling error.",
)

_CLAMPED: Final = frozenset(
    {
        "sum",
        "mean",
        "weighted-mean",
        "variance",
        "deviation",
        "covariance",
        "correlation",
        "regression",
        "quantile",
        "median",
        "summary",
    }
)


def loss_text(loss: Loss) -> str:
    """A loss, as results and statements name it."""
    return f"rho {show_number(loss.rho)}" if loss.rho else f"epsilon {text(loss.epsilon)}"


def conditions_text(parameters: StatisticsParameters) -> tuple[str, ...]:
    """The conditions on rows, for statements of who learns what; nothing without any."""
    asked: dict[str, dict[str, None]] = {}
    for query in parameters.queries:
        stated = [condition for condition in query.where if not isinstance(condition, Presence)]
        if stated:
            name = query.entry.table if query.entry else query.name
            asked.setdefault(" and ".join(map(str, stated)), {})[f'"{name}"'] = None
    return tuple(
        f"that only rows count with {words}, in {', '.join(names)}; not how many these are"
        for words, names in asked.items()
    )


def pooled_text(parameters: StatisticsParameters) -> tuple[str, ...]:
    """What is told of queries whose cells stay secret, for statements of who learns what."""
    names = [f'"{query.name}"' for query in parameters.queries if query.kind in POOLED_KINDS]
    if not names:
        return ()
    return (
        f"of {', '.join(names)} figures of all strata together: odds ratio and risk ratio, rounded to a "
        "power of two below a 32nd of their standard errors, the variances of their logarithms, to one below "
        "a 64th of them, and chi-square to 2^-7; with rows of its choice, figures that can be solved for "
        "counts of the other side by stratum, and only where the other side's limits would show all of these",
        f"of {', '.join(names)} whether there are such figures, one bit: not where a sum or ratio is out of "
        "range",
    )


def names_text(parameters: StatisticsParameters) -> str:
    """The names of the queries, for statements of who learns what; of a table one with what it holds.

    Those of `pooled_text` are left out.
    """
    found: dict[str, None] = {}
    for query in parameters.queries:
        if query.kind in POOLED_KINDS:
            continue
        if query.entry is None:
            found[f'"{query.name}"{_cells_text(query)}'] = None
            continue
        inside = [each for each in parameters.queries if each.entry and each.entry.table == query.entry.table]
        numbers, labels = (
            ", ".join(each.columns[0] for each in inside if each.entry and each.entry.what == what)
            for what in (SUMMARY, LABELS)
        )
        holds = ["the number of rows", "the missing cells of each column"]
        holds += [f"mean, deviation and quartiles of {numbers}"] if numbers else []
        holds += [f"rows by label of {labels}"] if labels else []
        by = f"; each by {query.by[0]}" if query.by else ""
        found[f'"{query.entry.table}" ({"; ".join(holds)}{by})'] = None
    return ", ".join(found)


def _cells_text(query: Query) -> str:
    """Of a query about survival the cells, of which all its figures follow."""
    asked = query.follow_up
    if asked is None:
        return ""
    by = ", ".join((*asked.by, *asked.strata, f"step of {asked.time}", asked.event))
    return f" (the number of rows by {by}; curves and all else follow from these)"


def show_number(value: Fraction) -> str:
    """Exactly where that is short, else six digits."""
    exact = text(value)
    return exact if len(exact) <= 20 else f"{float(value):.6g}"


def kept_from(details: Mapping[str, Any]) -> Outcome:
    """For a party that is not a recipient."""
    return Outcome((), ("The results went to the other party only.",), details)


def outcome_of(
    parameters: StatisticsParameters, reported: Sequence[Reported], details: Mapping[str, Any], *, noisy: bool
) -> Outcome:
    """For a recipient."""
    listed = [each for each in reported if each[0].entry is None]
    extra = [table for query, _, group, result in listed for table in _tables(query, group, result)]
    results = (_results(parameters, listed, noisy=noisy),) if listed else ()
    ones = tables_one(reported)
    notes = dict.fromkeys(
        [
            *_notes(parameters),
            *(_noise_notes(parameters) if noisy else ()),
            *(_ADJUSTED_NOTE for table in results if _ADJUSTED[0] in table.columns),
            *([TABLE_ONE_NOTE] if ones else []),
            *([SMD_NOTE] if any(SMD in one.columns for one in ones) else []),
            *(note for *_, result in reported for note in result.notes),
            *_nobody(reported),
        ]
    )
    return Outcome((*results, *extra, *ones), tuple(notes), details)


def _tables(query: Query, group: str | None, result: Result) -> Iterable[Table]:
    """The tables of its own that a query has for a group."""
    name = query.name if group is None else f"{query.name}: {group}"
    if result.table is not None:
        yield Table(name, result.table, result.kinds)
    for part, columns in result.further.items():
        yield Table(f"{name}: {part}", columns, result.further_kinds.get(part, {}))


def _results(parameters: StatisticsParameters, reported: Sequence[Reported], *, noisy: bool) -> Table:
    rows = [_row(*entry, noisy=noisy) for entry in reported]
    tested = [place for place, (query, *_) in enumerate(reported) if _is_tested(query)]
    asked = [reported[place][3].p_value for place in tested]
    for place, *values in zip(tested, holm(asked), benjamini_hochberg(asked), strict=True):
        rows[place] |= dict(zip(_ADJUSTED, values, strict=True))
    queries = [query for query in parameters.queries if query.entry is None]
    kinds = {query.kind for query in queries}
    spare = {
        "group": not any(query.by for query in queries),
        "rows": not parameters.is_exact,
        "p_value": not tested,
        **dict.fromkeys(_ADJUSTED, len(tested) < 2),
        **dict.fromkeys(_WITH_SAMPLING, not kinds & _SAMPLED),
        "r_squared": "regression" not in kinds,
    }
    columns = {heading: [row[heading] for row in rows] for heading in rows[0] if not spare.get(heading)}
    return Table("results", columns, {name: NUMBER for name in _EXACT if name in columns})


def _is_tested(query: Query) -> bool:
    return query.kind in _TESTS or query.test


def _row(
    query: Query, statistic: Statistic, group: str | None, result: Result, *, noisy: bool
) -> dict[str, Any]:
    loss = "rho" if query.loss.rho else "epsilon"
    spent = show_number(query.loss.rho) if query.loss.rho else text(query.loss.epsilon)
    return {
        "query": query.name,
        "kind": query.kind,
        "column": ", ".join(query.columns) or None,
        "group": group,
        "rows": result.rows,
        "value": result.value,
        "lower_95": result.lower,
        "upper_95": result.upper,
        **dict(zip(_WITH_SAMPLING, result.sampled or (None, None), strict=True)),
        "p_value": result.p_value,
        **dict.fromkeys(_ADJUSTED),
        "r_squared": result.r_squared,
        loss: spent if noisy else None,
        "noise_scale": float(statistic.noise_scale) if noisy else 0.0,
        "unit": statistic.unit,
    }


def _nobody(reported: Sequence[Reported]) -> Iterable[str]:
    """Of counts that noise alone could have made."""
    for query, _, group, result in reported:
        lower, upper = result.lower, result.upper
        if query.kind == "count" and isinstance(lower, int) and lower != upper and lower <= 0:
            name = query.name if group is None else f"{query.name}, {group}"
            yield f"{name}: not distinguishable from nobody, as the interval contains 0."


def _notes(parameters: StatisticsParameters) -> Iterable[str]:
    kinds = {query.kind for query in parameters.queries}
    if kinds & _CLAMPED and not parameters.is_exact:
        yield "Values outside a query's bounds were clamped to them before adding."
    if kinds & {"histogram", "crosstab", *OF_EVENTS}:
        yield "Rows outside all bins are not counted."
    if kinds & {"quantile", "median"}:
        yield "For a quantile, values were rounded down to its candidates."
    if kinds & _SAMPLED:
        yield (
            "The intervals with_sampling are of the population that the rows were drawn from; the others are "
            "of these rows alone, but for those of a t-test, which are the same."
        )


def _noise_notes(parameters: StatisticsParameters) -> Iterable[str]:
    kinds = {query.kind for query in parameters.queries}
    if parameters.vertical is not None:
        yield "Only rows whose keys both sides have take part; which and how many these are, nobody learns."
    elif parameters.rows_per_person == 1:
        yield "Only the first row of each person on a side was used."
    else:
        yield f"Of a person's rows on a side only the first {parameters.rows_per_person} were used."
    yield from _NOISE_ALONE if kinds != {"survival"} else ()
    if kinds & {"count", "histogram", "crosstab", "risks", "standardised-rates"}:
        yield "Counts are not clamped after the noise: a small one can come out negative."
    if "mean" in kinds:
        yield (
            "A mean is the noisy sum about the centre of its bounds over the noisy count, each with half of "
            "the query's loss; its interval follows from the joint law of the noise of both."
        )
    if kinds & {"variance", "deviation", "covariance", "correlation"}:
        yield (
            "Variances, deviations, covariances and correlations are those of a sample (n - 1), from noisy "
            "sums that share the query's loss equally; their intervals follow from the joint law of noise."
        )
    if any(query.by for query in parameters.queries):
        yield "With by, every group has the query's whole loss, as a row is in one group."
    if any(not isinstance(each, Presence) for query in parameters.queries for each in query.where):
        yield (
            "With where, a query is about the rows that meet its conditions; each side leaves out the others "
            "before it limits the rows of a person."
        )


def noisy_details(parameters: StatisticsParameters, plans: Sequence[Planned]) -> dict[str, Any]:
    """What was guaranteed, and how, in JSON values."""
    loss = parameters.loss
    details: dict[str, Any] = {
        "guarantee": f"{_guarantee(loss)}, by sequential composition of the queries; "
        "computational towards the two parties, as 128-bit oblivious transfer hides the noise from them",
        "neighbours": str(parameters.neighbours),
        "mechanism": f"discrete {parameters.noise.capitalize()}, drawn jointly; neither party knows "
        "the noise",
        "delta": float(sum((planned.delta for planned in plans), Decimal(0))),
        "engine": "oblivious",
        "queries": [_detail(planned) for planned in plans],
    }
    if loss.rho:
        details["rho"] = text(loss.rho)
        details["stated_for_delta_from"] = float(MIN_STATED_DELTA)
    else:
        details["epsilon"] = text(loss.epsilon)
    return details


def _guarantee(loss: Loss) -> str:
    if loss.rho:
        return "rho-zero-concentrated differential privacy up to delta"
    return "(epsilon, delta)-differential privacy"


def _detail(planned: Planned) -> dict[str, Any]:
    statistic, query = planned.statistic, planned.query
    scale = statistic.noise_scale
    first = statistic.parts[0].sensitivity * statistic.changes
    detail = {
        "query": query.name,
        "kind": query.kind,
        "sensitivity": text(Fraction(first, statistic.divisor)),
        "noise_scale": text(scale) if isinstance(scale, Fraction) else f"{scale:.6g}",
        "delta": float(planned.delta),
    }
    if query.loss.rho:
        detail["rho"] = text(query.loss.rho)
    else:
        detail["epsilon"] = text(query.loss.epsilon)
    return detail
