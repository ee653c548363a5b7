"""Welch's t-test of two groups of rows, from noisy sums.

Of both groups the rows, the sum of the values about the centre of their bounds and the sum of their squares
are opened with noise. A noisy mean varies by more than sampling, so Student's distribution would reject equal
means too often. The difference of the means is therefore divided by a standard error that counts the noise,

    T = (mean_A - mean_B) / sqrt(e_A + e_B),     e = variance / n + (w + mean**2 w') / n**2

with variances from the noisy sums (at least 0), and w and w' those of the noise on a group's sum and on its
rows. The distribution of T under equal means is simulated: normal groups of the noisy sizes, variances and
common mean, their sums with noise of the same distributions, and T from these in the same way. The p-value is
the rank of the observed |T| among them, (1 + larger ones) / (1 + simulated); the interval is the difference
+- the simulated 95 % quantile of |T| times the standard error, so it speaks of sampling and of the noise. The
draws follow from a public seed (`draws.py`), the same for all recipients; the noise in the sums does not.

Where the noise could account for all rows of a group but one, nothing is computed.

References: thesis, chapter 3 (Welch's test). Parametric bootstrap through the noise: Ferrando, Wang and
Sheldon, Parametric bootstrap for differentially private confidence intervals, AISTATS 2022; Gaboardi, Lim,
Rogers and Vadhan, Differentially private chi-squared hypothesis testing, ICML 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.statistics.kinds.bins import Bins
from smc.analyses.statistics.kinds.draws import Floats, chi_squares, noise_like, normals
from smc.analyses.statistics.kinds.statistic import MISS, Part, Result
from smc.analyses.statistics.kinds.sums import Clamped
from smc.analyses.statistics.kinds.ttest_student import Sample, Welch, critical
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution

SIMULATED: Final = 9_999
"""Pairs of groups drawn for one test: the p-value is a multiple of 1 / 10,000."""


@dataclass(frozen=True, slots=True)
class TTest(Clamped):
    """The test of the first column's mean in the two groups that labels of the second column name.

    Attributes:
        labels: the bins of the two labels; rows of other labels are in neither group.
    """

    labels: Bins

    @property
    @override
    def parts(self) -> tuple[Part, ...]:
        """Sums, sums of squares and rows of both groups; a row is in one group."""
        half = self.clamps[0].half
        quarter = Fraction(1, 4)
        return (Part(2, half, 2 * quarter), Part(2, half**2, quarter), Part(2, 1, quarter))

    @property
    @override
    def counts(self) -> tuple[int, ...]:
        """The rows of the group."""
        return (4, 5, 4, 5, 4, 5)

    @property
    @override
    def simulates(self) -> bool:
        """The p-value and the interval."""
        return True

    @property
    @override
    def divisor(self) -> int:
        """Of the column."""
        return self.clamps[0].unit

    @override
    def local(self, rows: LocalRows) -> Ints:
        """The local sums: of A, of B, squares of A, of B, rows of A, of B."""
        value, group = self.query.columns
        clamp = self.clamps[0]
        centred = np.clip(rows.columns[value], clamp.lower, clamp.upper) - clamp.centre
        places = self.labels.places(rows.columns[group])
        chosen = [centred[places == place] for place in (0, 1)]
        return np.array(
            [*(c.sum() for c in chosen), *((c * c).sum() for c in chosen), *(len(c) for c in chosen)],
            dtype=np.int64,
        )

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The difference of the means, first label minus second, with a table of the test."""
        samples = _samples(entries)
        if samples is None or any(count - width < 2 for count, width in _counts(entries, distributions)):
            return self._nothing("a group may have too few rows, with this much noise")
        if not distributions:
            exact = Welch.of(samples)
            if exact is None:
                return self._nothing("neither group varies")
            width = critical(float(MISS), exact.freedom) * exact.error
            how = "from Student's distribution"
            return self._result(samples, exact.t, exact.freedom, exact.p_value, width, how)
        noisy = NoisyTest(distributions, samples, self.clamps[0].half)
        p_value, quantile = noisy.simulate(random)
        how = "its distribution under equal means simulated with the noise, which t counts as well"
        return self._result(samples, noisy.t, None, p_value, quantile * noisy.error, how)

    def _result(
        self,
        samples: Sequence[Sample],
        t: float,
        freedom: float | None,
        p_value: float,
        width: float,
        how: str,
    ) -> Result:
        unit, centre = self.divisor, self.clamps[0].centre
        difference = samples[0].mean - samples[1].mean
        described = {"t": t, "degrees_of_freedom": freedom, "p_value": p_value}
        for label, sample in zip(self.labels.labels, samples, strict=True):
            described[f"rows of {label}"] = sample.count
            described[f"mean of {label}"] = (centre + sample.mean) / unit
            described[f"variance of {label}"] = sample.variance / unit**2
        name, (first, second) = self.query.name, self.labels.labels
        speaks = "of sampling" if freedom is not None else "of sampling too, not of the noise alone"
        notes = (
            f"{name}: the value is the mean of {first} minus that of {second}; its interval speaks {speaks}.",
            f"{name}: the p-value is of Welch's test of equal means, {how}.",
        )
        return Result(
            difference / unit,
            (difference - width) / unit,
            (difference + width) / unit,
            {"quantity": list(described), "value": list(described.values())},
            notes,
            p_value=p_value,
            sampled=((difference - width) / unit, (difference + width) / unit),
        )

    def _nothing(self, reason: str) -> Result:
        return Result(notes=(f"{self.query.name}: the test cannot be computed; {reason}.",))


def two_labels(query: Query, schema: Schema, place: int) -> Bins:
    """The two groups of a query.

    Args:
        query: that compares two.
        schema: of its column of groups.
        place: of that column.

    Raises:
        UsageError: the column is not a category, or two of its labels are not clear.
    """
    column, labels = query.columns[place], query.categories[place] or schema.categories
    if schema.kind != "category":
        raise UsageError(
            f"Query {query.name!r}: by needs a category column, {column!r} is declared {schema.kind}.",
            "Name a category column.",
        )
    if len(labels) != 2 or not set(labels) <= set(schema.categories):
        raise UsageError(
            f"Query {query.name!r}: {query.kind} compares two groups, named by labels of column {column!r}.",
            'Write labels = ["first", "second"] from the column\'s declaration.',
        )
    return Bins.of_labels(schema, tuple(labels))


def _counts(entries: Sequence[int], distributions: Sequence[Distribution]) -> list[tuple[int, int]]:
    widths = [distribution.half_width(MISS / 2) for distribution in distributions[4:]] or [0, 0]
    return list(zip(entries[4:], widths, strict=True))


def _samples(entries: Sequence[int]) -> list[Sample] | None:
    if min(entries[4:]) < 2:
        return None
    return [Sample.of(*(float(entries[place + group]) for place in (0, 2, 4))) for group in (0, 1)]


@dataclass(frozen=True, slots=True)
class NoisyTest:
    """The statistic of noisy samples, and its distribution under equal means.

    Attributes:
        distributions: of the noise of all six sums.
        samples: of both groups, from noisy sums.
        most: the most by which a value differs from the centre, which bounds variances.
    """

    distributions: Sequence[Distribution]
    samples: Sequence[Sample]
    most: int

    @property
    def t(self) -> float:
        """The statistic."""
        return (self.samples[0].mean - self.samples[1].mean) / self.error

    @property
    def error(self) -> float:
        """The standard error of the difference of the means: of sampling and of the noise."""
        squares = [
            self._square(place, *(np.array([x]) for x in (sample.count, sample.mean, sample.variance)))
            for place, sample in enumerate(self.samples)
        ]
        return sqrt(float(squares[0][0] + squares[1][0]))

    def simulate(self, random: Randomness, count: int = SIMULATED) -> tuple[float, float]:
        """The p-value, and the quantile of |T| that it exceeds with probability at most 5 %.

        Args:
            random: for the draws.
            count: how many pairs of groups are drawn.
        """
        total = sum(sample.count for sample in self.samples)
        common = sum(sample.count * sample.mean for sample in self.samples) / total
        difference, square = np.zeros(count), np.zeros(count)
        for place, sample in enumerate(self.samples):
            means, variances, rows = self._draw(place, sample, common, count, random)
            difference += means if place == 0 else -means
            square += self._square(place, rows, means, variances)
        drawn = np.abs(difference) / np.sqrt(square)
        above = int((drawn >= abs(self.t)).sum())
        rank = -(-(count + 1) * (MISS.denominator - MISS.numerator) // MISS.denominator)
        return (1 + above) / (1 + count), float(np.sort(drawn)[rank - 1])

    def _draw(
        self, place: int, sample: Sample, mean: float, count: int, random: Randomness
    ) -> tuple[Floats, Floats, Floats]:
        """Noisy means, variances and rows of groups with a given mean, shape (count,) each."""
        variance = min(max(sample.variance, 0.0), float(self.most) ** 2)
        rows = round(sample.count)
        totals = rows * mean + sqrt(rows * variance) * normals(count, random)
        squares = variance * chi_squares(rows - 1, count, random) + totals**2 / rows
        noisy = [
            exact + noise_like(self.distributions[place + start], count, random)
            for exact, start in ((totals, 0), (squares, 2), (np.full(count, float(rows)), 4))
        ]
        seen = np.maximum(noisy[2], 2)
        means = noisy[0] / seen
        return means, (noisy[1] - noisy[0] * means) / (seen - 1), seen

    def _square(self, place: int, rows: Floats, means: Floats, variances: Floats) -> Floats:
        """The square of the standard error of a group's noisy mean."""
        sampling = np.clip(variances, 0, float(self.most) ** 2) / rows
        noise = (
            self.distributions[place].deviation ** 2 + (means * self.distributions[place + 4].deviation) ** 2
        )
        found: Floats = sampling + noise / rows**2
        return found
