"""What is broken in a home is said on the dashboard as by `duetto doctor`, with what to do."""

from __future__ import annotations

import html

import pytest

from parties.config import load
from parties.doctor import examine_self
from parties.findings import Status
from tests.parties.dashboard.browsing import Browser

BROKEN = {
    "policy.toml": '[[rules]]\nnmae = "x"\n',
    "catalog.toml": "[dataset.x]\n",
    "ledger.jsonl": "not an entry\n",
    "keys/tls.key": "no key",
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_page_says_what_doctor_says(party, name):
    path = party.config_path.parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(BROKEN[name])
    browser = Browser(party)
    wrong = [one for one in examine_self(load(party.config_path)) if one.verdict is Status.FAIL]
    assert wrong
    page = html.unescape(browser.post("/peers/check").text)
    for finding in wrong:
        assert finding.check in page
        assert finding.what in page
        assert finding.hint in page


def test_a_page_that_a_broken_file_stops_leads_to_the_checks(party):
    browser = Browser(party)
    (party.config_path.parent / "policy.toml").write_text(BROKEN["policy.toml"])
    page = html.unescape(browser.get("/policy").text)
    assert "nmae" in page
    assert 'href="/peers"' in page
