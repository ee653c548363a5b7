"""The protocols of `smc.oblivious` as records; `ObliviousEngine` runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, Final

from smc.oblivious import (
    base_ot,
    circuits,
    cost,
    pool,
    silent_ot,
    silent_transfers,
    softspoken,
    transfers,
    vole,
    vole_steps,
)
from smc.oblivious.cost import FlightBytes
from smc.protocols.against import Against
from smc.protocols.spec import Cost, Procedure, Setup
from smc.protocols.transfer_costs import SETUP_COST, SILENT_TRANSFERS, TRANSFERS, VOLE, cost_of


def _random_cost(count: int) -> Cost:
    return cost_of(cost.extended_blocks(count)).mirror


def _vole_cost(count: int) -> Cost:
    return cost_of((*vole_steps.steps(count), *vole_steps.CHECK)).mirror


def _steps_cost(steps: Callable[..., Iterable[FlightBytes]]) -> Callable[..., Cost]:
    return lambda *sizes, **named: cost_of(steps(*sizes, **named))


def _record(
    name: str,
    module: ModuleType,
    price: Callable[..., Cost],
    example: Mapping[str, Any],
    setups: tuple[Setup, ...] = (TRANSFERS,),
    against: Against = Against.SEMI_HONEST,
) -> Procedure:
    return Procedure(
        name=name, module=module.__name__, cost=price, example=example, setups=setups, against=against
    )


_MANY: Final = {"count": 1000}
_COMPARED: Final = {"count": 1000, "bits": 32}

PROCEDURES: Final = (
    _record("base-transfers", base_ot, lambda: SETUP_COST, {}, (), TRANSFERS.against),
    _record("random-transfers", softspoken, _random_cost, _MANY, against=Against.PRIVATE),
    _record(
        "correlated-transfers",
        transfers,
        _steps_cost(cost.bits_to_arithmetic),
        _MANY,
        against=Against.PRIVATE,
    ),
    _record(
        "bits-to-arithmetic", transfers, _steps_cost(cost.bits_to_arithmetic), _MANY, against=Against.PRIVATE
    ),
    _record("and", circuits, _steps_cost(cost.conjunction), _MANY, against=Against.PRIVATE),
    _record("equality", circuits, _steps_cost(cost.comparison), _COMPARED, against=Against.PRIVATE),
    _record("below", circuits, _steps_cost(cost.below), _MANY, against=Against.PRIVATE),
    _record(
        "silent-transfers",
        silent_ot,
        lambda: cost_of(silent_transfers.setup()),
        {},
        against=SILENT_TRANSFERS.against,
    ),
    _record("pool", pool, _steps_cost(cost.preparation), _COMPARED),
    _record("vole", vole, _vole_cost, _MANY, (TRANSFERS, VOLE), VOLE.against),
)
