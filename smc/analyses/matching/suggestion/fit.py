"""Weights and local terms that tell the pairs of two registers apart whose truth is known.

    log odds of a match = sum over fields of  a * common ones + b * own ones of both + c * empty sides
                                            + d * rarity of both                      + constant

is fitted to all pairs that meet in a pass. The coefficients of common ones become whole weights of at most
120 together; the others are fitted once more for these, and are held in hundredths of the same unit. Sides
have the same coefficients, so that nothing drifts between them, and fields are fitted together: those of one
household agree together, which weights of fields one by one would count twice.

Reference: logistic regression by Newton's method with a ridge; that a score of this form is as good as
classes of agreement: this project, measured in docs/benchmarks.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.tolerant.encoding import MAX_TERM, MAX_WEIGHT
from smc.analyses.matching.tolerant.parameters import MAX_SCORE
from smc.analyses.matching.tolerant.records import Records
from smc.errors import DomainError

Reals = NDArray[np.float64]
Links = NDArray[np.int64]

MOST: Final = 120
"""What common ones weigh together at most, but for one pair in a thousand."""

_RARE: Final = 0.999
_RIDGE: Final = 1.0
_STEPS: Final = 30
_LARGEST_LOGIT: Final = 30.0
_HUNDRED: Final = 100


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of pairs of rows, by fields, shape (k, fields) each.

    Attributes:
        common: ones of both filters.
        ones: ones of either one, added up.
        empty: sides without a text.
        rarity: how many times the share of rows with the text halves, both sides added up.
    """

    common: Reals = field(repr=False)
    ones: Reals = field(repr=False)
    empty: Reals = field(repr=False)
    rarity: Reals = field(repr=False)

    @classmethod
    def of(cls, alice: Records, bob: Records, pairs: Links) -> Evidence:
        """Of pairs of Alice's and Bob's rows, shape (k, 2)."""
        left, right = pairs.T
        begins = np.cumsum([0, *(one.bits for one in alice.score.fields[:-1])])
        both = alice.filters.rows[left] & bob.filters.rows[right]
        sizes = alice.filters.sizes[left], bob.filters.sizes[right]
        rarities = alice.filters.rarities[left] + bob.filters.rarities[right]
        return cls(
            np.add.reduceat(both, begins, axis=1, dtype=np.int64).astype(np.float64),
            (sizes[0] + sizes[1]).astype(np.float64),
            ((sizes[0] == 0).astype(np.float64) + (sizes[1] == 0)),
            rarities / _HUNDRED,
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """Weights and local terms by fields.

    Attributes:
        weights: whole ones.
        gram: hundredths of a unit.
        empty: likewise.
        rarity: likewise.
        least: the even score from which on a pair of the registers is rather a match than not; within those
            that a job may state.
    """

    weights: tuple[int, ...]
    gram: tuple[int, ...]
    empty: tuple[int, ...]
    rarity: tuple[int, ...]
    least: int


def fit_terms(evidence: Evidence, right: NDArray[np.bool_]) -> Terms:
    """Fit.

    Args:
        evidence: of pairs that meet, k of them.
        right: which of them are matches, shape (k,).

    Raises:
        DomainError: the fields do not tell matches from others.
    """
    local = np.concatenate([evidence.ones, evidence.empty, evidence.rarity], axis=1)
    fields = evidence.common.shape[1]
    _, first = fit(np.concatenate([evidence.common, local], axis=1), right)
    rough = np.maximum(first[:fields], 0.0)
    reach = float(rough @ np.quantile(evidence.common, _RARE, axis=0))
    if not reach > 0:
        raise alike()
    weights = np.clip(np.rint(rough * (MOST / reach)), 1, MAX_WEIGHT)
    constant, found = fit(np.column_stack([evidence.common @ weights, local]), right)
    if not found[0] > 0:
        raise alike()
    terms = np.clip(np.rint(_HUNDRED * found[1:] / found[0]), -_HUNDRED * MAX_TERM, _HUNDRED * MAX_TERM)
    gram, empty, rarity = terms.astype(int).reshape(3, fields).tolist()
    return Terms(
        tuple(weights.astype(int).tolist()),
        tuple(gram),
        tuple(empty),
        tuple(rarity),
        even(float(np.clip(-constant / found[0], -MAX_SCORE, MAX_SCORE))),
    )


def even(value: float) -> int:
    """The nearest even number: half of it is a whole one for either side."""
    return 2 * round(value / 2)


def fit(columns: Reals, right: NDArray[np.bool_]) -> tuple[float, Reals]:
    """Logistic regression: the constant and the coefficients, in units of the columns.

    Args:
        columns: shape (k, m).
        right: shape (k,).
    """
    middle, spread = columns.mean(axis=0), columns.std(axis=0)
    spread[spread == 0] = 1.0
    known = np.column_stack([np.ones(len(columns)), (columns - middle) / spread])
    ridge = np.full(known.shape[1], _RIDGE)
    ridge[0] = 1e-6
    found = np.zeros(known.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(known @ found, -_LARGEST_LOGIT, _LARGEST_LOGIT)))
        slope = known.T @ (chance - right) + ridge * found
        curve = (known * (chance * (1 - chance))[:, None]).T @ known + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-8:
            break
    coefficients = found[1:] / spread
    return float(found[0] - middle @ coefficients), coefficients


def alike() -> DomainError:
    """What is said of fields that do not tell persons apart."""
    return DomainError(
        "No recipe tells these persons apart: their fields say nothing of who is the same.",
        "Name columns that differ from person to person, by --role; or take --recipe menu.",
    )
