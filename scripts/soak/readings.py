"""What a peer reads from figures whose owner it chose: of which persons of the victim's each of them tells.

A figure that is opened to the peer is taken for more than it is: of a model of two groups the sum of the
outcome in each, of ratios pooled over strata the counts in each stratum, of two sums their difference. A
finding is

- **group**: 1 to m - 1 persons whom one of these is about, or who differ in it from all others;
- **dominance**: of one of these sums one person has more than the policy's `dominance`;
- **digits**: a figure with a digit that fewer than m persons move: of a curve by those who are followed
  beyond the point, of the area under a curve by the rows;
- **pattern**: more clusters are withheld than one, or one in ten, and as many that protect these;
- **line**: where zeros are shown, a line of a table in which one cell is withheld and all others are 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import floor, log2
from operator import eq, ge, lt, ne
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scripts.soak.proposals import DEAR, DECLARED, OLD, POINTS, Document, Round
from smc.analyses.statistics.kinds.survival.digits import CHANCE, VARIANCE, Unit

Outcome = Mapping[str, Any]
"""Of a finished job, as its result's file has it; nothing of another one."""

Opened = tuple[Unit, NDArray[np.float64]]
"""Figures of a curve, and in which kind of unit they were opened."""

_PEERS_BAND: Final = "child"
"""The band of ages in which `lines` has the peer's own row."""

_NEAR: Final = 1e-6


@dataclass(frozen=True)
class Finding:
    """A figure or an end that is about fewer persons than the victim allows."""

    kind: str
    what: str
    about: tuple[int, ...]


def read(drawn: Round, outcomes: Sequence[Outcome], opened: Sequence[Sequence[Opened]]) -> Iterator[Finding]:
    """What follows from a sequence.

    Args:
        drawn: the round.
        outcomes: of each job, for the peer.
        opened: figures of curves in each job.
    """
    reader = _Reader(drawn)
    sums: list[tuple[str, str, frozenset[int]]] = []
    for number, (document, outcome) in enumerate(zip(drawn.jobs, outcomes, strict=True)):
        if not outcome or "alice" not in document["job"]["recipients"]:
            continue
        tables = {table["name"]: table["columns"] for table in outcome["tables"]}
        place, parameters = f"job {number + 1}", document["parameters"]
        analysis = document["job"]["analysis"]
        if analysis == "models":
            yield from reader.of_models(place, parameters, tables)
        elif analysis == "clustering":
            yield from reader.of_clusters(place, tables["centres"]["size"])
        elif analysis == "statistics":
            (query,) = parameters["queries"]
            if query["kind"] == "mantel-haenszel" and tables["results"]["value"][0] is not None:
                yield from reader.of_strata(place)
            elif query["kind"] == "survival":
                yield from reader.of_curves(place, query, opened[number])
            elif query["kind"] == "sum" and "by" not in query and tables["results"]["value"][0] is not None:
                who = reader.meeting(query.get("where", []))
                if query["column"] in reader.amounts:
                    yield from reader.of_sums(place, query["column"], who, sums)
                    sums.append((place, query["column"], who))
            elif drawn.victim.get("zeros") == "shown":
                yield from reader.of_lines(place, document, tables)


class _Reader:
    """Knows the victim's persons, which the peer does not, to say of whom a figure tells.

    Attributes:
        amounts: of each person, by column.
    """

    def __init__(self, drawn: Round) -> None:
        self._drawn, self._m = drawn, drawn.minimum
        self._part = drawn.dominance
        people = self._people = drawn.persons
        self._everybody = range(len(people["id"]))
        stays = [
            (date.fromisoformat(end) - date.fromisoformat(start)).days
            for start, end in zip(people["born"], people["left"], strict=True)
        ]
        self.amounts: dict[str, list[int]] = {"cost": people["cost"], "stay": stays}

    def meeting(self, conditions: Sequence[Mapping[str, Any]]) -> frozenset[int]:
        """The persons that meet all conditions."""
        found = set(self._everybody)
        for condition in conditions:
            cells = self._people[condition["column"]]
            found &= {who for who in self._everybody if _meets(cells[who], condition)}
        return frozenset(found)

    def of_models(
        self, place: str, parameters: Mapping[str, Any], tables: Mapping[str, Any]
    ) -> Iterator[Finding]:
        """Of each model with coefficients: its groups, or the digits of its area."""
        for model in parameters["models"]:
            if tables.get(model["name"], {}).get("coefficient", [None])[0] is None:
                continue
            if "report" in model:
                yield from self._of_area(f"{place}, {model['name']}", tables["models"])
                continue
            who = set(self._everybody)
            if parameters.get("layout") == "vertical":
                brought = set(self._drawn.rows["id"])
                who = {each for each in who if self._people["id"][each] in brought}
            for old in (False, True):
                group = [each for each in who if (self._people["age"][each] >= OLD) == old]
                what = f"{place}, {model['kind']} model, {'older' if old else 'younger'}"
                if model["kind"] == "linear":
                    yield from self._of_sum(what, model["outcome"], group)
                else:
                    cases = [each for each in group if self._people[model["outcome"]][each] == model["label"]]
                    yield from self._of_few(f"{what} with {model['label']}", cases)
                    yield from self._of_few(f"{what} without", sorted({*group} - {*cases}))

    def of_strata(self, place: str) -> Iterator[Finding]:
        """Of pooled ratios: the cells of each stratum."""
        people, cells = self._people, dict[tuple[Any, ...], list[int]]()
        for who in self._everybody:
            cell = people["age"][who] >= OLD, people["sex"][who], people["cost"][who] >= DEAR
            cells.setdefault(cell, []).append(who)
        for cell, members in sorted(cells.items()):
            yield from self._of_few(f"{place}, pooled strata, {cell}", members)

    def of_curves(self, place: str, query: Mapping[str, Any], opened: Sequence[Opened]) -> Iterator[Finding]:
        """Of curves: digits that fewer than m of those who are followed beyond the point move."""
        groups = DECLARED["sex"]["values"] if "by" in query else [None]
        beyond = [
            [
                [
                    who
                    for who in self._everybody
                    if group in (None, self._people["sex"][who]) and self._people["followed"][who] > day
                ]
                for day in POINTS
            ]
            for group in groups
        ]
        flat = [each for group in beyond for each in group]
        for unit, figures in opened:
            if unit not in (CHANCE, VARIANCE) or figures.size != len(flat):
                continue
            for members, figure in zip(flat, figures.reshape(-1).tolist(), strict=True):
                n = len(members)
                if n and _has_more_bits(
                    figure, n / self._m if unit is CHANCE else n * n / self._m, n < self._m
                ):
                    kind = "chance" if unit is CHANCE else "variance"
                    yield Finding("digits", f"{place}, {kind} {figure:g} with {n} beyond", tuple(members))

    def of_clusters(self, place: str, sizes: Sequence[int | None]) -> Iterator[Finding]:
        """Of clusters: how many are withheld, as many again as may be protect those that fail."""
        withheld = sizes.count(None)
        if withheld > 2 * max(1, len(sizes) // 10):
            yield Finding("pattern", f"{place}, {withheld} of {len(sizes)} clusters withheld", ())

    def of_sums(
        self, place: str, column: str, who: frozenset[int], before: Sequence[tuple[str, str, frozenset[int]]]
    ) -> Iterator[Finding]:
        """Of a sum, and of what it and one before differ by."""
        yield from self._of_sum(f"{place}, sum of {column}", column, sorted(who))
        for other, also, others in before:
            if also == column and (who < others or others < who):
                apart = sorted(who ^ others)
                yield from self._of_few(f"{place} and {other}", apart)
                yield from self._of_sum(f"{place} less {other}", column, apart, differ=False)

    def of_lines(self, place: str, document: Document, tables: Mapping[str, Any]) -> Iterator[Finding]:
        """Of a table by two columns whose zeros are shown: the lines with one cell."""
        (query,) = document["parameters"]["queries"]
        rows: dict[tuple[str, ...], int | None] = {}
        if query["kind"] == "crosstab":
            (name,) = (name for name in tables if name != "results")
            columns = tables[name]
            labels = [columns[each] for each in query["columns"]]
            rows = dict(zip(zip(*labels, strict=True), columns["count"], strict=True))
        else:
            groups = (tuple(group.split(" / ")) for group in tables["results"]["group"])
            rows = dict(zip(groups, tables["results"]["rows"], strict=True))
        cells = {key: count for key, count in rows.items() if len(key) == 2 and "(all)" not in key}
        cells = {key: count for key, count in cells.items() if _PEERS_BAND not in key}
        for axis in (0, 1):
            for label in sorted({key[axis] for key in cells}):
                line = [count for key, count in cells.items() if key[axis] == label]
                if len(line) > 1 and line.count(None) == 1 and line.count(0) == len(line) - 1:
                    yield Finding("line", f"{place}, {label}: all cells but one are 0", ())

    def _of_area(self, what: str, columns: Mapping[str, Any]) -> Iterator[Finding]:
        (area,), (rows,), (cases,) = columns["auc"], columns["rows"], columns["with_outcome"]
        if area is None or area >= 1:
            return
        opened = area * cases * (rows - cases) / rows**2
        fewer = min(len(self._everybody), len(self._drawn.rows["id"]))
        if _has_more_bits(opened, fewer / self._m, fewer < self._m):
            yield Finding("digits", f"{what}: area {area:g} of {rows} rows", ())

    def _of_few(self, what: str, members: Sequence[int]) -> Iterator[Finding]:
        if 0 < len(members) < self._m:
            yield Finding("group", what, tuple(members))

    def _of_sum(
        self, what: str, column: str, members: Sequence[int], *, differ: bool = True
    ) -> Iterator[Finding]:
        """A sum: those who differ from what most have and from both bounds, and who has most of it."""
        amounts = self.amounts[column]
        own = Counter(amounts[who] for who in members)
        if differ and own:
            bounds = {DECLARED[column][end] for end in ("lower", "upper")} if column in DECLARED else set()
            common = {*bounds, own.most_common(1)[0][0]}
            yield from self._of_few(
                f"{what}: persons who differ", [who for who in members if amounts[who] not in common]
            )
        parts = [abs(amounts[who]) for who in members]
        if parts and max(parts) > self._part * sum(parts):
            largest = members[int(np.argmax(parts))]
            yield Finding("dominance", f"{what}: {max(parts)} of {sum(parts)}", (largest,))


def _meets(cell: Any, condition: Mapping[str, Any]) -> bool:
    tests: dict[str, Callable[[Any, Any], bool]] = {
        "equals": eq,
        "not_equals": ne,
        "at_least": ge,
        "below": lt,
    }
    return all(test(cell, condition[word]) for word, test in tests.items() if word in condition)


def _has_more_bits(figure: float, parts: float, is_whole: bool) -> bool:
    """Whether a figure has more binary digits than a share of so many parts allows."""
    scaled = figure if is_whole else figure * 2.0 ** max(0, floor(log2(parts)))
    return abs(scaled - round(scaled)) > _NEAR
