"""PrivBayes: a Bayesian network chosen in private, and its conditional distributions with noise.

The paper's neighbours differ in the value of one row, and the number of rows is public. Here a row is there
or is not, and the number of rows is measured: scores are of counts, in rows, not of parts.

Reference: Zhang, Cormode, Procopiuc, Srivastava and Xiao, PrivBayes: private data release via Bayesian
networks, ACM Transactions on Database Systems 42(4), 2017; sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.synthetic.budget import Budget
from anonymizer.synthetic.counting import MAX_CELLS, Coded, near_counts
from anonymizer.synthetic.network import Conditional, ConditionalChain
from anonymizer.tables.randomness import Randomness

Float = NDArray[np.float64]
Columns = tuple[int, ...]

DEPENDENCE: Final = 2.0
"""By how much one row can change `dependence`, at most."""

_TOTAL: Final = 0.02
_NETWORK: Final = 0.3
"""Parts of the budget for the number of rows and for the network; the rest is for the distributions."""
_USEFUL: Final = 4.0
"""Counts of a table are on average so many times their noise, or a column has fewer parents (section 5.3)."""


def bayesian(data: Coded, budget: Budget, randomness: Randomness, *, degree: int) -> ConditionalChain:
    """Choose a network greedily and measure its distributions.

    Args:
        data: the original.
        budget: to be spent whole.
        randomness: for the first column, which is drawn without a look at the data.
        degree: the most parents of a column, 1 or more.
    """
    count = len(data.sizes)
    total = max(1.0, float(budget.counts(np.array([len(data)]), _TOTAL * budget.total).values[0]))
    share = (1 - _TOTAL - (_NETWORK if count > 1 else 0.0)) * budget.total / count
    deviation = budget.noise(share)[2]
    limit = min(MAX_CELLS, max(1.0, total / (_USEFUL * deviation)))
    first = int(randomness.integers(count, 1)[0])
    chosen: list[tuple[int, Columns]] = [(first, ())]
    for _ in range(count - 1):
        known = [column for column, _ in chosen]
        rest = [column for column in range(count) if column not in known]
        candidates = [
            (column, parents) for column in rest for parents in _parents(data, column, known, limit, degree)
        ]
        scores = np.array([dependence(data, column, parents) for column, parents in candidates])
        place = budget.choice(scores, _NETWORK * budget.total / (count - 1), DEPENDENCE)
        chosen.append(candidates[place])
    network = []
    for column, parents in chosen:
        joint = (*parents, column)
        noisy = budget.counts(data.counts(joint).ravel(), min(share, budget.left))
        shape = tuple(data.sizes[one] for one in joint)
        network.append(Conditional(column, parents, near_counts(noisy.values, total).reshape(shape)))
    return ConditionalChain(tuple(network), total)


def dependence(data: Coded, column: int, parents: Columns) -> float:
    """How far a column and its parents are from independence, in rows: R times n of the paper's Eq. 11.

    Half the L1 distance of the joint counts c(x, p) to c(x) c(p) / n. With a row more the joint counts change
    by 1 in L1. The product is n times a product of distributions; of n + 1 rows it is
    (n^2 P Q + n P e + n e Q + e e) / (n + 1) with unit vectors e, which differs from n P Q by at most
    (n + 2 n + 1) / (n + 1) < 3. So half the distance changes by less than 2, `DEPENDENCE`.
    """
    if not parents:
        return 0.0
    joint = data.counts((*parents, column)).astype(np.float64).reshape(-1, data.sizes[column])
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / max(1.0, joint.sum())
    return float(np.abs(joint - expected).sum()) / 2


def _parents(data: Coded, column: int, known: Sequence[int], limit: float, degree: int) -> list[Columns]:
    """Sets of parents with few enough cells, none of which is part of another; at least ()."""
    found: list[Columns] = []
    for size in range(min(degree, len(known)), 0, -1):
        for parents in combinations(known, size):
            fits = data.cells((*parents, column)) <= limit
            if fits and not any(set(parents) <= set(larger) for larger in found):
                found.append(parents)
    return found or [()]
