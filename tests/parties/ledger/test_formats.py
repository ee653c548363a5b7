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
from parties.ledger.accounting import DELTA_TOTAL, Account, Budget, Spent
from parties.ledger.book import Ledger
from parties.ledger.entries import FORMAT, Entry, LedgerError, pack, parse_line, unpack
from smc.analyses.loss import Loss

DATA = Path(__file__).parent / "data"
OLD = "format-1-north.jsonl"


@pytest.fixture
def old(tmp_path):
    return Ledger(Path(shutil.copy(DATA / OLD, tmp_path / "ledger.jsonl")))


def test_an_old_ledger_counts_and_grows(old):
    before = old.path.read_bytes()
    patients = Account.of("patients")
    assert old.spent(patients, "south").loss == Loss(Fraction(71, 60))
    assert [entry.format for entry in old.entries()] == [1] * 7
    assert old.last_seen("south")[0] == 4
    with pytest.raises(BudgetError):
        old.spend("ab" * 32, patients, "patients", "south", Loss(Fraction(1)), Budget(Fraction(2)))
    loss = Loss(Fraction(1, 5), Fraction(1, 2**40), Fraction(1, 1000))
    entry = old.spend("ab" * 32, patients, "patients", "south", loss, Budget(Fraction(3)))
    assert (entry.format, entry.sequence, entry.loss) == (FORMAT, 7, loss)
    assert old.path.read_bytes() == before + entry.line()
    assert old.spent(patients, "south").loss == Loss(Fraction(71, 60)) + loss


def test_a_data_set_that_joins_a_population_brings_its_losses(old):
    people = Account("people", frozenset({"patients", "visits"}))
    assert old.spent(people, "south").loss.epsilon == Fraction(71, 60)
    old.spend("ab" * 32, people, "visits", "south", Loss(Fraction(1, 60)), Budget(Fraction(2)))
    assert old.spent(people, "south").loss.epsilon == Fraction(72, 60)
    assert old.spent(Account.of("patients"), "south").loss.epsilon == Fraction(71, 60)
    assert not old.spent(Account.of("staff"), "south")


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
        parse_line(replace(entry, **{field: number}).sealed().line())


def test_gaussian_noise_alone_is_checked_and_written(tmp_path):
    ledger = Ledger(tmp_path / "l.jsonl")
    loss, account = Loss(rho=Fraction(1, 50)), Account.of("d")
    one = loss.epsilon_at(DELTA_TOTAL)
    budget = Budget(2 * one)
    for number in range(3):
        ledger.spend(f"{number:064x}", account, "d", "south", loss, budget)
    total = ledger.spent(account, "south")
    assert total.loss.rho == Fraction(3, 50)
    assert total.epsilon_at(DELTA_TOTAL) < 3 * one
    fourth = Spent(total.loss, total.squares) + loss
    assert fourth.epsilon_at(DELTA_TOTAL) > 2 * one
    with pytest.raises(BudgetError):
        ledger.spend("ab" * 32, account, "d", "south", loss, budget)
    assert ledger.spent(account, "south").epsilon_at(DELTA_TOTAL) <= 2 * one


texts = st.text(max_size=20)
fractions = st.fractions(min_value=0).map(str)


@given(
    st.builds(
        Entry,
        *(
            st.integers(0, 2**40),
            texts,
            texts,
            st.sampled_from(["spent", "countersigned"]),
            texts,
            texts,
            texts,
        ),
        epsilon=fractions,
        peer_sequence=st.integers(-1, 2**40),
        account=texts,
        delta=fractions,
        rho=fractions,
    )
)
def test_every_entry_is_read_back(entry):
    assert parse_line(entry.sealed().line()) == entry.sealed()
    old = replace(entry, format=1, account=entry.dataset, delta="0", rho="0").sealed()
    assert parse_line(old.line()) == old


@given(st.integers(0, 2**64 - 1), st.binary(min_size=32, max_size=32))
def test_heads_are_packed(number, digest):
    assert unpack(pack(number, digest.hex())) == (number, digest.hex())
