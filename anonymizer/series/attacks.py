"""Attacks on matrices: who is who by the assignment that costs least.

The attacker re-identifies with the original matrix in hand, or links two windows that have other pseudonyms.
Users are assigned to released rows one to one, so that the Euclidean distances add up to the least. Both
tables are shuffled before, so that among equal rows chance decides and not the order of the users.

Rows that are released alike are a cluster, as after k-anonymization. Who is assigned to the right cluster of
m rows is found with 1 / m: in clusters of k that is the rule of the thesis, the part of right clusters times
1 / k.

The control is the same attack with what the attacker knows of persons taken away: every column of the known
matrix is shuffled by itself, so that items keep their popularity and nobody a behaviour. Intervals take users
as independent, which an assignment makes them only nearly.

References: thesis, section 5.1.1, Definitions 5.1 to 5.3 and the example of Figure 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from anonymizer.errors import TableError
from anonymizer.risk.attacks.outcome import Attack, Rate
from anonymizer.risk.distance.matching import CANDIDATES, MAX_EXACT, Assigned, assign
from anonymizer.tables.randomness import Randomness

Int = NDArray[np.int64]
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Linked:
    """What an attack by assignment achieved.

    Attributes:
        attack: rates with intervals; `naive` is picking a released row at random.
        right: part of the attacked users that were assigned to the right cluster.
        k: rows of the smallest cluster.
        assignment: by which, with the bound of how far from the cheapest it is.
    """

    attack: Attack
    right: float
    k: int
    assignment: Assigned = field(repr=False)

    @property
    def risk(self) -> float:
        """Definition 5.3 with 1 / m for clusters of m rows, in [0, 1]; the control is not taken off."""
        return self.attack.main.value

    @property
    def by_k(self) -> float:
        """The printed rule: the part of right clusters times 1 / k."""
        return self.right / self.k


def link_users(
    known: Float | csr_matrix,
    released: Float | csr_matrix,
    partner: Int,
    *,
    name: str = "linkage",
    seed: int | None = None,
    most_exact: int = MAX_EXACT,
    candidates: int = CANDIDATES,
) -> Linked:
    """Attack the users of a known matrix by their likeness to released rows.

    Args:
        known: of the attacker, shape (n, m): the original window (re-identification, Definition 5.1), or what
            was released of another window (linkable attack, Definition 5.2).
        released: shape (p, m).
        partner: of each known row the place of the released row of the same user, -1 where there is none,
            shape (n,). Only users with a partner are attacked; the others are in the way.
        name: of the attack.
        seed: of the shuffles; None is the operating system's randomness.
        most_exact: see `assign`.
        candidates: see `assign`.

    Raises:
        TableError: the matrices have other items, or no user is in both.
    """
    before, after = _dense(known), _dense(released)
    if before.shape[1] != after.shape[1]:
        raise TableError(
            f"The matrices have {before.shape[1]} and {after.shape[1]} items.", "Give both the same items."
        )
    attacked = np.flatnonzero(partner >= 0)
    if not len(attacked):
        raise TableError("No user is in both matrices.", "Give windows with users in common.")
    random = Randomness(seed, f"attack {name}")
    _, clusters = np.unique(after, axis=0, return_inverse=True)
    clusters = clusters.reshape(-1)
    sizes = np.bincount(clusters)

    def hits(points: Float) -> tuple[Float, Assigned]:
        """Of each attacked user the chance to be found."""
        order, places = random.permutation(len(points)), random.permutation(len(after))
        found = assign(points[order], after[places], most_exact=most_exact, candidates=candidates)
        guess = np.full(len(points), -1, dtype=np.int64)
        guess[order] = np.where(found.partners >= 0, places[found.partners], -1)
        own, other = clusters[partner[attacked]], np.append(clusters, -1)[guess[attacked]]
        return np.where(own == other, 1 / sizes[own], 0.0), found

    main, assignment = hits(before)
    shuffled = np.stack([column[random.permutation(len(column))] for column in before.T], axis=1)
    control, _ = hits(shuffled)
    count = len(attacked)
    attack = Attack(
        name,
        Rate(float(main.sum()), count),
        Rate(float(control.sum()), count),
        Rate(count / len(after), count),
    )
    return Linked(attack, float((main > 0).mean()), int(sizes.min()), assignment)


def partners(users: tuple[str, ...], others: tuple[str, ...]) -> Int:
    """Of each user the place among others, -1 where it is not one of them, shape (n,)."""
    places = {user: place for place, user in enumerate(others)}
    return np.array([places.get(user, -1) for user in users], dtype=np.int64)


def _dense(cells: Float | csr_matrix) -> Float:
    return np.asarray(csr_matrix(cells).toarray() if issparse(cells) else cells, dtype=np.float64)
