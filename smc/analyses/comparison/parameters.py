"""The parameters of a comparison job, and what they ask of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Parse, UnfitError, Wrong
from smc.analyses.comparison.question import Question
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError
from smc.forms import ComparisonType, Form, Holding
from smc.moduli import Modulus, parse_modulus
from smc.planning.registry import AUTO, ENGINES, POOL_ENGINES
from smc.planning.route import MAX_BITS

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
        x: a public value for x in form PP, in held units; None for a column.
        y: the same for y.
        delta_modulus: modulus of shared results; 2 is XOR.
        pool: whether to use what a job `preparation` has prepared, if both parties have it.

    Raises:
        UnfitError: they do not fit each other.
    """

    type: Annotated[ComparisonType, Parse(ComparisonType.parse)]
    bits: Annotated[int, Between(1, MAX_BITS)] = 32
    engine: Annotated[str, OneOf(ENGINES), Wrong("is unknown", f"Use one of {', '.join(ENGINES)}.")] = AUTO
    offset: int = 0
    x: int | None = None
    y: int | None = None
    delta_modulus: Annotated[Modulus, Parse(parse_modulus)] = 2
    pool: bool = False

    def __post_init__(self) -> None:
        if self.offset and not {self.type.x, self.type.y} <= {Form.PN, Form.NP, Form.PP}:
            raise UnfitError(
                "offset",
                f"can only be taken off plain numbers, and {self.type} has shared or encrypted ones",
                "Leave offset out and hold non-negative numbers.",
            )
        for name, value in self.constants.items():
            if self.form(name) is not Form.PP:
                raise UnfitError(
                    name,
                    f"is a public number, but its form is {self.form(name).value}",
                    "Use form PP for public numbers, or a column.",
                )
            if len(self.constants) == 2:
                problem = "is a public number: both x and y are public numbers"
                raise UnfitError(name, problem, "Compare at least one column.")
            if not 0 <= value - self.offset < 1 << self.bits:
                raise UnfitError(name, f"does not fit into {self.bits} bits", "Raise bits or set offset.")
        if self.pool and self.engine not in POOL_ENGINES:
            raise UnfitError(
                "pool",
                f"does not go with engine {self.engine!r}, which uses no pools",
                f"Use one of {', '.join(POOL_ENGINES)}, or leave pool out.",
            )

    @property
    def constants(self) -> Mapping[str, int]:
        """Public values by the name of what they stand for."""
        return {name: value for name, value in (("x", self.x), ("y", self.y)) if value is not None}

    @property
    def question(self) -> Question:
        """What is compared, without how."""
        return Question(self.type, self.bits, self.offset, self.constants)

    def form(self, name: str) -> Form:
        """The form of x or y."""
        return self.type.x if name == "x" else self.type.y


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
