"""Tolerant matching in the clear: the same rule with the same blocking, and over all pairs as a yardstick."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.tolerant import valley
from smc.analyses.matching.tolerant.encoding import Filters
from smc.analyses.matching.tolerant.histogram import EDGES, Chosen, Histogram
from smc.analyses.matching.tolerant.parameters import GREEDY, TolerantParameters
from smc.analyses.matching.tolerant.places import stretches
from smc.analyses.matching.tolerant.records import Records
from smc.analyses.matching.tolerant.similarity import Rule, sizes_of
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
    """The pairs that are alike, once for each pass in which their keys agree and their ranks meet.

    Returns:
        Alice's row, Bob's row, the pair's score, and the places of the pair among the items of Alice's and of
        Bob's row, shape (k, 5), pass by pass.
    """
    rule, size = parameters.rule, parameters.ranks
    found = [np.empty((0, 5), dtype=np.int64)]
    for number, (first, second) in enumerate(zip(alice.ranked, bob.ranked, strict=True)):
        keyed: dict[tuple[int, int], list[int]] = {}
        for row in each(second.rows):
            keyed.setdefault((int(second.hashes[row, 0]), int(second.hashes[row, 1])), []).append(int(row))
        met = [
            (int(row), partner)
            for row in each(first.rows)
            for partner in keyed.get((int(first.hashes[row, 0]), int(first.hashes[row, 1])), [])
        ]
        for part in chunks(len(met), _STRIPE_ROWS):
            left, right = np.array(met[part]).T
            overlaps = (alice.filters.rows[left] & bob.filters.rows[right]).sum(axis=1, dtype=np.int64)
            sizes = alice.counted[left], bob.counted[right]
            scores = (overlaps << 1) + rule.most_score - sizes[0] - sizes[1]
            places = number * size + second.ranks[right], number * size + first.ranks[left]
            near = alike(rule, overlaps, *sizes)
            found.append(np.stack([left, right, scores, *places], axis=1)[near])
    return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class Claims:
    """What rows claim where the threshold is chosen by a histogram.

    Attributes:
        pairs: the claims, as of `ranked_pairs`.
        claiming: the side whose rows claim, as of `nearest`.
        ones: of both filters of each pair.
        twice: twice the ones in common.
    """

    pairs: Links
    claiming: int
    ones: Links
    twice: Links

    @classmethod
    def of(cls, parameters: TolerantParameters, alice: Records, bob: Records) -> Claims:
        """The nearest of each claiming row."""
        claiming = _claiming(len(alice), len(bob))
        pairs = nearest(ranked_pairs(parameters, alice, bob), claiming)
        ones = alice.counted[pairs[:, 0]] + bob.counted[pairs[:, 1]]
        return cls(pairs, claiming, ones, pairs[:, 2] - parameters.rule.most_score + ones)

    @property
    def counts(self) -> tuple[int, ...]:
        """The histogram without noise."""
        above = np.array([*(np.count_nonzero(self._reaching(edge)) for edge in EDGES), 0])
        return tuple((above[:-1] - above[1:]).tolist())

    def links(self, threshold: Fraction) -> Links:
        """The pairs, as of `plain_links`."""
        pairs = nearest(self.pairs[self._reaching(threshold)], 1 - self.claiming)
        return np.unique(pairs[:, :2], axis=0)

    def _reaching(self, threshold: Fraction) -> NDArray[np.bool_]:
        reached: NDArray[np.bool_] = self.twice * threshold.denominator >= self.ones * threshold.numerator
        return reached


def chosen_links(
    parameters: TolerantParameters, histogram: Histogram, alice: Records, bob: Records
) -> tuple[Links, Chosen]:
    """As `plain_links` where the threshold is chosen by a histogram, here without noise."""
    found = Claims.of(parameters, alice, bob)
    chosen = Chosen(valley.threshold(found.counts, histogram, parameters.threshold), found.counts)
    return found.links(chosen.threshold), chosen


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
    """The best pair of each row of a side: the highest score, and of equal ones the first of its items.

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
    """The pairs that are alike, once for each pass in which their rows meet.

    Returns:
        Alice's row, Bob's row and the pair's score, shape (k, 3), pass by pass.
    """
    rule = parameters.rule
    found = [np.empty((0, 3), dtype=np.int64)]
    ranks = np.arange(parameters.bucket)
    for first, second in zip(alice.layouts, bob.layouts, strict=True):
        for part in stretches(*first.rows.shape):
            rows = (first.rows[part], second.rows[part])
            left, right = alice.sizes(rows[0])[:, :, None], bob.sizes(rows[1])[:, None]
            bits = [side.bits(own).astype(np.float32) for side, own in zip((alice, bob), rows, strict=True)]
            overlaps = (bits[0] @ bits[1].transpose(0, 2, 1)).astype(np.int64)
            scores = (overlaps << (rule.tie_bits + 1)) + rule.most_score
            scores += rule.score_part(left, ranks[:, None]) + rule.score_part(right, ranks)
            block, i, j = np.nonzero(alike(rule, overlaps, left, right))
            found.append(np.stack([rows[0][block, i], rows[1][block, j], scores[block, i, j]], axis=1))
    return np.concatenate(found)


def _nearest(pairs: Links, rows: int, columns: int, rounds: int) -> Links:
    """Round after round the pairs that come first of all that either row has left.

    Args:
        pairs: as of `compared_pairs`; of equal scores of a row the first comes first.
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


def all_links(rule: Rule, alice: Filters, bob: Filters) -> Links:
    """All pairs of rows that are alike, whether or not they would meet in a bucket.

    Args:
        rule: when they are.
        alice: Alice's filters.
        bob: Bob's.

    Returns:
        As `plain_links`.
    """
    found = [np.empty((0, 2), dtype=np.int64)]
    sizes = sizes_of(bob.rows)
    right = bob.rows.astype(np.float32).T
    for start in range(0, len(alice.rows), _STRIPE_ROWS):
        left = alice.rows[start : start + _STRIPE_ROWS]
        overlaps = (left.astype(np.float32) @ right).astype(np.int64)
        links = np.argwhere(alike(rule, overlaps, sizes_of(left)[:, None], sizes))
        links[:, 0] += start
        found.append(links)
    return np.concatenate(found)


def alike(rule: Rule, overlaps: Links, left: Links, right: Links) -> NDArray[np.bool_]:
    """Which pairs are alike.

    Args:
        rule: when they are.
        overlaps: ones in common.
        left: sizes of Alice's filters, `ABSENT` for empty ones.
        right: of Bob's.
    """
    margins = (overlaps << (rule.exponent + 1)) + rule.margin_part(left) + rule.margin_part(right)
    return margins >= 0
