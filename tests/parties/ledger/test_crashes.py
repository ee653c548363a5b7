"""A party killed anywhere in the gate: what may have been released is spent, and the chain stays whole."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
from fractions import Fraction

import pytest

from parties.errors import BudgetError
from parties.ledger.accounting import Account, Budget, Spent
from parties.ledger.book import Ledger
from parties.ledger.entries import COUNTERSIGNED, EXACT, RUN, SPENT
from smc.analyses.studies.loss import Loss

LOSS = Loss(Fraction(1, 3), Fraction(1, 2**50), Fraction(1, 100))
ACCOUNT = Account.of("d")
EVENTS = [RUN, EXACT, SPENT, COUNTERSIGNED]
STAGES = 28
"""Calls of the operating system for a job. Each of the four entries takes six: write and fsync of the file,
fsync and close of the folder, close of the file, close of the lock. Beside them the ledger is looked at four
times."""

KILLED = """
import os, signal, sys, threading
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from commons.logs import files
from parties.ledger.accounting import Account, Budget, RunLimits
from parties.ledger.book import Ledger
from parties.ledger.commit import LedgerCommit, make_gate
from smc.analyses.studies.loss import Loss
from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.forms import Role

folder = Path(sys.argv[1])
step = calls = 0

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def counted(function):
    def call(*arguments):
        global calls
        if threading.current_thread() is threading.main_thread():
            if calls == step:
                die()
            calls += 1
        return function(*arguments)
    return call

class Os:
    def __getattr__(self, name):
        found = getattr(os, name)
        return counted(found) if name in ("pwrite", "fsync", "close") else found

def killed(name):
    # the job in a process of its own, which is killed before the call of that number, or at the end
    global folder, step
    if process := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    folder, step = folder / name, int(name)
    folder.mkdir()
    for number, stream in ((1, "said"), (2, "calls")):
        os.dup2(os.open(folder / stream, os.O_CREAT | os.O_WRONLY, 0o600), number)
    job()

files.os = Os()
keys = {role: Ed25519PrivateKey.generate() for role in Role}
ends = dict(zip(Role, memory_pair(5.0), strict=True))
loss, budget = Loss(Fraction(1, 3), Fraction(1, 2**50), Fraction(1, 100)), Budget(Fraction(9))

def side(role):
    spending = LedgerCommit(
        bytes(32), role, Account.of("d"), "d", role.other.value, loss, budget, keys[role],
        keys[role.other].public_key(), lambda is_released: nullcontext("ab" * 32),
    )
    channel = Channel(ends[role])
    if role is Role.ALICE:
        send = channel.send
        def said(message):
            print(type(message).__name__, flush=True)
            send(message)
        channel.send = said
    ledger = Ledger(folder / (role.value + ".jsonl"))
    ledger.begin(bytes(32).hex(), Account.of("d"), "d", role.other.value, RunLimits("r"))
    make_gate(ledger, spending)(channel)

def job():
    other = threading.Thread(target=side, args=(Role.BOB,), daemon=True)
    other.start()
    side(Role.ALICE)
    print("passed", flush=True)
    print(calls, file=sys.stderr, flush=True)
    die()

print(*map(killed, sys.argv[2:]))
"""
END = 99
STEPS = [*range(STAGES), END]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A folder for each step, of a job that was killed there."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-c", KILLED, str(folder), *map(str, STEPS)]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True, text=True)
    assert done.stdout.split() == [str(-signal.SIGKILL)] * len(STEPS)
    return {step: folder / str(step) for step in STEPS}


@pytest.mark.attack
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_every_stage_of_the_gate(killed, step):
    said = (killed[step] / "said").read_bytes().split()
    ledger = Ledger(killed[step] / "alice.jsonl")
    events = [entry.event for entry in ledger.entries()]
    assert events == EVENTS[: len(events)]
    assert (b"Announced" in said) or len(events) < 2
    assert (b"Written" in said) <= (len(events) >= 3)
    assert (b"passed" in said) <= (len(events) == 4)
    assert (step == END) == (b"passed" in said)
    before = ledger.spending(ACCOUNT, "bob")
    assert before == (Spent() + LOSS if SPENT in events else Spent())
    ledger.spend("ab" * 32, ACCOUNT, "d", "bob", LOSS, Budget(Fraction(9)))
    assert ledger.spending(ACCOUNT, "bob") == before + LOSS


def test_the_stages_are_all_there_are(killed):
    assert int((killed[END] / "calls").read_bytes()) == STAGES


def _attempts(path, first, start, passed):
    start.wait()
    for number in range(first, first + 5):
        try:
            loss, budget = Loss(rho=Fraction(1, 100)), Budget(Fraction(2))
            Ledger(path).spend(f"{number:064x}", ACCOUNT, "d", "bob", loss, budget)
        except BudgetError:
            continue
        with passed.get_lock():
            passed.value += 1


def test_processes_race_for_the_last_of_a_budget_of_gaussian_noise(tmp_path):
    fit = 0
    total = Spent()
    while (total + Loss(rho=Fraction(1, 100))).epsilon_at(Budget(Fraction(2)).delta) <= 2:
        total += Loss(rho=Fraction(1, 100))
        fit += 1
    assert 0 < fit < 10
    spawn = multiprocessing.get_context("spawn")
    start, passed = spawn.Event(), spawn.Value("i", 0)
    path = tmp_path / "ledger.jsonl"
    workers = [spawn.Process(target=_attempts, args=(path, 100 * i, start, passed)) for i in range(2)]
    for worker in workers:
        worker.start()
    start.set()
    for worker in workers:
        worker.join(60)
    assert passed.value == fit
    assert Ledger(path).spending(ACCOUNT, "bob") == total
