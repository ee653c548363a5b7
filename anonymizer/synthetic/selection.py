"""Which marginals to measure: a maximum spanning tree (MST), or ever what the model has worst (AIM).

Selection is by the exponential mechanism, measurement by discrete Gaussian noise, both OpenDP's; what is
measured is brought to one distribution by `anonymizer.synthetic.inference`. A score is the L1 distance of a
marginal to a table that was made of released figures alone, so that one row more or less changes it by 1 at
the most.

References: McKenna, Miklau and Sheldon, Winning the NIST contest: a scalable and general approach to
differentially private synthetic data, Journal of Privacy and Confidentiality 11(3), 2021; McKenna, Mullins,
Sheldon and Miklau, AIM: an adaptive and iterative mechanism for differentially private synthetic data,
PVLDB 15(11), 2022.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.synthetic.budget import Budget, Noisy
from anonymizer.synthetic.counting import Coded, near_counts, weighted_total
from anonymizer.synthetic.inference import Fitted, MeasuredMarginal, fit_model, scale_model, tree_cells
from anonymizer.synthetic.junction import Columns
from anonymizer.synthetic.merging import MergedChain, Merging, merge
from anonymizer.synthetic.network import Conditional, ConditionalChain

Float = NDArray[np.float64]

MAX_TREE_CELLS: Final = 200_000
"""Cells of all tables of a fitted distribution together, in AIM."""

_MEASURING: Final = 0.9
"""The part of a round's budget for measuring; the rest is for choosing."""

_ONE_WAY: Final = 0.5
"""The weight of a single column among pairs, by how much of the pairs it is."""


def independent(data: Coded, budget: Budget) -> ConditionalChain:
    """Each column by itself: what other methods have to beat."""
    ones = _ones(data, budget, budget.total)
    total = _total(ones)
    chances = (near_counts(one.values, total) for one in ones)
    return ConditionalChain(tuple(Conditional(place, (), one) for place, one in enumerate(chances)), total)


def spanning_tree(data: Coded, budget: Budget, *, steps: int) -> ConditionalChain | MergedChain:
    """MST: all columns, and the pairs of a tree that depend on each other most.

    A third of the budget each for the columns, the choice of pairs and the pairs.
    """
    count = len(data.sizes)
    if count == 1:
        return independent(data, budget)
    third = budget.total / 3
    ones = _ones(data, budget, third)
    total = _total(ones)
    merging = [Merging.of(one) for one in ones]
    small = merge(data, merging)
    measured = _merged_ones(ones, merging)
    chances = [near_counts(one.values, total) for one in measured]
    scores: dict[Columns, float] = {
        pair: float(np.abs(small.counts(pair) - np.outer(chances[pair[0]], chances[pair[1]]) / total).sum())
        for pair in combinations(range(count), 2)
    }
    for pair in _tree(scores, count, budget, third):
        noisy = budget.counts(small.counts(pair).ravel(), third / (count - 1))
        measured.append(_shape(noisy, pair, small))
    found = fit_model(small.sizes, measured, total, steps=steps)
    return MergedChain(ConditionalChain(found.tree.network, total), tuple(merging))


def adaptive(data: Coded, budget: Budget, *, rounds: int, steps: int) -> MergedChain:
    """AIM: all columns, then again and again the pair or column that the model has worst.

    Where a measurement changes the model by less than its noise, rounds to come have twice the noise's
    precision each (annealing), so that there are as many rounds as the data need. Between rounds the paper
    fits the model anew; here it is scaled to the last measurement, and fitted once, to all, at the end:
    every new model takes the library seconds to compile. No more is asked of the data for it.

    Args:
        data: the original.
        budget: to be spent whole.
        rounds: how many the budget is divided by at first, the columns' measurements among them.
        steps: of the fit after the last round, at most.
    """
    count = len(data.sizes)
    share = budget.total / max(rounds, 2 * count)
    ones = _ones(data, budget, _MEASURING * share * count)
    total = _total(ones)
    merging = [Merging.of(one) for one in ones]
    small = merge(data, merging)
    measured = _merged_ones(ones, merging)
    true = {columns: small.counts(columns).astype(np.float64) for columns in _workload(small)}
    model = scale_model(small.sizes, measured, total)
    estimates = _estimates(model, true, total)
    last = False
    while not last:
        if budget.left < 2 * share:
            share, last = budget.left * (1 - 1e-9), True
        deviation = 1 / math.sqrt(2 * _MEASURING * share)
        kept = _affordable(true, measured, small, 1 - budget.left / budget.total + share / budget.total)
        scores = [
            _weight(columns)
            * (
                np.abs(true[columns] - estimates[columns]).sum()
                - math.sqrt(2 / math.pi) * deviation * true[columns].size
            )
            for columns in kept
        ]
        chosen = kept[budget.choice(np.array(scores), (1 - _MEASURING) * share, 1.0)]
        noisy = budget.counts(true[chosen].astype(np.int64).ravel(), _MEASURING * share)
        measured.append(_shape(noisy, chosen, small))
        model = scale_model(small.sizes, measured, total, model)
        before, estimates = estimates, _estimates(model, true, total)
        moved = np.abs(estimates[chosen] - before[chosen]).sum()
        if moved <= math.sqrt(2 / math.pi) * noisy.deviation * true[chosen].size:
            share *= 4
    model = fit_model(small.sizes, measured, total, steps=steps, start=model)
    return MergedChain(ConditionalChain(model.tree.network, total), tuple(merging))


def _ones(data: Coded, budget: Budget, cost: float) -> list[Noisy]:
    """Each column's counts, for an equal part of a cost."""
    columns = range(len(data.sizes))
    return [budget.counts(data.counts((column,)), cost / len(data.sizes)) for column in columns]


def _total(ones: Sequence[Noisy]) -> float:
    return weighted_total(
        [float(one.values.sum()) for one in ones], [len(one.values) * one.deviation**2 for one in ones]
    )


def _merged_ones(ones: Sequence[Noisy], merging: Sequence[Merging]) -> list[MeasuredMarginal]:
    """The columns' counts by groups; the noise of a group of several cells is taken for that of one."""
    return [
        MeasuredMarginal((place,), how.join(one.values), one.deviation)
        for place, (one, how) in enumerate(zip(ones, merging, strict=True))
    ]


def _shape(noisy: Noisy, columns: Columns, data: Coded) -> MeasuredMarginal:
    shape = tuple(data.sizes[column] for column in columns)
    return MeasuredMarginal(columns, noisy.values.reshape(shape), noisy.deviation)


def _tree(scores: Mapping[Columns, float], count: int, budget: Budget, cost: float) -> list[Columns]:
    """The pairs of a tree, one after another, each among those that join two of its parts."""
    part = list(range(count))
    chosen: list[Columns] = []
    for _ in range(count - 1):
        open_pairs = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
        place = budget.choice(np.array([scores[pair] for pair in open_pairs]), cost / (count - 1), 1.0)
        pair = open_pairs[place]
        chosen.append(pair)
        joined, gone = part[pair[0]], part[pair[1]]
        part = [joined if one == gone else one for one in part]
    return chosen


def _workload(data: Coded) -> list[Columns]:
    """All columns and pairs whose counts can be held."""
    columns = range(len(data.sizes))
    pairs = [pair for pair in combinations(columns, 2) if data.cells(pair) <= MAX_TREE_CELLS]
    return [*((column,) for column in columns), *pairs]


def _weight(columns: Columns) -> float:
    return 1.0 if len(columns) == 2 else _ONE_WAY


def _affordable(
    true: Mapping[Columns, Float], measured: Sequence[MeasuredMarginal], data: Coded, part: float
) -> list[Columns]:
    """Marginals that leave the model small enough; it may grow as the budget is spent."""
    known = list(dict.fromkeys(one.columns for one in measured))
    limit = max(MAX_TREE_CELLS * part, tree_cells(data.sizes, known))
    return [
        columns
        for columns in true
        if columns in known or len(columns) == 1 or tree_cells(data.sizes, [*known, columns]) <= limit
    ]


def _estimates(model: Fitted, true: Mapping[Columns, Float], total: float) -> dict[Columns, Float]:
    """The model's counts of all marginals."""
    found: dict[Columns, Float] = {}
    singles = [columns[0] for columns in true if len(columns) == 1]
    for column in singles:
        found[(column,)] = total * model.tree.single(column)
        for other, joint in model.tree.pairs(column).items():
            if column < other:
                found[(column, other)] = total * joint
    return found
