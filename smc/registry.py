"""All protocols of the house, listed plainly: those that the planner routes, and those that are called."""

from __future__ import annotations

from typing import Final

from smc.planning.registry import COMPARISONS, CONVERSIONS
from smc.protocols import correlated, pools, stock, transfers
from smc.protocols import public_records as public
from smc.protocols.exchange import bounds, texts
from smc.protocols.exchange import records as counts
from smc.protocols.intersection import records as intersections
from smc.protocols.spec import Procedure, Spec
from smc.secret import uniform
from smc.secret.comparison import argmin_one_hot, pairing
from smc.secret.comparison import records as comparisons
from smc.secret.division import division, long_division, truncation
from smc.secret.division import newton as goldschmidt
from smc.secret.joins import joins, majority
from smc.secret.joins import records as alignment
from smc.secret.lattice import columns as lattice_columns
from smc.secret.lattice import factors as lattice_factors
from smc.secret.lattice import matrices as lattice_products
from smc.secret.lattice import sums as lattice_sums
from smc.secret.noise import records as noises
from smc.secret.orders import group_sums, permutation, sorting
from smc.secret.products import (
    bit_words,
    common_ones,
    grouped,
    lattice_multiply,
    narrow_sums,
    repeated,
    tree_walks,
)
from smc.secret.products import words as products
from smc.secret.reals import reciprocals
from smc.secret.sharing import records as openings

PROCEDURES: Final[tuple[Procedure, ...]] = (
    *transfers.PROCEDURES,
    correlated.SPEC,
    pools.SPEC,
    stock.SPEC,
    public.TOSS,
    public.AGREEMENT,
    counts.ROW_COUNTS,
    bounds.SPEC,
    texts.SPEC,
    intersections.OPRF,
    intersections.SINGLE_OPRF,
    intersections.INTERSECTION,
    intersections.OPPRF,
    alignment.ALIGN,
    joins.SPEC,
    comparisons.SELECT,
    comparisons.NONNEGATIVE,
    comparisons.ZERO,
    products.SPEC_MULTIPLY,
    products.SPEC_SQUARE,
    products.SPEC_MATMUL,
    repeated.SPEC,
    lattice_products.SPEC,
    lattice_factors.SPEC,
    lattice_columns.SPEC,
    lattice_multiply.SPEC,
    narrow_sums.SPEC,
    grouped.SPEC,
    bit_words.SPEC,
    lattice_sums.SPEC,
    common_ones.SPEC,
    tree_walks.SPEC,
    truncation.SPEC_SHIFT,
    truncation.SPEC_SHIFT_NEAR,
    truncation.SPEC_DIVIDE,
    division.SPEC,
    long_division.SPEC,
    goldschmidt.SPEC,
    reciprocals.SPEC,
    comparisons.LEAST,
    argmin_one_hot.SPEC,
    pairing.SPEC,
    majority.SPEC,
    permutation.SPEC,
    sorting.SPEC,
    group_sums.SPEC,
    noises.DRAW,
    uniform.SPEC,
    openings.OPENING,
    openings.OPENING_BITS,
)

RECORDS: Final[tuple[Spec | Procedure, ...]] = (*COMPARISONS, *CONVERSIONS, *PROCEDURES)
"""What `docs/protocols.md` shows, and tests measure against what it declares."""
