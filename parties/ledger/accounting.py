"""How the losses of jobs add up: whose they are, what they come to, and what may be spent.

Losses on the same people compose sequentially. Accounts of different populations are about different people
and compose in parallel: what holds for one person is the guarantee of the account that the person is in.

References: Bun and Steinke, Concentrated differential privacy, TCC 2016: propositions 1.3 (zCDP implies
differential privacy), 1.4 (epsilon implies epsilon**2/2-zCDP), lemma 1.7 (composition), section 8 (the
same up to a delta); Dwork and Roth, The algorithmic foundations of differential privacy, 2014, section 3.5;
McSherry, Privacy integrated queries, SIGMOD 2009, theorem 4 (parallel composition); Whitehouse, Ramdas,
Rogers and Wu, Fully-adaptive composition in differential privacy, ICML 2023 (losses chosen in view of
earlier results).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final

from parties.errors import BudgetError, PolicyError
from smc.analyses.studies.loss import Loss

DELTA_TOTAL: Final = Fraction(1, 2**30)
"""The delta at which losses are totalled unless a rule names another."""

LOSS_BITS: Final = 512
"""The longest numerator and denominator of a loss that is written."""

_SUM_BITS: Final = 4096
_SHOWN_DIGITS: Final = 6
_EXACT_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class Account:
    """The people whose losses are summed.

    Attributes:
        name: of the population, or of the data set that has one of its own.
        datasets: the local data sets about these people, so that entries from before a change of the catalog
            keep counting.
    """

    name: str
    datasets: frozenset[str]

    @classmethod
    def of(cls, dataset: str) -> Account:
        """The account of a data set whose people are in no other."""
        return cls(dataset, frozenset({dataset}))

    def covers(self, account: str, dataset: str) -> bool:
        """Whether a loss that was written for that account and data set is one of these people."""
        return account == self.name or dataset in self.datasets


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent on an account towards a peer.

    Attributes:
        epsilon: the largest epsilon in total.
        delta: at this delta.
    """

    epsilon: Fraction
    delta: Fraction = DELTA_TOTAL


@dataclass(frozen=True, slots=True)
class Runs:
    """How often jobs about the same people began with a peer under a rule.

    Attributes:
        day: in the last 24 hours.
        ever: at all.
    """

    day: int = 0
    ever: int = 0

    def without(self, latest: int) -> Runs:
        """Those before so many of the last minutes."""
        return Runs(self.day - latest, self.ever - latest)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How often they may.

    Attributes:
        rule: the rule that says so.
        day: in 24 hours; None for no limit.
        ever: at all; None for no limit.
    """

    rule: str
    day: int | None = None
    ever: int | None = None

    def check(self, runs: Runs, of: str) -> None:
        """Check that one more run fits.

        Args:
            runs: those so far.
            of: account and peer, for the message.

        Raises:
            PolicyError: it does not.
        """
        for key, have, maximum in (
            ("runs_per_day", runs.day, self.day),
            ("runs_total", runs.ever, self.ever),
        ):
            if maximum is not None and have >= maximum:
                raise PolicyError(
                    f"{of}: rule {self.rule!r} allows {key} = {maximum}, and so many have begun.",
                    "Try again tomorrow." if key == "runs_per_day" else "Raise it, if so many may be shown.",
                )


@dataclass(frozen=True, slots=True)
class Spent:
    """Losses of several jobs, composed.

    Sums are exact while their common denominator has at most 4,096 bits, which all losses that people write
    keep to; a longer one is rounded up by less than 2**-4096, so that nobody makes an account costly to add
    up by odd denominators.

    Attributes:
        loss: their sum.
        squares: the sum of the squares of their epsilons.
    """

    loss: Loss = field(default_factory=Loss)
    squares: Fraction = Fraction(0)

    def __add__(self, other: Loss | Spent) -> Spent:
        loss, squares = (other.loss, other.squares) if isinstance(other, Spent) else (other, other.epsilon**2)
        both = self.loss + loss
        return Spent(
            Loss(_short(both.epsilon), _short(both.delta), _short(both.rho)), _short(self.squares + squares)
        )

    def __bool__(self) -> bool:
        return bool(self.loss)

    def epsilon_at(self, delta: Fraction) -> Fraction:
        """The least epsilon that is known for all jobs together, rounded up by less than 2e-12.

        It is the smaller of two bounds: the sum of the epsilons, with the Gaussian noise turned into an
        epsilon at what the jobs leave of delta; and everything as zCDP, where many small epsilons come to
        about the root of their number. Both hold for losses fixed in advance. For losses chosen in view of
        earlier results the second holds, and the first where no Gaussian noise is in it.

        Args:
            delta: the whole delta, in [0, 1).

        Raises:
            BudgetError: the deltas of the jobs leave nothing of it.
        """
        if self.loss.delta > delta or (self.loss.delta == delta and self.loss.rho):
            raise BudgetError(
                f"With this job the jobs take delta {show_number(self.loss.delta)} of {show_number(delta)} "
                "in total.",
                "Allow a larger delta_total; what is spent does not come back.",
            )
        summed = self.loss.epsilon_at(delta)
        if not self.squares or self.loss.delta == delta:
            return summed
        concentrated = Loss(delta=self.loss.delta, rho=self.loss.rho + self.squares / 2)
        return min(summed, concentrated.epsilon_at(delta))

    def jobs_left(self, delta: Fraction, alike: Loss) -> int | None:
        """How many more jobs the delta in total leaves room for, whatever epsilon is left.

        Args:
            delta: the whole delta.
            alike: the loss of each of them.

        Returns:
            Their number; None if they take nothing of delta.
        """
        if not alike.delta:
            return None
        room = (delta - self.loss.delta) / alike.delta
        # Gaussian noise asks for some delta beside what the jobs take by themselves.
        whole = math.ceil(room) - 1 if self.loss.rho or alike.rho else math.floor(room)
        return max(0, whole)

    def check(self, budget: Budget, asked: Loss, of: str) -> None:
        """Check that a further loss fits into a budget.

        Args:
            budget: what may be spent.
            asked: the further loss.
            of: account and peer, for the message.

        Raises:
            BudgetError: it does not fit.
        """
        total = (self + asked).epsilon_at(budget.delta)
        if total > budget.epsilon:
            spent = show_number(self.epsilon_at(budget.delta))
            raise BudgetError(
                f"{of}: {describe_loss(asked)} asked, which with {spent} spent makes epsilon "
                f"{show_number(total)} of {show_number(budget.epsilon)} at delta "
                f"{show_number(budget.delta)}.",
                "Ask for less; what is spent does not come back.",
            )


def describe_loss(loss: Loss) -> str:
    """A loss for people: `epsilon 1/2, delta 3.5e-11`."""
    parts = (("epsilon", loss.epsilon), ("rho", loss.rho), ("delta", loss.delta))
    return ", ".join(f"{name} {show_number(value)}" for name, value in parts if value) or "nothing"


def show_number(value: Fraction, rounding: str = ROUND_CEILING) -> str:
    """A number for people as a decimal: exact if that is short, else by six digits.

    Args:
        value: the number; not negative.
        rounding: of the module `decimal`: up for what is spent, down for what is left.
    """
    context = Context(prec=_EXACT_DIGITS)
    if value.denominator <= 10**_EXACT_DIGITS and value.numerator <= 10 ** (2 * _EXACT_DIGITS):
        exact = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
        if Fraction(exact) == value:
            return f"{exact:f}"
    if value.numerator == 1 and value.denominator.bit_count() == 1:
        return f"2^-{value.denominator.bit_length() - 1}"
    context = Context(prec=_SHOWN_DIGITS, rounding=rounding)
    return f"{context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context):g}"


def _short(value: Fraction) -> Fraction:
    """The value, or the next larger one with a denominator of `_SUM_BITS` bits."""
    if value.denominator.bit_length() <= _SUM_BITS:
        return value
    return Fraction(-((-value.numerator << _SUM_BITS) // value.denominator), 1 << _SUM_BITS)
