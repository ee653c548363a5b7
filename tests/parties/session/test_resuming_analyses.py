"""Every analysis and protocol over a connection that is cut: byte for byte what is said without a cut.

Inputs and randomness are those of the wire's baseline, so that what is sent and what comes out has to be the
same to the last bit, noise included. With `--slow` every run of the baseline is cut once, each analysis at
many places.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.full_session import FullSession
from smc.protocols.session import Session
from tests.parties.rpc.proxy import Proxy
from tests.parties.session.cut_sessions import PATIENT, Run
from tests.support.fixed_kem import fixed_kem

ROOT = Path(__file__).parents[3]
BASELINE = json.loads((ROOT / "proto" / "wire.json").read_text(encoding="utf-8"))["runs"]
JOBS = [name for name in BASELINE if name.startswith("job ")]
QUICK = ("job matching, keys of one side", "job statistics, noisy", "job comparison, plain result")
PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)
PARTIES = {"north": Role.ALICE, "south": Role.BOB}


@pytest.fixture(autouse=True)
def _fixed():
    with fixed_kem():
        yield


@cache
def scripts():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import wire_runs
        import wire_transcripts
    finally:
        sys.path.pop(0)
    return wire_runs, wire_transcripts


@cache
def found(name: str):
    return next(run for run in scripts()[0].every_run() if run.name == name)


def sources(name: str) -> dict[Role, Randomness]:
    return {role: Randomness.from_seed(name.encode(), role.value) for role in Role}


@cache
def uncut(name: str) -> str:
    """The results of both sides without a network."""
    side, drawn = found(name).side, sources(name)
    both = run_pair(
        side, side, keys=scripts()[1].KEYS, randomness=(drawn[Role.ALICE], drawn[Role.BOB]), workers=1
    )
    return repr(both)


def with_cut(name: str, party: str, part: float) -> None:
    """Run, cut when a party has sent a part of its messages, and compare."""
    script, run = scripts()[1], Run(PATIENT)
    transcripts = {role: script.Transcript() for role in Role}
    results, drawn = {}, sources(name)
    messages = sum(count for count, _ in BASELINE[name][PARTIES[party].value]["kinds"].values())
    place = ("send", max(1, round(part * messages)))

    with ThreadPoolExecutor(1) as executor:

        def program(joined: Session) -> None:
            role = joined.role
            own, other = script.KEYS if role is Role.ALICE else script.KEYS[::-1]
            session = FullSession(
                role, joined.channel, executor, drawn[role], own_key=own, peer_key=other.public
            )
            session.channel = script.Tap(session.channel, transcripts[role])
            results[role] = found(name).side(session)
            session.verify()

        with run.between({party: (place, Proxy.cut)}) as (proxy, south, directory):
            assert run.go(south, directory, program, program) is None
            assert run.ended["south"].wait(600) is None
            assert proxy.connections >= 2 or not messages
    assert {role.value: said.described() for role, said in transcripts.items()} == BASELINE[name]
    assert repr((results[Role.ALICE], results[Role.BOB])) == uncut(name)


@pytest.mark.parametrize("party", PARTIES)
@pytest.mark.parametrize("name", QUICK)
def test_a_cut_in_the_middle_of_an_analysis_changes_nothing(name, party):
    with_cut(name, party, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("party", PARTIES)
@pytest.mark.parametrize("name", JOBS)
def test_a_cut_anywhere_in_any_analysis_changes_nothing(name, party, part):
    with_cut(name, party, part)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BASELINE if name not in JOBS])
def test_a_cut_in_any_protocol_changes_nothing(name):
    with_cut(name, "north" if len(name) % 2 else "south", 0.5)
