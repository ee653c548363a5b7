"""Matrix factorization: a matrix as the product of the factors of its users and of its items.

Both kinds take every cell for known, those of zero as well: that a user had nothing to do with an item is
what a log says by its silence. They never hold a dense matrix of the size of the input.

SGD goes through the matrix in blocks of users and items, ten by ten, in an order that is drawn anew in each
iteration, and takes the gradient of Eq. 2.10 over all cells of a block at once (mini-batches; Gemulla et al.,
Large-scale matrix factorization with distributed stochastic gradient descent, KDD 2011). The gradient needs
the cells that are not zero only, as the sum over all of u.v v is (V'V) u. Where the rate is too large for a
block to be stable the largest stable one is taken. Starting values are uniform in [0, 1] (Algorithm 3),
divided by the square root of the rank, so that the first product is of the size of a binary matrix.

NMF is Algorithm 1, the multiplicative updates of Lee and Seung, by scikit-learn.

References: thesis, section 2.2.4, Eq. 2.10 and 2.11, Algorithm 1; section 5.2, Algorithm 3.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from anonymizer.errors import TableError
from anonymizer.tables.randomness import Randomness

Float = NDArray[np.float64]

Kind = Literal["sgd", "nmf"]
KINDS: Final = get_args(Kind)

OnProgress = Callable[[int, int], None]
"""Called after each iteration with its number and how many there are."""

_PARTS: Final = 10
_SMALL: Final = 4_000_000
"""Matrices of no more cells are taken apart into dense blocks, which are faster."""


@dataclass(frozen=True, slots=True)
class Factors:
    """A factorization.

    Attributes:
        users: U, one row of factors for each user, shape (n, r); the thesis writes it transposed.
        items: V, one row of factors for each item, shape (m, r).
    """

    users: Float = field(repr=False)
    items: Float = field(repr=False)


def factorize(
    cells: csr_matrix | Float,
    rank: int,
    *,
    kind: Kind = "sgd",
    iterations: int = 100,
    rate: float = 0.05,
    penalty: float = 0.01,
    seed: int | None = None,
    on_progress: OnProgress | None = None,
) -> Factors:
    """Factorize a matrix; the same seed and input give the same factors, on one machine bit by bit.

    Args:
        cells: shape (n, m), finite; for NMF not negative.
        rank: r, from 1 to the smaller of n and m.
        kind: "sgd" (Eq. 2.10) or "nmf" (Algorithm 1).
        iterations: at least 1.
        rate: gamma of SGD, positive; 0.05 in the thesis.
        penalty: lambda of Eq. 2.10, of each cell, not negative; 0.01 in the thesis. NMF has none.
        seed: of the starting values and the order of blocks; None is the operating system's randomness.
        on_progress: of SGD, is called after each iteration.

    Raises:
        TableError: a parameter is out of range, the matrix has no rows, or a cell is infinite or missing, or
            negative for NMF.
    """
    matrix = csr_matrix(cells, dtype=np.float64)
    _check(matrix, rank, kind, iterations, rate, penalty)
    random = Randomness(seed, "factorization")
    with threadpool_limits(limits=1):
        if kind == "nmf":
            return _nmf(matrix, rank, iterations, random)
        return _sgd(matrix, rank, iterations, rate, penalty, random, on_progress)


def refit_features(
    cells: csr_matrix | Float, users: Float, *, penalty: float = 0.01, positive: bool = False
) -> Float:
    """V optimised once more for given users: the least of Eq. 2.10, exactly.

    Args:
        cells: shape (n, m).
        users: shape (n, r).
        penalty: lambda of Eq. 2.10, of each cell.
        positive: put 0 in the place of negative factors, for NMF.

    Returns:
        V, shape (m, r).

    Reference: erratum 16: the text says that V is optimised after U was de-identified.
    """
    matrix = csr_matrix(cells, dtype=np.float64)
    square = users.T @ users + max(penalty, 1e-9) * len(users) * np.eye(users.shape[1])
    found: Float = np.linalg.solve(square, (matrix.T @ users).T).T
    return np.maximum(found, 0.0) if positive else found


def deviation(cells: csr_matrix | Float, factors: Factors) -> float:
    """The sum of the absolute differences of all cells (Figure 5.2), by blocks of rows."""
    matrix = csr_matrix(cells, dtype=np.float64)
    total = 0.0
    for start in range(0, matrix.shape[0], 500):
        rows = slice(start, start + 500)
        total += float(np.abs(matrix[rows].toarray() - factors.users[rows] @ factors.items.T).sum())
    return total


def _check(matrix: csr_matrix, rank: int, kind: str, iterations: int, rate: float, penalty: float) -> None:
    n, m = matrix.shape
    if not n or not m:
        raise TableError("The matrix has no users or no items.", "Give at least one of either.")
    if kind not in KINDS:
        raise TableError(f"{kind!r} is not a valid factorization.", f"Choose one of {', '.join(KINDS)}.")
    if not 1 <= rank <= min(n, m):
        raise TableError(
            f"The rank is {rank}, and a matrix of {n} users and {m} items has at most the rank {min(n, m)}.",
            f"Choose 1 to {min(n, m)}; a smaller one protects more.",
        )
    if iterations < 1 or not rate > 0 or not penalty >= 0 or not np.isfinite([rate, penalty]).all():
        raise TableError(
            f"iterations = {iterations}, rate = {rate}, penalty = {penalty}: one is out of range.",
            "Choose iterations of 1 or more, a positive rate, and a penalty of 0 or more.",
        )
    if not np.isfinite(matrix.data).all():
        raise TableError("A cell of the matrix is infinite or missing.", "Replace it by a number.")
    if kind == "nmf" and matrix.data.min(initial=0.0) < 0:
        raise TableError(
            "A cell of the matrix is negative, and NMF takes none.", 'Choose "sgd", or leave such events out.'
        )


def _sgd(
    matrix: csr_matrix,
    rank: int,
    iterations: int,
    rate: float,
    penalty: float,
    random: Randomness,
    on_progress: OnProgress | None,
) -> Factors:
    n, m = matrix.shape
    users, items = (random.uniform(count * rank).reshape(count, rank) / np.sqrt(rank) for count in (n, m))
    of_users, of_items = (random.permutation(count) for count in (n, m))
    rows, columns = (np.linspace(0, count, min(_PARTS, count) + 1).astype(int) for count in (n, m))
    u, v = users[of_users], items[of_items]
    shuffled = matrix[of_users][:, of_items]
    blocks = []
    for top, bottom in pairwise(rows):
        for left, right in pairwise(columns):
            part = csr_matrix(shuffled[top:bottom, left:right])
            block = part.toarray() if n * m <= _SMALL else part
            turned = csr_matrix(part.T) if issparse(block) else block.T
            blocks.append((block, turned, u[top:bottom], v[left:right]))
    for done in range(1, iterations + 1):
        for place in random.permutation(len(blocks)).tolist():
            block, turned, some, others = blocks[place]
            _step(block, turned, some, others, rate, penalty)
        if on_progress is not None:
            on_progress(done, iterations)
    users[of_users], items[of_items] = u, v
    return Factors(users, items)


def _step(
    block: csr_matrix | Float,
    turned: csr_matrix | Float,
    users: Float,
    items: Float,
    rate: float,
    penalty: float,
) -> None:
    """One step down the gradient of Eq. 2.10 over the cells of a block; changes both factors."""
    of_users, of_items = users.T @ users, items.T @ items
    up = block @ items - users @ of_items
    down = turned @ users - items @ of_users
    _move(users, up, of_items, rate, penalty * len(items))
    _move(items, down, of_users, rate, penalty * len(users))


def _move(factors: Float, change: Float, square: Float, rate: float, shrink: float) -> None:
    """Change factors by the rate, or by the largest one with which no direction of `square` swings up."""
    stable = 1 / (np.abs(square).sum(axis=0).max() + shrink + 1e-12)
    factors += min(rate, stable) * (change - shrink * factors)


def _nmf(matrix: csr_matrix, rank: int, iterations: int, random: Randomness) -> Factors:
    n, m = matrix.shape
    size = np.sqrt(max(float(matrix.mean()), 1e-12) / rank)
    users, items = (
        2 * size * random.uniform(count * rank).reshape(shape)
        for count, shape in ((n, (n, rank)), (m, (rank, m)))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found, basis, _ = non_negative_factorization(
            matrix,
            W=users,
            H=items,
            n_components=rank,
            init="custom",
            solver="mu",
            tol=0,
            max_iter=iterations,
        )
    return Factors(np.asarray(found), np.ascontiguousarray(basis.T))
