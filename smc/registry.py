"""All protocols of the house, listed plainly: those that the planner routes, and those that are called."""

from __future__ import annotations

from typing import Final

from smc.planning.registry import COMPARISONS, CONVERSIONS
from smc.protocols import agreement, coins, correlated, pools, stock, transfers
from smc.protocols.exchange import bounds, row_counts, texts
from smc.protocols.intersection import exact, opprf
from smc.protocols.spec import Procedure, Spec
from smc.secret import (
    argmin,
    argmin_one_hot,
    bit_words,
    circuit_psi,
    common_ones,
    division,
    goldschmidt,
    grouped,
    joins,
    lattice_columns,
    lattice_factors,
    lattice_multiply,
    lattice_products,
    lattice_sums,
    long_division,
    majority,
    msb,
    mux,
    noise,
    opening,
    pairing,
    permutation,
    products,
    repeated,
    truncation,
    uniform,
)

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
