"""Tolerant matching in the clear: the same rule with the same blocking, and over all pairs as a yardstick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.tolerant import valley
from smc.analyses.matching.tolerant.histogram import EDGES, FLOOR, Chosen, Histogram
from smc.analyses.matching.tolerant.parameters import GREEDY, TolerantParameters
from smc.analyses.matching.tolerant.places import stretches
from smc.analyses.matching.tolerant.ranks import RankLayout
from smc.analyses.matching.tolerant.records import Records
from smc.forms import Role
from smc.pieces import chunks, each
from smc.secret.joins.circuit_psi import table_owner

Links = NDArray[np.int64]

_STRIPE_ROWS: Final = 1000


def plain_links(parameters: TolerantParameters, alice: Records, bob: Records) -> Links:
    """The pairs that `smc.analyses.matching.tolerant.run` finds, before a largest assignment.

    Args:
        parameters: of the job.
        alice: Alice's records.
        bob: Bob's.

    Returns:
        Alice's and Bob's row of each pair, shape (k, 2), sorted.
    """
    if parameters.histogram is not None:
        return chosen_links(parameters, parameters.histogram, alice, bob)[0]
    if parameters.ranks:
        return claims(ranked_pairs(parameters, alice, bob), len(alice), len(bob))
    pairs = compared_pairs(parameters, alice, bob)
    if parameters.one_to_one == GREEDY:
        pairs = _nearest(pairs, len(alice), len(bob), parameters.rounds)
    return np.unique(pairs[:, :2], axis=0)


def ranked_pairs(parameters: TolerantParameters, alice: Records, bob: Records) -> Links:
    """The pairs that match, once for each pass in which their keys agree and their ranks meet.

    Returns:
        Alice's row, Bob's row, the pair's margin, and the places of the pair among the items of Alice's and
        of Bob's row, shape (k, 5), pass by pass.
    """
    size = parameters.ranks
    found = [np.empty((0, 5), dtype=np.int64)]
    for number, (first, second) in enumerate(zip(alice.ranked, bob.ranked, strict=True)):
        met = met_by_ranks(first, second)
        for part in chunks(len(met), _STRIPE_ROWS):
            left, right = met[part].T
            margins = margins_of(alice, bob, left, right)
            places = number * size + second.ranks[right], number * size + first.ranks[left]
            found.append(np.stack([left, right, margins, *places], axis=1)[margins >= 0])
    return np.concatenate(found)


def met_by_ranks(first: RankLayout, second: RankLayout) -> Links:
    """The pairs of rows of a key that take part in a pass, Alice's row and Bob's, shape (k, 2)."""
    keyed: dict[bytes, list[int]] = {}
    for row in each(second.rows):
        keyed.setdefault(second.hashes[row].tobytes(), []).append(int(row))
    met = [
        (int(row), partner)
        for row in each(first.rows)
        for partner in keyed.get(first.hashes[row].tobytes(), [])
    ]
    return np.array(met, dtype=np.int64).reshape(-1, 2)


def margins_of(alice: Records, bob: Records, left: Links, right: Links) -> Links:
    """The margins of pairs of rows, shape (k,); a pair matches where its margin is not negative."""
    overlaps = (alice.weigh(left) * bob.filters.rows[right]).sum(axis=1, dtype=np.int64)
    found: Links = (overlaps << alice.score.grain) + alice.terms[left] + bob.terms[right]
    return found


@dataclass(frozen=True, slots=True)
class Claims:
    """What rows claim where the least score is chosen by a histogram.

    Attributes:
        pairs: the claims, as of `ranked_pairs`.
        claiming: the side whose rows claim, as of `nearest`.
        unit: one unit of the score as margins are held.
    """

    pairs: Links
    claiming: int
    unit: int

    @classmethod
    def of(cls, parameters: TolerantParameters, alice: Records, bob: Records) -> Claims:
        """The nearest of each claiming row."""
        claiming = _claiming(len(alice), len(bob))
        return cls(nearest(ranked_pairs(parameters, alice, bob), claiming), claiming, alice.score.unit)

    @property
    def counts(self) -> tuple[int, ...]:
        """The histogram without noise."""
        above = np.array([*(np.count_nonzero(self._reaching(edge)) for edge in EDGES), 0])
        return tuple((above[:-1] - above[1:]).tolist())

    def links(self, moved: int) -> Links:
        """The pairs, as of `plain_links`, from so many units above the stated score on."""
        pairs = nearest(self.pairs[self._reaching(moved)], 1 - self.claiming)
        return np.unique(pairs[:, :2], axis=0)

    def _reaching(self, moved: int) -> NDArray[np.bool_]:
        reached: NDArray[np.bool_] = self.pairs[:, 2] >= (moved - FLOOR) * self.unit
        return reached


def chosen_links(
    parameters: TolerantParameters, histogram: Histogram, alice: Records, bob: Records
) -> tuple[Links, Chosen]:
    """As `plain_links` where the least score is chosen by a histogram, here without noise."""
    found = Claims.of(parameters, alice, bob)
    chosen = Chosen(valley.adjustment(found.counts, histogram), found.counts)
    return found.links(chosen.moved), chosen


def claims(pairs: Links, rows: int, columns: int) -> Links:
    """Of pairs that met by ranks those that are taken: each row claims its nearest, the nearest claim wins.

    Args:
        pairs: as of `ranked_pairs`.
        rows: Alice's.
        columns: Bob's.

    Returns:
        As `plain_links`.
    """
    claiming = _claiming(rows, columns)
    for side in (claiming, 1 - claiming):
        pairs = nearest(pairs, side)
    return np.unique(pairs[:, :2], axis=0)


def nearest(pairs: Links, side: int) -> Links:
    """The best pair of each row of a side: the highest margin, and of equal ones the first of its items.

    Args:
        pairs: as of `ranked_pairs`.
        side: 0 for Alice's rows, 1 for Bob's.
    """
    pairs = pairs[np.lexsort((pairs[:, 3 + side], -pairs[:, 2], pairs[:, side]))]
    return pairs[np.unique(pairs[:, side], return_index=True)[1]]


def _claiming(rows: int, columns: int) -> int:
    """The side whose rows claim, as of `nearest`."""
    return 0 if table_owner(rows, columns) is Role.ALICE else 1


def compared_pairs(parameters: TolerantParameters, alice: Records, bob: Records) -> Links:
    """The pairs that match, once for each pass in which their rows meet.

    Returns:
        Alice's row, Bob's row and the pair's rank among all, shape (k, 3), pass by pass.
    """
    found = [np.empty((0, 3), dtype=np.int64)]
    score, places = alice.score, np.arange(parameters.bucket)
    for first, second in zip(alice.layouts, bob.layouts, strict=True):
        for part in stretches(*first.rows.shape):
            rows = (first.rows[part], second.rows[part])
            bits = alice.weigh(rows[0]).astype(np.float32), bob.bits(rows[1]).astype(np.float32)
            overlaps = (bits[0] @ bits[1].transpose(0, 2, 1)).astype(np.int64)
            margins = (overlaps << score.grain) + alice.local(rows[0])[:, :, None]
            margins += bob.local(rows[1])[:, None]
            ranks = score.ranks(margins, places[:, None], places)
            block, i, j = np.nonzero(margins >= 0)
            found.append(np.stack([rows[0][block, i], rows[1][block, j], ranks[block, i, j]], axis=1))
    return np.concatenate(found)


def _nearest(pairs: Links, rows: int, columns: int, rounds: int) -> Links:
    """Round after round the pairs that come first of all that either row has left.

    Args:
        pairs: as of `compared_pairs`; of equal ranks of a row the first comes first.
        rows: Alice's.
        columns: Bob's.
        rounds: at least 1.
    """
    last = len(pairs)
    place = np.empty(last, dtype=np.int64)
    place[np.argsort(-pairs[:, 2], kind="stable")] = np.arange(last)
    chosen = np.zeros(last, dtype=np.bool_)
    left = np.ones(last, dtype=np.bool_)
    for _ in range(rounds):
        mutual = left.copy()
        for side, count in ((0, rows), (1, columns)):
            first = np.full(count, last)
            np.minimum.at(first, pairs[left, side], place[left])
            mutual &= place == first[pairs[:, side]]
        chosen |= mutual
        for side, count in ((0, rows), (1, columns)):
            taken = np.zeros(count, dtype=np.bool_)
            taken[pairs[mutual, side]] = True
            left &= ~taken[pairs[:, side]]
    return pairs[chosen]


def all_links(alice: Records, bob: Records) -> Links:
    """All pairs of rows that match, whether or not they would meet in a pass.

    Args:
        alice: Alice's records.
        bob: Bob's.

    Returns:
        Alice's row, Bob's row and the pair's margin, shape (k, 3).
    """
    found = [np.empty((0, 3), dtype=np.int64)]
    every = np.arange(len(alice))
    right = bob.filters.rows.astype(np.float32).T
    for part in chunks(len(alice), _STRIPE_ROWS):
        overlaps = (alice.weigh(every[part]).astype(np.float32) @ right).astype(np.int64)
        margins = (overlaps << alice.score.grain) + alice.terms[part, None] + bob.terms
        i, j = np.nonzero(margins >= 0)
        found.append(np.stack([i + part.start, j, margins[i, j]], axis=1))
    return np.concatenate(found)
