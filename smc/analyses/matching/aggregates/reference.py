"""What figures about an intersection are in the clear."""

from __future__ import annotations

import numpy as np

from smc.analyses.matching.aggregates.parameters import SHARES, AggregateParameters, declare_value
from smc.analyses.matching.aggregates.tables import results, share_outcome
from smc.analyses.records.joint_keys import plain_keys
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role


def reference(
    parameters: AggregateParameters, alice: Data, bob: Data, recipients: frozenset[Role]
) -> tuple[Outcome, Outcome]:
    """The reference: exact figures; of shares, Alice has the values of the matches and Bob zeros."""
    data = (alice, bob)
    sides = [plain_keys(parameters.keys, side, role) for role, side in zip(Role, data, strict=True)]
    keys, numbers = zip(*sides, strict=True)
    places = {key: place for place, key in enumerate(keys[1])}
    common = [(place, places[key]) for place, key in enumerate(keys[0]) if key in places]
    pairs = np.array(common, dtype=np.int64).reshape(-1, 2)
    every, values = [], []
    for value in parameters.values:
        side = list(Role).index(value.side)
        column = data[side][value.column]
        every.append(declare_value(value, column.schema))
        chosen = column.array[numbers[side][pairs[:, side]]]
        bounded = parameters.epsilon is not None
        values.append(np.clip(chosen, every[-1].lower, every[-1].upper) if bounded else chosen)
    if parameters.output == SHARES:
        columns = [np.ones(len(pairs), dtype=np.int64), *values]
        first, second = (
            share_outcome(
                parameters, [column.view(np.uint64) * np.uint64(factor) for column in columns], every
            )
            for factor in (1, 0)
        )
        return first, second
    figures = [len(pairs), *(int(value.sum()) for value in values)]
    first, second = (results(parameters, every, figures if role in recipients else None, ()) for role in Role)
    return first, second
