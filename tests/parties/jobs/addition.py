"""An analysis for tests of jobs: the sum of both sides, with hooks to stop at a stage, fail and refuse."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from smc.analyses.disclosure.figures import Groups, Noisy, Shares
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import Outcome, Table
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Estimate, Leakage, Preview, Study
from smc.channel.message import Message
from smc.channel.vectors import ExpectedWords, Words
from smc.errors import DuettoError, UsageError
from smc.forms import Role
from smc.protocols.session import Session


@dataclass(frozen=True, slots=True)
class Total(Message, kind="test-joined-total"):
    """One side's sum."""

    value: Words


@dataclass
class Addition:
    """The sum of both columns `v`."""

    name: str = "addition"
    always_matches: bool = False
    stops: dict[Role, threading.Event] = field(default_factory=dict)
    reached: dict[Role, threading.Event] = field(
        default_factory=lambda: {role: threading.Event() for role in Role}
    )
    skip_gate: bool = False
    is_exact: bool = False
    is_paired: bool = False
    failure: Exception | None = None
    refusal: DuettoError | None = None
    fails_late: bool = False
    releases: list[Release] = field(default_factory=list)

    def parse(self, parameters: Mapping[str, Any]) -> Sum:
        if set(parameters) - {"epsilon", "type"}:
            raise UsageError("[parameters] has an unknown key.", "Remove it.")
        return self.kind()(self, Fraction(parameters.get("epsilon", "0")))

    def kind(self) -> type[Sum]:
        return Sum


@dataclass(frozen=True)
class Sum(Study):
    """A study for tests; its hooks are those of its analysis."""

    hooks: Addition
    epsilon: Fraction

    @property
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        return dict.fromkeys(Role, ("v",))

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        if alice["v"].unit != bob["v"].unit:
            raise UsageError("The units of column v differ.", "Declare the same unit.")

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        if not recipients:
            raise UsageError("Nobody would get the result.", "Name a recipient.")

    def facts(self, recipients: frozenset[Role]) -> Facts:
        return Facts(
            pairs_by_position=self.hooks.is_paired,
            matches=False,
            lpn=False,
            row_results=False,
            comparison_type=None,
            exact=ExactFigures(1, Whom.MATCHES) if self.hooks.is_exact else None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(self.epsilon),
            bounds=RowBounds(),
            asked=Asked(),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        return Leakage(("the sum",), ("the sum",), ("the number of rows",))

    def look(self, data: Any, role: Role, limits: Any, peer: Any) -> Preview:
        return Preview(("seen",), {"rows": len(data["v"])}, self.hooks.refusal)

    def cost(self, schemas: Any, recipients: Any, setting: RunSetting) -> Estimate:
        rows = max(setting.rows)
        return Estimate(1, 8, 8, 0.001 * rows, "plain addition", 1000 * rows)

    def run(
        self,
        session: Session,
        data: Mapping[str, Column],
        recipients: Any,
        release: Release,
    ) -> Outcome:
        role = session.role
        self.hooks.releases.append(release)
        session.report("adding", 0, 2)
        self.hooks.reached[role].set()
        if role in self.hooks.stops and not self.hooks.stops[role].wait(20):
            raise AssertionError("the test forgot to go on")
        session.report("adding", 1, 2)
        if self.hooks.failure is not None and not self.hooks.fails_late:
            raise self.hooks.failure
        if not self.hooks.skip_gate:
            release.admit(self._about())
        if self.hooks.failure is not None:
            raise self.hooks.failure
        own = sum(data["v"].integers)
        session.channel.send(Total(Words(np.array([own], np.uint64))))
        total = own + int(session.channel.recv(Total, ExpectedWords(1))[0])
        tables = (Table("sum", {"total": [total]}),) if role in recipients else ()
        return Outcome(tables, ("exact",), {"route": "plain addition"})

    def _about(self) -> Noisy | Groups | Shares:
        if self.facts(frozenset(Role)).loss:
            return Noisy()
        return Groups((CROWD,)) if self.hooks.is_exact else Shares()

    def reference(self, alice: Any, bob: Any, recipients: Any) -> Any:
        table = Table("sum", {"total": [sum(alice["v"].integers) + sum(bob["v"].integers)]})
        first, second = (Outcome((table,) if role in recipients else ()) for role in Role)
        return first, second


CROWD = 10**6
"""How many persons a sum of these tests is said to be about, so that no limit stands against it."""
