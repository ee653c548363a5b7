"""The analysis `matching`: one name for people, one method per file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from smc.analyses.base import Analysis, Data, Estimate, Facts, Leakage, Outcome, Preview, Schema
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.exact import EXACT
from smc.analyses.matching.tolerant import TOLERANT
from smc.analyses.matching.vectors import VECTORS
from smc.analyses.parameters import take
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session

METHODS: Final[Mapping[str, Analysis]] = MappingProxyType(
    {"exact": EXACT, "tolerant": TOLERANT, "vectors": VECTORS}
)
"""The methods by the word that `method` in `[parameters]` names. Each is an analysis of its own and gets the
parameters without that word."""


@dataclass(frozen=True, slots=True)
class MatchingParameters:
    """A method and its own parameters."""

    method: Analysis
    inner: Any


class Matching:
    """The analysis `matching`; see `smc.analyses.base.Analysis` for its methods' contracts."""

    name: Final = "matching"
    always_matches: Final = True

    def parse(self, parameters: Mapping[str, Any]) -> MatchingParameters:
        """Find the method and let it parse the rest."""
        word = take(parameters, "method", str, "parameters")
        if word not in METHODS:
            raise UsageError(
                f"There is no method {word!r} of matching.", f"Known are {', '.join(sorted(METHODS))}."
            )
        rest = {key: value for key, value in parameters.items() if key != "method"}
        return MatchingParameters(METHODS[word], METHODS[word].parse(rest))

    def columns(self, parameters: MatchingParameters, role: Role) -> tuple[str, ...]:
        """As the method says."""
        return parameters.method.columns(parameters.inner, role)

    def check_schema(
        self, parameters: MatchingParameters, alice: Mapping[str, Schema], bob: Mapping[str, Schema]
    ) -> None:
        """As the method says."""
        parameters.method.check_schema(parameters.inner, alice, bob)

    def check_recipients(self, parameters: MatchingParameters, recipients: frozenset[Role]) -> None:
        """As the method says."""
        parameters.method.check_recipients(parameters.inner, recipients)

    def facts(self, parameters: MatchingParameters, recipients: frozenset[Role]) -> Facts:
        """As the method says."""
        return parameters.method.facts(parameters.inner, recipients)

    def leakage(self, parameters: MatchingParameters, recipients: frozenset[Role]) -> Leakage:
        """As the method says."""
        return parameters.method.leakage(parameters.inner, recipients)

    def check_rows(
        self,
        parameters: MatchingParameters,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """As the method says."""
        return parameters.method.check_rows(parameters.inner, data, role, limits, peer)

    def estimate(
        self,
        parameters: MatchingParameters,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """As the method says."""
        return parameters.method.estimate(parameters.inner, schemas, recipients, rows, key_bits, limits)

    def run(
        self,
        session: Session,
        parameters: MatchingParameters,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """As the method says."""
        return parameters.method.run(session, parameters.inner, data, recipients, release)

    def run_plain(
        self, parameters: MatchingParameters, alice: Data, bob: Data, recipients: frozenset[Role]
    ) -> tuple[Outcome, Outcome]:
        """As the method says."""
        return parameters.method.run_plain(parameters.inner, alice, bob, recipients)


MATCHING: Final = Matching()
"""The analysis, for the registry."""
