"""The histogram with noise that a threshold is chosen by: its bins, its noise and what it costs of epsilon.

    claims of the rows of the side with fewer rows   each to its nearest of all passes, from the first edge on
    their Dice coefficients, in bins                 counts
    + discrete Laplace noise of rate epsilon / s     what both parties see

How much one row can change. Take two inputs that differ in one row of one side, which is empty in one of
them, with P passes and R ranks. A row meets others in a pass only with a rank below R under its key.

- A row of the side that claims: its own claim ends or begins, which changes one count by 1. In each pass the
  row behind the last rank under its key takes part or does not; its claim can move from one bin to another.
  The other rows of the key meet whom they met. Together at most 1 + 2 P.
- A row of the other side: in each pass at most R claiming rows meet it, and the row that takes its place
  behind the last rank meets the same ones. Their claims can move. Together at most 2 P R.

Neighbours have a row replaced, as the numbers of rows are public (`smc.analyses.studies.neighbours`): it is
emptied and filled again, so that s = 2 max(1 + 2 P, 2 P R). Which side claims is public.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Final

from commons.settings.marks import Parse, Read, UnfitError, Unread
from smc.analyses.records.numbers import NUMBER, loss_term
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.neighbours import Neighbours
from smc.errors import UsageError
from smc.secret.noise.laplace import DiscreteLaplace

EDGES: Final = tuple(Fraction(hundredths, 100) for hundredths in range(40, 89, 4))
"""Where bins begin; the last one reaches up to 1."""

FLOOR: Final = EDGES[0]
"""Claims begin here."""

LOWEST: Final = Fraction(1, 2)
HIGHEST: Final = Fraction(43, 50)
"""Where a threshold is chosen unless the job says otherwise; no job goes beyond the edges."""

MAX_DELTA: Final = Fraction(1, 1 << 40)
"""Noise whose delta would be larger is refused."""

NEIGHBOURS: Final = Neighbours(1, rows_public=True)
"""What the guarantee is about: one person is one row, and the numbers of rows are public."""


def _parse_end(text: str) -> Fraction:
    try:
        value = Fraction(text) if len(text) <= len("0.00") else None
    except (ValueError, ZeroDivisionError):
        value = None
    if value is None or (100 * value).denominator != 1:
        raise UsageError(
            f"{text[:20]!r} is not a decimal in hundredths.", f'Write such as "{float(LOWEST)}".'
        )
    return value


End = Annotated[Fraction, Parse(_parse_end)]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How a threshold is chosen in the run.

    Attributes:
        epsilon: of the histogram, positive.
        lowest: the least threshold that can be chosen, in whole hundredths.
        highest: the largest one.
        sensitivity: s, by how much the counts of neighbours differ together; the rest of the job decides it.

    Raises:
        UnfitError: there is no epsilon.
    """

    epsilon: Annotated[Fraction, Read(loss_term, NUMBER)] = Fraction(0)
    lowest: End = LOWEST
    highest: End = HIGHEST
    sensitivity: Annotated[int, Unread()] = 0

    def __post_init__(self) -> None:
        if not self.epsilon:
            raise UnfitError("epsilon", "is missing", 'Write epsilon = "1".')

    def of(self, threshold: Fraction, passes: int, ranks: int) -> Histogram:
        """The histogram of a job.

        Args:
            threshold: the stated one, from which the choice begins.
            passes: of the job.
            ranks: of the job; 0 where rows meet in buckets.

        Raises:
            UnfitError: it does not fit the job.
            UsageError: its noise cannot be drawn.
        """
        if not ranks:
            raise UnfitError(
                "histogram",
                "goes with ranks only: in buckets one row can change too many scores",
                "Write ranks = 1, or state the threshold alone.",
            )
        if not EDGES[0] < self.lowest <= threshold <= self.highest < EDGES[-1]:
            raise UnfitError(
                "histogram",
                "does not fit: the stated threshold has to lie between lowest and highest, and these between "
                f"{float(EDGES[0])} and {float(EDGES[-1])}",
                "Change one of the three; the choice begins at the stated threshold.",
            )
        found = replace(self, sensitivity=sensitivity(passes, ranks))
        _ = found.noise
        return found

    @property
    def noise(self) -> DiscreteLaplace:
        """The distribution of what is added to each count.

        Raises:
            UsageError: epsilon is too small, or too large, for the noise to be drawn from 64-bit words.
        """
        found = DiscreteLaplace.of(self.epsilon / self.sensitivity)
        part = Decimal(self.epsilon.numerator) / Decimal(self.epsilon.denominator)
        if Fraction((1 + part.exp()) * len(EDGES) * found.distance) > MAX_DELTA:
            raise UsageError(
                "Drawing the noise of the histogram from 64-bit words would make delta larger than 2**-40.",
                "Lower parameters.histogram.epsilon.",
            )
        return found

    @property
    def loss(self) -> Loss:
        """What the run spends."""
        return Loss(self.epsilon, MAX_DELTA)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What came out.

    Attributes:
        threshold: that holds for the pairs.
        counts: with noise, one per bin.
    """

    threshold: Fraction
    counts: tuple[int, ...]


def sensitivity(passes: int, ranks: int) -> int:
    """By how much the counts of neighbours differ at most, added up over the bins."""
    return 2 * max(1 + 2 * passes, 2 * passes * ranks)
