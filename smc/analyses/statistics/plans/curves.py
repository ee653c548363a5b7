"""Survival without noise: what is told of it beforehand, and what recipients read."""

from __future__ import annotations

from typing import Final

from smc.analyses.statistics.kinds.survival.figures import SurvivalFigures
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.plans.outcome import EXACT_DETAILS, outcome_of
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.follow_up import FollowUp
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.studies.outcome import Outcome
from smc.errors import UsageError

ROUNDED: Final = (
    "where the policies limit groups, these figures are rounded by how many are followed further, and beside "
    "them opens of each point how many times the smallest group these are at least: 1, 2, 4 and so on"
)
WITHIN_SIDES: Final = "under such limits a test compares groups within each side, as if sides were strata"


def asked_of(parameters: StatisticsParameters) -> tuple[Query, FollowUp]:
    """The one query of a job without noise about survival.

    Raises:
        UsageError: it is about something else.
    """
    (query,) = parameters.queries
    if query.follow_up is None:
        raise UsageError("The query is not about survival.", "Report it as a defect of the planning.")
    return query, query.follow_up


def curves_text(parameters: StatisticsParameters) -> tuple[str, ...]:
    """Which figures open, for statements of who learns what."""
    query, asked = asked_of(parameters)
    by = f", by {', '.join(asked.by)}" if asked.by else ""
    kinds = "".join(f", the part with {label}" for label in asked.competing)
    curves = (
        f'of "{query.name}" at the start and every {asked.every} of {asked.time} up to {asked.until}{by}'
        f": the part without an event and the variance of its logarithm{kinds}, and how many rows are "
        "followed further"
    )
    if not query.test:
        return (curves,)
    within = f", within {', '.join(asked.strata)}" if asked.strata else ""
    return curves, (
        f"of all times up to {asked.until} together: the events of each group, how many of them were "
        f"expected if survival were equal{within}, and the covariances of these numbers"
    )


def curves_outcome(
    parameters: StatisticsParameters,
    statistic: Survival,
    figures: SurvivalFigures,
    *,
    rounded: bool,
    within_sides: bool = False,
) -> Outcome:
    """For a recipient.

    Args:
        parameters: the job.
        statistic: the query, resolved.
        figures: what opened.
        rounded: whether limits ask for fewer digits.
        within_sides: whether a test is then of the rows of each side.
    """
    result = figures.result(
        _notes(
            parameters,
            statistic,
            figures,
            rounded=rounded,
            within_sides=within_sides and statistic.query.test,
        )
    )
    reported = [(statistic.query, statistic, None, result)]
    return outcome_of(parameters, reported, EXACT_DETAILS, noisy=False)


def _notes(
    parameters: StatisticsParameters,
    statistic: Survival,
    figures: SurvivalFigures,
    *,
    rounded: bool,
    within_sides: bool,
) -> tuple[str, ...]:
    query, asked = asked_of(parameters)
    unit = statistic.schemas[0].unit
    notes = [
        f"{query.name}: intervals and p-value speak of sampling; those of curves are symmetrical on the "
        "scale of log(-log S)."
    ]
    if unit:
        notes.append(f"{query.name}: medians and restricted means are in {unit}.")
    if asked.restricted_mean is not None or asked.competing:
        notes.append(
            f"{query.name}: restricted means, and intervals of incidences, follow from the points that "
            "are shown, by straight lines between them."
        )
    if rounded:
        notes.append(
            f"{query.name}: as limits ask, figures are rounded, the more the fewer are followed further."
        )
    if query.test and within_sides:
        notes.append(f"{query.name}: {WITHIN_SIDES}.")
    if figures.withheld:
        notes.append(
            f"{query.name}: {figures.withheld} points are withheld, where too few have an event between "
            "a point and the one before, or are followed further; a curve goes on at its next point."
        )
    return tuple(notes)
