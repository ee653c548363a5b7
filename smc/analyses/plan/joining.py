"""What a plan says and gives, from what its parts do: nothing of it is stated twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from smc.analyses.plan.part import PlanPart
from smc.analyses.records.numbers import text
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.precision import PRECISION
from smc.analyses.studies.study import Preview
from smc.forms import Role

HELD_TOGETHER = frozenset({Whom.CELLS, Whom.FITS})
"""Figures that a release holds against each other, row by row."""


def joined_texts(said: Sequence[tuple[str, Iterable[str]]]) -> tuple[str, ...]:
    """What parts say, each text once; where not all say it, with those that do.

    Args:
        said: names of the parts, and what each says.
    """
    found: dict[str, list[str]] = {}
    for name, texts in said:
        for each in texts:
            found.setdefault(each, []).append(f'"{name}"')
    return tuple(
        each if len(names) == len(said) and len(said) > 1 else f"{', '.join(names)}: {each}"
        for each, names in found.items()
    )


def joined_facts(parts: Sequence[PlanPart], recipients: frozenset[Role]) -> Facts:
    """The facts of all parts; a policy that allows them allows each."""
    each = [(part, part.study.facts(recipients)) for part in parts]
    facts = [one for _, one in each]
    return Facts(
        pairs_by_position=any(one.pairs_by_position for one in facts),
        matches=any(one.matches for one in facts),
        lpn=any(one.lpn for one in facts),
        row_results=any(one.row_results for one in facts),
        comparison_type=None,
        exact=_exact([one.exact for one in facts if one.exact is not None]),
        sorts_by=_names(each, lambda one: one.sorts_by),
        keeps_missing=_names(each, lambda one: one.keeps_missing),
        loss=reduce(add, (one.loss for one in facts), Loss()),
        bounds=RowBounds(
            _least(one.bounds.rows for one in facts), _least(one.bounds.per_person for one in facts)
        ),
        asked=_merge_asked(each),
    )


def _exact(figures: Sequence[ExactFigures]) -> ExactFigures | None:
    if not figures:
        return None
    whom = {each.whom for each in figures}
    return ExactFigures(
        sum(each.count for each in figures),
        next(one for one in (Whom.CLUSTERS, Whom.CELLS, Whom.FITS, Whom.MATCHES) if one in whom),
        together=sum(each.count for each in figures if each.whom in HELD_TOGETHER),
    )


def _merge_asked(each: Sequence[tuple[PlanPart, Facts]]) -> Asked:
    """What is asked for; a key of one part is a value as well where another part takes it for one."""
    keys = _names(each, lambda one: one.asked.keys)
    others = ({*part.columns(role)} - {*part.outside(one.asked.keys)} for part, one in each for role in Role)
    return Asked(
        queries=frozenset().union(*(one.asked.queries for _, one in each)),
        keys=keys,
        values=_names(each, lambda one: one.asked.values) | (keys & frozenset().union(*others)),
        states=frozenset().union(*(one.asked.states for _, one in each)),
        named=frozenset().union(*(one.asked.named for _, one in each)),
        likeness=any(one.asked.likeness for _, one in each),
        answers=tuple(answers for _, one in each for answers in one.asked.answers),
        parts=frozenset(part.analysis for part, _ in each),
    )


def _names(each: Sequence[tuple[PlanPart, Facts]], of: Callable[[Facts], AbstractSet[str]]) -> frozenset[str]:
    return frozenset(name for part, facts in each for name in part.outside(of(facts)))


def _least(bounds: Iterable[int | None]) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def joined_pace(paces: Sequence[Pace]) -> Pace:
    """The pace of several programs one after the other."""
    return Pace(
        sum(pace.fixed for pace in paces),
        max(pace.byte for pace in paces),
        max(pace.round for pace in paces),
        sum(pace.row for pace in paces),
        max(pace.numpy for pace in paces),
    )


def joined_previews(found: Sequence[tuple[PlanPart, Preview]]) -> Preview:
    """What local rows show of the parts, of which none refuses."""
    details: dict[str, Any] = {}
    for part, preview in found:
        for key, value in preview.details.items():
            if key == PRECISION:
                named = [{**row, "query": f"{part.name}: {row['query']}"} for row in value]
                details.setdefault(PRECISION, []).extend(named)
            else:
                details.setdefault(part.name, {})[key] = value
    notes = joined_texts([(part.name, preview.notes) for part, preview in found])
    advice = joined_texts([(part.name, preview.advice) for part, preview in found])
    return Preview(notes, details, advice=advice)


def joined_outcomes(
    parts: Sequence[PlanPart], outcomes: Sequence[Outcome], route: str, loss: Loss
) -> Outcome:
    """The results of all parts, each table under the name of its part."""
    both = list(zip(parts, outcomes, strict=True))
    tables = tuple(
        replace(table, name=f"{part.name}: {table.name}")
        for part, outcome in both
        for table in outcome.tables
    )
    details: dict[str, Any] = {
        "route": route,
        "parts": {part.name: dict(outcome.details) for part, outcome in both},
    }
    if loss and not loss.rho:
        details["epsilon"] = text(loss.epsilon)
    return Outcome(tables, joined_texts([(part.name, outcome.notes) for part, outcome in both]), details)
