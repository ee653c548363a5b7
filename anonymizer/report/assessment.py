"""What is measured of a release, in one value; what was not measured is noted, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import numpy as np

from anonymizer.errors import AnonymizerError, SpecError, TableError
from anonymizer.measures.contract.measure import Case, Measure, Scale
from anonymizer.measures.contract.story import Presentation, plain
from anonymizer.measures.registry import MEASURES
from anonymizer.measures.risk.persons import Prosecutor
from anonymizer.measures.risk.simulator import AttackSimulator
from anonymizer.methods.contract.method import Method
from anonymizer.risk.covering import ReleasedRows
from anonymizer.risk.intersection import Intersection
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from anonymizer.utility.objectives import Utility
from commons.errors import near

T = TypeVar("T")

BUDGET: Final = 3e10
"""What a measure that is not asked for by name may cost, as `Measure.cost` counts: about five minutes."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to measure, and what is known beside the tables.

    Attributes:
        population: all people whom an attacker may think of, as they were collected or in the form of the
            release.
        fraction: released rows by population, in (0, 1].
        attacks: whether to run the attacks too.
        control: rows that the release was not made of, in the form of the original.
        utility: for learning, or None.
        weights: the column of sampling weights, of the release or the original.
        households: the column that says whose household a person is of.
        measures: the words of those to run, whatever they cost; None is all that apply within the budget,
            attacks only with `attacks`.
        without: words of those not to run.
        extra: as `Case.extra`, where the pipeline does not say it.
        others: as `Case.others`.
        joint: as `Case.joint`.
        scale: as `Case.scale`.
        budget: see `BUDGET`.
        seed: of all that is drawn; None is the operating system's randomness.
    """

    population: Table | None = None
    fraction: float | None = None
    attacks: bool = False
    control: Table | None = None
    utility: Utility | None = None
    weights: str | None = None
    households: str | None = None
    measures: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    extra: Mapping[str, Table] = field(default_factory=dict, repr=False)
    others: tuple[ReleasedRows, ...] = field(default=(), repr=False)
    joint: Intersection | None = field(default=None, repr=False)
    scale: Scale = "declared"
    budget: float = BUDGET
    seed: int | None = None

    def __post_init__(self) -> None:
        for word in (*(self.measures or ()), *self.without):
            if word not in MEASURES:
                raise SpecError(f"{word!r} is not a valid measure.", near(word, tuple(MEASURES)))

    def asks(self, measure: Measure[Any]) -> bool:
        """Whether a measure is asked for."""
        if measure.name in self.without:
            return False
        if self.measures is not None:
            return measure.name in self.measures
        return self.attacks or measure.kind != "attack"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A measure that did not run.

    Attributes:
        why: the end of a sentence; without cells of the tables.
        detail: what went wrong, if it did; may name a cell, and so is for the steward's terminal alone.
    """

    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Assessment:
    """Risk and utility of a release.

    Attributes:
        rows: of the original.
        released: of the release.
        roles: of the original's columns.
        found: what the measures found, by their words.
        stories: how it is shown, by the same.
        skipped: measures that were asked for and did not run.
        notes: a sentence each.
        is_synthetic: whether the released rows are nobody's, as far as it is known.
    """

    rows: int
    released: int
    roles: Roles
    found: Mapping[str, Any] = field(repr=False)
    stories: Mapping[str, Presentation] = field(repr=False)
    skipped: Mapping[str, Skipped]
    notes: tuple[str, ...] = ()
    is_synthetic: bool = False

    @property
    def size(self) -> tuple[str, str]:
        """How many rows there are: the figure, and what it is of."""
        if self.is_synthetic:
            return f"{self.released:,}", f"rows made anew of {self.rows:,}"
        return f"{self.released:,} of {self.rows:,}", "rows released"

    def of(self, measure: type[Measure[T]]) -> T | None:
        """What a measure found; None if it did not run."""
        result: T | None = self.found.get(measure.name)
        return result

    @property
    def cautions(self) -> tuple[str, ...]:
        """What must not be overlooked, each once: the notes, and what the measures say."""
        notes = [*self.notes, *(one for story in self.stories.values() for one in story.cautions)]
        notes += [
            f"{MEASURES[word].title} was not measured: {one.why}."
            for word, one in self.skipped.items()
            if one.detail
        ]
        return tuple(dict.fromkeys(notes))

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """For a terminal: names and what there is to say."""
        lines = [line for story in self.stories.values() for line in story.lines]
        failed = [(f"no {word}", one.detail) for word, one in self.skipped.items() if one.detail]
        return (*lines, *failed)

    def sections(self, kind: str) -> Iterator[tuple[str, Presentation]]:
        """The headings and stories of one kind of measure, in order."""
        for word, story in self.stories.items():
            if MEASURES[word].kind == kind:
                yield MEASURES[word].title, story

    @property
    def values(self) -> Mapping[str, Any]:
        """For machines: `risk` and `utility` by the words of measures, and why others did not run."""
        values: dict[str, dict[str, Any]] = {"risk": {}, "utility": {}}
        for word, story in self.stories.items():
            values["utility" if MEASURES[word].kind == "utility" else "risk"][word] = plain(story.values)
        values["risk"]["distribution"] = dict(worst_records(self))
        values["not_measured"] = {word: one.detail or one.why for word, one in self.skipped.items()}
        return values


OnProgress = Callable[[int, int, str], None]
"""Gets how many measures are done, of how many, and the heading of the one that begins."""


def assess(
    original: Table,
    release: Table,
    pipeline: Method | None = None,
    question: Question | None = None,
    on_progress: OnProgress | None = None,
) -> Assessment:
    """Run all measures that are asked for, apply, and do not cost too much.

    Args:
        original: with roles and hierarchies, at least one row.
        release: at least one row.
        pipeline: that has made the release last, if known: the attack simulator needs it.
        question: what to measure.
        on_progress: called before each measure.

    Raises:
        TableError: a table has no rows, or lacks the column of weights or households.
    """
    asked = question or Question()
    for name, table in (("original", original), ("release", release)):
        if not len(table):
            raise TableError(f"The {name} has no rows.", "Give at least one.")
    case = _case(original, release, pipeline, asked)
    found: dict[str, Any] = {}
    stories: dict[str, Presentation] = {}
    skipped: dict[str, Skipped] = {}
    chosen = {word: measure for word, measure in MEASURES.items() if asked.asks(measure)}
    for done, (word, measure) in enumerate(chosen.items()):
        if on_progress:
            on_progress(done, len(chosen), measure.title)
        reason = measure.lacks(case) or _too_dear(measure, case, asked)
        if reason:
            skipped[word] = Skipped(reason, reason if asked.measures is not None else "")
            continue
        try:
            found[word] = measure.measure(case)
        except AnonymizerError as problem:
            skipped[word] = Skipped("the tables do not fit it; the command says why", str(problem))
            continue
        story = measure.describe(found[word])
        stories[word] = story.of_rows() if measure.counts_rows and case.has_repeats else story
    notes = [_TOO_DEAR.format(word=word) for word, one in skipped.items() if one.why.startswith(_COSTS)]
    if not case.keys:
        notes.append("No quasi-identifiers are declared, so that nothing can be said of re-identification.")
    made_anew = pipeline is not None and pipeline.origin_ is None
    return Assessment(
        len(original), len(release), original.roles, found, stories, skipped, tuple(notes), made_anew
    )


_COSTS: Final = "it would take"
_TOO_DEAR: Final = (
    "The measure {word} was left out for the time that it takes; ask for it by name if you want it."
)


def _too_dear(measure: Measure[Any], case: Case, asked: Question) -> str:
    """Why a measure that is not asked for by name does not run within the budget; empty if it does."""
    cost = measure.cost(max(len(case.original), len(case.release)), len(measure.columns(case)))
    if asked.measures is not None or cost <= asked.budget:
        return ""
    return f"{_COSTS} {cost / 6e9:,.0f} minutes or so; ask for it by name if you want it"


def _case(original: Table, release: Table, pipeline: Method | None, asked: Question) -> Case:
    case = Case(
        original,
        release,
        pipeline,
        population=asked.population,
        control=asked.control,
        fraction=asked.fraction,
        utility=asked.utility,
        extra=asked.extra if pipeline is None else pipeline.extra_,
        others=asked.others,
        joint=asked.joint,
        scale=asked.scale,
        seed=asked.seed,
    )
    weights = households = None
    if asked.weights is not None:
        table, rows = _holder(case, asked.weights)
        weights = table.numbers(asked.weights)[rows]
    if asked.households is not None:
        table, rows = _holder(case, asked.households)
        households = table.codes(asked.households).codes[rows]
    return replace(case, weights=weights, households=households)


def _holder(case: Case, column: str) -> tuple[Table, Any]:
    """The table with a column, and the place in it of each released row."""
    if column in case.release.names:
        return case.release, slice(None)
    case.original.require(column)
    if case.origin is None:
        raise TableError(
            f"The release lacks the column {column!r}, and it is not known where its rows came from.",
            "Measure with `duetto anonymize --report`, or give a release that has the column.",
        )
    return case.original, case.origin


def worst_records(assessment: Assessment) -> Mapping[str, float]:
    """The distribution of risk: of how many records an attacker is left with how many candidates.

    Returns:
        Parts of the records by a name for the number of candidates, from safest to most endangered; of the
        attacked original records if the simulator ran, else of the released rows. Empty where neither was
        measured.
    """
    looked, prosecutor = assessment.of(AttackSimulator), assessment.of(Prosecutor)
    if looked is not None:
        candidates = looked.simulation.candidates
    elif prosecutor is not None:
        candidates = 1 / prosecutor.rows
    else:
        return {}
    edges = np.array([0.5, 1.5, 2.5, 5.5, 10.5, 20.5, 50.5, 100.5])
    names = ("not found", "1", "2", "3 to 5", "6 to 10", "11 to 20", "21 to 50", "51 to 100", "over 100")
    counts = np.bincount(np.searchsorted(edges, candidates), minlength=len(names))
    parts = dict(zip(names, (counts / len(candidates)).tolist(), strict=True))
    return {name: parts[name] for name in ("not found", *reversed(names[1:]))}
