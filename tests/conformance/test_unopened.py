"""Runs that open nothing: no result that is kept in shares rests on transfers that were changed.

Whatever a run opens, it checks transfers before. A run whose results stay in shares opens nothing, and has to
check them before it gives the shares: a side that has them has no reason to ask later.
"""

from __future__ import annotations

import pytest

from smc.channel.message import KINDS
from smc.errors import DuettoError
from smc.oblivious.silent_transfers import Refill
from tests.conformance.deviating import DEVIATIONS, UNOPENED, deviating, honest, kinds_sent
from tests.conformance.entries import ENTRIES, Demand

HELD = {Demand.REFUSED, Demand.CHECKED, Demand.HARMLESS}
OPENED = {"opened-bits", "opened-shares", "intersection-matches", "revealed", "shared-to-plain"}


def transfers(run):
    """Who sends what of transfers that a side is held to."""
    for sender, kinds in kinds_sent(run).items():
        for kind in sorted(kinds):
            if KINDS[kind].startswith("smc.oblivious.") and ENTRIES[kind].demand in HELD:
                yield sender, kind


@pytest.mark.parametrize("deviation", ["bit", "word", "zeros"])
@pytest.mark.parametrize("run", UNOPENED)
def test_no_shares_rest_on_transfers_of_a_peer_that_deviates(run, deviation):
    for sender, kind in transfers(run):
        results, errors, _ = deviating(run, sender, kind, DEVIATIONS[deviation])
        victim, demand = sender.other, ENTRIES[kind].demand
        error = errors.get(victim)
        assert error is None or isinstance(error, DuettoError), (kind, repr(error))
        if demand is Demand.HARMLESS or (demand is Demand.CHECKED and deviation != "zeros"):
            # What touches one tree passes where the guess of a secret bit was right, and then has no effect.
            assert victim not in results or results[victim] == honest(run)[victim], kind
        else:
            assert victim not in results, kind


def test_these_runs_open_nothing_and_have_transfers_of_all_kinds():
    sent = {run: frozenset().union(*kinds_sent(run).values()) for run in UNOPENED}
    assert not OPENED & frozenset().union(*sent.values())
    assert not OPENED - ENTRIES.keys()
    checked = {kind for kind, entry in ENTRIES.items() if entry.demand is Demand.CHECKED}
    assert checked <= frozenset().union(*sent.values())
    # Silent ones are those of a plan of its own, and of a job.
    assert sum(Refill.kind() in kinds for kinds in sent.values()) == 2
