"""Signing in by accounts: with a real provider on this machine, and with answers that do not hold."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

pytest.importorskip("authlib", reason="authlib is not installed")

from joserfc.jwk import ECKey
from starlette.testclient import TestClient

from parties.config import load
from parties.dashboard.app import make_app
from parties.dashboard.drawing.desk import Context
from parties.dashboard.entrance.access import Access
from parties.dashboard.entrance.guard import AWAY_COOKIE
from parties.dashboard.entrance.oidc import AWAY_SECONDS, MAX_CALLS, SignIn
from parties.errors import ConfigError, PolicyError
from parties.oidc import Oidc
from tests.parties.dashboard.browsing import NAME, ORIGIN
from tests.parties.dashboard.provider import CLIENT, SECRET, Provider


@pytest.fixture
def provider():
    with Provider() as found:
        yield found


@pytest.fixture
def settings(provider, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    return Oidc(provider.issuer, CLIENT, {"weber@hospital.example": "weber"}, 8123, secret, "email")


@pytest.fixture
def accounts(settings):
    return SignIn(settings, ORIGIN)


def arrived(provider, accounts, **changed):
    url, cookie = accounts.leave()
    back = provider.authorize(url)
    answer = dict(part.split("=", 1) for part in back.partition("?")[2].replace("+", " ").split("&"))
    return accounts.arrive(cookie, answer | changed)


def test_an_account_that_is_named_comes_in_as_its_person(provider, accounts):
    assert arrived(provider, accounts) == "weber"


def test_another_account_does_not(provider, accounts):
    provider.account = "mallory@hospital.example"
    with pytest.raises(PolicyError, match="may not come in") as refused:
        arrived(provider, accounts)
    assert "'email'" in refused.value.hint


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "http://127.0.0.1:1"},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another"]},
        {"nonce": "of somebody else"},
        {"nonce": None},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"iat": None},
    ],
    ids=str,
)
def test_a_token_that_is_meant_otherwise_is_refused(provider, accounts, changed):
    provider.changed = changed
    with pytest.raises(PolicyError, match="does not hold"):
        arrived(provider, accounts)


def test_a_token_by_another_key_is_refused(provider, accounts):
    provider.signing = ECKey.generate_key("P-256", {"kid": "one", "alg": "ES256", "use": "sig"})
    with pytest.raises(PolicyError, match="does not hold"):
        arrived(provider, accounts)


def test_only_the_browser_that_left_can_come_back_and_once(provider, accounts):
    """Else somebody could sign a victim's browser in as themselves."""
    url, cookie = accounts.leave()
    _, other = accounts.leave()
    state = accounts._away[cookie].state
    provider.authorize(url)
    for secret, answer in (
        ("", {"state": state, "code": "code 0"}),
        (other, {"state": state, "code": "code 0"}),
        (cookie, {"state": "x" + state, "code": "code 0"}),
        (cookie, {"state": state, "code": "code 0"}),  # the one before has used it up
    ):
        with pytest.raises(PolicyError, match="did not begin here"):
            accounts.arrive(secret, answer)


def test_who_stays_away_too_long_begins_again(provider, settings):
    now = [0.0]
    accounts = SignIn(settings, ORIGIN, lambda: now[0])
    url, cookie = accounts.leave()
    state = accounts._away[cookie].state
    provider.authorize(url)
    now[0] = AWAY_SECONDS + 1
    with pytest.raises(PolicyError, match="too old"):
        accounts.arrive(cookie, {"state": state, "code": "code 0"})


@pytest.mark.parametrize(
    "answer", [{"code": "code 7"}, {}, {"error": "access_denied"}, {"iss": "x"}], ids=str
)
def test_an_answer_without_a_valid_code_signs_nobody_in(accounts, answer):
    _, cookie = accounts.leave()
    with pytest.raises(PolicyError):
        accounts.arrive(cookie, {"state": accounts._away[cookie].state} | answer)


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"issuer": "https://other.example"}, "another provider"),
        ({"token_endpoint": None}, "another provider"),
        ({"jwks_uri": "file:///etc/passwd"}, "without https"),
        ({"token_endpoint": "http://[login"}, "that are none"),
    ],
)
def test_what_is_no_provider_is_said(provider, accounts, metadata, says):
    provider.metadata = metadata
    with pytest.raises(ConfigError, match=says):
        accounts.leave()


def test_a_provider_that_is_not_there_is_said(settings, provider):
    gone = SignIn(Oidc("http://127.0.0.1:1", CLIENT, {"a": "weber"}, 8123), ORIGIN)
    with pytest.raises(ConfigError, match="does not answer"):
        gone.leave()


def test_a_provider_that_answers_without_end_holds_up_a_bounded_number_of_pages(settings):
    with socket.create_server(("127.0.0.1", 0), backlog=2 * MAX_CALLS) as silent:
        issuer = f"http://127.0.0.1:{silent.getsockname()[1]}"
        accounts = SignIn(replace(settings, issuer=issuer), ORIGIN)
        with ThreadPoolExecutor(MAX_CALLS) as pages:
            waiting = [pages.submit(accounts.leave) for _ in range(MAX_CALLS)]
            held = [silent.accept()[0] for _ in waiting]
            with pytest.raises(PolicyError, match="wait for the provider"):
                accounts.leave()
            for connection in held:
                connection.close()
            for page in waiting:
                with pytest.raises(ConfigError, match="does not answer"):
                    page.result()
    with pytest.raises(ConfigError, match="does not answer"):  # there is room again
        accounts.leave()


def test_a_browser_signs_in_and_is_known(provider, accounts, party):
    app = make_app(Context(party, party.config_path, decides=True), Access(), NAME, accounts)
    client = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    assert client.get("/jobs").status_code == 401
    away = client.get("/sign-in")
    assert away.status_code == 303
    assert "HttpOnly" in away.headers["set-cookie"]
    assert "SameSite=lax" in away.headers["set-cookie"]
    back = client.get(provider.authorize(away.headers["location"]))
    assert back.status_code == 200
    assert 'http-equiv="refresh"' in back.text
    assert AWAY_COOKIE not in client.cookies
    assert client.get("/jobs").status_code == 200
    again = client.get(provider.authorize(away.headers["location"]))
    assert again.status_code == 403
    assert "did not begin here" in again.text


def test_without_a_provider_there_is_no_such_way(party):
    app = make_app(Context(party, party.config_path, decides=True), Access(), NAME)
    client = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    for path in ("/sign-in", "/signed-in?code=x&state=y"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ('issuer = "http://login.example"\nclient_id = "x"\nport = 8123\naccounts = { a = "b" }', "https"),
        ('issuer = "https://l.example"\nclient_id = "x"\nport = 8123\naccounts = { a = "B C" }', "person"),
        ('issuer = "https://l.example"\nclient_id = "x"\nport = 8123\naccounts = {}', "nobody"),
        ('issuer = "https://l.example"\nclient_id = "x"\nport = 80\naccounts = { a = "b" }', "port"),
        ('issuer = "https://l.example"\nclient_id = "x"\naccounts = { a = "b" }', "port"),
    ],
)
def test_wrong_settings_are_told(party, tmp_path, lines, says):
    path = tmp_path / "duetto.toml"
    path.write_text(f"{party.config_path.read_text()}\n[dashboard.oidc]\n{lines}\n")
    with pytest.raises(ConfigError, match=says):
        load(path)
