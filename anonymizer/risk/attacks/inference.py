"""Inference: does the release tell what the attacker does not know of a target?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.risk.attacks.outcome import Attack, Rate
from anonymizer.risk.attacks.rows import Nearest, align_rows, shared_columns
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

_SLACK: Final = 1e-9


def inference(
    original: Table,
    release: Table,
    control: Table | None = None,
    *,
    secret: str,
    known: Sequence[str] | None = None,
    attempts: int = 2000,
    neighbours: int = 1,
    tolerance: float = 0.05,
    level: float = 0.95,
    random_state: int | None = None,
) -> Attack:
    """Attack a secret column.

    The attacker looks for the released rows nearest to what is known of a target, all that tie, and guesses
    the value that most of them have, or their median if it is a number. A row counts by the product of 1 /
    leaves of its labels: one whose labels cover a single value each is likelier to be the target's than one
    that covers half the table. The naive rate is reached by the most frequent value, or the median, of the
    whole release.

    Args:
        original: the rows that the release was made of.
        release: what is attacked.
        control: rows from the same source that the release was not made of.
        secret: the column to guess.
        known: the columns that are known of the target; None is all others that are shared.
        attempts: targets from each table, at least 1; no more than its rows.
        neighbours: rows as near as this nearest one count.
        tolerance: a number is guessed if it is off by at most this part of the true one.
        level: of the intervals.
        random_state: None is the operating system's randomness.

    Raises:
        TableError: a table is empty, a column is missing, or the secret is among the known ones.

    Reference: Giomi et al., PETS 2023, section 4.3.
    """
    names = tuple(c for c in shared_columns(original, release) if c != secret) if known is None else known
    if secret in names:
        raise TableError(f"Column {secret!r} is both known and secret.", "Take it out of the known columns.")
    others = (original,) if control is None else (original, control)
    released, *groups = align_rows(release, others, tuple(names))
    answers, *truths = _answers(release, others, secret)
    weights = released.log_weights
    guesser: _Medians | _Modes = (
        _Medians(answers, weights, tolerance) if answers.dtype == np.float64 else _Modes(answers, weights)
    )
    finder = Nearest(released)
    randomness = Randomness(random_state, f"inference of {secret}")
    rates, naive = [], Rate(0, 0)
    for group, truth in zip(groups, truths, strict=True):
        chosen = randomness.sample(len(group), attempts)
        right = np.zeros(len(chosen), dtype=np.bool_)
        for block, near in finder.near(group.take(chosen), neighbours):
            right[block] = guesser.right(near, truth[chosen[block]])
        rates.append(Rate(int(right.sum()), len(chosen)))
        if len(rates) == 1:
            every = np.ones((1, len(release)), dtype=np.bool_)
            right = guesser.alike().right(every, truth[chosen])
            naive = Rate(int(right.sum()), len(chosen))
    return Attack(f"inference of {secret}", rates[0], rates[1] if len(rates) > 1 else None, naive, level)


def _answers(release: Table, others: Sequence[Table], secret: str) -> list[NDArray[Any]]:
    """The secret column of each table: numbers, or places of categories from 1, 0 for what is missing."""
    tables = (release, *others)
    for table in tables:
        table.require(secret)
    numbers = [numbers_of(table, secret) for table in tables]
    known = [one for one in numbers if one is not None]
    if len(known) == len(tables) and any(table.is_numeric(secret) for table in tables):
        return list(known)
    places: dict[str, int] = {}
    found: list[NDArray[Any]] = []
    for table in tables:
        codes = table.codes(secret)
        own = [places.setdefault(text_of(value), len(places)) for value in codes.values.tolist()]
        found.append(np.array([*own, -1], dtype=np.int64)[codes.codes] + 1)
    return found


def _weights(near: Bool, order: Int, weights: Float) -> tuple[Int, Int, Float]:
    """The near rows target by target, and how much each counts, 1 for the one that counts most.

    Args:
        near: shape (t, m).
        order: the rows, in the order in which they are wanted.
        weights: logarithms, shape (m,).
    """
    target, place = np.nonzero(near[:, order])
    own = weights[order][place]
    if len(own):
        starts = np.flatnonzero(np.diff(target, prepend=-1))
        most = np.maximum.reduceat(own, starts)
        own = own - np.repeat(most, np.diff(np.append(starts, len(own))))
    return target, place, np.exp(own)


class _Modes:
    """Guesses the category that counts most; the first in the order of the table where some tie."""

    def __init__(self, answers: Int, weights: Float) -> None:
        self._answers = answers
        self._weights = weights
        self._kinds = int(answers.max()) + 1
        self._order = np.arange(len(answers))

    def alike(self) -> _Modes:
        """The same with all rows counting alike."""
        return _Modes(self._answers, np.zeros(len(self._answers)))

    def right(self, near: Bool, truth: Int) -> Bool:
        """Whether the guesses from the near rows, shape (t, m), are true, shape (t,)."""
        target, row, weights = _weights(near, self._order, self._weights)
        counts = np.bincount(
            target * self._kinds + self._answers[row], weights, minlength=len(near) * self._kinds
        )
        guesses = counts.reshape(len(near), self._kinds).argmax(axis=1)
        same: Bool = guesses == truth
        return same


class _Medians:
    """Guesses the weighted median, the middle of two where both are."""

    def __init__(self, answers: Float, weights: Float, tolerance: float) -> None:
        self._answers = answers
        self._weights = weights
        self._order = np.argsort(answers, kind="stable")[: int(np.isfinite(answers).sum())]
        self._tolerance = tolerance

    def alike(self) -> _Medians:
        """The same with all rows counting alike."""
        return _Medians(self._answers, np.zeros(len(self._answers)), self._tolerance)

    def right(self, near: Bool, truth: Float) -> Bool:
        """As `_Modes.right`; without a near row that holds a number the guess is wrong."""
        target, place, weights = _weights(near, self._order, self._weights)
        guesses = np.full(len(near), np.nan)
        if len(target):
            starts = np.flatnonzero(np.diff(target, prepend=-1))
            some = target[starts]
            sums = np.cumsum(weights)
            before = sums[starts] - weights[starts]
            total = np.append(sums[starts[1:] - 1], sums[-1]) - before
            ends = np.append(starts[1:], len(target)) - 1
            values = self._answers[self._order][place]
            low, high = (
                values[np.minimum(np.searchsorted(sums, before + part * total), ends)]
                for part in (0.5 - _SLACK, 0.5 + _SLACK)
            )
            guesses[some] = (low + high) / 2
        hit: Bool = np.abs(guesses - truth) <= self._tolerance * np.abs(truth)
        return hit
