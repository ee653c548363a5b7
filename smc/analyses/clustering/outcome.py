"""What a party receives: tables of centres, of its own labels, and of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.clustering.privacy import MISS, NoisyMeans
from smc.analyses.records.fixed_point import FixedPointColumns
from smc.analyses.studies.outcome import DAY_NUMBER, Table

_CENTRES: Final = "centres"

SUPPRESSED: Final = (
    "Clusters without a size are about too few persons in all or of one side, have a sum that tells of a few "
    "persons or is mostly one person's, or shield such a cluster; their centres, the labels of their rows "
    "and the inertia are withheld."
)


def centres_table(
    scaled: FixedPointColumns, centres: NDArray[np.int64], sizes: Sequence[int | None]
) -> Table:
    """Sizes and centres of the clusters, in real units; None where withheld."""
    rows = [
        scaled.real(centre) if size is not None else None for centre, size in zip(centres, sizes, strict=True)
    ]
    columns: dict[str, list[Any]] = {"cluster": list(range(1, len(sizes) + 1)), "size": list(sizes)}
    for place, axis in enumerate(scaled.columns):
        columns[axis.name] = [None if row is None else row[place] for row in rows]
    return Table(_CENTRES, columns)


def noisy_table(noisy: NoisyMeans, centres: NDArray[np.int64], counts: Sequence[int]) -> Table:
    """Noisy sizes and centres, each with its 95 % interval.

    That of a coordinate is about the mean of the rows that were assigned in the last iteration, and follows
    from the 97.5 % intervals of sum and size; it is the whole range where the size may be 0.

    Args:
        noisy: their noise.
        centres: opened, in units of 2**-fraction, shape (k, d).
        counts: opened, k of them.
    """
    plain = centres_table(noisy.scaled, centres, counts).columns
    width = noisy.count.half_width(MISS)
    columns: dict[str, Sequence[Any]] = {"cluster": plain["cluster"], "size": plain["size"]}
    columns |= _ends("size", [(count - width, count + width) for count in counts])
    for place, axis in enumerate(noisy.scaled.columns):
        ends = []
        for centre, count in zip(centres[:, place].tolist(), counts, strict=True):
            found = noisy.coordinate(place, Fraction(centre, 1 << noisy.scaled.fraction), count)
            ends.append((float(axis.real(found.lower)), float(axis.real(found.upper))))
        columns |= {axis.name: plain[axis.name], **_ends(axis.name, ends)}
    return Table(_CENTRES, columns)


def _ends(name: str, ends: Sequence[tuple[Any, Any]]) -> dict[str, Sequence[Any]]:
    return {f"{name}_lower_95": [low for low, _ in ends], f"{name}_upper_95": [high for _, high in ends]}


def show_dates(tables: Sequence[Table], dates: Sequence[str]) -> tuple[Table, ...]:
    """The tables with these columns of centres, and the ends of their intervals, as dates.

    Args:
        tables: of a run.
        dates: the local columns of dates; of the other side's it is not known.
    """
    kinds = {f"{name}{end}": DAY_NUMBER for name in dates for end in ("", "_lower_95", "_upper_95")}
    return tuple(
        replace(table, kinds={name: kind for name, kind in kinds.items() if name in table.columns})
        if table.name == _CENTRES
        else table
        for table in tables
    )


def labels_table(labels: NDArray[np.int64]) -> Table:
    """The clusters of rows, both counted from 1; None where withheld, which is -1 in `labels`."""
    shown = [None if label == -1 else label + 1 for label in labels.tolist()]
    return Table("labels", {"row": list(range(1, len(shown) + 1)), "cluster": shown})


def fit_table(scaled: FixedPointColumns, inertia: int | None, iterations: int) -> Table:
    """The inertia in squared units of distance, None if withheld, and the iterations that were made."""
    real = (
        None if inertia is None else float(Fraction(max(0, inertia), 1 << scaled.fraction) / scaled.unit**2)
    )
    return Table("fit", {"inertia": [real], "iterations": [iterations]})


def labels_of(bits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The place of the one bit of each row, -1 where there is none."""
    found = bits.argmax(axis=1).astype(np.int64)
    return np.where(bits.any(axis=1), found, -1)
