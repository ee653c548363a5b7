"""`duetto bench`: two real processes, exact figures, honest counting of wrong results."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from parties.bench import measurement
from parties.bench.case import Case, usual_modulus
from parties.bench.dealer import Dealer, make_pairs, pack, plain_results, unpack
from parties.cli.main import main
from parties.rpc.codec import packet_bytes, write
from smc.channel.message import FRAME_BYTES, Frame
from smc.errors import DuettoError
from smc.forms import ComparisonType, Form, Role
from smc.values import Plain, Share
from tests.support.grids import grid
from tests.support.keys import toy
from tests.support.seeds import seeded

KEYS = {role: toy(role) for role in Role}
SMALL = Case(ComparisonType.parse("SS-SS-SS"), 8, 20, 1024, "oblivious", 1 << 64, timeout=60)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen]:
    """All processes that the test starts."""
    processes: list[subprocess.Popen] = []

    class Recorded(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            processes.append(self)

    monkeypatch.setattr(measurement.subprocess, "Popen", Recorded)
    return processes


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    """Run `duetto bench comparison ... --json`: exit status and what it printed."""
    with pytest.raises(SystemExit) as leave:
        main(["bench", "comparison", *words, "--json"])
    return int(leave.value.code or 0), json.loads(capsys.readouterr().out)


def test_out_of_a_pool(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--type", "SS-SS-SS", "--engine", "oblivious", "--batch", "70", "--repeat", "2"]
    status, found = command(capsys, *words, "--pool")
    assert (status, found["wrong"], found["pool"]) == (0, 0, True)
    assert found["bytes_alice_to_bob"] < found["predicted_payload_alice_to_bob"] / 2
    status, found = command(capsys, *words, "--pool", "--engine", "elgamal", "--type", "PN-NP-SS")
    assert status == 2
    assert "takes no pool" in found["error"]["what"]


def silent(text: str) -> None:
    del text


FIGURES = [
    "--type SS-SS-SS --engine oblivious --batch 300 --repeat 2",
    "--type SS-NP-SS --engine silent --bits 64 --batch 9 --delta-modulus alice",
    "--type type_8 --key paper-1024 --bits 3 --batch 2",
    "--type PN-NP-PP --engine oblivious --rtt-ms 4 --mbit 100 --batch 40",
    "--type PN-NP-SS --engine oblivious --batch 300 --delta-modulus 2^64",
    "--type type_3 --key paper-1024 --bits 4 --batch 3",
    "--type PP-PP-NP --key paper-1024 --bits 1 --batch 5",
]


@pytest.mark.parametrize("words", grid(FIGURES, FIGURES[::2][:2]))
def test_figures(capsys, words: str) -> None:
    status, found = command(capsys, *(word.replace("_", " ") for word in words.split()))
    assert status == 0
    assert found["success"] is True
    assert found["wrong"] == 0
    assert found["rounds"] == found["predicted_rounds"]
    for way in ("alice_to_bob", "bob_to_alice"):
        payload = found[f"payload_{way}"]
        assert payload == found[f"predicted_payload_{way}"]
        assert (found[f"bytes_{way}"] > payload) if payload else (found[f"bytes_{way}"] == 0)
    assert found["seconds"] > 0
    assert found["setup_seconds"] > 0
    assert found["per_second"] == pytest.approx(found["batch"] / found["seconds"])
    assert len(found["seconds_of_runs"]) == len(found["processor_seconds_of_runs"]) == found["repeat"]
    assert found["processor_seconds"] > 0


def test_the_emulated_link_delays_every_round(capsys) -> None:
    words = ("--type", "PN-NP-PP", "--engine", "oblivious", "--rtt-ms", "50", "--batch", "10")
    found = command(capsys, *words)[1]
    assert found["rounds"] >= 4
    assert found["seconds"] >= found["rounds"] * 0.025 - 0.025


def test_people_get_a_table(capsys) -> None:
    with pytest.raises(SystemExit) as leave:
        main(["bench", "comparison", "--engine", "oblivious", "--batch", "10"])
    assert not leave.value.code
    printed = capsys.readouterr()
    assert "wrong results" in printed.out
    assert "shared [oblivious]" in printed.out
    assert "comparing the results" in printed.err


def test_wrong_results_are_counted(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "plain_results", lambda pairs: [1 - d for d in plain_results(pairs)])
    status, found = command(capsys, "--engine", "oblivious", "--batch", "20", "--repeat", "2")
    assert found["wrong"] == 40
    assert status == 70


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("--type", "XX-SS-SS"), 2, "usage"),
        (("--modulus", "5"), 2, "no-route"),
        (("--modulus", "carol"), 2, "usage"),
        (("--delta-modulus", "1"), 2, "usage"),
        (("--key", "512"), 78, "key"),
        (("--batch", "0"), 2, "usage"),
        (("--engine", "magic"), 2, "usage"),
        (("--rtt-ms", "-1"), 2, "usage"),
    ],
)
def test_bad_words_start_nothing(capsys, started, words: tuple[str, ...], status: int, code: str) -> None:
    found = command(capsys, *words)
    assert (found[0], found[1]["error"]["code"]) == (status, code)
    assert not started


def test_the_time_is_bounded_and_nothing_stays_behind(capsys, started) -> None:
    words = ("--type", "PN-NP-PP", "--batch", "20000", "--bits", "128", "--timeout", "1")
    status, found = command(capsys, *words)
    assert (status, found["error"]["code"]) == (70, "deadline")
    assert "--timeout" in found["error"]["hint"]
    assert len(started) == 2
    assert all(process.poll() is not None for process in started)


def test_a_process_that_dies_is_told(monkeypatch: pytest.MonkeyPatch, started) -> None:
    monkeypatch.setattr(measurement, "_PROGRAM", (sys.executable, "-c", "raise SystemExit('out of paper')"))
    with pytest.raises(DuettoError, match=r"process of bob ended without a result. out of paper"):
        measurement.measure(SMALL, silent)
    assert all(process.poll() is not None for process in started)


def test_a_process_killed_in_the_middle_ends_the_other(monkeypatch: pytest.MonkeyPatch, started) -> None:
    real = measurement._Party.hear

    def hear(self):
        if self.role is Role.ALICE:
            started[0].kill()
        return real(self)

    monkeypatch.setattr(measurement._Party, "hear", hear)
    with pytest.raises(DuettoError) as caught:
        measurement.measure(replace(SMALL, batch=50_000), silent)
    assert caught.value.stable_code == "bench-process"
    assert "alice" in str(caught.value)
    assert all(process.poll() is not None for process in started)


def test_both_processes_must_measure_the_same(monkeypatch: pytest.MonkeyPatch, started) -> None:
    real = measurement._tasks

    def tasks(*arguments):
        made = real(*arguments)
        made[Role.BOB]["case"]["repeat"] = 7
        return made

    monkeypatch.setattr(measurement, "_tasks", tasks)
    with pytest.raises(DuettoError) as caught:
        measurement.measure(SMALL, silent)
    assert caught.value.stable_code == "job-differs"


def test_the_program_that_runs_is_measured_and_not_what_lies_around(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Sources in the current folder, such as a clone without compiled kernels, are not what was asked for."""
    for name in ("parties", "smc"):
        package = tmp_path / name
        package.mkdir()
        (package / "__init__.py").write_text("raise SystemExit('the wrong program')\n")
    monkeypatch.chdir(tmp_path)
    assert measurement.measure(SMALL, silent)["wrong"] == 0


def test_a_party_leaves_when_its_parent_is_gone() -> None:
    pairs = make_pairs(8, 20, seeded())
    with ThreadPoolExecutor(1) as pool:
        x, y = Dealer(KEYS, pool).deal_inputs(SMALL.type, 8, 1 << 64, pairs)
    holdings = {role: {"x": pack(x[role]), "y": pack(y[role])} for role in Role}
    task = measurement._tasks(SMALL, KEYS, holdings)[Role.BOB]
    process = subprocess.Popen(
        measurement._PROGRAM,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=measurement._environment(),
        text=True,
    )
    try:
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["listening"] > 0
        process.stdin.close()
        assert process.wait(timeout=30) == 1
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16383, 16384, FRAME_BYTES])
@pytest.mark.parametrize("sequence", [0, 1, 1 << 40])
def test_packets_are_measured_exactly(size: int, sequence: int) -> None:
    frame = Frame(sequence, "a-message", 3, 5 * size, bytes(size))
    assert packet_bytes(frame) == len(write(frame))


@pytest.mark.parametrize("bits", [1, 2, 3, 32, 128])
@pytest.mark.parametrize("count", [1, 7, 500])
def test_pairs_are_in_range_and_hold_the_edges(bits: int, count: int) -> None:
    pairs = make_pairs(bits, count, seeded())
    top = (1 << bits) - 1
    assert len(pairs) == count
    assert all(0 <= value <= top for pair in pairs for value in pair)
    if count == 500:
        assert {(0, top), (top, 0), (0, 0), (top, top), (0, 1), (top, top - 1)} <= set(pairs)


def test_the_plain_comparison() -> None:
    assert plain_results([(0, 0), (0, 1), (1, 0), (5, 5), (4, 5)]) == [1, 0, 1, 1, 0]


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("modulus", [2, 1 << 64, Role.ALICE, Role.BOB], ids=str)
def test_dealt_holdings_survive_the_way_and_open(form: Form, modulus) -> None:
    with ThreadPoolExecutor(1) as pool:
        dealer = Dealer(KEYS, pool)
        dealt = dealer.deal([0, 1, 1, 0], form, modulus)
        sent = {role: json.loads(json.dumps(pack(value))) for role, value in dealt.items()}
        arrived = {role: unpack(fields, KEYS[role.other].public) for role, fields in sent.items()}
        assert dealer.open(form, arrived, modulus) == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("form", "alice", "bob"),
    [
        (Form.PP, Plain([1]), Plain([0])),
        (Form.SS, Share([1], 2), Share([1], 3)),
        (Form.SS, Share([1], 3), Share([1], 3)),
        (Form.SS, Plain([1]), Plain([1])),
        (Form.ES, Plain([1]), Plain([1])),
        (Form.PN, Plain([1]), Plain([1])),
    ],
)
def test_what_is_not_in_the_form_is_not_opened(form: Form, alice, bob) -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(DuettoError, match="do not belong to one batch"):
        Dealer(KEYS, pool).open(form, {Role.ALICE: alice, Role.BOB: bob}, 2)


def test_the_usual_modulus() -> None:
    assert usual_modulus("paillier", 32) is Role.ALICE
    assert usual_modulus("oblivious", 64) == 1 << 64
    assert usual_modulus("oblivious", 65) is Role.ALICE


def test_no_secret_is_shown() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert str(int(KEYS[Role.ALICE].p)) not in repr(Dealer(KEYS, pool))
    assert Case.from_json(json.loads(json.dumps(SMALL.to_json()))) == SMALL
