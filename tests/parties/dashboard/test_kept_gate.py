"""Signatures in the ledger are checked once for all pages, and whatever changes in it is noticed."""

from __future__ import annotations

import pytest

from parties.persons import register
from parties.persons.declaration import FILE
from parties.persons.roles import Act
from tests.parties.dashboard.browsing import Browser
from tests.parties.persons.made import begin, persons_toml, put_in_force


@pytest.fixture
def checked(monkeypatch):
    """Whose signatures were checked, in order."""
    found, real = [], register.check_signed

    def check(statement, *rest):
        found.append(statement.person)
        return real(statement, *rest)

    monkeypatch.setattr(register, "check_signed", check)
    return found


def test_a_page_checks_only_what_is_new(party, served, checked):
    home = party.config_path.parent
    begin(served.north.gate, home, served.network.identities["south"])
    browser = Browser(party)
    assert "Dr Weber" in browser.get("/persons").text
    first = len(checked)
    assert first >= 3
    for path in ("/persons", "/new", "/persons"):
        assert browser.get(path).status_code == 200
    assert len(checked) == first
    new = persons_toml("adler").encode()
    (home / FILE).write_bytes(new)
    put_in_force(served.north.gate, Act.PERSONS, new, "weber")
    del checked[:]
    page = browser.get("/persons").text
    assert ("A. Adler" in page, checked) == (False, ["weber"])


def test_a_ledger_that_is_edited_and_brought_back_is_noticed(party, served):
    home = party.config_path.parent
    begin(served.north.gate, home, served.network.identities["south"])
    browser = Browser(party)
    assert "Dr Weber" in browser.get("/persons").text
    ledger = home / "ledger.jsonl"
    before = ledger.read_bytes()
    ledger.write_bytes(before.replace(b"Dr Weber", b"Dr Meier"))
    page = browser.get("/persons").text
    assert "broken" in page
    assert "Prof Klein" not in page
    ledger.write_bytes(before)
    assert "Prof Klein" in browser.get("/persons").text
