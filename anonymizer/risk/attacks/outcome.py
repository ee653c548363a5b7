"""What an attack achieved: rates with confidence intervals, and the risk beyond the control group's."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

import scipy

MAX_CONTROL: Final = 0.5
"""An attack that succeeds in more than this part against people who are not released says nothing."""
WIDEST: Final = 0.5
"""So wide may the interval of a risk be that still says something."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A part of attempts that succeeded.

    Attributes:
        successes: how many did; an attempt that leaves m equal guesses counts 1 / m.
        attempts: of how many.
        weight: the rate counts this often; see `singling_out`.
    """

    successes: float
    attempts: int
    weight: float = 1.0

    @property
    def value(self) -> float:
        """The rate, in [0, 1]; 0 without attempts."""
        return min(1.0, self.weight * self.successes / self.attempts) if self.attempts else 0.0

    def interval(self, level: float) -> tuple[float, float]:
        """The interval of Wilson, Journal of the American Statistical Association 22, 1927.

        Where attempts count in parts it is wider than need be: of all that lie in [0, 1] and have one mean,
        what is 0 or 1 varies most.

        Args:
            level: in (0, 1).

        Returns:
            Lower and upper end; [0, 1] without attempts.
        """
        if not self.attempts:
            return 0.0, 1.0
        n, z = self.attempts, float(scipy.special.ndtri((1 + level) / 2))
        share = min(1.0, self.successes / n)
        centre = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        lower = 0.0 if self.successes == 0 else self.weight * (centre - half)
        upper = 1.0 if self.successes >= n else self.weight * (centre + half)
        return min(1.0, max(0.0, lower)), min(1.0, upper)


@dataclass(frozen=True, slots=True)
class Attack:
    """The outcome of an attack.

    Attributes:
        name: which attack, and on what.
        main: against rows that the release was made of.
        control: against rows that it was not made of; None without a control group.
        naive: what is reached by guessing from single columns of the release, on the rows of `main`.
        level: of the intervals.
    """

    name: str
    main: Rate
    control: Rate | None
    naive: Rate
    level: float = 0.95

    @property
    def risk(self) -> float:
        """(main - control) / (1 - control), at least 0: the part that only the release explains.

        It is 0 where the control group is hit always, and the plain rate without a control group.
        """
        return max(0.0, _excess(self.main.value, self.control.value if self.control else 0.0))

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the risk, in [0, 1].

        The deviations that the two Wilson intervals allow, squared and added on each side (Zou and Donner,
        Statistics in Medicine 27, 2008); exact limits where one of the two is certain.
        """
        low, high = self.main.interval(self.level)
        if self.control is None:
            return low, high
        base_low, base_high = self.control.interval(self.level)
        main, base = self.main.value, self.control.value
        middle = _excess(main, base)
        below = sqrt((middle - _excess(low, base)) ** 2 + (middle - _excess(main, base_high)) ** 2)
        above = sqrt((_excess(high, base) - middle) ** 2 + (_excess(main, base_low) - middle) ** 2)
        return min(1.0, max(0.0, middle - below)), min(1.0, max(0.0, middle + above))

    @property
    def objection(self) -> str:
        """Why the attack says nothing about the release, as the end of a sentence; empty if it does."""
        if self.main.interval(self.level)[1] <= self.naive.value:
            return "does no better than guessing"
        if self.control is not None and self.control.value > MAX_CONTROL:
            return f"succeeds against {self.control.value:.0%} of the people who are not in the release"
        low, high = self.interval
        if high - low > WIDEST:
            return f"leaves the risk anywhere from {low:.0%} to {high:.0%}"
        return ""

    @property
    def conclusive(self) -> bool:
        """Whether the attack says something about the release."""
        return not self.objection


def _excess(main: float, base: float) -> float:
    return (main - base) / (1 - base) if base < 1 else 0.0
