"""Seeds of covert runs: what both parties give is in them."""

from __future__ import annotations

from parties.evidence.seeds import PART_BYTES, run_seed
from parties.evidence.statements import ChainHeads, Start, end_text, gate_text
from smc.forms import Role

SEED = bytes(32)


def test_the_randomness_of_a_run_is_that_of_the_own_seed_and_of_the_peers_bytes():
    given = (bytes(PART_BYTES), b"\1" + bytes(PART_BYTES - 1))
    found = {run_seed(seed, each) for seed in (SEED, b"\1" * 32) for each in given}
    assert len(found) == 4


def test_what_is_signed_holds_all_that_was_said_before_the_run():
    start = Start({role: bytes(64) for role in Role}, {role: bytes(PART_BYTES) for role in Role})
    heads = ChainHeads(bytes(32), bytes(32))
    for text in (gate_text, end_text):
        found = {text(bytes(32), role, start, heads) for role in Role}
        for role in Role:
            for name, size in (("commitments", 64), ("given", PART_BYTES)):
                changed = start._replace(**{name: {**getattr(start, name), role: b"\1" * size}})
                found.add(text(bytes(32), Role.ALICE, changed, heads))
        assert len(found) == 6
    assert gate_text(bytes(32), Role.ALICE, start, heads) != end_text(bytes(32), Role.ALICE, start, heads)
