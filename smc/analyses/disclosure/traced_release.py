"""The release of a run over shapes."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

from typing_extensions import override

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.scope import Scope
from smc.forms import Role
from smc.tracing.session import TracedSession


class TracedRelease(Release):
    """The release of a run over shapes: all limits are tested as in any run, and none stands against it.

    What it opens is nobody's: shares without values.

    Args:
        session: a traced one.
        scope: as of `Release`.
        recipients: who would get the results.
        limits: of both policies. What a side withholds of its own part of tables by its own limits is settled
            there, and changes nothing of what is sent.
    """

    def __init__(
        self, session: TracedSession, scope: Scope, recipients: AbstractSet[Role], limits: Limits
    ) -> None:
        super().__init__(session, scope, recipients, replace(NO_LIMITS.of_both, both=limits))

    @override
    def _check_figures(self) -> None:
        """Pass: a cost does not depend on how many figures a job may show."""

    @override
    def _check_sets(self, own: int, peer: int) -> None:
        """Pass: nor on whether sets are large enough."""

    @override
    def _check_public(self, count: int, least: int) -> None:
        """Nor is whether other public numbers are."""
