"""The histogram with noise that a threshold is chosen by: its bins, its noise and what it costs of epsilon.

    claims of the rows of the side with fewer rows   each to its nearest of all passes, from the first edge on
    their scores about the stated one, in bins       counts
    + discrete Laplace noise of rate epsilon / s     what both parties see

How much one row can change. Take two inputs that differ in one row of one side, which is empty in one of
them, with P passes and R ranks. A row meets others in a pass only with a rank below R under its key.

- A row of the side that claims: its own claim ends or begins, which changes one count by 1. In each pass the
  row behind the last rank under its key takes part or does not; its claim can move from one bin to another.
  The other rows of the key meet whom they met. Together at most 1 + 2 P.
  Terms of its score are its own: those of rarity, which depend on the side's other rows, are refused.
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

from commons.settings.bounds import Between
from commons.settings.marks import Read, UnfitError, Unread
from smc.analyses.records.numbers import NUMBER, loss_term
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.neighbours import Neighbours
from smc.errors import UsageError
from smc.secret.noise.laplace import DiscreteLaplace

WIDTH: Final = 6
"""Of a bin, in units of the score."""

EDGES: Final = tuple(range(-63, 34, WIDTH))
"""Where bins begin, above the stated least score; the last one has all from there on."""

FLOOR: Final = EDGES[0]
"""Claims begin here."""

LOWEST: Final = EDGES[1] + WIDTH // 2
HIGHEST: Final = EDGES[-2] + WIDTH // 2
"""What is added to the stated score at least and at most, unless the job says otherwise."""

MAX_DELTA: Final = Fraction(1, 1 << 40)
"""Noise whose delta would be larger is refused."""

NEIGHBOURS: Final = Neighbours(1, rows_public=True)
"""What the guarantee is about: one person is one row, and the numbers of rows are public."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """How a threshold is chosen in the run.

    Attributes:
        epsilon: of the histogram, positive.
        lowest: what is added to the stated least score at least, in units.
        highest: at most.
        band: pairs whose score is less than so many units away from the chosen one are told apart, for people
            to look at; 0 for no such number.
        sensitivity: s, by how much the counts of neighbours differ together; the rest of the job decides it.

    Raises:
        UnfitError: there is no epsilon.
    """

    epsilon: Annotated[Fraction, Read(loss_term, NUMBER)] = Fraction(0)
    lowest: Annotated[int, Between(LOWEST, 0)] = LOWEST
    highest: Annotated[int, Between(0, HIGHEST)] = HIGHEST
    band: Annotated[int, Between(0, EDGES[-1])] = 0
    sensitivity: Annotated[int, Unread()] = 0

    def __post_init__(self) -> None:
        if not self.epsilon:
            raise UnfitError("epsilon", "is missing", 'Write epsilon = "1".')

    def of(self, passes: int, ranks: int) -> Histogram:
        """The histogram of a job.

        Args:
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
        moved: what is added to the stated least score, in units.
        counts: with noise, one per bin.
    """

    moved: int
    counts: tuple[int, ...]

    def near(self, band: int) -> int:
        """By the counts, how many claims have a score less than `band` away from the chosen one.

        A bin that lies in the band in part counts as a whole.
        """
        ends = (*EDGES[1:], None)
        low, high = self.moved - band, self.moved + band
        return sum(
            count
            for count, begin, end in zip(self.counts, EDGES, ends, strict=True)
            if begin < high and (end is None or end > low)
        )


def sensitivity(passes: int, ranks: int) -> int:
    """By how much the counts of neighbours differ at most, added up over the bins."""
    return 2 * max(1 + 2 * passes, 2 * passes * ranks)
