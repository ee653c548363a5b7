"""What several guarantees of one release come to together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, expm1, fsum, inf, log1p
from typing import Final

from anonymizer.errors import SpecError
from anonymizer.releases.guarantee import ABOUT_CLASSES, Guarantee, Neighbours, checked_budget
from anonymizer.tables.persons import PersonRows

Budget = tuple[float, float]
"""Epsilon and delta."""


def compose(guarantees: Iterable[Guarantee], persons: PersonRows | None = None) -> tuple[Guarantee, ...]:
    """Add up what a record has spent on differential privacy, over columns and steps, and what a person has.

    A record of several cells has the sum of their epsilons and deltas (sequential composition). Where several
    steps put noise on one column, the later ones work on what the first has released, and the column has
    spent the least of them (what is done to a release costs nothing, and noise that a step gets in costs
    nothing either). Where persons have several rows, what they spend is derived of the records, and promises
    about classes say that they count persons.

    Args:
        guarantees: those that hold, in the order of their steps.
        persons: whose the rows are that the steps were given; None if each is a person of its own.

    Returns:
        The same, and at the end one for the whole record if any column has local differential privacy, and
        for all rows of a person those of records.

    Raises:
        SpecError: persons have several rows, and no bound on them makes differential privacy of persons; or
            a promise counts rows.

    Reference: thesis, Theorem 2.3; Dwork and Roth, The algorithmic foundations of differential privacy, 2014,
        Proposition 2.1 and Theorem 3.14.
    """
    held = tuple(guarantees)
    cells = [one for one in held if one.kind == "local-dp" and one.unit == "cell"]
    if cells:
        held = (*held, _of_record(cells))
    return held if persons is None else _of_persons(held, persons)


def _of_record(cells: Sequence[Guarantee]) -> Guarantee:
    """What a record has spent whose cells have local differential privacy."""
    spent: dict[str, tuple[float, float]] = {}
    for one in cells:
        for column in one.columns:
            budget = (one.number("epsilon"), one.number("delta"))
            spent[column] = min(spent.get(column, budget), budget)
    return Guarantee(
        "local-dp",
        {
            "epsilon": sum(epsilon for epsilon, _ in spent.values()),
            "delta": sum(delta for _, delta in spent.values()),
        },
        "record",
        tuple(spent),
        "replace",
        "It is the sum over these columns, for one such release, and says nothing of other columns.",
        ", ".join(dict.fromkeys(one.method for one in cells)),
        over=tuple(sorted({column for one in cells for column in one.over})),
    )


def _of_persons(held: tuple[Guarantee, ...], persons: PersonRows) -> tuple[Guarantee, ...]:
    """Promises where the rows of a person are several: of classes they count persons, of records they add."""
    found, added = [], []
    for one in held:
        said = one
        if one.kind in ("local-dp", "dp"):
            added += [_of_person(one, persons)] if one.unit == "record" else []
        elif one.kind in _OF_ROWS and persons.repeat:
            raise SpecError(
                f"{one.kind} ({one.method}) is promised of rows, and persons of this table have several.",
                "Write rows_per_person = 1 below [roles], or take another method.",
            )
        elif one.kind in ABOUT_CLASSES and persons.most != 1:
            said = replace(one, condition=" ".join(filter(None, (one.condition, _COUNTED))))
        found.append(said)
    return (*found, *added)


_OF_ROWS: Final = frozenset({"anatomy", "idp", "small-sum-privacy", "delta-presence", "k-map"})
"""Promises that no method gives of persons with several rows."""
_COUNTED: Final = "It counts persons, each once in a class, however many rows they have there."


def _of_person(record: Guarantee, persons: PersonRows) -> Guarantee:
    """What all rows of a person have spent, of which there are at most so many.

    Tables that differ in n records are n steps apart, each of a record: epsilon grows by the factor n, delta
    by the sum of e^(i epsilon) for i from 0 to n - 1. Where each record gets noise by itself (local), the
    records are n independent mechanisms, whose deltas add up.

    Raises:
        SpecError: there is no bound, a person has more rows, or delta comes to 1.

    Reference: Dwork and Roth 2014, Theorem 2.2; Vadhan, The complexity of differential privacy, 2017,
        Lemma 2.2.
    """
    most = persons.most
    if most is None:
        raise SpecError(
            f"{record.kind} is promised of one row, and nothing says how many rows a person has.",
            "Write rows_per_person = 3 below [roles]: at most this many rows of a person are taken in, and "
            "epsilon counts for all of them.",
        )
    if int(persons.rows.max(initial=0)) > most:
        raise SpecError(
            f"A person has more than the {most} rows that rows_per_person allows.",
            "Release by a Pipeline, which leaves the others out before its first step.",
        )
    epsilon, delta = record.number("epsilon"), record.number("delta")
    if delta:
        grown = most if record.kind == "local-dp" else _sum_of_powers(epsilon, most)
        delta *= grown
    if delta >= 1:
        raise SpecError(
            f"With {most} rows of a person delta comes to 1 or more, which promises nothing.",
            "Lower epsilon, delta or rows_per_person.",
        )
    return replace(
        record,
        parameters={**record.parameters, "epsilon": most * epsilon, "delta": delta},
        unit="person",
        condition=" ".join(filter(None, (record.condition, f"Of all rows of a person, at most {most}."))),
    )


def _sum_of_powers(epsilon: float, count: int) -> float:
    """The sum of e^(i epsilon) for i from 0 to count - 1; infinite beyond what a number holds."""
    if epsilon * count > 700:
        return inf
    return expm1(count * epsilon) / expm1(epsilon)


def budget(guarantees: Iterable[Guarantee]) -> tuple[float | None, float | None]:
    """Epsilon and delta of a person, record or table; None if no differential privacy is claimed."""
    found = loss_of(guarantees)
    return (None, None) if found is None else (found.epsilon, found.delta)


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """What one release, or several, spend of differential privacy.

    Attributes:
        epsilon: not negative.
        delta: not negative.
        neighbours: the tables that are compared.
        of_persons: whether it counts for all rows of a person, not for one row.
    """

    epsilon: float = 0.0
    delta: float = 0.0
    neighbours: Neighbours = "replace"
    of_persons: bool = False

    def replacing(self) -> PrivacyLoss:
        """The same where a record is replaced: it is taken out, and another added.

        Reference: Dwork and Roth 2014, Theorem 2.2; Vadhan, The complexity of differential privacy, 2017,
            Lemma 2.2: delta grows by the factor 1 + e^epsilon.
        """
        if self.neighbours == "replace":
            return self
        grown = self.delta * (1 + exp(self.epsilon)) if self.epsilon < 700 else inf
        return replace(self, epsilon=2 * self.epsilon, delta=min(1.0, grown), neighbours="replace")


def loss_of(guarantees: Iterable[Guarantee]) -> PrivacyLoss | None:
    """What is spent of a person, a whole record or a table; None if no differential privacy is claimed."""
    claimed = [one for one in guarantees if one.kind in ("local-dp", "dp") and one.unit != "cell"]
    claimed.sort(key=lambda one: one.unit != "person")
    for one in claimed:
        epsilon, delta = one.number("epsilon"), one.number("delta")
        return PrivacyLoss(epsilon, delta, one.neighbours or "replace", one.unit == "person")
    return None


def find_sum(losses: Iterable[PrivacyLoss | None]) -> tuple[PrivacyLoss, int]:
    """What releases of the same people come to together, and how many of them are in no sum.

    Those without differential privacy are in none. Where some count for all rows of a person those that count
    for one row are in none either: nothing says how many rows a person had in them.
    """
    given = tuple(losses)
    claimed = [one for one in given if one is not None]
    of_persons = [one for one in claimed if one.of_persons]
    summed = of_persons or claimed
    return _accumulate(summed), len(given) - len(summed)


def _accumulate(losses: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """What releases of the same records come to together: epsilons and deltas add up.

    That is basic composition, an upper bound whatever was released and in whatever order it was decided.
    Where some releases compare tables with a record more or less and others tables with a record replaced,
    all are brought to the latter first.

    Reference: Dwork and Roth 2014, Theorem 3.16.
    """
    given = tuple(losses)
    if not given:
        return PrivacyLoss()
    if len({one.neighbours for one in given}) > 1:
        given = tuple(one.replacing() for one in given)
    spent = fsum(one.epsilon for one in given), fsum(one.delta for one in given)
    return replace(given[0], epsilon=spent[0], delta=spent[1])


def sequential(budgets: Iterable[Budget]) -> Budget:
    """What mechanisms on the same records come to together (thesis, Theorem 2.3).

    Args:
        budgets: epsilon and delta of each, one or more.

    Raises:
        SpecError: there are none, or one is out of range.
    """
    epsilons, deltas = zip(*_check(budgets), strict=True)
    return sum(epsilons), sum(deltas)


def parallel(budgets: Iterable[Budget]) -> Budget:
    """What mechanisms on disjoint parts of the records come to together (thesis, Theorem 2.4).

    The part in which a record lies must not depend on other records. Where a record is replaced, rather than
    added or removed, it may leave one part for another: then the two largest add up, see `sequential`.

    Args:
        budgets: epsilon and delta of each, one or more.

    Raises:
        SpecError: as `sequential`.
    """
    epsilons, deltas = zip(*_check(budgets), strict=True)
    return max(epsilons), max(deltas)


def amplify_by_sampling(epsilon: float, delta: float, rate: float) -> Budget:
    """What a mechanism comes to that is given a random sample nobody knows (thesis, Theorem 2.5).

    It holds where each record is drawn by itself and neighbours have a record more or less, and where a fixed
    number is drawn without replacement and neighbours have a record replaced.

    Args:
        epsilon: of the mechanism on what was drawn.
        delta: of the same.
        rate: the probability with which a record is drawn, in (0, 1].

    Raises:
        SpecError: an argument is out of range.

    Reference: Balle, Barthe and Gaboardi, Privacy amplification by subsampling, NeurIPS 2018, Theorems 8, 9.
    """
    checked_budget(epsilon, delta)
    if not 0 < rate <= 1:
        raise SpecError(f"The rate of sampling is {rate}.", "Choose one in (0, 1].")
    return log1p(rate * expm1(epsilon)), rate * delta


def _check(budgets: Iterable[Budget]) -> list[Budget]:
    given = list(budgets)
    for epsilon, delta in given:
        checked_budget(epsilon, delta)
    if not given:
        raise SpecError("Nothing was given to compose.", "Give one budget or more.")
    return given
