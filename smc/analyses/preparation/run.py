"""The joint run of a preparation."""

from __future__ import annotations

from smc.analyses.disclosure.figures import Shares
from smc.analyses.disclosure.release import Release
from smc.analyses.preparation.outcome import outcome
from smc.analyses.preparation.parameters import PreparationParameters
from smc.analyses.studies.outcome import Outcome
from smc.errors import UsageError
from smc.oblivious.pool import PoolInfo
from smc.protocols.full_session import FullSession
from smc.protocols.session import Session


def run(session: Session, parameters: PreparationParameters, release: Release) -> Outcome:
    """The joint run, one side: make the local half and give it to the session's pools.

    Raises:
        UsageError: the session keeps no pools.
    """
    session = FullSession.check(session)
    if session.precomputed is None:
        raise UsageError("This session keeps no pools.", "Run the job by the daemons of both parties.")
    release.admit(Shares())
    session.report("prepare", 0, 1)
    holds_x = session.role is parameters.x_at
    pool = session.oblivious.fill_pool(parameters.count, parameters.bits, holds_x=holds_x)
    info = PoolInfo.of(pool)
    session.precomputed.put(info, pool.export())
    session.report("prepare", 1, 1)
    return outcome(parameters, info.comparisons)
