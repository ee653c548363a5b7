"""Answers to counting questions, from releases of several kinds through one interface.

Reference: Fu et al., Small sum privacy and large sum utility in data publishing, 2014, sections 4 to 6.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import FileError, SpecError, TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.releases.guarantee import Guarantee, checked_budget
from anonymizer.releases.manifest import Manifest
from anonymizer.splu.generation import MIN_GAMMA, check_gamma
from anonymizer.splu.query import Condition, parse
from anonymizer.splu.reconstruction import NORMAL_95, Blur, Estimate, estimate, estimate_as_printed
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from commons.errors import near

Bool = NDArray[np.bool_]
Int = NDArray[np.int64]

MAX_SENSITIVE: Final = 10
"""Sensitive columns in a question; the states of rows double with each."""


class Cells:
    """Columns of a table as places in their domains, read when they are asked for.

    Args:
        table: released, with what is declared of its columns.
        closed: columns without gaps that hold values of their declared categories only.
    """

    def __init__(self, table: Table, closed: Sequence[str] = ()) -> None:
        self.table = table
        self._closed = tuple(closed)
        self._read: dict[str, tuple[NDArray[Any], Int]] = {}

    def column(self, name: str) -> tuple[NDArray[Any], Int]:
        """The domain of a column and of each row the place in it, or -1 where the cell is missing.

        The domain of a closed column is its declared categories, of others what the table holds.

        Raises:
            SpecError: the table has no such column.
            TableError: a cell of a closed column is missing, or not among the declared categories.
        """
        if name not in self._read:
            if name not in self.table.names:
                raise SpecError(f"The release has no column {name!r}.", near(name, self.table.names))
            self._read[name] = self._domain(name)
        return self._read[name]

    def _domain(self, name: str) -> tuple[NDArray[Any], Int]:
        codes = self.table.codes(name)
        declared = self.table.schema.of(name).categories
        if name not in self._closed:
            return codes.values, codes.codes
        self.table.complete((name,))
        if declared is None:
            return codes.values, codes.codes
        texts = [text_of(value) for value in codes.values.tolist()]
        for text in texts:
            if text not in declared:
                raise TableError(
                    f"Column {name!r} has the value {text!r}, which its declared categories lack.",
                    near(text, declared),
                )
        values = np.array(declared, dtype=object)
        return values, np.array([declared.index(text) for text in texts], dtype=np.int64)[codes.codes]

    def choose(self, conditions: Sequence[Condition]) -> Bool:
        """The values of one column for which all of some conditions about it hold, shape (v,)."""
        name = conditions[0].column
        domain, _ = self.column(name)
        declared = self.table.schema.of(name)
        found: Bool = np.logical_and.reduce([one.holds(domain, declared) for one in conditions])
        return found

    def rows(self, conditions: Sequence[Condition]) -> Bool:
        """The rows for which all of some conditions about one column hold; a missing cell fulfils none."""
        _, codes = self.column(conditions[0].column)
        found: Bool = np.append(self.choose(conditions), False)[codes]
        return found

    def all_rows(self, conditions: Mapping[str, Sequence[Condition]]) -> Bool:
        """The rows for which all conditions hold, given by column."""
        found = np.ones(len(self.table), dtype=np.bool_)
        for some in conditions.values():
            found &= self.rows(some)
        return found


class Answers(ABC):
    """What can be asked how many rows of the original fulfil some conditions."""

    @abstractmethod
    def answer(self, conditions: Sequence[Condition]) -> Estimate:
        """Estimate the number of rows for which all conditions hold.

        Raises:
            SpecError: a condition does not fit the table.
        """

    def ask(self, question: str) -> Estimate:
        """The same of a question as a text, see `anonymizer.splu.query`."""
        return self.answer(parse(question))


@dataclass(frozen=True, slots=True)
class _Split:
    """Conditions by column, of which `sensitive` are about sensitive columns and `plain` about others."""

    plain: Mapping[str, Sequence[Condition]]
    sensitive: Mapping[str, Sequence[Condition]]

    @classmethod
    def of(cls, conditions: Sequence[Condition], sensitive: Sequence[str]) -> _Split:
        by_column: dict[str, list[Condition]] = {}
        for one in conditions:
            by_column.setdefault(one.column, []).append(one)
        return cls(
            {name: some for name, some in by_column.items() if name not in sensitive},
            {name: some for name, some in by_column.items() if name in sensitive},
        )


class SpluAnswers(Answers):
    """Answers from a release of SPLU-Gen.

    Several sensitive columns are taken to be blurred independently of each other, as SPLU-Gen does; they may
    depend on each other in the original as they like.

    Args:
        table: released; declared categories of sensitive columns are their domain.
        sensitive: the columns that were treated.
        gamma: the size of decoy groups.
        as_printed: estimate as the paper prints it, without an interval; for comparison.
    """

    def __init__(
        self, table: Table, sensitive: Sequence[str], gamma: int, *, as_printed: bool = False
    ) -> None:
        check_gamma(gamma)
        for name in sensitive:
            table.require(name)
        self._cells = Cells(table, sensitive)
        self._sensitive = tuple(sensitive)
        self._gamma = gamma
        self._as_printed = as_printed
        self._counts: dict[str, NDArray[np.float64]] = {}

    @override
    def answer(self, conditions: Sequence[Condition]) -> Estimate:
        """As `Answers.answer`; the interval has 95 %."""
        split = _Split.of(conditions, self._sensitive)
        if len(split.sensitive) > MAX_SENSITIVE:
            raise SpecError(
                f"The question is about {len(split.sensitive)} sensitive columns.",
                f"Ask about {MAX_SENSITIVE} at most.",
            )
        state = self._cells.all_rows(split.plain).astype(np.int64)
        blurs = []
        for name, some in split.sensitive.items():
            state = 2 * state + self._cells.rows(some)
            blurs.append(Blur.of(self._publish(name), self._cells.choose(some), self._gamma))
        shape = (2,) * (1 + len(blurs))
        observed = np.bincount(state, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
        if self._as_printed:
            return estimate_as_printed(observed, [self._gamma] * len(blurs))
        return estimate(observed, blurs)

    def _publish(self, name: str) -> NDArray[np.float64]:
        if name not in self._counts:
            domain, codes = self._cells.column(name)
            self._counts[name] = np.bincount(codes, minlength=len(domain)).astype(np.float64)
        return self._counts[name]


def open_published(table: Table, manifest: Manifest) -> tuple[SpluAnswers, Guarantee]:
    """What can be asked of a release, and what is promised of it.

    Args:
        table: released, with the declared columns of its manifest.
        manifest: of the release.

    Raises:
        FileError: the release was not made by SPLU-Gen, or its manifest does not fit it.
    """
    promise = next((one for one in manifest.guarantees if one.kind == "small-sum-privacy"), None)
    if promise is None or manifest.gamma is None:
        raise FileError(
            "The manifest promises no small-sum privacy, so that counts cannot be estimated.",
            "Make the release with the step splu-gen.",
        )
    gamma = int(manifest.gamma)
    missing = [name for name in promise.columns if name not in table.names]
    if gamma < MIN_GAMMA or gamma != manifest.gamma or promise.parameters.get("gamma") != gamma or missing:
        raise FileError(
            f"The manifest does not fit the release: gamma is {manifest.gamma:g}, its columns are "
            f"{', '.join(promise.columns)}.",
            "Take the release and its manifest as they were written, both.",
        )
    return SpluAnswers(table, promise.columns, gamma), promise


class DbrAnswers(Answers):
    """Answers from a release of distribution-based randomization: nothing depends on a sensitive column.

    The interval is all that is possible; the error comes from dependence that the release has lost.
    """

    def __init__(self, table: Table, sensitive: Sequence[str]) -> None:
        self._cells = Cells(table, sensitive)
        self._sensitive = tuple(sensitive)

    @override
    def answer(self, conditions: Sequence[Condition]) -> Estimate:
        split = _Split.of(conditions, self._sensitive)
        inside = int(self._cells.all_rows(split.plain).sum())
        share = math.prod(float(self._cells.rows(some).mean()) for some in split.sensitive.values())
        return Estimate(inside * share, 0.0 if split.sensitive else float(inside), float(inside))


class AnatomyAnswers(Answers):
    """Answers from both tables of Anatomy: in each group the sensitive values may belong to any of its rows.

    Args:
        table: released, with the column of groups.
        second: with the columns group, sensitive and count.
        group: the name of the column of groups.
        sensitive: that of the sensitive column.

    Reference: Xiao and Tao, Anatomy, VLDB 2006, section 3.
    """

    def __init__(self, table: Table, second: Table, *, group: str, sensitive: str) -> None:
        self._cells, self._second = Cells(table), Cells(second, (sensitive,))
        self._sensitive = sensitive
        groups = table.numbers(group).astype(np.int64)
        self._groups, self._of_pair = groups, second.numbers(group).astype(np.int64)
        self._many = second.numbers("count")
        self._sizes = np.bincount(groups)

    @override
    def answer(self, conditions: Sequence[Condition]) -> Estimate:
        """As `Answers.answer`; the interval is that of drawing rows from groups."""
        split = _Split.of(conditions, (self._sensitive,))
        rows = self._cells.all_rows(split.plain)
        if not split.sensitive:
            inside = float(rows.sum())
            return Estimate(inside, inside, inside)
        found = self._second.rows(split.sensitive[self._sensitive])
        length = len(self._sizes)
        values = np.bincount(self._of_pair[found], self._many[found], minlength=length)
        members = np.bincount(self._groups[rows], minlength=length)
        share = values / self._sizes
        count = float(members @ share)
        rest = (self._sizes - members) / np.maximum(self._sizes - 1, 1)
        half = NORMAL_95 * math.sqrt(float((members * share * (1 - share) * rest).sum()))
        return Estimate(count, max(0.0, count - half), count + half)


class LaplaceAnswers(Answers):
    """True counts of the original with Laplace noise of scale 1 / epsilon, drawn in double precision.

    For comparison only: repeated questions add up their epsilons, and nothing here keeps account.

    Args:
        original: the table itself.
        epsilon: of one answer.
        random: the noise.
    """

    def __init__(self, original: Table, epsilon: float, random: Randomness) -> None:
        checked_budget(epsilon)
        self._cells, self._epsilon, self._random = Cells(original), epsilon, random

    @override
    def answer(self, conditions: Sequence[Condition]) -> Estimate:
        true = float(self._cells.all_rows(_Split.of(conditions, ()).plain).sum())
        count = true + float(self._random.laplace(1)[0]) / self._epsilon
        half = math.log(20) / self._epsilon
        return Estimate(count, count - half, count + half)
