"""Singling out: is there a description, read off the release, that fits exactly one person?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.risk.attacks.outcome import Attack, Rate
from anonymizer.risk.attacks.predicates import Index, Predicates
from anonymizer.risk.attacks.rows import MISSING, Rows, align_rows, shared_columns
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]

TOLERANCES: Final = (0.0, 0.02, 0.1)
"""Half widths of conditions on numbers that are tried, in units of the release's range."""
_PILOT: Final = 500


def singling_out(
    original: Table,
    release: Table,
    control: Table | None = None,
    *,
    columns: Sequence[str] | None = None,
    attempts: int = 2000,
    width: int | None = None,
    tolerance: float | None = None,
    level: float = 0.95,
    random_state: int | None = None,
) -> Attack:
    """Attack with descriptions of rows (multivariate predicates).

    An attempt takes a released row and some of its columns: the same category, or one that its label stands
    for, a number within the tolerance. It fails if another released row fits as well, since the attacker
    sees that; it succeeds if exactly one original row fits. How many columns and which tolerance work best
    (by the lower end of the interval) is found on attempts of their own, so that the choice does not bias
    the result. Rates are parts of the released rows tried.

    The chance that a description fits exactly one row of n at random grows at most like n, so that the rate
    against a control group of m < n rows counts n / m times; of a larger one n rows are taken. A naive
    attempt takes each condition from another released row: what the columns give away one by one.

    Args:
        original: the rows that the release was made of.
        release: what is attacked.
        control: rows from the same source that the release was not made of.
        columns: what descriptions are made of; None is all shared ones but identifiers.
        attempts: at least 1; no more than released rows are tried.
        width: columns of a description; None tries all and a half of them.
        tolerance: 0 or more, in units of the release's range; None tries `TOLERANCES`.
        level: of the intervals.
        random_state: None is the operating system's randomness.

    Raises:
        TableError: a table is empty, or a column is missing.

    Reference: Giomi et al., PETS 2023, section 4.1.
    """
    names = shared_columns(original, release) if columns is None else tuple(columns)
    space = _Space(original, release, control, names, Randomness(random_state, "singling out"))
    total = len(names)
    widths = sorted({-(-total // 2), total}) if width is None else [min(width, total)]
    tolerances = TOLERANCES if tolerance is None else (tolerance,)
    settings = [(w, t) for w in reversed(widths) for t in tolerances]
    if len(settings) > 1:
        pilots = [Attack("", *space.attack(_PILOT, w, t), level).interval[0] for w, t in settings]
        settings = [settings[int(np.argmax(pilots))]]
    return Attack("singling out by rows", *space.attack(attempts, *settings[0]), level)


def singling_out_values(
    original: Table,
    release: Table,
    control: Table | None = None,
    *,
    columns: Sequence[str] | None = None,
    attempts: int = 2000,
    level: float = 0.95,
    random_state: int | None = None,
) -> dict[str, Attack]:
    """Attack with single values (univariate predicates), column by column.

    An attempt takes a value that one released row has, or all numbers from the largest or the smallest on.
    A column with different values for nearly everybody, released unchanged, singles out nearly everybody,
    also if the rows are shuffled: no row is betrayed, but the value is. Hence there is one result a column
    that has such values, and no sum. The naive rate is that of values drawn without regard to how rare.

    Args, errors and reference: as `singling_out`.
    """
    names = shared_columns(original, release) if columns is None else tuple(columns)
    randomness = Randomness(random_state, "singling out by values")
    found = {}
    for name in names:
        space = _Space(original, release, control, (name,), randomness)
        predicates = _rare(space.release)
        if len(predicates):
            chosen = predicates.take(randomness.sample(len(predicates), attempts))
            main, control_rate = space.judge(chosen, unique=True)
            drawn = space.release.take(randomness.integers(len(release), len(chosen)))
            naive, _ = space.judge(Predicates(drawn.low, drawn.high), unique=False)
            found[name] = Attack(f"singling out by {name}", main, control_rate, naive, level)
    return found


def _rare(rows: Rows) -> Predicates:
    """The values and labels that one row has, and the two ends of a column of numbers."""
    cells, counts = np.unique(np.stack((rows.low[0], rows.high[0])), axis=1, return_counts=True)
    low, high = cells[:, counts == 1]
    present = cells[0, np.isfinite(cells[0])]
    if rows.numeric[0] and len(present) > 1:
        low = np.append(low, [-np.finfo(np.float64).max, present[-1]])
        high = np.append(high, [present[0], np.finfo(np.float64).max])
    return Predicates(low[None, :], high[None, :])


class _Space:
    """The tables of an attack, ready to count in."""

    def __init__(
        self,
        original: Table,
        release: Table,
        control: Table | None,
        columns: Sequence[str],
        randomness: Randomness,
    ) -> None:
        others = (original,) if control is None else (original, control)
        self.release, first, *rest = align_rows(release, others, columns)
        self._randomness = randomness
        self._weight = 1.0
        self._released, self._original = Index(self.release), Index(first)
        self._control: Index | None = None
        for group in rest:
            taken = group.take(randomness.sample(len(group), len(first)))
            self._weight = len(first) / len(taken)
            self._control = Index(taken)

    def attack(self, attempts: int, width: int, tolerance: float) -> tuple[Rate, Rate | None, Rate]:
        """Rates against original and control group, and of naive attempts."""
        total = len(self.release)
        rows = self._randomness.permutation(total)[:attempts]
        own = np.broadcast_to(rows, (len(self.release.low), len(rows)))
        main, control = self.judge(self._around(own, width, tolerance), unique=True)
        mixed = np.stack([self._randomness.integers(total, len(rows)) for _ in self.release.low])
        naive, _ = self.judge(self._around(mixed, width, tolerance), unique=False)
        return main, control, naive

    def _around(self, rows: Int, width: int, tolerance: float) -> Predicates:
        """Conditions of the cells of released rows, of which those of each column are given, shape (d, p)."""
        margin = np.where(self.release.numeric, tolerance, 0.0)[:, None]
        low = np.take_along_axis(self.release.low, rows, axis=1) - margin
        high = np.take_along_axis(self.release.high, rows, axis=1) + margin
        order = self._randomness.words(low.size).reshape(low.shape).argsort(axis=0)
        left_out = order.argsort(axis=0) >= width
        return Predicates(np.where(left_out, -np.inf, low), np.where(left_out, MISSING, high))

    def judge(self, predicates: Predicates, *, unique: bool) -> tuple[Rate, Rate | None]:
        """How many fit one row exactly; with `unique` only if they fit one released row exactly."""
        tried = len(predicates)
        if unique:
            predicates = predicates.take(np.flatnonzero(self._released.count(predicates) == 1))
        main = Rate(int((self._original.count(predicates) == 1).sum()), tried)
        if self._control is None:
            return main, None
        return main, Rate(int((self._control.count(predicates) == 1).sum()), tried, self._weight)
