"""The analysis `matching`: one name for people, one study for each method."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from smc.analyses.matching.exact.study import EXACT
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.matching.vectors.study import VECTORS
from smc.analyses.parameters import take
from smc.analyses.study import Analysis, Study
from smc.errors import UsageError

METHODS: Final[Mapping[str, Analysis]] = MappingProxyType(
    {"exact": EXACT, "tolerant": TOLERANT, "vectors": VECTORS}
)
"""The methods by what `method` in `[parameters]` says. Each gets the parameters without that word."""


class Matching:
    """The analysis `matching`."""

    name: Final = "matching"
    always_matches: Final = True

    def parse(self, parameters: Mapping[str, Any]) -> Study:
        """The study of the method that the parameters name.

        Raises:
            UsageError: there is no such method, or the rest does not fit it.
        """
        word = take(parameters, "method", str, "parameters")
        if word not in METHODS:
            raise UsageError(
                f"There is no method {word!r} of matching.", f"Known are {', '.join(sorted(METHODS))}."
            )
        return METHODS[word].parse({key: value for key, value in parameters.items() if key != "method"})


MATCHING: Final = Matching()
"""The analysis, for the registry."""
