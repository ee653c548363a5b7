"""The page of covert runs: where each stands, the command that comes next, and the verdicts of the ledger."""

from __future__ import annotations

import re

import pytest

from parties.evidence.store import BROKEN_OFF, COIN, DUE, JUDGED, KEPT, PASSED, EvidenceStore, Standing
from parties.ledger.book import open_ledger
from parties.ledger.entries import VERDICT
from tests.parties.dashboard.browsing import Browser

TIME = "2026-11-29T12:00:00Z"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def browser(party):
    return Browser(party)


@pytest.fixture
def home(served):
    return served.folder / "north"


def put(home, number, state, **entries):
    """The state of a run of which something is kept; its name is the number."""
    store = EvidenceStore(home)
    standing = Standing(f"{number:016x}", "south", state, ended=TIME, **entries)
    store.begin(standing)


def rows(page):
    """The cells of the first table of a page, without marks."""
    body = page.split("<tbody>")[1].split("</tbody>")[0]
    return [
        [re.sub("<[^>]+>", "", cell) for cell in re.findall("<td[^>]*>(.*?)</td>", row)]
        for row in body.split("<tr>")[1:]
    ]


def test_without_covert_runs_it_says_so(browser):
    page = browser.get("/audits").text
    assert "Nothing is kept of covert runs." in page
    assert "<table>" not in page
    assert "Verdicts" not in page


def test_each_run_with_what_to_do_next(browser, home):
    put(home, 1, DUE, why=COIN)
    put(home, 2, DUE, why=BROKEN_OFF, verdict="cleared", peer_verdict="convicted")
    put(home, 3, KEPT, until="2026-12-03T00:00:00Z")
    put(home, 4, JUDGED, why=COIN, verdict="cleared")
    for number in (5, 6):
        put(home, number, PASSED)
    page = browser.get("/audits").text
    assert "1 awaits an audit. Of 2 that were not due a receipt is kept." in page
    by_words = {cells[3]: cells[4] for cells in rows(page)}
    assert len(by_words) == 4
    one = f"{1:016x}"
    assert by_words["due for an audit by its coin; its record is kept until you delete it"] == (
        f"duetto evidence bundle {one} --auditor auditor.json -o {one}.bundle"
    )
    broke = "due for an audit since it broke off; its record is kept until you delete it; you are cleared; "
    assert by_words[f"{broke}south is convicted"] == f"duetto evidence delete {2:016x}"
    assert by_words["not due for an audit; its record is kept until 2026-12-03 00:00 UTC"] == "nothing"
    assert by_words["due for an audit by its coin; its record is deleted; you are cleared"] == "nothing"


def test_verdicts_stand_there_as_the_ledger_has_them_and_every_text_is_escaped(browser, home):
    """Names of auditors and parties come from files of others."""
    said = {"about": HOSTILE, "auditor": HOSTILE, "outcome": "convicted"}
    entry = open_ledger(home).note(VERDICT, "ab" * 32, "south", **said, subject="cd" * 32)
    put(home, 1, DUE, why=COIN, peer_verdict=HOSTILE)
    page = browser.get("/audits").text
    assert "<img" not in page
    assert page.count("&lt;img src=x") == 3
    assert f'<td class="n">{entry.sequence}</td>' in page
    assert f"<code>{'ab' * 8}</code>" in page
