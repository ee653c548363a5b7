"""What groups tell beyond what they promise: the deFinetti and the minimality attack, as measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Final, Generic, TypeVar

from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation, percent
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.risk.classes import classes_of
from anonymizer.risk.definetti import (
    MAX_VALUES,
    DefinettiRisk,
    ManyValuesError,
    definetti_of,
    definetti_risk,
    persons_by_decoys,
)
from anonymizer.risk.minimality import MinimalityRisk, minimality_risk
from anonymizer.tables.randomness import Randomness

T = TypeVar("T")


class _OfGroups(Measure[Mapping[str, T | None]], Generic[T]):
    """A measure of releases that rest on groups of people, by sensitive column.

    A column of more values than the attacks can weigh, as costs have, has None: it does not keep the others
    from being measured.
    """

    kind = "risk"
    needs = (Need.QUASI_IDENTIFIERS,)

    @override
    def lacks(self, case: Case) -> str:
        """It needs groups, and a sensitive column whose values are somebody's."""
        reason = super().lacks(case)
        if reason:
            return reason
        if case.pipeline is not None and case.origin is None:
            return "the rows are of nobody"
        blurred = () if case.pipeline is None else case.pipeline.blurred
        if set(blurred) & set(case.keys):
            return "quasi-identifiers were drawn at random, so that nobody fits"
        if not self._named(case):
            return "no sensitive column has values that belong to groups or rows"
        rows = case.rows
        if rows.group is None:
            classes, count = classes_of(rows.table, case.keys)
            if 2 * count > len(classes):
                return "the release does not rest on groups: most rows are like no other"
        return ""

    @override
    def columns(self, case: Case) -> tuple[str, ...]:
        """The quasi-identifiers and the sensitive columns."""
        return (*case.keys, *case.release.roles.sensitive)

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Bounded: of more persons a random part is looked for."""
        return min(1e9, 5e3 * columns * min(rows, 5_000)) + 30.0 * rows * columns

    def _named(self, case: Case) -> tuple[str, ...]:
        rows = case.rows
        return tuple(name for name in rows.table.roles.sensitive if name not in rows.blurred)


def _measured(names: Iterable[str], measure: Callable[[str], T]) -> dict[str, T | None]:
    """What a measure says of each column; None where it has too many values.

    Raises:
        ManyValuesError: all of them have.
    """
    found: dict[str, T | None] = {}
    problem = None
    for name in names:
        try:
            found[name] = measure(name)
        except ManyValuesError as one:
            found[name], problem = None, one
    if problem is not None and not any(found.values()):
        raise problem
    return found


def _present(found: Mapping[str, T | None]) -> dict[str, T]:
    return {name: one for name, one in found.items() if one is not None}


def _left_out(title: str, found: Mapping[str, object]) -> list[tuple[str, str]]:
    """A line that names the columns of which nothing was measured."""
    names = [name for name, one in found.items() if one is None]
    return [(title, f"not measured of {', '.join(names)}: more than {MAX_VALUES} values")] if names else []


class DefinettiMeasure(_OfGroups[DefinettiRisk]):
    """How much better than by the groups alone sensitive values are guessed."""

    name = "definetti"
    title = "Values guessed by groups and quasi-identifiers"

    @override
    def lacks(self, case: Case) -> str:
        """As all; or values that were drawn from hidden groups."""
        reason = super().lacks(case)
        return "" if reason and case.keys and _decoys(case) else reason

    @override
    def measure(self, case: Case) -> Mapping[str, DefinettiRisk | None]:
        """As `definetti_risk`, of each sensitive column; of those with decoys by what was drawn."""
        rows, drawn = case.rows, _decoys(case)
        others = () if super().lacks(case) else self._named(case)

        def risk(name: str) -> DefinettiRisk:
            randomness = self._randomness(case, name)
            if name in others:
                return definetti_risk(case.original, rows, name, randomness)
            persons = persons_by_decoys(case.original, rows, name, drawn[name], randomness)
            return definetti_of(case.original, rows, persons)

        return _measured(dict.fromkeys((*drawn, *others)), risk)

    def _randomness(self, case: Case, name: str) -> Randomness:
        return case.randomness(f"{self.name} {name}")

    @override
    def describe(self, found: Mapping[str, DefinettiRisk | None]) -> Presentation:
        """A row for each column."""
        known = _present(found)
        rows = [
            [
                name,
                f"{one.persons:,} of {one.looked:,}",
                percent(one.right),
                percent(one.surest),
                percent(one.by_groups),
                percent(one.commonest),
            ]
            for name, one in known.items()
        ]
        heads = [
            "Sensitive column",
            "persons",
            "right",
            "of the surest tenth",
            "by the groups",
            "commonest value",
        ]
        return Presentation(
            values={name: asdict(one) for name, one in known.items()},
            lines=[
                *_left_out("deFinetti", found),
                *(
                    (
                        "deFinetti",
                        f"{name} guessed right for {percent(one.right)} of {one.persons:,} persons, by "
                        f"the groups alone for {percent(one.by_groups)}",
                    )
                    for name, one in known.items()
                ),
            ],
            cautions=[
                f"Values of {name} are guessed right for {percent(one.right)} of the persons, and for "
                f"{percent(one.surest)} of the tenth of which an attacker is surest; by the groups alone it "
                f"would be {percent(one.by_groups)}. What is promised of groups speaks of the groups alone."
                for name, one in known.items()
                if max(one.right, one.surest) > one.by_groups + _CLEARLY
            ],
            text="The attacker knows the quasi-identifiers of all, learns from the release how values go "
            "with them, and gives each person of a group the value that suits best. Where values were drawn "
            "from hidden groups, a group is all for whom the same was drawn. Where it is "
            "not known whose a row is, persons who fit in several groups are left out; of a large table "
            "persons are drawn at random.",
            grids=[Grid("How often the guess is right.", heads, rows)],
        )


_CLEARLY: Final = 0.05


def _decoys(case: Case) -> Mapping[str, int]:
    """The sensitive columns whose values were drawn from hidden groups, with the size of these."""
    if (
        not isinstance(case.pipeline, Pipeline)
        or case.origin is None
        or set(case.pipeline.blurred) & set(case.keys)
    ):
        return {}
    return {
        name: int(one.number("gamma"))
        for one in case.pipeline.promises
        if one.kind == "small-sum-privacy"
        for name in one.columns
        if name in case.release.roles.sensitive
    }


class MinimalityMeasure(_OfGroups[MinimalityRisk]):
    """What is told by the fact that people were joined into one class."""

    name = "minimality"
    title = "Values told by what was joined"

    @override
    def lacks(self, case: Case) -> str:
        """As all; and classes of rows."""
        return super().lacks(case) or (
            "the groups are not classes of rows alike" if case.rows.group is not None else ""
        )

    @override
    def measure(self, case: Case) -> Mapping[str, MinimalityRisk | None]:
        """As `minimality_risk`, of each sensitive column."""
        return _measured(
            self._named(case),
            lambda name: minimality_risk(
                case.original, case.rows, name, case.randomness(f"{self.name} {name}")
            ),
        )

    @override
    def describe(self, found: Mapping[str, MinimalityRisk | None]) -> Presentation:
        """A row for each column."""
        known = _present(found)
        rows = [
            [
                name,
                f"{one.persons:,} of {one.looked:,}",
                f"{one.told:,}",
                f"{one.right:,}",
                f"{one.by_share:,.0f}",
            ]
            for name, one in known.items()
        ]
        return Presentation(
            values={name: asdict(one) for name, one in known.items()},
            lines=[
                *_left_out("minimality", found),
                *(
                    (
                        "minimality",
                        f"{name} told of {one.told:,} of {one.persons:,} persons, right for {one.right:,}",
                    )
                    for name, one in known.items()
                ),
            ],
            cautions=[
                f"By what was joined into one class an attacker names the value of {name} for {one.told:,} "
                f"persons and is right for {one.right:,}; shares of classes would give {one.by_share:,.0f}."
                for name, one in known.items()
                if one.right > one.by_share + 0.5
            ],
            text="The attacker knows the quasi-identifiers of all and how the release was made. A part of a "
            "class that is large enough to stand alone was joined because it had too few values; where only "
            "one set of values fits, the attacker names the commonest of it. Where it is not "
            "known whose a row is, persons who fit in several classes are left out; of a large table persons "
            "are drawn at random.",
            grids=[
                Grid(
                    "Of how many persons a value is named.",
                    ["Sensitive column", "persons", "named", "right", "right by shares alone"],
                    rows,
                )
            ],
        )
