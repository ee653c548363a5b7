"""What would give more for the same loss: leaving out figures that say almost nothing, or another split.

Both follow from what `precision` expects of the local rows, so they are for the local people alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from smc.analyses.records.numbers import text
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.plans.precision import expected_precision
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.rows import Ints
from smc.analyses.studies.precision import REACH, SPLIT, is_vague
from smc.analyses.studies.study import Preview

_SPREAD: Final = frozenset({"mean", "median", "quantile", "summary"})
"""Kinds of figures of which people ask first what they would gain."""

_QUANTILES: Final = frozenset({"median", "quantile"})
_NAMED: Final = 3
"""Figures of one sentence at most."""

_MOST: Final = 6
"""Figures among which epsilon is split anew at most: people have to write a share for each."""

_GAIN: Final = 0.7
"""Another split is worth a word where the widest figure gets so much narrower."""

_GRAIN: Final = 20
"""Shares are twentieths."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What would give more for the same loss.

    Attributes:
        words: sentences for people.
        shares: by the name of a query of the job, the share that it would have; empty unless that is advised.
    """

    words: tuple[str, ...] = ()
    shares: Mapping[str, str] = field(default_factory=dict)

    def preview(self, *more: str) -> Preview:
        """What a preview of a run says of it, with more words."""
        return Preview(details={SPLIT: dict(self.shares)} if self.shares else {}, advice=(*self.words, *more))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query with the local rows.

    Attributes:
        planned: the query.
        entries: the local ones.
        sides: how often they count.
        rows: how many there are here; 0 if that is not known.
    """

    planned: Planned
    entries: Ints
    sides: int
    rows: int

    @property
    def kind(self) -> str:
        """Of its figures."""
        return self.planned.query.kind

    @property
    def part(self) -> str:
        """The query of the job that it belongs to: a table one has many."""
        query = self.planned.query
        return query.entry.table if query.entry else query.name

    @property
    def loss(self) -> Fraction:
        """Its part of the job's loss."""
        return self.planned.query.loss.rho or self.planned.query.loss.epsilon

    def figures(self, factor: Fraction) -> list[dict[str, Any]]:
        """Its rows of `expected_precision` with so many times the loss."""
        return expected_precision(_scale(self.planned, factor), self.entries, self.sides, self.rows)


def advise(
    plans: Sequence[Planned],
    entries: Sequence[Ints],
    sides: int,
    rows: int,
    found: Sequence[list[dict[str, Any]]],
) -> Advice:
    """What leaving out figures would give, or another split of the loss; nothing where neither helps.

    Args:
        plans: of all queries.
        entries: of each the local ones.
        sides: as for `expected_precision`.
        rows: likewise.
        found: of each what `expected_precision` says.
    """
    asked = [_Asked(*both, sides, rows) for both in zip(plans, entries, strict=True)]
    another = _another_split(asked, found)
    left = _without(asked, found) if any(is_vague(row) for one in found for row in one) else Advice()
    return left if left.words else another


def _without(asked: Sequence[_Asked], found: Sequence[list[dict[str, Any]]]) -> Advice:
    """What leaving out would give: quantiles, which tell least for what they take, or what tells nothing."""
    vague = [any(map(is_vague, rows)) for rows in found]
    quantiles = {one.planned.query.name for one in asked if one.kind in _QUANTILES}
    if any(is_so and one.kind in _QUANTILES for one, is_so in zip(asked, vague, strict=True)):
        useless, called = quantiles, "medians and quartiles"
    else:
        names = [
            one.planned.query.name for one, rows in zip(asked, found, strict=True) if all(map(is_vague, rows))
        ]
        useless, called = {*names}, _listed(names)
    kept = [
        (one, rows)
        for one, rows in zip(asked, found, strict=True)
        if one.planned.query.name not in useless and any(row["half_width"] for row in rows)
    ]
    rest = sum((one.loss for one in asked if one.planned.query.name not in useless), Fraction(0))
    if not useless or not kept:
        return Advice()
    factor = sum((one.loss for one in asked), Fraction(0)) / rest
    kept.sort(key=lambda both: both[0].kind not in _SPREAD)
    for one, rows in kept:
        for before, after in zip(rows, one.figures(factor), strict=True):
            if before["half_width"] and after["half_width"] < before["half_width"]:
                return Advice((f"Without {called}, {_narrower(before, after)}.",))
    return Advice()


def _another_split(asked: Sequence[_Asked], found: Sequence[list[dict[str, Any]]]) -> Advice:
    """Shares by which the widest figure, of what it can vary by, gets much narrower."""
    widest: dict[str, tuple[_Asked, int]] = {}
    now: dict[str, dict[str, Any]] = {}
    losses: dict[str, Fraction] = {}
    for one, rows in zip(asked, found, strict=True):
        losses[one.part] = losses.get(one.part, Fraction(0)) + one.loss
        for place, row in enumerate(rows):
            if not row.get(REACH) or row["half_width"] is None:
                return Advice()
            if one.part not in now or _part_of(row) > _part_of(now[one.part]):
                widest[one.part], now[one.part] = (one, place), row
    if not 1 < len(losses) <= _MOST or {*losses} - {*widest} or not any(map(_part_of, now.values())):
        return Advice()
    total = sum(losses.values(), Fraction(0))
    power = 2 if asked[0].planned.query.loss.rho else 1  # widths go with the root of rho
    wanted = {part: _part_of(row) ** power * float(losses[part]) for part, row in now.items()}
    shares = _twentieths(wanted)
    then = {
        part: one.figures(share * total / losses[part])[place]
        for (part, (one, place)), share in zip(widest.items(), shares.values(), strict=True)
    }
    if max(map(_part_of, then.values())) > _GAIN * max(map(_part_of, now.values())):
        return Advice()
    ordered = sorted(now, key=lambda part: _part_of(now[part]), reverse=True)
    texts = {part: text(shares[part]) for part in ordered}
    said = [f"{_narrower(now[part], then[part], '')} (share {texts[part]})" for part in ordered]
    words = f"Epsilon in other parts, so that figures are more alike: {_listed(said, most=_MOST)}."
    return Advice((words,), texts)


def _twentieths(wanted: Mapping[str, float]) -> dict[str, Fraction]:
    """Shares in these proportions, of at least a twentieth each."""
    total = sum(wanted.values())
    exact = {part: value / total * (_GRAIN - len(wanted)) for part, value in wanted.items()}
    found = {part: 1 + int(value) for part, value in exact.items()}
    by_rest = sorted(exact, key=lambda part: exact[part] - int(exact[part]), reverse=True)
    for part in by_rest[: _GRAIN - sum(found.values())]:
        found[part] += 1
    return {part: Fraction(count, _GRAIN) for part, count in found.items()}


def _part_of(row: Mapping[str, Any]) -> float:
    """The half width of a figure as a part of what it can vary by."""
    return float(row["half_width"] / row[REACH])


def _narrower(before: Mapping[str, Any], after: Mapping[str, Any], verb: str = " would be about") -> str:
    unit = f" {before['unit']}" if before["unit"] else ""
    return (
        f"{before['query']}{verb} ± {after['half_width']:.2g}{unit} instead of ± {before['half_width']:.2g}"
    )


def _listed(names: Iterable[str], most: int = _NAMED) -> str:
    every = [*names]
    shown = [*every[:most], *([f"{len(every) - most} more"] if len(every) > most else [])]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _scale(planned: Planned, factor: Fraction) -> Planned:
    """The same with so many times the loss."""

    def more(query: Query) -> Query:
        loss = query.loss
        return replace(query, loss=replace(loss, epsilon=loss.epsilon * factor, rho=loss.rho * factor))

    statistic = replace(planned.statistic, query=more(planned.statistic.query))
    return replace(planned, query=more(planned.query), statistic=statistic)
