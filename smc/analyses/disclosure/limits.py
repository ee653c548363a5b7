"""What the parties' policies ask of results, agreed in the contract of a job; the stricter of both holds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final

from commons.settings.bounds import Between, OneOf, Terms
from smc.analyses.disclosure.owned import Owned
from smc.errors import DisclosureRefused

MAX_LIMIT: Final = 1_000_000
"""The largest number in limits, and the largest numerator and denominator."""

WITHHELD: Final = "withheld"
SHOWN: Final = "shown"
ZEROS: Final = (WITHHELD, SHOWN)
"""What becomes of cells of tables in which a side has nobody."""

Count = Annotated[int, Between(0, MAX_LIMIT, f"Write 0 to {MAX_LIMIT}.")]
"""A number in limits."""

ASKED: Final = "by this bit, whoever brings chosen rows can ask in each run whether a person is there"
"""What whether limits on matches hold tells of single persons; it holds for the limits of either party."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of disclosure.

    Attributes:
        minimum_group: the least number of persons that a released cell, cluster or sum is about; in tables
            and clusters the least number of each side that has any, since a recipient can subtract its own
            part; 0 for none.
        dominance: the largest part of a released sum that may come from one person, in (0, 1]; 1 for none.
            In tables and clusters it is a part of the sum of that person's side.
        minimum_set: the least number of rows that each side brings to a matching.
        maximum_ratio: the most by which one side's rows may exceed the other's in a matching; 0 for none.
        minimum_intersection: the least number of matches for anything about an intersection to be released.
        zeros: one of `ZEROS`: what becomes of cells of tables in which a side has nobody; beside a withheld
            cell they tell who is in it.
    """

    minimum_group: Count = 0
    dominance: Annotated[Fraction, Terms(MAX_LIMIT)] = Fraction(1)
    minimum_set: Count = 0
    maximum_ratio: Annotated[Fraction, Terms(MAX_LIMIT)] = Fraction(0)
    minimum_intersection: Count = 0
    zeros: Annotated[str, OneOf(ZEROS)] = WITHHELD

    def stricter(self, other: Limits) -> Limits:
        """The limits that satisfy both."""
        ratios = [ratio for ratio in (self.maximum_ratio, other.maximum_ratio) if ratio]
        return Limits(
            max(self.minimum_group, other.minimum_group),
            min(self.dominance, other.dominance),
            max(self.minimum_set, other.minimum_set),
            min(ratios, default=Fraction(0)),
            max(self.minimum_intersection, other.minimum_intersection),
            SHOWN if self.zeros == other.zeros == SHOWN else WITHHELD,
        )

    @property
    def of_both(self) -> Agreed:
        """Both parties ask for these: for tests and for runs of one's own."""
        return Agreed(Owned(self), self)

    @property
    def counts_groups(self) -> bool:
        """Whether the number of persons behind a figure matters."""
        return self.minimum_group > 0

    @property
    def counts_matches(self) -> bool:
        """Whether the size of an intersection matters."""
        return self.minimum_intersection > 0

    @property
    def hides_zeros(self) -> bool:
        """Whether cells of tables in which a side has nobody are withheld."""
        return self.minimum_group > 1 and self.zeros != SHOWN

    @property
    def weighs(self) -> bool:
        """Whether the part that one person has in an exact sum matters."""
        return self.dominance < 1

    @property
    def least_in_cluster(self) -> int:
        """The least persons of a cluster that is shown, 0 where nothing is limited.

        Under dominance alone it is 1: an empty cluster keeps the mean of rows that it does not count.
        """
        return max(self.minimum_group, int(self.weighs))

    @property
    def counts_clusters(self) -> bool:
        """Whether it matters which rows a cluster is made of."""
        return self.least_in_cluster > 0

    @property
    def weight_factor(self) -> int:
        """By what exact sums are multiplied where it does; their bounds have to leave that much room."""
        return self.dominance.denominator

    def check_persons(self, count: int) -> None:
        """Check a public number of persons or rows that figures are about.

        Raises:
            DisclosureRefused: it is below the smallest group.
        """
        if count < self.minimum_group:
            raise DisclosureRefused(
                f"The policies ask for {self.minimum_group} persons or matches at least; there are {count} "
                "rows.",
                "Use more rows.",
            )

    @property
    def allow_one_figure(self) -> bool:
        """Whether a job without noise shows the rows of a side by one figure only."""
        return self.minimum_group > 1 or self.weighs

    def check_single_figure(self, count: int) -> None:
        """Check that so many figures without noise may be opened about the same rows in one job.

        Args:
            count: `apart` of `smc.analyses.studies.facts.ExactFigures`.

        Raises:
            DisclosureRefused: the policies limit groups or sums.
        """
        if count > 1 and self.allow_one_figure:
            raise DisclosureRefused(
                "Under minimum_group or dominance a job without noise holds one figure about the rows of a "
                "side: one query, sums of one column of each side, or clusters over columns of which no two "
                "are derived from one. Figures of the same rows can be subtracted from each other.",
                'Ask for one, or for several as parts of a job with analysis = "plan"; or add noise.',
            )

    def fewest_matchable(self, own: int) -> int:
        """The most matches that there can be if the peer brings as few rows as `check_sets` lets pass.

        Args:
            own: local rows.
        """
        ratio = int(-(-own // self.maximum_ratio)) if self.maximum_ratio else 0
        return min(own, max(1, ratio, self.minimum_set, self.minimum_intersection))

    def check_sets(self, own: int, peer: int) -> None:
        """Check the sizes of two sets that are to be matched, before anything else is sent.

        Args:
            own: local rows.
            peer: the peer's rows.

        Raises:
            DisclosureRefused: a set is too small, or too large beside the other.
        """
        if min(own, peer) < self.minimum_intersection:
            raise DisclosureRefused(
                f"The policies ask for {self.minimum_intersection} matches; one side has fewer rows.",
                "Match larger sets.",
            )
        if min(own, peer) < self.minimum_set:
            raise DisclosureRefused(
                f"The policies ask for {self.minimum_set} rows on each side; one has fewer.",
                "Match larger sets.",
            )
        if self.maximum_ratio and max(own, peer) > self.maximum_ratio * min(own, peer):
            raise DisclosureRefused(
                f"One side has more than {self.maximum_ratio} times the rows of the other.",
                "Match sets of like size, or agree on a larger maximum_ratio.",
            )


NO_LIMITS: Final = Limits()
"""Nothing is limited: for tests and for runs of one's own."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """The limits of a run, as one party sees them.

    Attributes:
        own: of this party's policy. What is about this party's persons alone is tested by these, so that the
            peer, whose policy can change from job to job, moves no threshold.
        both: the stricter of both parties', for figures about the persons of both.
    """

    own: Owned[Limits]
    both: Limits
