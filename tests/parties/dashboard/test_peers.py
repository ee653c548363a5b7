"""The page of the peers: one that a failed check has closed is shown, and opened by a button."""

from __future__ import annotations

import html

from parties.closed_peers import read_closed
from parties.config import load
from tests.parties.dashboard.browsing import Browser
from tests.parties.test_closed_peers import CODE, JOB, PEERS


def test_a_closed_peer_is_shown_and_opened_by_those_who_may(served, party):
    home = served.folder / "north"
    settings = (home / "duetto.toml").read_text()
    (home / "duetto.toml").write_text(settings + PEERS.replace("north", "south").format(pin="0" * 64))
    assert load(home).peers
    browser, onlooker = Browser(party), Browser(party, decides=False)
    assert "closed since" not in browser.get("/peers").text
    served.north.closed.close("south", JOB, CODE)
    for one in (browser, onlooker):
        page = html.unescape(one.get("/peers").text)
        assert f"in job {JOB} its oblivious transfers failed a check" in page
        assert ("Open south again" in page) is (one is browser)
    browser.post("/peers/open", {"peer": "south"})
    assert read_closed(home) == {}
    assert "closed since" not in browser.get("/peers").text
