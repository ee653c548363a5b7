"""The dashboards of two parties in a real browser: propose, decide on both sides, watch, result, budget."""

from __future__ import annotations

import shlex
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import pytest

from parties.cli.main import main
from parties.dashboard.drawing.desk import PAGES
from scripts.processes import free_port, started
from tests.parties.dashboard.browsers import (
    BROWSER,
    DRIVER,
    By,
    Keys,
    Select,
    at,
    button,
    dashboard,
    opened,
    shows,
    sized,
    text,
    typed,
    until,
    webdriver,
)
from tests.support.grids import grid

pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs Chromium and ChromeDriver (on Debian the packages chromium and chromium-driver)",
)

FIRST_HOUR = Path(__file__).parents[3] / "docs" / "first-hour.md"
ROWS = 400


def export(name):
    """A table as a spreadsheet program writes it: semicolons, Latin-1, decimal commas, gaps as `?`."""
    head = "Patient;Nächster Termin;Alter;Gewicht;Raucher"
    rows = []
    for n in range(ROWS):
        weight = "?" if n == 7 else f"{50 + n % 40},5"
        smoker = "ja" if n % 4 == 0 else "nein"
        rows.append(f"{name}{1000 + n};{1 + n % 28:02}.{1 + n % 12:02}.2026;{20 + n % 60};{weight};{smoker}")
    return "\r\n".join([head, *rows, ""]).encode("latin-1")


def documented(beginning):
    """The command of the page that begins so; the one with most options, as nobody can be asked here."""
    found = [line for line in FIRST_HOUR.read_text().splitlines() if line.startswith(beginning)]
    return shlex.split(max(found, key=len))[1:]


def duetto(*words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert not left.value.code, words


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """Two paired parties by docs/first-hour.md: north in the dashboard, south by the page's commands."""
    folder = tmp_path_factory.mktemp("browser")
    found = {name: folder / name for name in ("north", "south")}
    for name, home in found.items():
        words = documented("duetto init north")[:-2]
        duetto(*_of(name, words), "--home", home, "--address", f"127.0.0.1:{free_port()}", "--key", "2048")
        (home / "patienten.csv").write_bytes(export(name))
    for name, other in (("north", "south"), ("south", "north")):
        duetto("pair", found[other] / f"{other}.pair", "--yes", "--config", found[name])
    with ExitStack() as running:
        for home in found.values():
            process = started(home)
            running.callback(process.wait)
            running.callback(process.terminate)
        for beginning in ("duetto data add", "duetto policy allow"):
            home = found["south"]
            words = [
                word.replace("patienten.csv", str(home / "patienten.csv")) for word in documented(beginning)
            ]
            duetto(*_of("south", words), "--config", home)
        duetto("data", "check", "--config", found["south"])
        yield found


def _of(name, words):
    """The words of a command of north's, as `name` writes them."""
    other = {"north": "south", "south": "north"}
    return words if name == "north" else [other.get(word, word) for word in words]


@pytest.fixture(scope="module")
def link(homes):
    """The link into north's dashboard, by the command of the page; used by `north`."""
    reports = homes["north"] / "released"
    reports.mkdir()
    for name in ("first", "second"):
        said = f"<p>report {name}</p><script>document.querySelector('p').append('ran')</script>"
        (reports / f"{name}.html").write_text(said)
    words = [*documented("duetto dashboard")[1:-1], homes["north"], "--releases", reports]
    with dashboard(homes["north"], *words) as found:
        yield found


@pytest.fixture(scope="module")
def browser(link):
    """A browser in north's dashboard, where data are declared and a rule allows them."""
    with opened(link) as found:
        declared_and_allowed(found)
        yield found


@pytest.fixture
def north(browser):
    """The same at the size of a desk, on any page."""
    sized(browser, 1280)
    browser.get_log("browser")
    at(browser, "/")
    return browser


def declared_and_allowed(browser):
    """Sections 3 and 4 of the page."""
    browser.find_element(By.LINK_TEXT, "Data").click()
    browser.find_element(By.LINK_TEXT, "Add a data set").click()
    button(browser, "Look at it")
    shows(browser, f"{ROWS} rows were looked at")
    typed(browser, "name", "patients")
    Select(browser.find_element(By.NAME, "person")).select_by_visible_text("Patient")
    for column, lower, upper in (("integer:Alter", 0, 120), ("decimal:Gewicht", 20, 250)):
        typed(browser, f"lower:{column}", lower)
        typed(browser, f"upper:{column}", upper)
    browser.find_element(By.NAME, "stands:category:Raucher").click()
    button(browser, "Add it to the catalog")
    shows(browser, "nothing was added yet")
    button(browser, "Add it to the catalog")
    shows(browser, f"patients is as declared: {ROWS - 1} rows", "not confirmed")  # the date can wait
    browser.find_element(By.LINK_TEXT, "Policy").click()
    browser.find_element(By.XPATH, "//summary[.='Allow results with noise']").click()
    typed(browser, "columns", "Alter Raucher")
    button(browser, "Add the rule")
    shows(browser, "epsilon up to 1 a job, and 3 in total")


@pytest.mark.slow  # scripts/check walks through it each time
def test_from_a_question_to_a_result(homes, north):
    with dashboard(homes["south"], "--decide") as link, opened(link) as south:
        start = south.current_url
        assert north.find_element(By.TAG_NAME, "h1").text == "Today"
        north.find_element(By.LINK_TEXT, "New job").click()
        for figure in ("mean:Alter", "histogram:Raucher"):
            north.find_element(By.CSS_SELECTOR, f'input[value="{figure}"]').click()
        button(north, "Check it")
        shows(north, "a person has to approve it", "It costs epsilon 1", "mean of Alter\n± ", "You learn")
        button(north, "Propose it to south")
        until(north, lambda: "/jobs/" in north.current_url)
        job = north.current_url.rsplit("/", 1)[1]
        north.find_element(By.LINK_TEXT, "Look at it and decide").click()
        shows(north, "You ask south", "You learn", "It cannot be undone.")
        typed(north, "name", "Ann")
        button(north, "Approve")
        until(north, lambda: north.current_url.endswith(f"/jobs/{job}"))

        shows(south, "Statistics of patients")  # the page refreshes itself
        assert south.current_url == start
        south.find_element(By.LINK_TEXT, "Statistics of patients").click()
        shows(south, "north asks", "north learns", "Allowed by rule “noisy statistics with north”")
        assert "then 1 of your 3 towards north is spent, and 2 is left" in text(south)
        described_well(south, "decide", 1280)
        south.find_element(By.ID, "name").send_keys("Dr. Eva Meyer")
        button(south, "Approve")

        for browser in (north, south):
            shows(browser, "Check the certificate", "mean of Alter", "±")
            assert browser.find_elements(By.CSS_SELECTOR, "figure svg .error")
        count = next(row for row in north.find_elements(By.CSS_SELECTOR, "tbody tr") if "count" in row.text)
        value = float(count.find_elements(By.CSS_SELECTOR, "td.n")[0].text.split()[0])
        # A third of epsilon is for the count; Laplace noise of scale 3 is beyond 100 once in e**33 runs.
        assert abs(value - 2 * ROWS) < 100

        north.find_element(By.LINK_TEXT, "Check the certificate").click()
        shows(north, "The certificate holds", "south: the one that was paired", "compared with the one")
        north.find_element(By.LINK_TEXT, "Budget").click()
        shows(north, "1 of epsilon 3 spent, 2 left")
        assert north.find_elements(By.CSS_SELECTOR, "figure svg .limit")
        north.find_element(By.XPATH, "//summary[contains(., 'on which job')]").click()
        shows(north, "Statistics of patients")
        north.find_element(By.LINK_TEXT, "Learned").click()
        shows(north, "the noisy results of")
        assert [entry for browser in (north, south) for entry in browser.get_log("browser")] == []


UNNAMED = """
const all = "input:not([type=hidden]), select, textarea, button, a, svg, meter, progress";
return [...document.querySelectorAll(all)]
  .filter(one => !one.closest("details:not([open])") || one.tagName === "SUMMARY")
  .filter(one => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim()
    || one.getAttribute("aria-hidden")))
  .map(one => one.outerHTML)
"""
"""What a screen reader could not name."""

OUTLINE = """
return {
  landmarks: ["header", "nav", "main"].map(name => document.querySelectorAll(name).length),
  levels: [...document.querySelectorAll("h1, h2, h3")].map(one => +one.tagName[1]),
  language: document.documentElement.lang,
  twice: [...document.querySelectorAll("[id]")].map(one => one.id)
    .filter((id, place, all) => all.indexOf(id) !== place),
  tabs: document.querySelectorAll("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").length,
  current: document.querySelectorAll("[aria-current=page]").length,
}
"""


@pytest.mark.parametrize(("width", "dark"), grid([(390, False), (1600, True)], [(390, False)]))
def test_every_page_at_every_width(north, width, dark):
    """Nothing but tables scrolls sideways, a screen reader finds its way, and the console stays empty."""
    sized(north, width, dark=dark)
    grounds = north.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (grounds == "rgb(255, 255, 255)") is not dark
    for path, name in (*PAGES, ("/data/add", "Add a data set")):
        at(north, path)
        assert north.find_element(By.TAG_NAME, "h1").text == name
        described_well(north, path, width)
    button(north, "Look at it")
    shows(north, "rows were looked at")
    for details in north.find_elements(By.TAG_NAME, "summary"):
        details.click()
    described_well(north, "draft", width)
    at(north, "/jobs")
    for job in north.find_elements(By.CSS_SELECTOR, "tbody a")[:1]:
        job.click()
        described_well(north, "job", width)
    assert north.get_log("browser") == []


def described_well(browser, path, width):
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width, path
    assert browser.execute_script(UNNAMED) == [], path
    found = browser.execute_script(OUTLINE)
    assert found["landmarks"] == [1, 1, 1], path
    assert (found["levels"][0], found["levels"].count(1)) == (1, 1), path
    assert all(after <= before + 1 for before, after in pairwise(found["levels"])), (path, found["levels"])
    assert (found["language"], found["twice"], found["tabs"], found["current"]) == ("en", [], 0, 1), path


def test_reports_stand_beside_each_other_and_run_nothing(north):
    at(north, "/releases")
    button(north, "Compare")
    shows(north, "Reports beside each other")
    frames = north.find_elements(By.TAG_NAME, "iframe")
    seen = []
    for frame in frames:
        north.switch_to.frame(frame)
        until(north, lambda: north.find_elements(By.TAG_NAME, "p"))
        seen.append(north.find_element(By.TAG_NAME, "p").text)
        north.switch_to.default_content()
    assert sorted(seen) == ["report first", "report second"]
    described_well(north, "beside", 1280)


def test_paper_has_what_matters_and_no_controls(north):
    at(north, "/budget")
    sized(north, 800, media="print")
    hidden = [one for name in ("header", ".skip") for one in north.find_elements(By.CSS_SELECTOR, name)]
    assert hidden
    assert not any(one.is_displayed() for one in hidden)
    assert north.find_element(By.TAG_NAME, "h1").is_displayed()
    at(north, "/policy")
    assert not any(one.is_displayed() for one in north.find_elements(By.TAG_NAME, "button"))


def test_the_keyboard_is_enough(north):
    """The first key leads past the menu; every control can be reached."""
    at(north, "/new")
    keys = webdriver.ActionChains(north)
    keys.send_keys(Keys.TAB).perform()
    assert north.switch_to.active_element.text == "To the content"
    keys.send_keys(Keys.ENTER).perform()
    reached = set()
    for _ in range(40):
        keys.send_keys(Keys.TAB).perform()
        reached.add(north.switch_to.active_element.get_attribute("name"))
        if "text" in reached:
            break
    assert {"title", "peer", "peer_dataset", "figure", "epsilon", "text"} <= reached


def test_a_hostile_page_in_the_same_browser_does_nothing(north, link, tmp_path):
    """It posts a form of the dashboard and frames a page of it: the cookie stays away from both."""
    host = north.current_url.split("/")[2]
    evil = tmp_path / "evil.html"
    evil.write_text(
        f'<iframe src="http://{host}/jobs"></iframe><form method="post" action="http://{host}/leave">'
        '<input name="form_key" value="x"></form><script>document.forms[0].submit()</script>'
    )
    north.get(evil.as_uri())
    until(north, lambda: north.current_url.endswith("/leave"))
    assert "Nobody is signed in" in north.find_element(By.TAG_NAME, "body").text
    at(north, "/jobs")
    assert north.find_element(By.TAG_NAME, "h1").text == "Jobs"  # nobody has left
    north.get(link)
    assert "used before" in north.find_element(By.TAG_NAME, "body").text
    north.get(f"http://127.0.0.1:{host.split(':')[1]}/jobs")
    assert "under the name in its link only" in north.find_element(By.TAG_NAME, "body").text
    north.get(f"http://{host}/jobs")
    assert north.find_element(By.TAG_NAME, "h1").text == "Jobs"


def test_another_port_of_this_machine_never_sees_the_session(north):
    """Another account's server, to which a page leads the browser: under every name that it may have."""
    seen = []

    class Thief(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.headers["Host"], self.headers["Cookie"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>lucky winner</title>")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Thief) as thief:
        port = thief.server_address[1]
        threading.Thread(target=thief.serve_forever, daemon=True).start()
        hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "other.localhost")]
        start = north.current_url
        for host in hosts:
            north.get(f"http://{host}/")
            until(north, lambda: north.title == "lucky winner")
            north.get(start)
            assert north.find_element(By.TAG_NAME, "h1").text == "Today"
        thief.shutdown()
    assert set(hosts) <= {host for host, _ in seen}
    assert [cookie for _, cookie in seen if cookie] == []
