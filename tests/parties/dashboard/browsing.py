"""A browser without a browser: a client of the dashboard's application that has come in by a link."""

from __future__ import annotations

import re
from collections import Counter

from starlette.testclient import TestClient

from parties.dashboard.app import make_app
from parties.dashboard.drawing.desk import Context
from parties.dashboard.entrance.access import Access
from parties.dashboard.entrance.guard import ENTRY

COOKIE = "duetto"
NAME = f"{'5a' * 16}.localhost"
HOST = f"{NAME}:8123"
ORIGIN = f"http://{HOST}"


class Browser:
    """Pages of one party's dashboard."""

    def __init__(self, party, *, decides=True, releases=None, folders=(), signed_in=True):
        self.access = Access()
        self.app = make_app(Context(party, party.config_path, decides, releases, folders), self.access, NAME)
        self.client = TestClient(self.app, base_url=ORIGIN, follow_redirects=False)
        if signed_in:
            assert self.client.get(f"{ENTRY}?token={self.access.invite()}").status_code == 303

    def get(self, path, **headers):
        return _checked(self.client.get(path, headers=headers))

    def post(self, path, fields=None, origin=ORIGIN, key=None, **headers):
        """Send a form as the page that holds it would; `key` and `origin` in place of the right ones."""
        sent = {"form_key": self.form_key() if key is None else key, **(fields or {})}
        headers |= {} if origin is None else {"origin": origin}
        return _checked(self.client.post(path, data=sent, headers=headers))

    def form_key(self):
        return re.search(r'name="form_key" value="([^"]+)"', self.get("/jobs").text)[1]


def _checked(page):
    """A page in which each id stands once, and every label's field is there."""
    if page.headers.get("content-type", "").startswith("text/html"):
        ids = Counter(re.findall(r'\sid="([^"]+)"', page.text))
        assert [name for name, count in ids.items() if count > 1] == []
        assert {*re.findall(r'<label for="([^"]+)"', page.text)} <= {*ids}
    return page
