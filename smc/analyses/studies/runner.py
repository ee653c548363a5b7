"""The one way to run a study: in a release that knows the scope of the run, and is closed after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from smc.analyses.disclosure.audit import Auditor, Unaudited
from smc.analyses.disclosure.limits import Agreed
from smc.analyses.disclosure.opener import Gate, open_gate
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.errors import OutOfMemory
from smc.forms import Role
from smc.protocols.session import Session

if TYPE_CHECKING:
    from smc.analyses.studies.study import Study

_UNAUDITED: Final = Unaudited()


def run_study(
    study: Study,
    session: Session,
    data: Data,
    recipients: frozenset[Role],
    limits: Agreed,
    gate: Gate = open_gate,
    auditor: Auditor = _UNAUDITED,
) -> Outcome:
    """Run one side of a job.

    Args:
        study: the job.
        session: this party's side of the run.
        data: this party's columns.
        recipients: who gets the results.
        limits: what this party's policy asks of results, and the stricter of both.
        gate: passed once, before anything is opened.
        auditor: is told of whatever is opened to the peer, before it is.

    Raises:
        UsageError: the parameters do not allow these recipients.
        DisclosureRefused: a limit stands against the result, or the run ended without consuming one.
        InconsistentTransfers: the peer's transfers fail the check, which no result leaves without.
        OutOfMemory: the memory did not suffice.
        DuettoError: whatever else the study raises.
    """
    study.check_recipients(recipients)
    release = Release(session, study.facts(recipients).scope, recipients, limits, gate, auditor)
    try:
        outcome = study.run(session, data, recipients, release)
        session.verify()
    except MemoryError:
        raise OutOfMemory from None
    release.close()
    return outcome
