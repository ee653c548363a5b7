"""The minimality attack: that people were put into one class tells why they were not put into two.

A method that loses as little detail as it can joins people who differ only where it has to. An attacker with
the quasi-identifiers of everybody sees the parts of which a class was joined. A part that is large enough for
k would stand alone unless it had fewer than l values; where only one set of values can be that, the attacker
knows it. For l = 2 that is one value for certain.

Reference: Wong, Fu, Wang and Pei, Minimality attack in privacy preserving data publishing, VLDB 2007.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.risk.class_risk import class_risk
from anonymizer.risk.classes import classes_of
from anonymizer.risk.covering import ReleasedRows
from anonymizer.risk.definetti import persons_by_group
from anonymizer.tables.persons import PersonRows
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table


@dataclass(frozen=True, slots=True)
class MinimalityRisk:
    """What the attack comes to. A person with several rows counts once.

    Attributes:
        persons: that fit in one class only; `looked` were looked for, a random part of a large table.
        looked: persons that were looked for.
        told: of whom the attacker names a value.
        right: how many of these are right.
        by_share: how many would be right by the shares of their classes alone.
        l: the fewest values of a class, by which the attacker reckons.
    """

    persons: int
    looked: int
    told: int
    right: int
    by_share: float
    l: int  # noqa: E741 - the name of the field


def minimality_risk(
    original: Table, release: ReleasedRows, column: str, randomness: Randomness
) -> MinimalityRisk:
    """Carry out the attack on one sensitive column, by the k and the l that the release has.

    Args:
        original: with roles and hierarchies.
        release: with classes of at least two rows and two values.
        column: the sensitive one.
        randomness: draws the persons, where there are too many; parts of a class are then smaller than they
            are, and fewer are told.

    Raises:
        TableError: as `persons_by_group`.
    """
    fulfilled = class_risk(release.table)
    k, l = fulfilled.k, fulfilled.sensitive[column].l  # noqa: E741 - the name of the field
    known = persons_by_group(original, release, column, randomness)
    keys = release.table.roles.quasi_identifiers
    kinds, _ = classes_of(original.take(known.persons), keys)
    told, right = np.zeros(len(known.codes), dtype=np.bool_), np.zeros(len(known.codes), dtype=np.bool_)
    by_share = 0.0
    sizes = known.counts.sum(axis=1)
    pairs, place, members = np.unique(
        np.stack((known.groups, kinds)), axis=1, return_inverse=True, return_counts=True
    )
    place = place.reshape(-1)
    alone = PersonRows(known.codes).in_classes(place, len(members))
    for part, (group, size) in enumerate(zip(pairs[0].tolist(), members.tolist(), strict=True)):
        rest = int(sizes[group]) - size
        counts = np.sort(known.counts[group])[::-1]
        if (
            l < 2
            or alone[part] < k
            or rest < k
            or not _one_way(counts, size, l)
            or counts[: l - 1].sum() >= rest
        ):
            continue
        value = int(known.counts[group].argmax())
        own = place == part
        told |= own
        right |= own & (known.truth == value)
        by_share += int(alone[part]) * float(counts[0] / sizes[group])
    return MinimalityRisk(
        len(np.unique(known.codes)),
        known.looked,
        len(np.unique(known.codes[told])),
        len(np.unique(known.codes[right])),
        by_share,
        l,
    )


def _one_way(counts: np.ndarray[tuple[int], np.dtype[np.float64]], size: int, l: int) -> bool:  # noqa: E741
    """Whether exactly one set of l - 1 values has as many rows as a part; counts fall."""
    most = counts[: l - 1].sum()
    next_best = most - counts[l - 2] + (counts[l - 1] if len(counts) >= l else 0)
    return bool(most >= size > next_best)
