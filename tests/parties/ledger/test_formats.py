"""Entries of every format: old ledgers keep counting, and nothing passes for another format."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.errors import BudgetError
from parties.ledger.accounting import DELTA_TOTAL, Account, Budget, RunLimits, Spent
from parties.ledger.book import Ledger
from parties.ledger.entries import (
    APPROVED,
    CANCELLED,
    COUNTERSIGNED,
    DECISIONS,
    DENIED,
    DUE,
    EXACT,
    FORMAT,
    RELEASES,
    RUN,
    SPENT,
    VERDICT,
    Entry,
    LedgerError,
    pack,
    parse_line,
    unpack,
)
from smc.analyses.studies.loss import Loss

DATA = Path(__file__).parent / "data"
OLD = "format-1-north.jsonl"


@pytest.fixture
def old(tmp_path):
    return Ledger(Path(shutil.copy(DATA / OLD, tmp_path / "ledger.jsonl")))


def test_an_old_ledger_counts_and_grows(old):
    before = old.path.read_bytes()
    patients = Account.of("patients")
    assert old.spending(patients, "south").loss == Loss(Fraction(71, 60))
    assert [entry.format for entry in old.entries()] == [1] * 7
    assert old.last_seen("south")[0] == 4
    with pytest.raises(BudgetError):
        old.spend("ab" * 32, patients, "patients", "south", Loss(Fraction(1)), Budget(Fraction(2)))
    loss = Loss(Fraction(1, 5), Fraction(1, 2**40), Fraction(1, 1000))
    entry = old.spend("ab" * 32, patients, "patients", "south", loss, Budget(Fraction(3)))
    assert (entry.format, entry.sequence, entry.loss) == (FORMAT, 7, loss)
    assert old.path.read_bytes() == before + entry.line()
    assert old.spending(patients, "south").loss == Loss(Fraction(71, 60)) + loss


def test_a_data_set_that_joins_a_population_brings_its_losses(old):
    people = Account("people", frozenset({"patients", "visits"}))
    assert old.spending(people, "south").loss.epsilon == Fraction(71, 60)
    old.spend("ab" * 32, people, "visits", "south", Loss(Fraction(1, 60)), Budget(Fraction(2)))
    assert old.spending(people, "south").loss.epsilon == Fraction(72, 60)
    assert old.spending(Account.of("patients"), "south").loss.epsilon == Fraction(71, 60)
    assert not old.spending(Account.of("staff"), "south")


@pytest.mark.parametrize(
    "change",
    [
        {"format": 1},
        {"format": 2},
        {"format": 3},
        {"format": True},
        {"delta": "0"},
        {"account": "patients", "delta": "0", "format": 2, "rho": "0", "peer_role": "", "peer_seen": ""},
    ],
)
def test_an_old_entry_does_not_pass_for_a_new_one(old, change):
    first, *rest = old.path.read_bytes().splitlines(keepends=True)
    old.path.write_bytes(json.dumps(json.loads(first) | change).encode() + b"\n" + b"".join(rest))
    with pytest.raises(LedgerError):
        old.entries()


def test_a_new_entry_does_not_pass_for_an_old_one(tmp_path):
    ledger = Ledger(tmp_path / "l.jsonl")
    entry = ledger.spend(
        "ab" * 32, Account.of("d"), "d", "south", Loss(rho=Fraction(1, 8)), Budget(Fraction(20))
    )
    for change in ({"format": 1}, {"delta": "1"}, {"rho": "1"}, {"account": "1"}):
        ledger.path.write_bytes(replace(entry, **change).line())
        with pytest.raises(LedgerError, match="entry 0"):
            ledger.entries()


@pytest.mark.parametrize("number", ["", "-1", "1e9", "1/0", "0x1", "1/-2", "1 ", "inf", "9" * 2000, "١"])
@pytest.mark.parametrize("field", ["epsilon", "delta", "rho"])
def test_impossible_numbers_are_no_entry(number, field):
    entry = Entry(0, "0" * 64, "t", "spent", "j", "d", "p", "1", account="d")
    with pytest.raises(ValueError, match="impossible"):
        parse_line(replace(entry, **{field: number}).seal().line())


def test_gaussian_noise_alone_is_checked_and_written(tmp_path):
    ledger = Ledger(tmp_path / "l.jsonl")
    loss, account = Loss(rho=Fraction(1, 50)), Account.of("d")
    one = loss.epsilon_at(DELTA_TOTAL)
    budget = Budget(2 * one)
    for number in range(3):
        ledger.spend(f"{number:064x}", account, "d", "south", loss, budget)
    total = ledger.spending(account, "south")
    assert total.loss.rho == Fraction(3, 50)
    assert total.epsilon_at(DELTA_TOTAL) < 3 * one
    fourth = Spent(total.loss, total.squares) + loss
    assert fourth.epsilon_at(DELTA_TOTAL) > 2 * one
    with pytest.raises(BudgetError):
        ledger.spend("ab" * 32, account, "d", "south", loss, budget)
    assert ledger.spending(account, "south").epsilon_at(DELTA_TOTAL) <= 2 * one


texts = st.text(max_size=20)
fractions = st.fractions(min_value=0).map(str)


numbers = st.integers(-1, 2**40)
fields = {
    **dict.fromkeys(("epsilon", "delta", "rho"), fractions),
    **dict.fromkeys(("peer_sequence", "uid"), numbers),
    **dict.fromkeys(("dataset", "account", "subject", "peer_hash", "signature", "peer_role"), texts),
    **dict.fromkeys(("peer_seen", "persons", "rule", "actor"), texts),
}


@given(
    st.integers(0, 2**40),
    st.tuples(texts, texts, texts, texts),
    st.sampled_from([*RELEASES, RUN, COUNTERSIGNED, *DECISIONS]),
    st.fixed_dictionaries(fields),
)
def test_every_entry_is_read_back_with_the_fields_of_its_event(sequence, common, event, further):
    previous, time, job, peer = common
    written = Entry(sequence, previous, time, event, job, peer=peer, **further).seal()
    entry = parse_line(written.line())
    content = json.loads(written.line())
    for name, value in further.items():
        default = Entry.__dataclass_fields__[name].default
        assert getattr(entry, name) == (value if name in content else default)
    assert entry.seal() == entry
    assert ("epsilon" in content, "persons" in content, "actor" in content) == (
        event == SPENT,
        event == EXACT,
        event in DECISIONS,
    )
    old = replace(written, format=1, account=written.dataset).seal()
    if event in (SPENT, COUNTERSIGNED):
        assert parse_line(old.line()).epsilon == written.epsilon
    else:
        with pytest.raises(ValueError, match="not an entry"):
            parse_line(old.line())


def test_an_entry_of_one_event_does_not_pass_for_another(tmp_path):
    ledger = Ledger(tmp_path / "l.jsonl")
    entry = ledger.decide(APPROVED, "ab" * 32, "south", actor="Ann", uid=7)
    for event in (DENIED, CANCELLED, RUN, SPENT):
        line = entry.line().replace(b'"approved"', f'"{event}"'.encode())
        ledger.path.write_bytes(line)
        with pytest.raises(LedgerError, match="entry 0"):
            ledger.entries()


def test_a_ledger_of_format_2_counts_and_grows(tmp_path):
    ledger = Ledger(Path(shutil.copy(DATA / "format-2-north.jsonl", tmp_path / "ledger.jsonl")))
    before = ledger.path.read_bytes()
    people = Account("people", frozenset({"patients"}))
    assert ledger.spending(people, "south").loss == Loss(Fraction(5, 6), Fraction(1, 2**39), Fraction(1, 50))
    assert [entry.format for entry in ledger.entries()] == [2] * 7
    assert ledger.last_seen("south") == (4, ledger.entries()[5].peer_hash)
    ledger.begin("ab" * 32, people, "patients", "south", RunLimits("r"))
    entry = ledger.spend("ab" * 32, people, "patients", "south", Loss(Fraction(1, 6)), Budget(Fraction(9)))
    assert ledger.path.read_bytes().startswith(before)
    assert (entry.format, entry.sequence) == (FORMAT, 8)
    assert Ledger(ledger.path).spending(people, "south").loss.epsilon == 1


@given(st.integers(0, 2**64 - 1), st.binary(min_size=32, max_size=32))
def test_heads_are_packed(number, digest):
    assert unpack(pack(number, digest.hex())) == (number, digest.hex())


def test_what_becomes_of_covert_runs_is_written_once_and_counts_nowhere(tmp_path):
    """A peer that breaks off again and again adds one entry, and a verdict that is filed twice is one."""
    book = Ledger(tmp_path / "ledger.jsonl")
    job, patients = "ab" * 32, Account.of("patients")
    book.begin(job, patients, "patients", "south", RunLimits("some", 5, 5))
    for why in ("broken off", "broken off", "coin"):
        book.note(DUE, job, "south", why=why)
    said = {"about": "south", "auditor": "office", "outcome": "convicted"}
    first = book.note(VERDICT, job, "south", **said, subject="cd" * 32)
    assert book.note(VERDICT, job, "south", **said, subject="cd" * 32) == first
    book.note(VERDICT, job, "south", **{**said, "outcome": "cleared"}, subject="ef" * 32)
    entries = Ledger(book.path).entries()
    assert [entry.event for entry in entries] == [RUN, DUE, DUE, VERDICT, VERDICT]
    assert [entry.outcome for entry in entries[3:]] == ["convicted", "cleared"]
    assert all(parse_line(entry.line()) == entry for entry in entries)
    assert (book.to_sign(), book.spending(patients, "south").loss) == ([], Loss())
    assert book.runs(patients, "south", "some").ever == 1
