"""All columns as one table of counts with noise: exact about every relation, for few columns with few cells.

Reference: Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis, TCC
2006, section 3.1.
"""

from __future__ import annotations

import numpy as np

from anonymizer.synthetic.budget import Budget
from anonymizer.synthetic.counting import Coded, near_counts, weighted_total
from anonymizer.synthetic.network import Conditional, ConditionalChain


def histogram(data: Coded, budget: Budget) -> ConditionalChain:
    """Measure the joint counts of all columns.

    The number of rows gets a hundredth of the budget: the sum of many noisy cells would say little of it.

    Raises:
        TableError: the table of counts is too large.
    """
    columns = tuple(range(len(data.sizes)))
    data.check(columns)
    rows = budget.counts(np.array([len(data)]), budget.total / 100)
    noisy = budget.counts(data.counts(columns).ravel(), budget.left * (1 - 1e-9))
    variances = (rows.deviation**2, noisy.values.size * noisy.deviation**2)
    total = weighted_total((float(rows.values[0]), float(noisy.values.sum())), variances)
    joint = near_counts(noisy.values, total).reshape(data.sizes)
    network = []
    for place in columns:
        weights = joint.sum(axis=columns[place + 1 :])
        network.append(Conditional(place, columns[:place], weights))
    return ConditionalChain(tuple(network), total)
