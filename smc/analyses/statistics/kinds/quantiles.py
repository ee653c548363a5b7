"""Quantiles: the best of public candidates is chosen secretly, and only its place is opened.

Values are clamped to [lower, upper] and rounded down to a candidate g_0 < g_1 < ... For a quantile of level
a / b of n rows, with L(g) rows below g and U(g) rows not above it, a candidate misses by

    miss(g) = max(0, b L(g) - (a n + w), (a n + w) - b U(g)),        w = 0 for the quantile itself.

A row added or removed changes a n by a, and L and U by 0 or 1, so it changes misses by at most s = max(a, b
- a). The candidate with the least miss(g) - G(g) is taken (the first one of equals), where the G are
independent geometric variables with P(G >= k) = e**(-t k), drawn inside: report noisy max with one-sided
noise. For t = epsilon / (2 s r), with r rows added or removed between neighbours, that is
epsilon-differentially private: given the noise of the others, a candidate wins if its own G reaches a
threshold, which these rows move by at most 2 s r, and the tail of G falls by at most e**epsilon over that
distance. An epsilon is epsilon**2 / 2-zCDP.

Half of the loss goes to the quantile, a quarter each to the ends of its interval: with w = -W and w = W
they are candidates that lie below and above the quantile unless a G is larger than W - 1, which happens
with probability at most (number of candidates) e**(-t W). Two more candidates, below and above all others,
take part so that there always is one that does not miss; where they win, the interval ends at the bound.
The upper end is moved up by a step, for the rounding.

References: Dwork and Roth, The algorithmic foundations of differential privacy, 2014, section 3.3; McKenna
and Sheldon, Permute-and-flip, NeurIPS 2020, and Ding et al., 2021 (one-sided noise); Smith,
Privacy-preserving statistical estimation with optimal convergence rates, STOC 2011 (quantiles by rank).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.records.real_units import real
from smc.analyses.statistics.kinds.bins import EqualSteps
from smc.analyses.statistics.kinds.statistic import MISS, Part, Result, Statistic, Word, delta_of, pure
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.protocols.session import Session
from smc.secret.comparison import argmin, msb, mux
from smc.secret.noise.distribution import Distribution
from smc.secret.noise.laplace import Geometric
from smc.secret.sharing.bounds import Bounds

_CHOICES: Final = ((0, Fraction(1, 2)), (-1, Fraction(1, 4)), (1, Fraction(1, 4)))
"""The candidates that are chosen: on which side of the quantile, and with which part of the loss."""


@dataclass(frozen=True, slots=True)
class Quantile(Statistic):
    """A quantile of a column.

    Attributes:
        lower: clamping bound in held units, and the first candidate.
        upper: clamping bound in held units.
        step: distance of candidates, in held units.
        maximum_rows: the most rows of a side.
    """

    lower: int
    upper: int
    step: int
    maximum_rows: int

    @property
    def grid(self) -> EqualSteps:
        """The candidates between the bounds."""
        return EqualSteps(self.lower, self.upper, self.step)

    @property
    def points(self) -> int:
        """Candidates between the bounds."""
        return self.grid.points

    @property
    def candidates(self) -> int:
        """All candidates, the one below and the one above the others included."""
        return self.points + 2

    @property
    @override
    def parts(self) -> tuple[Part, ...]:
        """The three places that are opened; the sensitivity is that of a miss."""
        level = self.query.level
        reach = max(level.numerator, level.denominator - level.numerator)
        return tuple(Part(1, reach, weight) for _, weight in _CHOICES)

    @property
    @override
    def divisor(self) -> int:
        """What turns misses into rows."""
        return self.query.level.denominator

    @property
    def choice_distributions(self) -> tuple[Geometric, ...]:
        """Of the noise of each choice."""
        return tuple(
            _geometric(pure(self.query.loss, part.weight) / (2 * part.sensitivity * self.changes))
            for part in self.parts
        )

    @property
    @override
    def distributions(self) -> tuple[Distribution, ...]:
        """One draw for each candidate of each choice."""
        return tuple(
            distribution for distribution in self.choice_distributions for _ in range(self.candidates)
        )

    @property
    def shifts(self) -> tuple[int, ...]:
        """The w of each choice."""
        miss = MISS / 2 / self.candidates
        return tuple(
            side * (distribution.half_width(miss) + 1)
            for (side, _), distribution in zip(_CHOICES, self.choice_distributions, strict=True)
        )

    @override
    def delta(self, groups: int, epsilon: Fraction) -> Decimal:
        """As of every statistic; all draws count, as each can decide.

        Each choice is private by itself for its own epsilon, and this delta (Bun and Steinke, section 8).
        """
        touched = min(groups, self.changes) * self.candidates
        return sum(
            (
                delta_of(pure(self.query.loss, part.weight), touched * distribution.distance)
                for part, distribution in zip(self.parts, self.choice_distributions, strict=True)
            ),
            Decimal(0),
        )

    @override
    def largest(self, maximum_rows: int) -> int:
        """Of the misses with noise, doubled, as two are compared."""
        return 2 * (
            self._misses(maximum_rows).magnitude
            + max(distribution.bound for distribution in self.choice_distributions)
        )

    @override
    def local(self, rows: LocalRows) -> Ints:
        """The local rows at each candidate between the bounds."""
        places = self.grid.places(rows.columns[self.query.columns[0]])
        return np.bincount(places, minlength=self.points).astype(np.int64)

    @override
    def combine(self, session: Session, own: Ints, noise: Word) -> Word:
        """The places of the chosen candidates; local rows at each candidate in, shape (groups, points)."""
        groups = len(own)
        over, under = self._sides(own, alice=session.role is Role.ALICE)
        both = np.concatenate([over.reshape(-1), under.reshape(-1)]).view(np.uint64)
        late = msb.nonnegative(session, both, self._misses(self.maximum_rows))
        kept = mux.select(session, late, both).reshape(2, groups * len(_CHOICES), -1)
        scores = kept[0] + kept[1] - noise.reshape(groups * len(_CHOICES), -1)
        places, _ = argmin.least(session, scores, self._scores)
        return places.reshape(groups, len(_CHOICES))

    @override
    def exact(self, entries: Ints) -> Ints:
        """The places that have the least miss, all three for the quantile itself."""
        return self._best(entries, (0,) * len(_CHOICES))

    @override
    def typical(self, entries: Ints) -> Ints:
        """The places that have the least miss, for the quantile and the ends of its interval."""
        return self._best(entries, self.shifts)

    def _best(self, entries: Ints, shifts: Sequence[int]) -> Ints:
        over, under = self._sides(entries, alice=True, shifts=shifts)
        best: Ints = np.argmin(np.maximum(np.maximum(over, under), 0), axis=2)
        return best

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The quantile of the rounded values, and its interval."""
        scale = self.schemas[0].scale
        value: int | str | None = None
        notes: tuple[str, ...] = ()
        if 1 <= entries[0] <= self.points:
            value = real(self._value(entries[0]), scale)
        else:
            notes = (f"{self.query.name}: with this much noise, the rows cannot be told from none.",)
        if not distributions:
            return Result(value, value, value, notes=notes)
        upper = (
            self.upper if entries[2] > self.points else min(self._value(entries[2]) + self.step, self.upper)
        )
        return Result(value, real(self._value(entries[1]), scale), real(upper, scale), notes=notes)

    @property
    @override
    def noise_scale(self) -> Fraction:
        """1 / t of the quantile itself, in rows."""
        return 1 / self.choice_distributions[0].rate / self.divisor

    def _value(self, place: int) -> int:
        return min(self.lower + self.step * max(place - 1, 0), self.upper)

    def _sides(self, counts: Ints, *, alice: bool, shifts: Sequence[int] | None = None) -> tuple[Ints, Ints]:
        """How far each candidate lies over and under its aim, shape (groups, choices, candidates).

        Args:
            counts: this party's rows at each candidate, shape (groups, points); the sides' results add up.
            alice: whether this is the side that adds public constants.
            shifts: w of each choice, unless it is the stated one.
        """
        level = self.query.level
        upto = np.cumsum(counts, axis=1)
        totals = upto[:, -1:]
        w = np.array(self.shifts if shifts is None else shifts)[None, :, None] * alice
        aims = level.numerator * totals[:, :, None] + w
        missing = np.zeros_like(totals)
        below = np.concatenate([missing, upto - counts, totals], axis=1)[:, None, :]
        not_above = np.concatenate([missing, upto, totals], axis=1)[:, None, :]
        over, under = level.denominator * below - aims, aims - level.denominator * not_above
        over[:, :, 0] = -1 * alice
        under[:, :, -1] = -1 * alice
        return over, under

    def _misses(self, maximum_rows: int) -> Bounds:
        reach = 2 * maximum_rows * self.query.level.denominator + max(self.shifts)
        return Bounds(-reach, reach)

    @property
    def _scores(self) -> Bounds:
        misses = self._misses(self.maximum_rows)
        return Bounds(-max(distribution.bound for distribution in self.choice_distributions), misses.upper)


@lru_cache(maxsize=1024)
def _geometric(rate: Fraction) -> Geometric:
    return Geometric.of(rate)
