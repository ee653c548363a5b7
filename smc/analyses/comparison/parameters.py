"""The parameters of a comparison job, and what they ask of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smc.analyses.studies.columns import Schema
from smc.analyses.studies.parameters import reject_unknown, take
from smc.errors import UsageError
from smc.forms import ComparisonType, Form, Holding
from smc.planning.registry import AUTO, ENGINES, POOL_ENGINES
from smc.planning.route import MAX_BITS
from smc.protocols.spec import Modulus, parse_modulus

_PLACE = "[parameters]"
_KEYS = ("type", "bits", "engine", "offset", "x", "y", "delta_modulus", "pool")
NUMBERS = ("integer", "decimal")
"""Kinds of columns that hold plain numbers."""


@dataclass(frozen=True, slots=True)
class ComparisonParameters:
    """Parsed parameters of a comparison job.

    Attributes:
        type: one of the 216 types, or type 8.
        bits: numbers are in [offset, offset + 2**bits), in held units.
        engine: the planner's engine; its own choice unless the job names one.
        offset: what is taken off plain numbers before they are compared.
        constants: public values for x or y in form PP, in held units.
        delta_modulus: modulus of shared results; 2 is XOR.
        pool: whether to use what a job `preparation` has prepared, if both parties have it.
    """

    type: ComparisonType
    bits: int
    engine: str
    offset: int
    constants: Mapping[str, int]
    delta_modulus: Modulus
    pool: bool = False

    def form(self, name: str) -> Form:
        """The form of x or y."""
        return self.type.x if name == "x" else self.type.y


def parse(parameters: Mapping[str, Any]) -> ComparisonParameters:
    """Check the parameters: type, bits, engine, offset, x, y, delta_modulus, pool.

    Raises:
        UsageError: with the key that is wrong.
    """
    reject_unknown(parameters, _KEYS, _PLACE)
    kind = ComparisonType.parse(take(parameters, "type", str, _PLACE))
    bits = take(parameters, "bits", int, _PLACE, 32)
    if not 1 <= bits <= MAX_BITS:
        raise UsageError(f"{_PLACE}, bits = {bits} is out of range.", f"Use 1 to {MAX_BITS}.")
    engine = take(parameters, "engine", str, _PLACE, AUTO)
    if engine not in ENGINES:
        raise UsageError(f"{_PLACE}, engine {engine!r} is unknown.", f"Use one of {', '.join(ENGINES)}.")
    offset = take(parameters, "offset", int, _PLACE, 0)
    plain = {Form.PN, Form.NP, Form.PP}
    if offset and not {kind.x, kind.y} <= plain:
        raise UsageError(
            f"{_PLACE}, offset can only be taken off plain numbers, and {kind} has shared or encrypted ones.",
            "Leave offset out and hold non-negative numbers.",
        )
    constants: dict[str, int] = {}
    for name, form in (("x", kind.x), ("y", kind.y)):
        if name in parameters:
            if form is not Form.PP:
                raise UsageError(
                    f"{_PLACE}, {name} is a public number, but its form is {form.value}.",
                    "Use form PP for public numbers, or a column.",
                )
            constants[name] = take(parameters, name, int, _PLACE)
    if len(constants) == 2:
        raise UsageError(f"{_PLACE}: both x and y are public numbers.", "Compare at least one column.")
    modulus = parse_modulus(take(parameters, "delta_modulus", str, _PLACE, "2"))
    pool = take(parameters, "pool", bool, _PLACE, False)
    if pool and engine not in POOL_ENGINES:
        raise UsageError(
            f"{_PLACE}, pool: engine {engine!r} uses no pools.",
            f"Use one of {', '.join(POOL_ENGINES)}, or leave pool out.",
        )
    result = ComparisonParameters(kind, bits, engine, offset, constants, modulus, pool)
    for name, value in constants.items():
        if not 0 <= value - offset < 1 << bits:
            raise UsageError(f"{_PLACE}, {name} does not fit into {bits} bits.", "Raise bits or set offset.")
    return result


def check_kind(schema: Schema, holding: Holding, place: str) -> None:
    """Check that a column is of a kind that the holding can be made of.

    Raises:
        UsageError: it is not; names the column.
    """
    allowed = {
        Holding.PLAIN: NUMBERS,
        Holding.SHARE: ("share",),
        Holding.CIPHERTEXT: ("ciphertext",),
    }[holding]
    if schema.kind not in allowed:
        raise UsageError(
            f"{place} is declared as {schema.kind}, but the type needs {' or '.join(allowed)}.",
            "Choose another column or another comparison type.",
        )


def check_bounds(schema: Schema, parameters: ComparisonParameters, place: str) -> None:
    """Check that a number column has bounds, and that they fit into the bits of the comparison.

    Raises:
        UsageError: they do not; names the column.
    """
    if schema.lower is None or schema.upper is None:
        raise UsageError(f"{place} has no declared bounds.", "Declare lower and upper in the catalog.")
    if schema.lower < parameters.offset or schema.upper - parameters.offset >= 1 << parameters.bits:
        raise UsageError(
            f"{place}: its bounds do not fit into {parameters.bits} bits above offset {parameters.offset}.",
            "Raise bits, or set offset to the least lower bound (in units of the last digit).",
        )
