"""What a study costs: its own run, over columns that have a schema and a length and no values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.traced_release import TracedRelease
from smc.analyses.studies.columns import Column, Data, Schema
from smc.analyses.studies.estimates import Pace, estimated
from smc.analyses.studies.facts import Facts
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.numeric.shape_arrays import shape_array
from smc.numeric.shapes import Traced
from smc.protocols.session import Session
from smc.tracing.session import Trace, TracedSession, trace

_USUAL_PACE: Final = Pace(0.05, byte=6e-9)


class TracedColumn(Column, Traced):
    """A column without values."""

    __slots__ = ()


class TracedStudy:
    """A study whose cost is that of its run over shapes; what a study is, says `Study`."""

    __slots__ = ()

    @property
    def route(self) -> str:
        """How a run is done, for people."""
        return "computed jointly by oblivious transfer"

    @property
    def pace(self) -> Pace:
        """How fast runs are on loopback, measured."""
        return _USUAL_PACE

    @property
    @abstractmethod
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """See `Study.columns`."""
        ...

    @abstractmethod
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """See `Study.facts`."""
        ...

    @abstractmethod
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """See `Study.run`."""
        ...

    @property
    def least_rows(self) -> int:
        """Rows that a side counts with at least: 1 where a run without any is another program."""
        return 0

    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """The declarations of all columns, those that are not known as they may be: like a known one."""
        other = next(iter(schemas.values()), Schema("text"))
        names = (name for role in Role for name in self.columns[role])
        return {name: schemas.get(name, other) for name in names}

    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int | None:
        """Bytes at the peak of one party, see `Estimate`; None where that has not been measured.

        Args:
            schemas: the declarations of all columns.
            setting: sizes, limits and link.
        """
        del schemas, setting
        return None

    def seconds(self, found: Trace, rows: int) -> float:
        """How long a run takes on loopback.

        Args:
            found: what it sends.
            rows: of the side with more.
        """
        del rows
        return self.pace.seconds(found)

    def cost(
        self, schemas: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
    ) -> Estimate:
        """See `Study.cost`."""
        alice, bob = (max(self.least_rows, rows) for rows in setting.rows)
        setting = replace(setting, rows=(alice, bob))
        known = self.likely(schemas)
        scope = self.facts(recipients).scope

        def run(session: TracedSession) -> None:
            size = setting.rows[session.role is Role.BOB]
            data = {name: made_up(known[name], size) for name in self.columns[session.role]}
            self.run(session, data, recipients, TracedRelease(session, scope, recipients, setting.limits))

        found = trace(run, setting.network, setting.lanes)
        seconds = self.seconds(found, max(setting.rows))
        return estimated(found, seconds, self.route, self.memory(known, setting), setting.network)


def made_up(schema: Schema, rows: int) -> TracedColumn:
    """A column of so many rows."""
    return TracedColumn(shape_array(rows, np.int64), schema)
