"""Parameters of exact matching that shows keys.

[parameters]
method = "exact"
keys = ["insurance_number", "date_of_birth"]   # the same names on both sides
duplicates = "error"                           # or "multiset", "distinct"
output = "keys"                                # if missing, too
[parameters.normalization]                     # optional, per key column; ["trim"] if missing
insurance_number = ["trim", "digits-only", "strip-leading-zeros"]
date_of_birth = ["date"]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from smc.analyses.records.key_parameters import KEY_PARAMETERS, KeyParameters, parse_keys
from smc.analyses.studies.parameters import reject_unknown

KEYS: Final = "keys"
"""The output that shows which local keys the other side has."""


def parse(parameters: Mapping[str, Any]) -> KeyParameters:
    """Read `[parameters]` without `method`.

    Raises:
        UsageError: a key is unknown, missing or impossible; names its place.
    """
    found = parse_keys(parameters, "parameters")
    reject_unknown(parameters, (*KEY_PARAMETERS, "output"), "parameters")
    return found
