"""The protocols of `smc.oblivious` as records; `ObliviousEngine` runs them."""

from __future__ import annotations

from typing import Final

from smc.oblivious import (
    base_ot,
    circuits,
    cost,
    oprf,
    oprf_steps,
    pool,
    silent_ot,
    silent_transfers,
    softspoken,
    transfers,
)
from smc.protocols.flights import Flight
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import (
    FUNCTIONS,
    SETUP_COST,
    TRANSFER_SECURITY,
    TRANSFERS,
    cost_of,
)

_NOTHING: Final = "Neither party learns anything."
_SOFTSPOKEN: Final = "Roy22, sections 3 and 5."
_CIRCUITS: Final = "GMW87 circuits, Beaver91 triples by ALSZ13 transfers; tree: GSV07, section 4."


def _base_cost() -> Cost:
    return SETUP_COST


def _random_cost(count: int) -> Cost:
    return Cost((Flight.ALICE,), cost.matrix_bytes(count), 0)


def _correlated_cost(count: int) -> Cost:
    return cost_of(cost.bits_to_arithmetic(count))


def _and_cost(count: int) -> Cost:
    return cost_of(cost.conjunction(count))


def _below_cost(count: int) -> Cost:
    return cost_of(cost.below(count))


def _equality_cost(count: int, bits: int) -> Cost:
    return cost_of(cost.comparison(count, bits))


def _preparation_cost(count: int, bits: int) -> Cost:
    return cost_of(cost.preparation(count, bits))


def _functions_cost(count: int) -> Cost:
    return cost_of(oprf_steps.steps(count)).mirror


def _reserve_cost() -> Cost:
    return cost_of((silent_transfers.setup(),))


BASE_TRANSFERS: Final = Procedure(
    name="base-transfers",
    module=base_ot.__name__,
    inputs="nothing",
    outputs="288 transfers of seeds each way, the session id, and the seed trees grown from them",
    cost=_base_cost,
    learns=_NOTHING,
    security="Semi-honest; CDH on secp256k1 in the random oracle model.",
    reference="NP01, section 3; trees: Roy22, section 3.",
)

RANDOM_TRANSFERS: Final = Procedure(
    name="random-transfers",
    module=softspoken.__name__,
    inputs="a bit per transfer, Alice's",
    outputs="two random pads of 128 bits per transfer for Bob, that of her bit for Alice",
    cost=_random_cost,
    learns=_NOTHING,
    security=TRANSFER_SECURITY,
    reference=_SOFTSPOKEN,
    setups=(TRANSFERS,),
    example={"count": 1000},
)

CORRELATED_TRANSFERS: Final = Procedure(
    name="correlated-transfers",
    module=transfers.__name__,
    inputs="an integer modulo 2^64 per transfer, Alice's, and a bit, Bob's",
    outputs="shares modulo 2^64 of their products",
    cost=_correlated_cost,
    learns=_NOTHING,
    security=TRANSFER_SECURITY,
    reference="ALSZ13; Gilboa99, section 4.",
    setups=(TRANSFERS,),
    example={"count": 1000},
)

BITS_TO_ARITHMETIC: Final = Procedure(
    name="bits-to-arithmetic",
    module=transfers.__name__,
    inputs="XOR shares of bits",
    outputs="shares modulo 2^64 of the bits",
    cost=_correlated_cost,
    learns=_NOTHING,
    security=TRANSFER_SECURITY,
    reference="DSZ15 (ABY), section IV, by one correlated transfer per bit.",
    setups=(TRANSFERS,),
    example={"count": 1000},
)

AND: Final = Procedure(
    name="and",
    module=circuits.__name__,
    inputs="XOR shares of two bits each",
    outputs="XOR shares of their AND",
    cost=_and_cost,
    learns=_NOTHING,
    security=TRANSFER_SECURITY,
    reference=_CIRCUITS,
    setups=(TRANSFERS,),
    example={"count": 1000},
)

EQUALITY: Final = Procedure(
    name="equality",
    module=circuits.__name__,
    inputs="x, Alice's, and y, Bob's, of `bits` bits",
    outputs="XOR shares of x == y",
    cost=_equality_cost,
    learns=_NOTHING,
    security=TRANSFER_SECURITY,
    reference=f"RRK+20 digits; {_CIRCUITS}",
    setups=(TRANSFERS,),
    example={"count": 1000, "bits": 32},
)

BELOW: Final = Procedure(
    name="below",
    module=circuits.__name__,
    inputs="XOR shares of words of 64 bits, and public bounds",
    outputs="XOR shares of word < bound",
    cost=_below_cost,
    learns=_NOTHING,
    security=TRANSFER_SECURITY,
    reference=_CIRCUITS,
    setups=(TRANSFERS,),
    example={"count": 1000},
)

SILENT_RESERVE: Final = Procedure(
    name="silent-transfers",
    module=silent_ot.__name__,
    inputs="nothing",
    outputs="the first reserve of both directions, of which silent transfers are expanded",
    cost=_reserve_cost,
    learns=_NOTHING,
    security="Semi-honest; about 128-bit regular-noise LPN with a 10-local code, 127-bit offsets.",
    reference="YWL+20 with the trees of GYW+23; first reserve Roy22.",
    setups=(TRANSFERS,),
)

POOL: Final = Procedure(
    name="pool",
    module=pool.__name__,
    inputs="nothing but how many comparisons of how many bits",
    outputs="each party its half of the 1-of-16 transfers, of random choices, and of the triples",
    cost=_preparation_cost,
    learns=_NOTHING,
    security=TRANSFER_SECURITY,
    reference="Beaver95.",
    setups=(TRANSFERS,),
    example={"count": 1000, "bits": 32},
)

OPRF: Final = Procedure(
    name="oprf",
    module=oprf.__name__,
    inputs="an input of 128 bits per function, Alice's",
    outputs="Bob each function at all points, Alice its value at her input",
    cost=_functions_cost,
    learns=_NOTHING,
    security="Semi-honest; AES-128 as an ideal cipher; inputs chosen before the session or salted.",
    reference="KKRT16, section 3, with the correlation of Roy22 over 16 elements.",
    setups=(TRANSFERS, FUNCTIONS),
    example={"count": 1000},
)
