"""Inference: does the release tell what the attacker does not know of a target?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.labels import numbers_of
from anonymizer.risk.attacks.outcome import Attack, Rate
from anonymizer.risk.attacks.rows import Nearest, aligned, shared_columns
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


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
    the value that most of them have, or their median if it is a number. The naive rate is reached by the
    most frequent value, or the median, of the whole release.

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
    released, *groups = aligned(release, others, tuple(names))
    answers, *truths = _answers(release, others, secret)
    guesser = _Medians(answers, tolerance) if answers.dtype == np.float64 else _Modes(answers)
    finder = Nearest(released)
    randomness = Randomness(random_state, "attack")
    rates, naive = [], Rate(0, 0)
    for group, truth in zip(groups, truths, strict=True):
        chosen = randomness.sample(len(group), attempts)
        right = np.zeros(len(chosen), dtype=np.bool_)
        for block, near in finder.near(group.taken(chosen), neighbours):
            right[block] = guesser.right(near, truth[chosen[block]])
        rates.append(Rate(int(right.sum()), len(chosen)))
        if len(rates) == 1:
            every = np.ones((1, len(release)), dtype=np.bool_)
            naive = Rate(int(guesser.right(every, truth[chosen]).sum()), len(chosen))
    return Attack(f"inference of {secret}", rates[0], rates[1] if len(rates) > 1 else None, naive, level)


def _answers(release: Table, others: Sequence[Table], secret: str) -> list[NDArray[Any]]:
    """The secret column of each table: numbers, or places of categories from 0."""
    tables = (release, *others)
    cells = aligned(release, others, (secret,))
    if not cells[0].numeric[0]:
        return [one.cells[0].astype(np.int64) + 1 for one in cells]
    numbers = [numbers_of(table, secret) for table in tables]
    return [one for one in numbers if one is not None]


class _Modes:
    """Guesses the most frequent category; the first in the order of the table where some tie."""

    def __init__(self, answers: Int) -> None:
        self._answers = answers
        self._kinds = int(answers.max()) + 1

    def right(self, near: Bool, truth: Int) -> Bool:
        """Whether the guesses from the near rows, shape (t, m), are true, shape (t,)."""
        target, row = np.nonzero(near)
        counts = np.bincount(target * self._kinds + self._answers[row], minlength=len(near) * self._kinds)
        guesses = counts.reshape(len(near), self._kinds).argmax(axis=1)
        same: Bool = guesses == truth
        return same


class _Medians:
    """Guesses the median."""

    def __init__(self, answers: Float, tolerance: float) -> None:
        self._order = np.argsort(answers, kind="stable")[: int(np.isfinite(answers).sum())]
        self._sorted = answers[self._order]
        self._tolerance = tolerance

    def right(self, near: Bool, truth: Float) -> Bool:
        """As `_Modes.right`; without a near row that holds a number the guess is wrong."""
        target, place = np.nonzero(near[:, self._order])
        counts = np.bincount(target, minlength=len(near))
        starts = np.cumsum(counts) - counts
        guesses = np.full(len(near), np.nan)
        some = counts > 0
        low, high = ((starts + (counts - odd) // 2)[some] for odd in (1, 0))
        guesses[some] = (self._sorted[place[low]] + self._sorted[place[high]]) / 2
        hit: Bool = np.abs(guesses - truth) <= self._tolerance * np.abs(truth)
        return hit
