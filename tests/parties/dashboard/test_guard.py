"""Attacks on the dashboard from other pages, other machines and other sessions: nothing is shown or done."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from parties.contracts.state import State
from parties.dashboard.app import ACTS, ASKS, SHOWS
from parties.dashboard.entrance.guard import (
    HEADERS,
    HOST_FILE,
    MAX_FORM_BYTES,
    MAX_UPLOAD_BYTES,
    lasting_host,
    new_host,
)
from parties.errors import ConfigError
from tests.parties.dashboard.browsing import COOKIE, HOST, NAME, ORIGIN, Browser
from tests.parties.jobs.joined import job_file
from tests.parties.served import waiting

pytestmark = pytest.mark.attack


@pytest.fixture
def browser(party):
    return Browser(party)


def filled(path):
    return path.replace("{job_id}", "ab" * 8).replace("{table}", "0").replace("{name}", "x")


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "127.0.0.1.evil.example",
            "192.168.0.7:8123",
            "",
            f"{NAME}:x",
            f"{NAME}:",
            f"x{NAME}",
        ),
        *("127.0.0.1:8123", "localhost:8123", "[::1]:8123", f"{'5b' * 16}.localhost:8123", f"{NAME}.:8123"),
    ],
)
def test_other_host_names_are_refused(browser, host):
    """DNS rebinding: a name of the attacker's that leads to this machine."""
    for path in ("/", "/static/style.css", "/enter?token=x"):
        assert browser.get(path, host=host).status_code == 421
    assert browser.post("/leave", host=host).status_code == 421
    assert browser.get("/jobs").status_code == 200


def test_only_its_own_name_is_answered_at_any_port(browser):
    """Ssh leads there from other ports."""
    cookie = f"{COOKIE}={browser.client.cookies[COOKIE]}"
    for host in (NAME, f"{NAME}:9000", NAME.upper()):
        assert browser.get("/jobs", host=host, cookie=cookie).status_code == 200


@pytest.mark.attack
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "other.localhost"])
def test_the_session_goes_to_no_other_port_of_this_machine(browser, host):
    """Cookies know no ports (RFC 6265, 8.5), and another account may listen at any of them."""
    assert browser.client.cookies
    for url in (f"http://{host}:9999/", f"http://{host}:8123/jobs"):
        assert "cookie" not in browser.client.build_request("GET", url).headers
    assert "cookie" in browser.client.build_request("GET", f"{ORIGIN}/").headers


def test_every_dashboard_has_a_name_that_nobody_guesses():
    names = {new_host() for _ in range(100)}
    assert len(names) == 100
    assert all(re.fullmatch(r"[0-9a-f]{32}\.localhost", name) for name in names)


def test_a_lasting_name_is_made_once_and_for_its_owner_alone(tmp_path):
    found = lasting_host(tmp_path)
    assert re.fullmatch(r"[0-9a-f]{32}\.localhost", found)
    assert lasting_host(tmp_path) == found
    assert (tmp_path / HOST_FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "localhost", "evil.example", "5a" * 16])
def test_a_file_with_another_name_is_refused(tmp_path, content):
    (tmp_path / HOST_FILE).write_text(content)
    (tmp_path / HOST_FILE).chmod(0o600)
    with pytest.raises(ConfigError, match="does not hold the name"):
        lasting_host(tmp_path)


def test_every_page_wants_a_session(party):
    browser = Browser(party, signed_in=False)
    for path in [path for path, _ in SHOWS]:
        assert browser.get(filled(path)).status_code == 401, path
    for path in [path for path, _ in (*ASKS, *ACTS)]:
        assert browser.client.post(filled(path), data={}, headers={"origin": ORIGIN}).status_code == 401, path
    listed = {route.path for route in browser.app.routes if isinstance(route, Route)}
    assert listed == {path for path, _ in (*SHOWS, *ASKS, *ACTS)} | {
        "/enter",
        "/leave",
        "/sign-in",
        "/signed-in",
    }


@pytest.mark.parametrize(
    "cookie", ["", f"{COOKIE}=", f"{COOKIE}=x", "duetto-other=x", f'{COOKIE}="\x01', "=;,"]
)
def test_other_cookies_open_nothing(party, cookie):
    browser = Browser(party, signed_in=False)
    assert browser.get("/jobs", cookie=cookie).status_code == 401


def test_the_cookie_cannot_be_read_or_sent_by_other_sites(party):
    browser = Browser(party, signed_in=False)
    answer = browser.get(f"/enter?token={browser.access.invite()}")
    flags = answer.headers["set-cookie"].lower()
    assert "httponly" in flags
    assert "samesite=strict" in flags
    assert "domain" not in flags


def test_a_form_wants_its_origin_and_the_key_of_its_session(browser, party):
    other = Browser(party)
    refused = [
        browser.post("/policy/try", {"text": "x"}, origin="http://evil.example"),
        browser.post("/policy/try", {"text": "x"}, origin="null"),
        browser.post("/policy/try", {"text": "x"}, origin=None),
        browser.post("/policy/try", {"text": "x"}, origin="http://127.0.0.1:9999"),
        browser.post("/policy/try", {"text": "x"}, **{"sec-fetch-site": "cross-site"}),
        browser.post("/policy/try", {"text": "x"}, key=""),
        browser.post("/policy/try", {"text": "x"}, key="x" * 43),
        browser.post("/policy/try", {"text": "x"}, key=other.form_key()),
    ]
    assert [answer.status_code for answer in refused] == [403] * len(refused)
    assert all("nothing was done" in answer.text for answer in refused)


def test_every_form_of_the_application_is_behind_the_guard(browser):
    """Read from the routes, so that a form that somebody adds is looked at, too."""
    posts = [r.path for r in browser.app.routes if isinstance(r, Route) and "POST" in r.methods]
    assert len(posts) >= 10
    for path in map(filled, posts):
        for forged in ({"origin": "http://evil.example"}, {"origin": None}, {"key": "guessed"}, {"key": ""}):
            assert browser.post(path, {"text": "x"}, **forged).status_code == 403, (path, forged)
        headers = {"origin": ORIGIN, "host": "evil.example"}
        assert browser.client.post(path, data={}, headers=headers).status_code == 421, path


def test_only_what_is_listed_as_a_question_is_answered_without_decide(party):
    """Any other form of the application is refused where people only look, also one that is added later."""
    looks = Browser(party, decides=False)
    posts = {r.path for r in looks.app.routes if isinstance(r, Route) and "POST" in r.methods}
    for path in posts - {path for path, _ in ASKS} - {"/leave"}:
        answer = looks.post(filled(path), {"text": "x"})
        assert (answer.status_code, "--decide" in answer.text) == (403, True), path


def test_a_forged_approval_approves_nothing(served):
    """A page of the web knows the job's name, and even what was shown, and posts the form."""
    from parties.client import Party

    job_id = waiting(served, job_file("1/2"))
    with Party(served.folder / "south") as south:
        browser = Browser(south)
        sent = {"decision": "approve", "shown": south.job(job_id).shown, "name": "Eva"}
        assert browser.post(f"/decide/{job_id}", sent, origin="http://evil.example").status_code == 403
        assert browser.post(f"/decide/{job_id}", sent, key="guessed").status_code == 403
        plain = browser.client.post(f"/decide/{job_id}", json=sent, headers={"origin": ORIGIN})
        assert plain.status_code == 415
        assert browser.get(f"/decide/{job_id}?decision=approve&shown={sent['shown']}").status_code == 200
        assert south.job(job_id).state is State.WAITING_OWN


def test_without_decide_every_action_is_refused(served):
    from parties.client import Party

    job_id = waiting(served, job_file("1/2"))
    with Party(served.folder / "south") as south:
        looks = Browser(south, decides=False)
        for path, _ in ACTS:
            answer = looks.post(
                path.replace("{job_id}", job_id), {"decision": "deny", "text": job_file("1/2")}
            )
            assert answer.status_code == 403, path
            assert "--decide" in answer.text
        page = looks.get(f"/decide/{job_id}").text
        assert "<button name=" not in page
        assert "--decide" in page
        assert south.job(job_id).state is State.WAITING_OWN
        assert [job.state for job in south.jobs()] == [State.WAITING_OWN]


def test_every_answer_carries_the_headers(browser):
    answers = [
        browser.get("/jobs"),
        browser.get("/static/style.css"),
        browser.get("/nowhere"),
        browser.get("/jobs/zzz"),
        browser.get("/", host="evil.example"),
        browser.get("/enter?token=x"),
        browser.post("/leave", key="x"),
    ]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, answer.url
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_no_page_holds_script_or_style_of_its_own(browser, file):
    browser.post("/new/submit", {"text": file.read_text()})
    for path in ("/jobs", "/new", "/policy", "/data", "/learned", "/releases", "/decide"):
        page = browser.get(path)
        assert page.status_code == 200, path
        assert "<script>" not in page.text
        assert " style=" not in page.text
        assert "<style" not in page.text
        assert " on" not in page.text.split("<body>")[1].split("<main")[0]


def test_a_file_comes_on_one_path_only_and_is_bounded(browser):
    def upload(path, data, key=None):
        fields = {"form_key": browser.form_key() if key is None else key}
        files = {"file": ("../../peers/x.pair", data)}
        return browser.client.post(path, data=fields, files=files, headers={"origin": ORIGIN})

    assert upload("/policy/try", b"{}").status_code == 415
    assert upload("/peers/look", b"x" * MAX_UPLOAD_BYTES).status_code == 413
    assert upload("/peers/look", b"{}", key="wrong").status_code == 403
    kind = "multipart/form-data"
    for body in (b"", b"nothing", b"--x\r\n\r\n--x--"):
        headers = {"origin": ORIGIN, "content-type": kind}
        assert browser.client.post("/peers/look", content=body, headers=headers).status_code == 400


MENU = 'aria-label="Pages"'


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\x00\xff\xfe", "{}".encode("utf-16")], ids=["picture", "utf-16"]
)
def test_a_file_that_is_no_pairing_file_is_said_on_the_page_of_peers(browser, data):
    sent = {"data": {"form_key": browser.form_key()}, "files": {"file": ("photo.pair", data)}}
    answer = browser.client.post("/peers/look", headers={"origin": ORIGIN}, **sent)
    assert "The pairing file is not valid JSON." in answer.text
    assert MENU in answer.text
    assert 'name="file"' in answer.text  # so that another one can be chosen


def test_what_the_guard_refuses_is_a_page(browser, party):
    """With the menu for those who are signed in, and without a word of the party for all others."""
    large = {"data": {"form_key": browser.form_key()}, "files": {"file": ("x", b"x" * MAX_UPLOAD_BYTES)}}
    refused = [
        browser.client.post("/peers/look", headers={"origin": ORIGIN}, **large),
        browser.post("/policy/try", {"text": "x"}, key="of another session"),
        Browser(party, decides=False).post("/peers/reload"),
    ]
    assert [answer.status_code for answer in refused] == [413, 403, 403]
    assert all(MENU in answer.text and "nothing was done" in answer.text for answer in refused[:2])
    assert all(MENU in answer.text for answer in refused)
    stranger = Browser(party, signed_in=False)
    for answer in (stranger.get("/jobs"), stranger.get("/enter?token=x"), stranger.get("/sign-in")):
        assert answer.status_code in (401, 404)
        assert "/static/style.css" in answer.text
        assert not any(one in answer.text for one in (MENU, "form_key", party.name))


def test_forms_that_cannot_be_read_are_refused(browser):
    def send(body, kind="application/x-www-form-urlencoded"):
        headers = {"origin": ORIGIN, "content-type": kind}
        return browser.client.post("/policy/try", content=body, headers=headers).status_code

    assert send(b"text=" + b"x" * MAX_FORM_BYTES) == 413
    assert send(b"form_key=%ff%fe") == 400
    assert send(b"&".join(b"a=1" for _ in range(6000))) == 400
    assert send(b"nonsense") == 400
    assert send(b"{}", "application/json") == 415
    assert send(b"") == 403
    assert browser.client.put("/jobs", headers={"origin": ORIGIN}).status_code == 405
    assert browser.client.get("/enter?token=x", headers={"host": HOST}).status_code == 401


def test_the_only_foreign_script_is_the_one_that_was_read():
    """htmx 2.0.11 as its authors have published it."""
    static = files("parties.dashboard.drawing") / "static"
    scripts = {one.name for one in static.iterdir() if one.name.endswith(".js")}
    assert scripts == {"htmx.min.js", "signing.js"}  # the second is our own
    digest = hashlib.sha256((static / "htmx.min.js").read_bytes()).hexdigest()
    assert digest == "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"


@pytest.mark.parametrize("number", ["9" * 5_000, "1", "00", "-1", "x"])
def test_a_table_that_is_not_there_is_not_found(served, number):
    """Also one with a number that Python refuses to read."""
    from parties.client import Party

    with Party(served.folder / "north") as north:
        job = north.submit(job_file("1/2")).wait(progress=False, timeout=60)
        browser = Browser(north)
        assert browser.get(f"/jobs/{job.id}/0.csv").status_code == 200
        assert browser.get(f"/jobs/{job.id}/{number}.csv").status_code == 404


def test_leaving_ends_the_session(browser):
    assert browser.post("/leave").status_code == 200
    assert browser.get("/jobs").status_code == 401


def test_two_links_are_two_sessions(party):
    browser = Browser(party)
    second = TestClient(browser.app, base_url=ORIGIN, follow_redirects=False)
    assert second.get("/jobs").status_code == 401
    token = browser.access.invite()
    assert second.get(f"/enter?token={token}").status_code == 303
    assert second.get(f"/enter?token={token}").status_code == 401
    assert second.get("/jobs").status_code == browser.get("/jobs").status_code == 200
