"""What an exact matching that shows keys gives in the clear."""

from __future__ import annotations

import numpy as np

from smc.analyses.matching.exact.outcome import matches
from smc.analyses.records.joint_keys import plain_keys
from smc.analyses.records.key_parameters import KeyParameters
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role


def reference(
    parameters: KeyParameters, alice: Data, bob: Data, recipients: frozenset[Role]
) -> tuple[Outcome, Outcome]:
    """The reference: the intersection of the normal forms."""
    sides = dict(zip(Role, (alice, bob), strict=True))
    keyed = {role: plain_keys(parameters, data, role) for role, data in sides.items()}
    common = set(keyed[Role.ALICE][0]) & set(keyed[Role.BOB][0])
    first, second = (
        matches(
            parameters,
            sides[role],
            numbers[np.array([key in common for key in keys], dtype=np.bool_)]
            if role in recipients
            else None,
        )
        for role, (keys, numbers) in keyed.items()
    )
    return first, second
