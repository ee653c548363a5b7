"""The largest one-to-one assignment among given pairs.

Reference: Hopcroft and Karp, An n**5/2 algorithm for maximum matchings in bipartite graphs, SIAM Journal on
Computing 2, 1973.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def largest_assignment(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """As many of the pairs as can stand side by side, each left and each right number once.

    Args:
        pairs: in any order; the result depends on the set alone.

    Returns:
        The chosen pairs, sorted.
    """
    neighbours: dict[int, list[int]] = {}
    for left, right in sorted(set(pairs)):
        neighbours.setdefault(left, []).append(right)
    partner: dict[int, int] = {}
    mate: dict[int, int] = {}
    while depths := _layers(neighbours, partner, mate):
        before = len(partner)
        untried = {left: iter(rights) for left, rights in neighbours.items()}
        for left in neighbours:
            if left not in partner:
                _augment(left, untried, depths, partner, mate)
        if len(partner) == before:
            break
    return sorted(partner.items())


def _layers(
    neighbours: dict[int, list[int]], partner: dict[int, int], mate: dict[int, int]
) -> dict[int, int]:
    """Distances of left numbers from unassigned ones by alternating paths; empty if all are assigned."""
    depths = {left: 0 for left in neighbours if left not in partner}
    level = list(depths)
    while level:
        reached = []
        for left in level:
            for right in neighbours[left]:
                further = mate.get(right)
                if further is not None and further not in depths:
                    depths[further] = depths[left] + 1
                    reached.append(further)
        level = reached
    return depths


def _augment(
    start: int,
    untried: dict[int, Iterator[int]],
    depths: dict[int, int],
    partner: dict[int, int],
    mate: dict[int, int],
) -> None:
    """Find a shortest alternating path from an unassigned left number, and exchange along it."""
    path: list[tuple[int, int]] = []
    left = start
    while True:
        right = next(untried[left], None)
        if right is None:
            if not path:
                return
            left = path.pop()[0]
            continue
        further = mate.get(right)
        if further is None:
            for chosen, taken in (*path, (left, right)):
                partner[chosen], mate[taken] = taken, chosen
            return
        if depths.get(further) == depths[left] + 1:
            path.append((left, right))
            left = further
