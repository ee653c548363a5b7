"""What a study costs: its own run, over columns that have a schema and a length and no values."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from smc.analyses.disclosure.traced_release import TracedRelease
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.estimates import estimate
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Estimate, Priced, Study
from smc.forms import Role
from smc.numeric.shape_arrays import shape_array
from smc.numeric.shapes import Traced
from smc.oblivious.kernels import run_compiled
from smc.tracing.session import Trace, TracedSession, trace

_TRACES: deque[tuple[Any, Trace]] = deque(maxlen=32)
"""What was traced last, by what determines it: each side of a job is asked for its cost several times."""
_LOCK = threading.Lock()


class TracedColumn(Column, Traced):
    """A column without values."""

    __slots__ = ()


def estimate_cost(
    study: Study, schemas: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
) -> Estimate:
    """What a run costs in a fresh session, without what the gate sends.

    It is the cost of a run in which no limit stands against the result and nothing has to be withheld:
    what has to be is secret before the run. Withholding opens fewer numbers, and may test more of them.

    Args:
        study: the job.
        schemas: the declarations of the local columns and those that are known of the peer's, which are
            taken to be like the local ones where they are not.
        recipients: who gets the results.
        setting: sizes, limits and link.
    """
    if isinstance(study, Priced):
        return study.cost(schemas, recipients, setting)
    alice, bob = (max(study.least_rows, rows) for rows in setting.rows)
    setting = replace(setting, rows=(alice, bob))
    known = dict(study.likely(schemas))
    found = _trace_cached(study, known, recipients, setting)
    longer = study.longest
    longest = None if longer is None else _trace_cached(longer, known, recipients, setting)
    seconds = study.pace.seconds(found, max(setting.rows), compiled=run_compiled())
    return estimate(found, seconds, study.route, study.memory(known, setting), setting.network, longest)


def _trace_cached(
    study: Study, known: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
) -> Trace:
    """The trace of a run, made once for several that ask."""
    what = (study, known, recipients, setting)
    with _LOCK:
        found = next((kept for key, kept in _TRACES if key == what), None)
    if found is None:
        found = _trace(study, known, recipients, setting)
        with _LOCK:
            _TRACES.append((what, found))
    return found


def _trace(
    study: Study, known: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
) -> Trace:
    """Run both sides over shapes, under what `estimate_cost` says."""
    scope = study.facts(recipients).scope

    def run(session: TracedSession) -> None:
        size = setting.rows[session.role is Role.BOB]
        data = {name: made_up(known[name], size) for name in study.columns[session.role]}
        study.run(session, data, recipients, TracedRelease(session, scope, recipients, setting.limits))
        session.verify()

    return trace(run, setting.network, setting.lanes)


def made_up(schema: Schema, rows: int) -> TracedColumn:
    """A column of so many rows."""
    return TracedColumn(shape_array(rows, np.int64), schema)
