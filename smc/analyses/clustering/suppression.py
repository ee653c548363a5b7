"""Which clusters are too small to be shown, decided on secret sizes before anything is opened.

A cluster is about the persons whose rows its centre is the mean of, and about those whose rows are nearest to
that centre; the fewer of both count. It is withheld, with its size, centre and labels, if it is about fewer
persons than the smallest group that may be shown, and so are the next smallest ones until those withheld have
at least that many persons together: as the number of all rows is public, the sizes shown give away how many
rows are withheld in all. In other words, one that has s persons, with p persons in all clusters before it in
order of size, is withheld if

    the smallest one is too small,  and  s < minimum  or  p < minimum.

If the withheld ones have fewer persons even so, they are all of the clusters.

Reference: primary and complementary suppression: Hundepohl et al., Statistical disclosure control, 2012,
section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.protocols.spec import Cost
from smc.secret import gates, signs
from smc.secret.bits import SecretBits, cost_and
from smc.secret.bounds import Bounds
from smc.secret.ints import SecretInts, select


def _earlier(count: int) -> NDArray[np.bool_]:
    """Whether i stands before j, shape (k, k)."""
    places = np.arange(count)
    return places[:, None] < places[None, :]


def withheld(persons: tuple[SecretInts, ...], minimum: int) -> SecretBits:
    """Which clusters are withheld.

    Args:
        persons: the persons of each cluster by one or more ways of counting, of which the least counts,
            shape (k,) each.
        minimum: the smallest group that may be shown, at least 1.

    Returns:
        Shape (k,).
    """
    fewest = persons[0]
    for other in persons[1:]:
        fewest = select(fewest <= other, fewest, other)
    k = len(fewest)
    small = fewest < minimum
    column, row = fewest.reshape(-1, 1), fewest.reshape(1, -1)
    # i comes before j if it has fewer persons, or as many and a lower number
    not_above = column + (~_earlier(k)).astype(np.int64) <= row
    ordered = select(not_above, column, column * 0)
    before = ordered.sum(axis=0).bounded(Bounds(0, k * fewest.bounds.upper))
    too_few = before < minimum
    any_small = small[:1]
    for place in range(1, k):
        any_small = any_small | small[place : place + 1]
    return (small | too_few) & any_small


def plain_withheld(persons: NDArray[np.int64], minimum: int) -> NDArray[np.bool_]:
    """The same in the clear, by the words of the rule.

    Args:
        persons: the least of the ways of counting, shape (k,).
        minimum: as there.
    """
    hidden = np.zeros(len(persons), dtype=np.bool_)
    if persons.min() >= minimum:
        return hidden
    total = 0
    for place in np.argsort(persons, kind="stable"):
        if persons[place] < minimum or total < minimum:
            hidden[place] = True
        total += int(persons[place])
    return hidden


def cost_withheld(ways: int, clusters: int, most: int, minimum: int) -> Cost:
    """The exact cost of `withheld`.

    Args:
        ways: of counting persons.
        clusters: k.
        most: rows of the table.
        minimum: as there.
    """
    k = clusters
    total = Cost()
    for _ in range(1, ways):
        total += signs.cost_nonnegative(k, Bounds(-most, most)) + gates.cost(k)
    total += signs.cost_nonnegative(k, Bounds(-minimum, most - minimum))
    total += signs.cost_nonnegative(k * k, Bounds(-most - 1, most)) + gates.cost(k * k)
    total += signs.cost_nonnegative(k, Bounds(-minimum, k * most - minimum))
    for _ in range(1, k):
        total += cost_and(1)
    return total + cost_and(k) + cost_and(k)
