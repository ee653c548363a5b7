"""Each kind of message, changed by one bit: an audit names it and its sender, and clears the other side."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

import pytest

from smc.channel.message import KINDS
from smc.oblivious import base_ot
from tests.conformance.deviating import _run, examples
from tests.conformance.entries import ENTRIES
from tests.support.dealt import dealing
from tests.support.recorded import first_of, recorded
from tests.support.small_jobs import wire_runs


def setting(kind):
    """Base transfers from a dealer, unless they are what is changed."""
    is_base = KINDS.get(kind, "").rpartition(".")[0] == base_ot.__name__
    return nullcontext() if is_base else contextmanager(dealing)()


@pytest.mark.parametrize("kind", sorted(ENTRIES))
def test_an_audit_names_the_message_that_was_changed(kind):
    example = examples()[kind]
    side = _run(example.run).side
    with setting(kind):
        sides = recorded(side, keys=wire_runs().KEYS, bends={example.sender: first_of(kind)})
        guilty, victim = sides[example.sender], sides[example.sender.other]
        found = guilty.verdict(side).deviation
        assert found is not None
        numbers = [number for number, said in enumerate(guilty.sent.lanes()[0]) if said.kind == kind]
        assert (found.lane, found.number, found.kind) == (0, numbers[0], kind)
        assert victim.verdict(side).is_cleared


@pytest.mark.slow
def test_honest_runs_are_cleared():
    """All of the wire's baseline, with real base transfers."""
    for run in wire_runs().every_run():
        sides = recorded(run.side, keys=wire_runs().KEYS)
        alice, bob = sides.values()
        assert alice.error is bob.error is None
        assert (alice.sent.head, bob.sent.head) == (bob.received.head, alice.received.head)
        for each in (alice, bob):
            verdict = each.verdict(run.side)
            assert verdict.is_cleared, (run.name, each.role, verdict)
            assert verdict.ended
