"""Noisy marginals to one distribution: maximum likelihood over graphical models, by the library `mbi`.

The library is imported where it is used: it brings jax, which takes seconds.

Reference: McKenna, Sheldon and Miklau, Graphical-model based estimation and inference for differential
privacy, ICML 2019.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.synthetic.counting import near_counts
from anonymizer.synthetic.junction import Columns, JunctionTree

Float = NDArray[np.float64]

_TOLERANCE: Final = 1e-3
"""Fitting ends where fifty steps twice lower the loss by no more than this part of it."""

_FLOOR: Final = 0.01
"""No cell is expected to have fewer rows where a fit begins: from 0 it could not rise."""
_RAKES: Final = 20


@dataclass(frozen=True, slots=True)
class MeasuredMarginal:
    """A marginal as it was measured.

    Attributes:
        columns: whose.
        values: noisy counts, shape (sizes...).
        deviation: of the noise of a cell.
    """

    columns: Columns
    values: Float = field(repr=False)
    deviation: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """A distribution that was fitted.

    Attributes:
        tree: the distribution.
        factors: its logarithms by columns, to go on from.
    """

    tree: JunctionTree
    factors: Mapping[Columns, Float] = field(repr=False)


def fit_model(
    sizes: Sequence[int],
    measured: Sequence[MeasuredMarginal],
    total: float,
    *,
    steps: int,
    start: Fitted | None = None,
) -> Fitted:
    """Fit a graphical model to all that was measured, each by its precision, by mirror descent.

    Args:
        sizes: of the columns; each is measured at least once.
        measured: marginals.
        total: the number of rows.
        steps: of mirror descent, at most; whole fifties are made.
        start: to go on from; else as `scale_model` begins.
    """
    begun = scale_model(sizes, measured, total) if start is None else start
    with _library() as mbi:
        domain = _domain(mbi, sizes)
        given = [
            mbi.LinearMeasurement(one.values.ravel(), _names(one.columns), float(one.deviation))
            for one in measured
        ]
        tables = {
            _names(columns): mbi.Factor(domain.project(_names(columns)), mbi.array(values))
            for columns, values in begun.factors.items()
        }
        model = mbi.estimation.MirrorDescent().estimate(
            domain,
            given,
            known_total=float(total),
            iters=steps,
            warm_start=mbi.CliqueVector(domain, tuple(tables), tables),
            tol=_TOLERANCE,
        )
        factors: dict[Columns, Float] = {}
        for clique in model.potentials.cliques:
            factor = model.potentials[clique]
            columns = tuple(int(name) for name in factor.domain)
            factors[columns] = np.asarray(factor.values, dtype=np.float64)
        return _calibrate(mbi, sizes, factors)


def scale_model(
    sizes: Sequence[int], measured: Sequence[MeasuredMarginal], total: float, start: Fitted | None = None
) -> Fitted:
    """A model near that of `fit_model`, in a thousandth of the time.

    Without a start columns and pairs are put in as if they were a tree, of which that is the solution but
    for the noise. With one the model is scaled to the last marginal, a step of iterative proportional
    fitting. Either way pairs are first brought to the distributions of their columns, which are known better.

    Args:
        sizes: of the columns; each is measured at least once.
        measured: columns before pairs.
        total: the number of rows.
        start: a model of all but the last.
    """
    known: dict[Columns, Float] = {} if start is None else dict(start.factors)
    for one in measured if start is None else measured[-1:]:
        here = np.maximum(near_counts(one.values, total), _FLOOR)
        if start is not None:
            expected = np.maximum(total * start.tree.joint(one.columns), _FLOOR)
        elif len(one.columns) == 1:
            expected = np.ones_like(here)
        else:
            sides = (np.exp(known[(column,)]) for column in one.columns)
            expected = np.multiply.outer(*sides) / total
        if len(one.columns) == 2:
            here = _rake(here, expected.sum(axis=1), expected.sum(axis=0))
        known[one.columns] = known.get(one.columns, 0.0) + np.log(here / expected)
    with _library() as mbi:
        return _calibrate(mbi, sizes, known)


def _calibrate(mbi: Any, sizes: Sequence[int], factors: Mapping[Columns, Float]) -> Fitted:
    cliques, edges = _tree(mbi, sizes, list(factors))
    return Fitted(JunctionTree.calibrate(cliques, edges, factors, sizes), factors)


def _rake(pair: Float, rows: Float, columns: Float) -> Float:
    """A positive table scaled to sums of its rows and columns."""
    for _ in range(_RAKES):
        pair = pair * (rows / pair.sum(axis=1))[:, None]
        pair = pair * (columns / pair.sum(axis=0))
    return pair


def tree_cells(sizes: Sequence[int], marginals: Sequence[Columns]) -> int:
    """The cells of all cliques of the junction tree for some marginals."""
    with _library() as mbi:
        cliques, _ = _tree(mbi, sizes, marginals)
    return sum(math.prod(sizes[column] for column in clique) for clique in cliques)


def _names(columns: Columns) -> tuple[str, ...]:
    return tuple(map(str, columns))


def _domain(mbi: Any, sizes: Sequence[int]) -> Any:
    return mbi.Domain(_names(tuple(range(len(sizes)))), list(sizes))


def _tree(
    mbi: Any, sizes: Sequence[int], marginals: Sequence[Columns]
) -> tuple[list[Columns], list[tuple[int, int]]]:
    found, _ = mbi.junction_tree.make_junction_tree(_domain(mbi, sizes), list(map(_names, marginals)))
    nodes = list(found.nodes)
    places = {node: place for place, node in enumerate(nodes)}
    named = [tuple(int(name) for name in node) for node in nodes]
    return named, [(places[one], places[two]) for one, two in found.edges]


@contextmanager
def _library() -> Iterator[Any]:
    """The library, in double precision while it works."""
    import jax

    with jax.enable_x64(True):
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # about how jax is set up, which the user cannot change
            import mbi
            from mbi import estimation, junction_tree
        yield SimpleNamespace(
            Domain=mbi.Domain,
            CliqueVector=mbi.CliqueVector,
            Factor=mbi.Factor,
            array=jax.numpy.asarray,
            LinearMeasurement=mbi.LinearMeasurement,
            estimation=estimation,
            junction_tree=junction_tree,
        )
