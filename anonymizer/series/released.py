"""The releases of all windows of a log, and what attackers and analysts get out of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.releases.release import Release
from anonymizer.series.attacks import Linked, link_users, partners
from anonymizer.series.matrix import Matrix
from anonymizer.series.specification import SeriesSpec
from anonymizer.series.usefulness import Usefulness, predictable, usefulness
from anonymizer.tables.numbers import numbers_of

Float = NDArray[np.float64]

OnProgress = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and what comes next."""


@dataclass(frozen=True, slots=True)
class Released:
    """A window and its release.

    Attributes:
        matrix: the original.
        release: of it.
        cells: of the release, shape (p, m).
        users: of the rows of the release, in their order.
    """

    matrix: Matrix
    release: Release = field(repr=False)
    cells: Float = field(repr=False)
    users: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, spec: SeriesSpec, matrix: Matrix, number: int, seed: int | None = None) -> Released:
        """Make the release of a window.

        Raises:
            AnonymizerError: the matrix does not fit the steps; of its kind.
        """
        release = spec.pipeline(number, seed).release(matrix.table())
        if release.origin is None:
            raise TableError("A step makes rows that stem from no user.", "Take a method that keeps rows.")
        cells = cells_of(release, matrix.items)
        return cls(matrix, release, cells, tuple(matrix.users[row] for row in release.origin.tolist()))


@dataclass(frozen=True, slots=True)
class SeriesMeasures:
    """What was measured of a series.

    Attributes:
        reidentified: of each window (Definition 5.1).
        pseudonyms: of each two neighbouring windows, the linkable attack where only pseudonyms are changed.
        linked: the same of what is released (Definition 5.2).
        useful: of each window, tested on the next one (of the last, on the one before); empty where there is
            one window, or cells are not binary, or nothing can be predicted.
        skipped: why something was not measured, a sentence each.
    """

    reidentified: tuple[Linked, ...]
    pseudonyms: tuple[Linked, ...] = ()
    linked: tuple[Linked, ...] = ()
    useful: tuple[Usefulness, ...] = ()
    skipped: tuple[str, ...] = ()


def measure(
    spec: SeriesSpec,
    series: Sequence[Released],
    seed: int | None = None,
    on_progress: OnProgress | None = None,
) -> SeriesMeasures:
    """Attack a series of releases, and learn from it.

    Args:
        spec: that it was made by.
        series: of all windows.
        seed: of the attacks.
        on_progress: of the progress.
    """
    total, done = 4 * len(series) - 2, 0

    def next_is(what: str) -> None:
        nonlocal done
        if on_progress is not None:
            on_progress(done, total, what)
        done += 1

    found, before, after, useful, skipped = [], [], [], [], []
    for number, one in enumerate(series, 1):
        next_is(f"re-identification, window {number}")
        rows = partners(one.matrix.users, one.users)
        found.append(link_users(one.matrix.cells, one.cells, rows, name="re-identification", seed=seed))
    for number, (one, other) in enumerate(pairwise(series), 1):
        name = f"linkage, windows {number} and {number + 1}"
        try:
            next_is(f"{name}, pseudonyms only")
            rows = partners(one.matrix.users, other.matrix.users)
            before.append(link_users(one.matrix.cells, other.matrix.cells, rows, name=name, seed=seed))
            next_is(name)
            rows = partners(one.users, other.users)
            after.append(link_users(one.cells, other.cells, rows, name=name, seed=seed))
        except TableError as problem:
            skipped.append(f"Not measured: {name}. {problem.what}")
    if len(series) < 2 or spec.cells != "binary":
        skipped.append("Not measured: usefulness, which needs binary cells and a second window to test on.")
    for number, one in enumerate(series, 1) if not skipped else ():
        next_is(f"usefulness, window {number}")
        other = series[number if number < len(series) else number - 2]
        rest, cells = other.matrix.cells.toarray(), one.matrix.cells.toarray()
        try:
            useful.append(usefulness(cells, one.cells, rest, predictable(cells, rest, seed=seed)))
        except TableError as problem:
            skipped.append(f"Not measured: usefulness of window {number}. {problem.what}")
    return SeriesMeasures(tuple(found), tuple(before), tuple(after), tuple(useful), tuple(skipped))


def cells_of(release: Release, items: tuple[str, ...]) -> Float:
    """The cells of a released matrix; labels of intervals by their middles, shape (p, m).

    Raises:
        TableError: an item was taken out, or has cells that are neither numbers nor intervals.
    """
    columns = []
    for item in items:
        release.table.require(item)
        found = numbers_of(release.table, item)
        if found is None or np.isnan(found).any():
            raise TableError(
                f"Item {item!r} has cells that are neither numbers nor intervals of numbers.",
                "Take a method that changes numbers, or joins them to intervals with both ends.",
            )
        columns.append(found)
    return np.stack(columns, axis=1)


def attack_values(one: Linked) -> Mapping[str, Any]:
    """An attack as plain JSON values."""
    low, high = one.attack.main.interval(one.attack.level)
    control = one.attack.control
    return {
        "risk": one.risk,
        "interval": [low, high],
        "by_k": one.by_k,
        "k": one.k,
        "control": None if control is None else control.value,
        "beyond_control": one.attack.risk,
        "beyond_control_interval": list(one.attack.interval),
        "chance": one.attack.naive.value,
        "attacked": one.attack.main.attempts,
        "exact": one.assignment.excess == 0,
        "excess_at_most": one.assignment.excess,
    }


def useful_values(one: Usefulness) -> Mapping[str, Any]:
    """A measure of usefulness as plain JSON values."""
    scores = {
        word: {"precision": each.precision, "recall": each.recall, "f": each.f}
        for word, each in (("original", one.original), ("release", one.release))
    }
    return {"ratio": one.ratio, "items": len(one.items), **scores}
