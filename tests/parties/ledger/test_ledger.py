"""The ledger: exact sums, one order of spending, and tampering."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest

from parties.errors import BudgetError, PolicyError
from parties.ledger import book
from parties.ledger.accounting import Account, Budget, RunLimits, Runs
from parties.ledger.book import Ledger
from parties.ledger.entries import APPROVED, LedgerError
from parties.ledger.signed import Signed
from smc.analyses.studies.loss import Loss
from tests.support.clocks import standing


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.jsonl")


def job(number):
    return f"{number:064x}"


def spend(ledger, number, epsilon="1/2", limit="10", dataset="d", peer="south"):
    loss, budget = Loss(Fraction(epsilon)), Budget(Fraction(limit))
    return ledger.spend(job(number), Account.of(dataset), dataset, peer, loss, budget)


def spent(ledger, dataset="d", peer="south"):
    return ledger.spending(Account.of(dataset), peer).loss.epsilon


def test_sums_are_exact_and_by_data_set_and_peer(ledger):
    for number in range(3):
        spend(ledger, number, "1/10", "3/10")
    assert spent(ledger) == Fraction(3, 10)
    assert spent(ledger, "d", "west") == spent(ledger, "e", "south") == 0
    with pytest.raises(BudgetError, match=r"0\.3 spent makes epsilon 0\.300001 of 0\.3"):
        spend(ledger, 9, "1/1000000", "3/10")
    spend(ledger, 4, "1/10", "3/10", dataset="e")
    assert spent(ledger) == Fraction(3, 10)
    assert Ledger(ledger.path).entries() == ledger.entries()
    assert ledger.path.stat().st_mode & 0o077 == 0


def test_a_job_spends_once_and_nothing_is_no_loss(ledger):
    spend(ledger, 1)
    with pytest.raises(LedgerError, match="before"):
        spend(ledger, 1)
    with pytest.raises(LedgerError):
        spend(ledger, 2, "0")


def test_odd_denominators_neither_stop_the_account_nor_pass_its_budget(ledger):
    spend(ledger, 0, "9/10", "2")
    for i in range(1, 170):
        spend(ledger, i, f"{10**20 + 2 * i + 1}/{10**29 + 9 + 2 * i}", "2")
    spend(ledger, 200, "1/10", "2")
    with pytest.raises(BudgetError, match=r"makes epsilon 2\.00001 of 2"):
        spend(ledger, 201, "1", "2")
    spend(ledger, 202, "9/10", "2")


def test_a_loss_of_too_many_digits_is_refused(ledger):
    with pytest.raises(BudgetError, match="digits") as caught:
        spend(ledger, 1, f"1/{2**512}")
    assert not isinstance(caught.value, LedgerError)
    assert ledger.entries() == ()


def test_runs_are_counted_by_rule_people_and_peer(ledger):
    people = Account("people", frozenset({"visits", "patients"}))
    ledger = Ledger(ledger.path, standing("2026-03-01T12:00:00Z"))
    ledger.begin(job(0), people, "visits", "south", RunLimits("tables"))
    assert ledger.runs(people, "south", "tables") == Runs(1, 1)
    later = Ledger(ledger.path, standing("2026-03-02T12:00:01Z"))
    assert later.runs(people, "south", "tables") == Runs(0, 1)
    assert later.runs(people, "south", "sizes") == later.runs(people, "west", "tables") == Runs()
    assert later.runs(Account.of("staff"), "south", "tables") == Runs()
    # The other data set about the same people.
    later.begin(job(1), people, "patients", "south", RunLimits("tables", 1, 2))
    assert later.runs(people, "south", "tables") == Runs(1, 2)
    for limits, key in ((RunLimits("tables", None, 2), "runs_total"), (RunLimits("tables", 1, 9), "per_day")):
        with pytest.raises(PolicyError, match=key) as caught:
            later.begin(job(2), people, "patients", "south", limits)
        assert caught.value.hint
    later.begin(job(2), people, "patients", "south", RunLimits("sizes", 1, 1))
    with pytest.raises(LedgerError, match="before"):
        later.begin(job(2), people, "patients", "south", RunLimits("sizes"))


def test_a_peer_that_proposes_and_begins_without_end_does_not_fill_the_ledger(ledger, monkeypatch):
    monkeypatch.setattr(book, "IDLE_PER_DAY", 6)
    account = Account.of("d")

    def whole(number):
        """A job of this party's own that comes to its result."""
        draft = ledger.decide(APPROVED, job(2 * number), "south", rule="r")
        ledger.decide(APPROVED, job(2 * number + 1), "south", rule="r", subject=draft.hash)
        begun = ledger.begin(job(2 * number + 1), account, "d", "south", RunLimits("r"))
        ledger.countersign(begun, number, job(number), Signed())

    for number in range(10):
        whole(number)
    for number in range(100, 103):
        ledger.decide(APPROVED, job(number), "south", rule="r")
        ledger.begin(job(number), account, "d", "south", RunLimits("r"))
    size = ledger.path.stat().st_size
    for _ in range(9):
        for attempt in (
            lambda: ledger.decide(APPROVED, job(200), "south", rule="r"),
            lambda: ledger.begin(job(200), account, "d", "south", RunLimits("r")),
        ):
            with pytest.raises(PolicyError, match="came to no result") as caught:
                attempt()
            assert "tomorrow" in caught.value.hint
    assert ledger.path.stat().st_size == size
    ledger.adopt((job(number), "d", "south") for number in range(300, 320))
    # People still decide, and other peers are not held up.
    ledger.decide(APPROVED, job(200), "south", actor="Ann", uid=1)
    ledger.begin(job(201), account, "d", "west", RunLimits("r"))
    later = Ledger(ledger.path, standing("2999-01-01T00:00:00Z"))
    later.begin(job(202), account, "d", "south", RunLimits("r"))


def test_threads_cannot_pass_the_runs_together(ledger):
    def attempt(number):
        try:
            Ledger(ledger.path).begin(job(number), Account.of("d"), "d", "south", RunLimits("r", None, 3))
        except PolicyError:
            return "refused"
        return "begun"

    with ThreadPoolExecutor(12) as pool:
        assert sorted(pool.map(attempt, range(12))) == ["begun"] * 3 + ["refused"] * 9


def test_a_ledger_that_was_read_before_is_checked_all_the_same(ledger):
    """An object that has read the ledger answers as one that reads it for the first time."""
    for number in range(3):
        spend(ledger, number)
    good = ledger.path.read_bytes()
    lines = good.splitlines(keepends=True)
    changed = [
        good.replace(b'"1/2"', b'"0/2"', 1),
        good[:-20] + b"x" * 19 + b"\n",
        lines[2],
        lines[0] + lines[2],
    ]
    for data in (*changed, b"".join(lines[:2]), b"", good, good + lines[2], lines[0], good):
        ledger.path.write_bytes(data)
        answers = []
        for reader in (ledger, Ledger(ledger.path)):
            try:
                answers.append(reader.entries())
            except LedgerError as error:
                answers.append(error.what)
        assert answers[0] == answers[1]
        assert isinstance(answers[0], str) == (data in (*changed, good + lines[2]))
    assert len(ledger.entries()) == 3


@pytest.mark.parametrize("lines", [1, 2, 4])
def test_any_change_of_a_whole_line_breaks_the_chain(ledger, lines):
    for number in range(lines):
        spend(ledger, number)
    data = ledger.path.read_bytes()
    first = json.loads(data.splitlines()[0])
    changed = [
        data.replace(b'"1/2"', b'"0/2"', 1),
        data.replace(b'"south"', b'"sauth"', 1),
        json.dumps(first | {"epsilon": "1/4"}).encode() + data[data.index(b"\n") :],
        json.dumps({key: first[key] for key in first if key != "time"}).encode() + b"\n",
        b"\n" + data,
        b"null\n" + data,
        data.splitlines(keepends=True)[0] * 2,
    ]
    if lines > 1:
        changed += [data[data.index(b"\n") + 1 :], b"".join(reversed(data.splitlines(keepends=True)))]
    for tampered in changed:
        ledger.path.write_bytes(tampered)
        with pytest.raises(LedgerError) as caught:
            spent(ledger)
        assert caught.value.hint
        with pytest.raises(LedgerError):
            spend(ledger, 99)
        assert ledger.path.read_bytes() == tampered


def test_a_sealed_forgery_in_the_middle_breaks_the_link(ledger):
    for number in range(3):
        spend(ledger, number)
    entries = ledger.entries()
    forged = replace(entries[1], epsilon="1/1000").seal()
    ledger.path.write_bytes(entries[0].line() + forged.line() + entries[2].line())
    with pytest.raises(LedgerError, match="entry 2"):
        ledger.entries()


def test_threads_cannot_pass_the_limit_together(ledger):
    def attempt(number):
        try:
            spend(Ledger(ledger.path), number, "1", "3")
        except BudgetError as error:
            return error.stable_code
        return "spent"

    with ThreadPoolExecutor(12) as pool:
        assert sorted(pool.map(attempt, range(12))) == ["budget"] * 9 + ["spent"] * 3
    assert spent(ledger) == 3


def _attempts(path, first, start, passed):
    start.wait()
    for number in range(first, first + 5):
        try:
            spend(Ledger(path), number, "1", "4")
        except BudgetError:
            continue
        with passed.get_lock():
            passed.value += 1


def test_processes_cannot_pass_the_limit_together(ledger):
    spawn = multiprocessing.get_context("spawn")
    start, passed = spawn.Event(), spawn.Value("i", 0)
    workers = [spawn.Process(target=_attempts, args=(ledger.path, 100 * i, start, passed)) for i in range(2)]
    for worker in workers:
        worker.start()
    start.set()
    for worker in workers:
        worker.join(60)
    assert passed.value == 4
    assert spent(ledger) == 4


def test_a_ledger_without_folder_is_an_error(tmp_path):
    with pytest.raises(LedgerError):
        Ledger(tmp_path / "none" / "ledger.jsonl").entries()


def test_a_copy_that_cannot_be_written_can_be_read(ledger, monkeypatch):
    """What an auditor gets on a medium: it is read and checked, and a loss cannot be written."""
    spend(ledger, 1)
    opened = os.open

    def read_only(path, flags, *rest):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, "Read-only file system")
        return opened(path, flags, *rest)

    monkeypatch.setattr(os, "open", read_only)
    copy = Ledger(ledger.path)
    assert len(copy.entries()) == 1
    with pytest.raises(LedgerError, match="Read-only file system"):
        spend(copy, 2)
    assert len(Ledger(ledger.path).entries()) == 1
