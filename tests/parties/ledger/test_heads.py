"""Heads of both ledgers: a ledger that has gone back, a fork, a lie, and what is kept."""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parties.ledger.accounting import Account, Budget
from parties.ledger.book import Ledger, open_ledger
from parties.ledger.doubts import Whose
from parties.ledger.entries import NOTHING, LedgerError, pack
from parties.ledger.heads import Heads, Statement, ledger_doubts, open_heads
from parties.ledger.signed import Signed
from smc.analyses.studies.loss import Loss
from smc.errors import ProtocolViolation


@dataclass
class Side:
    name: str
    home: object
    key: Ed25519PrivateKey
    ledger: Ledger
    heads: Heads

    def spend(self, number, peer="west"):
        loss, budget = Loss(Fraction(1, 8)), Budget(Fraction(99))
        return self.ledger.spend(f"{number:064x}", Account.of("d"), "d", peer, loss, budget)


@pytest.fixture
def sides(tmp_path):
    made = []
    for name in ("north", "south"):
        home, key = tmp_path / name, Ed25519PrivateKey.generate()
        home.mkdir()
        made.append(Side(name, home, key, open_ledger(home), open_heads(home, name, key)))
    return made


def meet(one, other):
    """Both sides of a handshake; returns the error of each, or None."""
    said = [one.heads.statement(other.name), other.heads.statement(one.name)]
    errors = []
    for me, peer, mine, theirs in ((one, other, *said), (other, one, *said[::-1])):
        try:
            me.heads.check_own(peer.name, peer.key.public_key(), theirs)
            me.heads.check_peer(peer.name, theirs, mine)
        except LedgerError as error:
            errors.append(error)
        else:
            errors.append(None)
    return errors


def test_heads_grow_and_are_kept(sides):
    north, south = sides
    assert meet(north, south) == [None, None]
    assert north.heads.newest_seen("south") == NOTHING
    for number in range(3):
        entry = south.spend(number)
        assert meet(north, south) == [None, None]
        assert north.heads.newest_seen("south") == (entry.sequence, entry.hash)
    assert open_heads(north.home, "north", north.key).newest_seen("south")[0] == 2
    assert (north.home / "heads.json").stat().st_mode & 0o077 == 0
    kept = json.loads((north.home / "heads.json").read_text())["south"]
    assert kept["own"] == pack(entry.sequence, entry.hash).hex()


@pytest.mark.parametrize("back", [0, 1])
def test_a_restored_copy_is_noticed_on_both_sides(sides, back, caplog):
    victim, other = sides[back], sides[1 - back]
    victim.spend(1)
    meet(victim, other)
    shutil.copy(victim.ledger.path, victim.home / "backup")
    victim.spend(2)
    assert meet(victim, other) == [None, None]
    shutil.copy(victim.home / "backup", victim.ledger.path)
    with caplog.at_level(logging.ERROR, "duetto.ledger"):
        own, theirs = meet(victim, other)
    assert own.stable_code == "ledger"
    assert "older than what the peer has seen" in own.what
    assert "newest" in own.hint
    assert theirs.stable_code == "peer-ledger"
    assert caplog.text.count("refused") == 2
    # Going on from the old copy with other entries does not hide it either.
    victim.spend(3)
    victim.spend(4)
    own, theirs = meet(victim, other)
    assert own.stable_code == "ledger"
    assert theirs is None


def test_a_ledger_that_is_gone_is_noticed(sides):
    north, south = sides
    north.spend(1)
    meet(north, south)
    north.ledger.path.unlink()
    own, theirs = meet(north, south)
    assert (own.stable_code, theirs.stable_code) == ("ledger", "peer-ledger")


def test_another_entry_of_the_same_number_is_noticed(sides):
    north, south = sides
    north.spend(1)
    meet(north, south)
    north.ledger.path.unlink()
    north.spend(2)
    own, theirs = meet(north, south)
    assert (own.stable_code, theirs.stable_code) == ("ledger", "peer-ledger")


def test_both_restored_together_is_not_noticed_and_losing_the_heads_falls_back_on_the_ledger(sides):
    north, south = sides
    mine = south.spend(1, "north")
    entry = north.spend(1, "south")
    north.ledger.countersign(entry, mine.sequence, mine.hash, Signed("bob", "00" * 40, "00" * 64))
    assert not (north.home / "heads.json").exists()
    assert north.heads.newest_seen("south") == (mine.sequence, mine.hash)
    south.ledger.path.unlink()
    assert [error.stable_code for error in meet(north, south)] == ["peer-ledger", "ledger"]


def test_a_statement_made_before_an_entry_and_read_after_it_is_no_alarm(sides):
    """Two sessions overlap: the second shows a new entry while a statement of the first is on its way."""
    north, south = sides
    south.spend(1)
    asked, slow = north.heads.statement("south"), south.heads.statement("north")
    newer = south.spend(2)
    assert meet(north, south) == [None, None]
    assert north.heads.newest_seen("south") == (newer.sequence, newer.hash)
    north.heads.check_own("south", south.key.public_key(), slow)
    north.heads.check_peer("south", slow, asked)
    assert north.heads.newest_seen("south") == (newer.sequence, newer.hash), (
        "the older word replaced the newer"
    )


def test_a_ledger_that_goes_back_between_two_statements_of_overlapping_sessions_is_noticed(sides):
    north, south = sides
    south.spend(1)
    copy = shutil.copy(south.ledger.path, south.home / "backup")
    south.spend(2)
    assert meet(north, south) == [None, None]
    asked = north.heads.statement("south")
    shutil.copy(copy, south.ledger.path)
    with pytest.raises(LedgerError) as caught:
        north.heads.check_peer("south", south.heads.statement("north"), asked)
    assert caught.value.stable_code == "peer-ledger"


@pytest.mark.parametrize("number", [1, 2])
def test_another_entry_where_one_was_seen_is_noticed_even_by_an_overlapping_session(sides, number):
    """A fork needs no order of time: two entries of one number are never both in an honest ledger."""
    north, south = sides
    south.spend(1)
    assert meet(north, south) == [None, None]
    asked = north.heads.statement("south")
    south.spend(2)
    assert meet(north, south) == [None, None]
    forked = south.heads.statement("north")
    other = replace(forked, own=pack(number - 1, "ab" * 32))
    with pytest.raises(LedgerError) as caught:
        north.heads.check_peer("south", other, asked)
    assert caught.value.stable_code == "peer-ledger"


@pytest.mark.parametrize("part", ["own", "seen", "signature"])
@pytest.mark.parametrize("spoil", [lambda b: b"", lambda b: b[:-1], lambda b: bytes([b[0] ^ 1]) + b[1:]])
def test_a_changed_statement_is_refused(sides, part, spoil):
    north, south = sides
    south.spend(1)
    said = south.heads.statement("north")
    spoilt = replace(said, **{part: spoil(getattr(said, part))})
    with pytest.raises(ProtocolViolation):
        north.heads.check_own("south", south.key.public_key(), spoilt)
    assert not (north.home / "heads.json").exists()


def test_a_statement_is_for_one_hearer_and_by_one_speaker(sides):
    north, south = sides
    said = south.heads.statement("west")
    with pytest.raises(ProtocolViolation):
        north.heads.check_own("south", south.key.public_key(), said)
    with pytest.raises(ProtocolViolation):
        north.heads.check_own("south", north.key.public_key(), south.heads.statement("north"))
    with pytest.raises(ProtocolViolation):
        north.heads.check_own("south", south.key.public_key(), Statement(b"", b"", b""))


@pytest.mark.parametrize(
    "text", ["", "[]", '{"south": 1}', '{"south": {"own": "00", "seen": "", "signature": ""}}']
)
def test_a_broken_file_of_heads_is_an_error(sides, text):
    north, _ = sides
    (north.home / "heads.json").write_text(text)
    with pytest.raises(LedgerError, match=r"heads\.json") as caught:
        north.heads.statement("south")
    assert caught.value.hint


def test_a_broken_ledger_says_nothing(sides):
    north, _ = sides
    north.ledger.path.write_text("broken\n")
    with pytest.raises(LedgerError):
        north.heads.statement("south")


def test_no_key_in_a_repr(sides):
    assert "signature" not in repr(sides[0].heads.statement("south"))


def test_words_that_are_kept_show_a_ledger_that_went_back_before_anybody_is_met(sides):
    north, south = sides
    north.spend(1)
    for number in (2, 3):
        assert meet(north, south) == [None, None]
        south.spend(number)
    assert ledger_doubts(north.ledger) == []
    (north.home / "ledger.jsonl").unlink()
    (doubt,) = ledger_doubts(open_ledger(north.home))
    assert (doubt.peer, doubt.whose) == ("south", Whose.OWN)
    assert "entry 0 is missing" in doubt.what
    assert "bring back the newest one" in doubt.hint
    (north.home / "heads.json").write_text("[]")
    with pytest.raises(LedgerError, match=r"heads\.json"):
        ledger_doubts(open_ledger(north.home))


@pytest.mark.parametrize("text", ["", "[]", '{"south": 1}', '{"south": "x"}', '{"south": {}}', "[" * 99999])
def test_notes_that_cannot_be_used_stop_nothing(sides, text):
    north, south = sides
    (north.home / "doubts.json").write_text(text)
    assert ledger_doubts(north.ledger) == []
    assert meet(north, south) == [None, None]
    north.heads.heard_refusal("south", "peer-ledger")
    assert [(one.peer, one.whose) for one in ledger_doubts(north.ledger)] == [("south", Whose.OWN)]
    assert meet(north, south) == [None, None]
    assert ledger_doubts(north.ledger) == []


def test_notes_on_a_full_disk_stop_nothing(sides, monkeypatch):
    def full(*_):
        raise OSError(28, "full")

    monkeypatch.setattr("parties.ledger.doubts.write_atomically", full)
    sides[0].heads.heard_refusal("south", "ledger")
    assert ledger_doubts(sides[0].ledger) == []


def test_other_refusals_are_no_doubts(sides):
    for code in ("busy", "policy", "", "ledger\n"):
        sides[0].heads.heard_refusal("south", code)
    assert ledger_doubts(sides[0].ledger) == []
