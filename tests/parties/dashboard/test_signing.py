"""Persons sign in a real browser, by an authenticator that Chromium makes up; a cookie decides nothing."""

from __future__ import annotations

import urllib.parse

import pytest
import tomli_w

from parties.client import Party, job_text
from parties.config import load
from parties.contracts.state import State
from parties.ledger.book import open_ledger
from parties.persons.declaration import FILE
from parties.persons.gate import Gate
from parties.persons.roles import Act
from parties.persons.shared import policy_digest
from scripts.processes import ended, paired, started
from tests.parties.dashboard.browsers import (
    BROWSER,
    DRIVER,
    By,
    button,
    dashboard,
    opened,
    text,
    typed,
    until,
    violations,
)
from tests.parties.jobs.institutions import ALLOWED, job, write_table
from tests.parties.persons.made import KEYS, begin, persons_toml, put_in_force

pytest.importorskip("fido2", reason="fido2 is not installed")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs Chromium and ChromeDriver (on Debian the packages chromium and chromium-driver)",
)

MEAN = job(
    "statistics",
    {"epsilon": "1", "maximum_rows": 100, "queries": [{"kind": "mean", "column": "age"}]},
    ["age"],
)


@pytest.fixture
def homes(tmp_path):
    """Two parties whose daemons run; at north two stewards with key files are in force."""
    made = paired(tmp_path)
    for name, home in made.items():
        write_table(home / "people.csv", {"age": [20, 30, 40]})
        columns = {"age": {"type": "integer", "lower": 0, "upper": 100}}
        declared = {"people": {"source": "people.csv", "maximum_rows": 100, "columns": columns}}
        (home / "catalog.toml").write_text(tomli_w.dumps({"datasets": declared}))
        approval = {"role": "steward", "count": 1} if name == "north" else "auto"
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [{**ALLOWED, "approval": approval}]}))
    daemons = [started(home) for home in made.values()]
    gate = gate_of(made["north"])
    with Party(made["south"]) as south:
        assert south.name == "south"
    begin(gate, made["north"], peer_of(made["north"]))
    yield made
    for process in daemons:
        ended(process)


def gate_of(home):
    config = load(home)
    return Gate(config.name, config.home, open_ledger(config.home))


def peer_of(home):
    from parties.session.directory import load_peers

    (peer,) = load_peers(load(home)).values()
    return peer


def authenticator(browser, *, verified=True):
    from selenium.webdriver.common.virtual_authenticator import VirtualAuthenticatorOptions

    browser.add_virtual_authenticator(
        VirtualAuthenticatorOptions(
            protocol="ctap2",
            transport="internal",
            has_user_verification=True,
            is_user_verified=verified,
            has_resident_key=True,
        )
    )


def origin(browser):
    place = urllib.parse.urlsplit(browser.current_url)
    return f"{place.scheme}://{place.netloc}"


def add_browser_key(browser, home):
    """Make a key on the page, and let the other steward put it into force for Prof Klein."""
    browser.get(f"{origin(browser)}/persons")
    typed(browser, "name", "Prof Klein")
    button(browser, "Make a key")
    until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "pre.key"))
    assert violations(browser) == []
    key = browser.find_element(By.CSS_SELECTOR, "pre.key").text
    assert key.startswith("webauthn:")
    changed = persons_toml().replace(KEYS["klein"].public.text, key).encode()
    (home / FILE).write_bytes(changed)
    put_in_force(gate_of(home), Act.PERSONS, changed, "weber")


def proposed(homes):
    with Party(homes["south"]) as south:
        return south.submit(job_text(MEAN)).id


def test_a_steward_signs_with_a_key_in_the_browser(homes):
    home = homes["north"]
    with dashboard(home, "--decide") as link, opened(link) as browser:
        authenticator(browser)
        add_browser_key(browser, home)
        job_id = proposed(homes)
        browser.get(f"{origin(browser)}/decide/{job_id}")
        assert "Prof Klein" in text(browser)
        assert violations(browser) == []
        button(browser, "Approve")
        until(browser, lambda: f"/jobs/{job_id}" in browser.current_url)
    with Party(home) as north:
        assert north.job(job_id).wait(progress=False, timeout=60).state is State.FINISHED
        approvals = north.job(job_id).certificate()
    assert "Prof Klein" in str(approvals)


def test_a_changed_policy_is_signed_in_the_browser(homes):
    """Whose only key is in the browser can put into force what somebody has changed on pages."""
    home = homes["north"]
    with dashboard(home, "--decide") as link, opened(link) as browser:
        authenticator(browser)
        add_browser_key(browser, home)
        policy = home / "policy.toml"
        policy.write_text(f"{policy.read_text()}# a rule more\n")
        browser.get(f"{origin(browser)}/policy")
        assert "Not signed: policy.toml." in text(browser)
        assert violations(browser) == []
        browser.find_element(By.LINK_TEXT, "Look at it and sign it").click()
        assert "# a rule more" in text(browser)
        assert violations(browser) == []
        button(browser, "Sign")
        until(browser, lambda: "To be signed" not in text(browser))
        assert gate_of(home).register().in_force(Act.POLICY) == policy_digest(policy.read_bytes())
        browser.get(f"{origin(browser)}/policy")
        assert "Not signed" not in text(browser)


def test_a_session_without_the_key_decides_nothing(homes):
    """Whoever holds the cookie can send any form; without the authenticator it approves nothing."""
    home = homes["north"]
    with dashboard(home, "--decide") as link, opened(link) as browser:
        authenticator(browser)
        add_browser_key(browser, home)
        first, second = proposed(homes), proposed(homes)
        browser.get(f"{origin(browser)}/decide/{first}")
        form = "document.getElementById('decision')"
        # A signature for one job, used for another one.
        browser.execute_script(
            f"window.taken = null; {form}.addEventListener('submit', (e) => {{"
            f"  if ({form}.dataset.signed) {{ e.preventDefault(); window.taken = "
            f"  Object.fromEntries(new FormData({form})); }} }}, true);"
        )
        button(browser, "Approve")
        until(browser, lambda: browser.execute_script("return window.taken"))
        taken = browser.execute_script("return window.taken")
        with Party(home) as north:
            shown = north.job(second).shown
        for fields in (
            {"name": "Prof Klein", "shown": shown},
            {**taken, "shown": shown},
            {**taken, "shown": shown, "person": "weber"},
            {**taken, "shown": shown, "signature": taken["authenticator"]},
        ):
            said = browser.execute_async_script(
                "const [path, fields, done] = arguments;"
                f"const sent = new URLSearchParams({{form_key: {form}.elements.form_key.value, ...fields,"
                " decision: 'approve'});"
                "fetch(path, {method: 'POST', body: sent})"
                ".then(async (answer) => done([answer.status, await answer.text()]));",
                f"/decide/{second}",
                fields,
            )
            assert said[0] in (409, 400), said
        with Party(home) as north:
            for one in (first, second):
                assert north.job(one).state is State.WAITING_OWN


def test_a_key_whose_user_was_not_verified_is_not_made(homes):
    with dashboard(homes["north"], "--decide") as link, opened(link) as browser:
        authenticator(browser, verified=False)
        browser.get(f"{origin(browser)}/persons")
        typed(browser, "name", "Prof Klein")
        button(browser, "Make a key")
        until(browser, lambda: "Nothing was signed" in text(browser))
        assert not browser.find_elements(By.CSS_SELECTOR, "pre.key")
