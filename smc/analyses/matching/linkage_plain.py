"""Tolerant matching in the clear: the same rule with the same blocking, and over all pairs as a yardstick."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.encoding import Filters
from smc.analyses.matching.places import stretches
from smc.analyses.matching.records import Records
from smc.analyses.matching.similarity import Rule, sizes_of
from smc.analyses.matching.tolerant_parameters import GREEDY, TolerantParameters

Links = NDArray[np.int64]

_STRIPE_ROWS: Final = 1000


def plain_links(parameters: TolerantParameters, alice: Records, bob: Records) -> Links:
    """The pairs that `smc.analyses.matching.linkage` finds, before an optimal assignment.

    Args:
        parameters: of the job.
        alice: Alice's records.
        bob: Bob's.

    Returns:
        Alice's and Bob's row of each pair, shape (k, 2), sorted.
    """
    greedy = parameters.one_to_one == GREEDY
    free = [np.ones(len(side), dtype=np.bool_) for side in (alice, bob)]
    found = [np.empty((0, 2), dtype=np.int64)]
    for first, second in zip(alice.layouts, bob.layouts, strict=True):
        for part in stretches(*first.rows.shape):
            rows = (first.rows[part], second.rows[part])
            sizes = (alice.sizes(rows[0])[:, :, None], bob.sizes(rows[1])[:, None])
            bits = [side.bits(own).astype(np.float32) for side, own in zip((alice, bob), rows, strict=True)]
            overlaps = (bits[0] @ bits[1].transpose(0, 2, 1)).astype(np.int64)
            chosen = alike(parameters.rule, overlaps, *sizes)
            if greedy:
                chosen &= free[0][rows[0]][:, :, None] & free[1][rows[1]][:, None]
                chosen = _closest(parameters, chosen, overlaps, *sizes)
            block, i, j = np.nonzero(chosen)
            links = np.stack([rows[0][block, i], rows[1][block, j]], axis=1)
            found.append(links)
            if greedy:
                free[0][links[:, 0]] = False
                free[1][links[:, 1]] = False
    return np.unique(np.concatenate(found), axis=0)


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


def _closest(
    parameters: TolerantParameters, eligible: NDArray[np.bool_], overlaps: Links, left: Links, right: Links
) -> NDArray[np.bool_]:
    rule = parameters.rule
    ranks = np.arange(parameters.bucket)
    scores = (overlaps << (rule.tie_bits + 1)) + rule.most_score
    scores += rule.score_part(left, ranks[:, None]) + rule.score_part(right, ranks)
    chosen = np.zeros_like(eligible)
    for _ in range(parameters.rounds):
        left_over = np.where(eligible, scores, 0)
        best = (left_over == left_over.max(axis=2, keepdims=True)) & eligible
        best &= left_over == left_over.max(axis=1, keepdims=True)
        chosen |= best
        eligible = eligible & ~best.any(axis=2, keepdims=True) & ~best.any(axis=1, keepdims=True)
    return chosen
