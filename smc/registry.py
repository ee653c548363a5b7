"""All protocols of the house, listed plainly: those that the planner routes, and those that are called."""

from __future__ import annotations

from typing import Final

from smc.planning.registry import COMPARISONS, CONVERSIONS
from smc.protocols import agreement, coins, correlated, pools, stock, transfers
from smc.protocols.exchange import bounds, row_counts, texts
from smc.protocols.intersection import exact, opprf
from smc.protocols.spec import Procedure, Spec
from smc.secret import uniform
from smc.secret.comparison import argmin, argmin_one_hot, msb, mux, pairing
from smc.secret.division import division, long_division, truncation
from smc.secret.division import newton as goldschmidt
from smc.secret.joins import circuit_psi, joins, majority, permutation
from smc.secret.lattice import columns as lattice_columns
from smc.secret.lattice import factors as lattice_factors
from smc.secret.lattice import matrices as lattice_products
from smc.secret.lattice import sums as lattice_sums
from smc.secret.noise import noise
from smc.secret.products import bit_words, common_ones, grouped, lattice_multiply, repeated
from smc.secret.products import words as products
from smc.secret.sharing import opening

PROCEDURES: Final[tuple[Procedure, ...]] = (
    transfers.BASE_TRANSFERS,
    transfers.RANDOM_TRANSFERS,
    transfers.CORRELATED_TRANSFERS,
    correlated.SPEC,
    transfers.SILENT_RESERVE,
    transfers.POOL,
    pools.SPEC,
    stock.SPEC,
    transfers.OPRF,
    coins.SPEC,
    agreement.SPEC,
    row_counts.SPEC,
    bounds.SPEC,
    texts.SPEC,
    exact.SPEC,
    opprf.SPEC,
    circuit_psi.SPEC,
    joins.SPEC,
    transfers.BITS_TO_ARITHMETIC,
    transfers.AND,
    transfers.EQUALITY,
    transfers.BELOW,
    mux.SPEC,
    msb.SPEC_NONNEGATIVE,
    msb.SPEC_ZERO,
    products.SPEC_MULTIPLY,
    products.SPEC_SQUARE,
    products.SPEC_MATMUL,
    repeated.SPEC,
    lattice_products.SPEC,
    lattice_factors.SPEC,
    lattice_columns.SPEC,
    lattice_multiply.SPEC,
    grouped.SPEC,
    bit_words.SPEC,
    lattice_sums.SPEC,
    common_ones.SPEC,
    truncation.SPEC_SHIFT,
    truncation.SPEC_SHIFT_NEAR,
    truncation.SPEC_DIVIDE,
    division.SPEC,
    long_division.SPEC,
    goldschmidt.SPEC,
    argmin.SPEC,
    argmin_one_hot.SPEC,
    pairing.SPEC,
    majority.SPEC,
    permutation.SPEC,
    noise.SPEC,
    uniform.SPEC,
    opening.SPEC,
    opening.SPEC_BITS,
)

RECORDS: Final[tuple[Spec | Procedure, ...]] = (*COMPARISONS, *CONVERSIONS, *PROCEDURES)
"""What `docs/protocols.md` shows, and tests measure against what it declares."""
