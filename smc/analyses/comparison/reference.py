"""What a comparison job gives in the clear."""

from __future__ import annotations

from smc.analyses.comparison.columns import notes, plain_tables, plain_values, stretch
from smc.analyses.comparison.parameters import ComparisonParameters
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.errors import UsageError
from smc.forms import Form, Holding, Role
from smc.values import Nothing, Plain, Share, Value


def reference(parameters: ComparisonParameters, alice: Data, bob: Data) -> tuple[Outcome, Outcome]:
    """The reference, for columns that are plain or shared modulo a number.

    Raises:
        UsageError: a column is encrypted or shared modulo a key, which nobody can open here.
    """
    x, y = (plain_values(parameters, name, alice.get(name), bob.get(name)) for name in ("x", "y"))
    count = max(len(x), len(y))
    pairs = zip(stretch(x, count), stretch(y, count), strict=True)
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
