"""Hierarchies built from the correlation between attributes: values that behave alike are merged first.

Mimoto, Basu and Kiyomoto (SECRYPT 2016) construct hierarchies so; their text was not at hand. Here two values
of a category are as far apart as the distributions of a target attribute given each (Jensen-Shannon
distance), groups are joined by average linkage, and levels are cuts of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy, text_of


def correlated(values: Sequence[Any], target: Sequence[Any], counts: Sequence[int]) -> ValueHierarchy:
    """Build a hierarchy of a categorical attribute.

    Args:
        values: the cells of the attribute, n of them, none missing.
        target: the cells of the attribute to correlate with, as many.
        counts: decreasing numbers of groups, one a level; `*` comes on top.

    Raises:
        HierarchyError: lengths differ, there are no cells, or counts do not decrease.
    """
    if not len(values) or len(values) != len(target) or any(a <= b for a, b in pairwise([*counts, 0])):
        raise HierarchyError(
            "A hierarchy from correlation needs cells of two columns, and decreasing numbers of groups.",
            "Write counts such as [8, 4, 2].",
        )
    names, rows = np.unique([text_of(value) for value in values], return_inverse=True)
    kinds, columns = np.unique([text_of(value) for value in target], return_inverse=True)
    table = np.zeros((len(names), len(kinds)))
    np.add.at(table, (rows, columns), 1)
    levels = [_cut(table, count) for count in counts if count < len(names)]
    labels = [_labels(names, groups) for groups in levels]
    return ValueHierarchy([[str(name), *(level[i] for level in labels), ANY] for i, name in enumerate(names)])


def _cut(table: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    given = table / table.sum(axis=1, keepdims=True)
    tree = linkage(pdist(given, "jensenshannon"), method="average")
    found: NDArray[np.int64] = fcluster(tree, count, criterion="maxclust").astype(np.int64)
    return found


def _labels(names: NDArray[Any], groups: NDArray[np.int64]) -> list[str]:
    """Groups are called by their members, in braces where they are several."""
    members = {group: names[groups == group].tolist() for group in np.unique(groups).tolist()}
    return [
        "{" + ", ".join(members[group]) + "}" if len(members[group]) > 1 else members[group][0]
        for group in groups.tolist()
    ]
