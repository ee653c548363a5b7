"""What a comparison job gives in the clear."""

from __future__ import annotations

from collections.abc import Sequence

from smc.analyses.comparison.columns import notes, plain_tables
from smc.analyses.comparison.parameters import ComparisonParameters
from smc.analyses.studies.columns import Column, Data
from smc.analyses.studies.outcome import Outcome
from smc.errors import UsageError
from smc.forms import Form, Holding, Role
from smc.moduli import parse_modulus
from smc.values import Nothing, Plain, Share, Value


def reference(parameters: ComparisonParameters, alice: Data, bob: Data) -> tuple[Outcome, Outcome]:
    """The reference, for columns that are plain or shared modulo a number.

    Raises:
        UsageError: a column is encrypted or shared modulo a key, which nobody can open here.
    """
    x, y = (_plain_values(parameters, name, alice.get(name), bob.get(name)) for name in ("x", "y"))
    count = max(len(x), len(y))
    pairs = zip(_stretch(x, count), _stretch(y, count), strict=True)
    delta = [int(a >= b) for a, b in pairs]
    form = parameters.type.delta
    if form in (Form.ES, Form.SE):
        raise UsageError("The reference has no keys to encrypt under.", "Choose a shared or plain result.")
    values: dict[Holding, tuple[Value, Value]] = {
        Holding.PLAIN: (Plain(delta), Plain(delta)),
        Holding.SHARE: (Share(delta, 2), Share([0] * count, 2)),
        Holding.NOTHING: (Nothing(count), Nothing(count)),
    }
    results = [values[form.holding(role)][i] for i, role in enumerate(Role)]
    first, second = (Outcome(plain_tables(result), notes(result)) for result in results)
    return first, second


def _stretch(values: Sequence[int], count: int) -> Sequence[int]:
    """A single value repeated, or the column as it is."""
    return list(values) * count if len(values) == 1 else values


def _plain_values(
    parameters: ComparisonParameters, name: str, alice: Column | None, bob: Column | None
) -> list[int]:
    """X or y in the clear, for the reference.

    Raises:
        UsageError: the column is encrypted, or shared modulo a key.
    """
    if name in parameters.constants:
        return [parameters.constants[name]]
    if parameters.form(name) is Form.SS and alice is not None and bob is not None:
        modulus = parse_modulus(alice.schema.modulus)
        if isinstance(modulus, int):
            return [(a + b) % modulus for a, b in zip(alice.values, bob.values, strict=True)]
    column = alice if alice is not None else bob
    if column is None or column.schema.kind in ("share", "ciphertext"):
        raise UsageError(f"The reference cannot open column {name}.", "Use plain columns.")
    return list(column.values)
