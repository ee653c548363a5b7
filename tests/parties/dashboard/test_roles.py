"""Every form that does something, by everybody who may come in by an account."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from starlette.responses import PlainTextResponse

from parties.client import Party
from parties.dashboard import app
from parties.dashboard.pages import persons
from parties.ledger.entries import LedgerError
from parties.person_roles import PersonRole
from parties.persons.declaration import parse_persons
from parties.persons.roles import CATALOG, SOCKETS
from tests.parties.dashboard.browsing import Browser
from tests.parties.dashboard.test_pages import waiting
from tests.parties.jobs.joined import job_file
from tests.parties.persons.made import OF_ROLE, PEOPLE, persons_toml

PATHS = [path for path, _ in app.ACTS]
MAY_CHANGE_DATA = {"steward", "operator"}


@pytest.fixture
def in_force(monkeypatch):
    found = parse_persons(persons_toml().encode())
    known = SimpleNamespace(persons=lambda: found, is_likely=False)
    monkeypatch.setattr(persons, "gate", lambda _: known)


@pytest.fixture
def reached(monkeypatch):
    """Forms that only say that they were reached."""
    pages = tuple((path, lambda *_: PlainTextResponse("reached")) for path in PATHS)
    monkeypatch.setattr(app, "ACTS", pages)


def signed_in(party, word):
    browser = Browser(party, signed_in=False)
    session = browser.access.admit(word)
    browser.client.cookies.set("duetto", session.key)
    return browser


def test_every_page_and_form_names_its_roles():
    assert set(app.ROLES) == {path for path, _ in (*app.SHOWS, *app.ASKS, *app.ACTS)}
    assert all(app.ROLES.values())


@pytest.mark.parametrize("role", PersonRole)
def test_pages_show_to_a_role_what_its_socket_does(party, served, in_force, role):
    """Results to those who may have them; what data come to, to those who submit or approve."""
    job = party.submit(job_file("1/2")).wait(timeout=60)
    browser = signed_in(party, OF_ROLE[role])
    page = browser.get(f"/jobs/{job.id}")
    assert page.status_code == 200
    sees = role in SOCKETS["Result"]
    assert ("Your role does not see results" in page.text) is not sees
    assert (browser.get(f"/jobs/{job.id}/0.csv").status_code == 200) is sees
    for path, verb in (("/new/check", "Check"), ("/policy/try", "Check")):
        assert ("may not do this now" in browser.post(path, {}).text) is (role not in SOCKETS[verb]), path


@pytest.mark.parametrize("role", PersonRole)
def test_cells_are_seen_by_those_alone_who_may_change_data(party, served, in_force, role):
    """Whatever page is asked for: first rows, examples of faults, and what they are counted in."""
    (served.folder / "north" / "numbers.csv").write_text("value\n1\n77031\n")
    browser, may = signed_in(party, OF_ROLE[role]), role in CATALOG
    for path in ("/data?added=numbers", "/data/add?edit=numbers", "/data", "/data/remove?dataset=numbers"):
        page = browser.get(path).text
        assert ("77031" in page) is (may and "=numbers" in path and "remove" not in path), path
    checked = browser.post("/data/check", {"dataset": "numbers"})
    sees_faults = may or role in SOCKETS["Check"]
    assert ("outside the declared bounds" in checked.text) is sees_faults
    assert ("77031" in checked.text) is may
    assert ("outside the declared bounds" in browser.get("/data?added=numbers").text) is may


@pytest.mark.parametrize("role", PersonRole)
def test_each_role_does_what_it_may_and_nothing_else(party, in_force, reached, role):
    browser = signed_in(party, OF_ROLE[role])
    for path in PATHS:
        answer = browser.post(path.replace("{job_id}", "x"))
        if role in app.ROLES[path]:
            assert answer.text == "reached", path
        else:
            assert answer.status_code == 409, path
            assert f"{PEOPLE[OF_ROLE[role]][0]} may not do this now" in answer.text
    can = {path for path in PATHS if role in app.ROLES[path]}
    assert bool(can) == (role.value not in ("viewer", "auditor"))
    assert ("/data/add" in can) == (role.value in MAY_CHANGE_DATA)


def test_an_account_that_is_nobody_any_more_does_nothing(party, in_force, reached):
    browser = signed_in(party, "left")
    for path in PATHS:
        assert "left may not do this now" in browser.post(path.replace("{job_id}", "x")).text


@pytest.mark.parametrize(
    "lines",
    ["until = 2026-01-01\n", "[[persons.weber.absences]]\nfrom = 2020-01-01\nuntil = 2999-01-01\n"],
    ids=["past its end", "absent"],
)
def test_who_is_absent_or_past_the_end_does_nothing(party, monkeypatch, reached, lines):
    found = parse_persons(persons_toml(weber=lines).encode())
    monkeypatch.setattr(persons, "gate", lambda _: SimpleNamespace(persons=lambda: found))
    browser = signed_in(party, "weber")
    assert "Dr Weber may not do this now" in browser.post("/policy/allow").text


def test_a_link_has_the_rights_of_the_account_of_the_machine(party, in_force, reached):
    browser = Browser(party)
    assert all(browser.post(path.replace("{job_id}", "x")).text == "reached" for path in PATHS)


def test_a_broken_ledger_keeps_nobody_from_looking_at_a_job(party, served, monkeypatch):
    job = party.submit(job_file("1/2"))

    def broken():
        raise LedgerError("The ledger is broken.")

    monkeypatch.setattr(persons, "gate", lambda _: SimpleNamespace(persons=broken))
    browser = Browser(party)
    assert browser.get(f"/jobs/{job.id}").status_code == 200
    assert browser.get(f"/decide/{job.id}").status_code == 200


FORMS = {
    "/data": ("/data/add", "/data/remove", "/data/check"),
    "/data/add": ("/data/draft",),
    "/data/remove?dataset=numbers": ("/data/remove",),
    "/policy": ("/policy/allow", "/policy/try"),
    "/peers": ("/peers/look", "/peers/reload"),
    "/new": ("/new/check",),
}
"""Forms of pages, by their paths."""


@pytest.mark.parametrize("role", PersonRole)
def test_an_account_sees_the_forms_alone_that_it_may_send(party, served, in_force, role):
    browser = signed_in(party, OF_ROLE[role])
    by_link = Browser(party)
    for page, forms in FORMS.items():
        found, free = browser.get(page).text, by_link.get(page).text
        for form in forms:
            sign = f'="{form}'
            if sign in free:
                assert (sign in found) is (role in app.ROLES[form]), (page, form)
        if not all(role in app.ROLES[form] for form in forms):
            assert "What can be done here takes a" in found or "may not do this now" in found, page


@pytest.mark.parametrize("role", PersonRole)
def test_buttons_of_a_job_are_for_those_who_may_press_them(party, served, in_force, role):
    job = party.submit(job_file("1/2")).wait(timeout=60)
    browser = signed_in(party, OF_ROLE[role])
    assert ("/forget" in browser.get(f"/jobs/{job.id}").text) is (
        role in app.ROLES["/jobs/{job_id}/forget"] and role in SOCKETS["Result"]
    )


def test_where_nobody_can_sign_in_a_browser_there_is_no_button_to_decide(served, in_force):
    job_id = waiting(served, job_file("1/2"))
    with Party(served.folder / "south") as south:
        page = Browser(south).get(f"/decide/{job_id}").text
    assert "nobody who may do so has a key in a browser" in page
    assert 'value="approve"' not in page
