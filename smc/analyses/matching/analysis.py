"""The analysis `matching`: one name for people, one study for each method and kind of output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from smc.analyses.derived.study import with_derived
from smc.analyses.matching.aggregates import parameters as aggregates
from smc.analyses.matching.aggregates.study import AggregatesStudy
from smc.analyses.matching.exact.study import KEYS, ExactKeysStudy, ExactParameters
from smc.analyses.matching.linked import parameters as linked
from smc.analyses.matching.linked.study import LinkedStudy
from smc.analyses.matching.tolerant import parameters as tolerant
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.matching.vectors.parameters import VectorParameters
from smc.analyses.matching.vectors.study import VectorStudy
from smc.analyses.studies.parameters import read_parameters, take
from smc.analyses.studies.study import Study
from smc.errors import UsageError


def _exact(parameters: Mapping[str, Any]) -> Study:
    """The study of exact matching: of the keys themselves, or of figures about them."""
    output = take(parameters, "output", str, "parameters", KEYS)
    if output == KEYS:
        return ExactKeysStudy(read_parameters(ExactParameters, parameters))
    if output in aggregates.OUTPUTS:
        return with_derived(parameters, lambda others: AggregatesStudy(aggregates.parse(others)))
    known = ", ".join((KEYS, *aggregates.OUTPUTS))
    raise UsageError(f"parameters.output cannot be {output!r}.", f"Choose one of {known}.")


def _tolerant(parameters: Mapping[str, Any]) -> Study:
    """The study of tolerant matching: of the pairs themselves, or of figures about them."""
    output = take(parameters, "output", str, "parameters", tolerant.PAIRS)
    if output == tolerant.PAIRS:
        return TOLERANT.parse(parameters)
    if output in linked.OUTPUTS:
        return with_derived(parameters, lambda others: LinkedStudy(linked.parse(others)))
    known = ", ".join((tolerant.PAIRS, *linked.OUTPUTS))
    raise UsageError(f"parameters.output cannot be {output!r}.", f"Choose one of {known}.")


def _vectors(parameters: Mapping[str, Any]) -> Study:
    return VectorStudy(read_parameters(VectorParameters, parameters))


METHODS: Final[Mapping[str, Callable[[Mapping[str, Any]], Study]]] = MappingProxyType(
    {"exact": _exact, "tolerant": _tolerant, "vectors": _vectors}
)
"""What reads `[parameters]`, without the word `method`, by what that word says."""


@dataclass(frozen=True, slots=True)
class Chooser:
    """What somebody who chooses its rows learns of the other side's in one job of a method.

    Attributes:
        parameters: of such a job.
        explicit: whether a rule has to name the method, see `smc.analyses.studies.facts.Asked.named`.
        every_value: whether it is every value of all columns; else fields of persons whom it knows.
    """

    parameters: Mapping[str, str]
    explicit: bool
    every_value: bool


CHOOSERS: Final = (
    Chooser({"method": "vectors"}, explicit=True, every_value=True),
    Chooser({"method": "tolerant", "output": tolerant.PAIRS}, explicit=False, every_value=False),
)
"""For those who write policies."""


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
                f"parameters.method cannot be {word!r}.", f"Choose one of {', '.join(sorted(METHODS))}."
            )
        return METHODS[word]({key: value for key, value in parameters.items() if key != "method"})


MATCHING: Final = Matching()
"""The analysis, for the registry."""
