"""The wire's baseline: what it notices, what it does not, and that parties who differ do not begin."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from parties.errors import VersionMismatch
from parties.ports import terms, wire
from parties.ports.terms import Terms
from smc.protocols import coins
from smc.protocols.exchange.row_counts import Counts
from smc.protocols.intersection import oprf

SCRIPTS = Path(__file__).parents[3] / "scripts"
QUICK = ["comparison tree paillier", "comparison elgamal-tree elgamal", "job matching, keys of one side"]
KEYS_OF_ONE_SIDE = QUICK[2]
NEWER_FEATURES = (
    "AVX2",
    "FMA3",
    "AVX512F",
    "AVX512CD",
    "AVX512_SKX",
    "AVX512_CLX",
    "AVX512_CNL",
    "AVX512_ICL",
)
"""What numpy's loops of exponentials and the like use where a processor has it."""


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """The script as a module."""
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(SCRIPTS))
    loader = SourceFileLoader("gen_wire", str(SCRIPTS / "gen_wire"))
    spec = importlib.util.spec_from_loader("gen_wire", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    yield module
    patch.undo()


@pytest.fixture(scope="module")
def baseline(script: ModuleType) -> dict[str, Any]:
    return json.loads(script.BASELINE.read_text(encoding="utf-8"))


def test_the_greeting_holds_the_digest_of_the_baseline(script, baseline):
    assert script.digest(baseline) == wire.WIRE
    assert script.DIGEST.read_text(encoding="utf-8") == script.module(baseline)
    assert script.PAGE.read_text(encoding="utf-8") == script.page(baseline)
    assert Terms().parameters == terms.digest(b"duetto parameters", wire.WIRE.encode())


def test_messages_and_packets_are_those_of_the_baseline(script, baseline):
    assert script.messages() == baseline["messages"]
    assert script.statements() == baseline["signed"]
    assert script.packets(script.peer_pb2.DESCRIPTOR) == baseline["peer"]
    assert script.packets(script.reverse_pb2.DESCRIPTOR) == baseline["reverse"]
    assert script.packets(script.control_pb2.DESCRIPTOR) == baseline["control"]


def test_what_a_peer_may_lack_keeps_nobody_from_beginning(script, baseline):
    without = {part: content for part, content in baseline.items() if part != "reverse"}
    assert script.digest(without) == script.digest(baseline)


def test_every_message_is_in_a_run(script, baseline):
    shown = {kind for run in baseline["runs"].values() for side in run.values() for kind in side["kinds"]}
    assert baseline["messages"].keys() - shown == script.NOT_RUN.keys()


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("workers", [1, 4])
def test_a_run_sends_what_the_baseline_says_whatever_the_threads_do(script, baseline, name, workers):
    run = next(run for run in script.every_run() if run.name == name)
    found = {role: each.described() for role, each in run.transcripts(workers).items()}
    assert found == baseline["runs"][name]


@pytest.mark.parametrize("change", ["domain separator", "kind", "encoding"])
def test_a_changed_wire_does_not_go_unnoticed(script, baseline, change, monkeypatch):
    """Each leaves the sizes of all messages as they were."""
    match change:
        case "domain separator":
            monkeypatch.setattr(coins, "_DOMAIN", b"duetto/coins/0")
        case "kind":
            monkeypatch.setattr(Counts, "_kind", "counts-of-rows")
        case "encoding":
            monkeypatch.setattr(oprf.OprfStore, "encode", lambda self: self.entries.values.tobytes()[::-1])
    changed = copy.deepcopy(baseline)
    changed["runs"][KEYS_OF_ONE_SIDE] = script.described(KEYS_OF_ONE_SIDE)
    places = list(script.differences(baseline, changed))
    assert places
    assert all(KEYS_OF_ONE_SIDE in place for place in places)
    assert script.digest(changed) != wire.WIRE


def test_names_of_classes_are_not_on_the_wire(script, baseline, monkeypatch):
    monkeypatch.setattr(Counts, "__module__", "smc.protocols.exchange")
    name = Counts.__name__
    Counts.__name__ = Counts.__qualname__ = "RowCounts"
    try:
        assert script.described(KEYS_OF_ONE_SIDE) == baseline["runs"][KEYS_OF_ONE_SIDE]
    finally:
        Counts.__name__ = Counts.__qualname__ = name


def test_what_a_party_says_to_its_own_users_is_not_the_peers_concern(script, baseline):
    changed = baseline | {"control": {}}
    assert script.digest(changed) == script.digest(baseline)


@pytest.mark.parametrize("part", ["limits", "messages", "signed", "peer", "runs"])
def test_every_other_part_is(script, baseline, part):
    assert script.digest(baseline | {part: {}}) != script.digest(baseline)


def test_two_releases_whose_wires_differ_refuse_each_other(monkeypatch):
    monkeypatch.setattr(terms, "WIRE", "0" * 64)
    other = Terms()
    monkeypatch.undo()
    for one, two in ((Terms(), other), (other, Terms())):
        with pytest.raises(VersionMismatch, match="protocols of the two releases differ") as caught:
            one.agree(two)
        assert one.parameters.hex()[:12] in caught.value.what
        assert two.parameters.hex()[:12] in caught.value.what
        assert "same release" in caught.value.hint


@pytest.mark.slow
def test_runs_are_the_same_on_processors_that_round_otherwise():
    """What is sent rests on no last digits of a library: the peer or an auditor may have other kernels."""
    older = {"OPENBLAS_CORETYPE": "Sandybridge", "NPY_DISABLE_CPU_FEATURES": " ".join(NEWER_FEATURES)}
    checked = subprocess.run(
        [sys.executable, SCRIPTS / "gen_wire", "--check"],
        env=os.environ | older,
        cwd=SCRIPTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
