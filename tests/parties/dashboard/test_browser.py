"""The dashboards of two parties in a real browser: propose, decide on both sides, watch, result, budget."""

from __future__ import annotations

import csv
import io
import runpy
import shlex
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import pytest

from parties.cli.main import main
from parties.dashboard.drawing.desk import PAGES
from parties.evidence.store import COIN, DUE, EvidenceStore, Standing
from parties.pki.pairing import read
from parties.pki.spoken import words_of
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
    served,
    shows,
    sized,
    text,
    typed,
    until,
    violations,
    webdriver,
)
from tests.support.grids import grid

pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs Chromium and ChromeDriver (on Debian the packages chromium and chromium-driver)",
)

DOCS = Path(__file__).parents[3] / "docs"
FIRST_HOUR = DOCS / "first-hour.md"
ROWS = 400
SEEDS = {"north": 1, "south": 2}
EXPORT = runpy.run_path(str(DOCS / "examples" / "ugly_export.py"))
KEYS = ("--key", "2048")


def documented(beginning):
    """The command of the page that begins so; the one with most options, as nobody can be asked here."""
    found = [line for line in FIRST_HOUR.read_text().splitlines() if line.startswith(beginning)]
    return shlex.split(max(found, key=len))[1:]


def persons(exports):
    """How many persons of an export have what the question reads."""
    rows = csv.DictReader(io.StringIO((exports / "patienten.csv").read_text("cp1252")), delimiter=";")
    return len({row["PatNr"] for row in rows if row["Alter"] != "999" and row["Raucher"] != "k.A."})


def duetto(*words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert not left.value.code, words


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """The homes of two parties: south is made by the commands of docs/first-hour.md, north not yet."""
    folder = tmp_path_factory.mktemp("browser")
    found = {name: folder / name for name in SEEDS}
    for name in found:
        exports = folder / f"exports-{name}"
        exports.mkdir()
        (exports / "patienten.csv").write_bytes(EXPORT["text"](ROWS, SEEDS[name]))
    words = documented("duetto init south")[:-1]
    duetto(*words, f"127.0.0.1:{free_port()}", "--home", found["south"], *KEYS)
    return found


@pytest.fixture(scope="module")
def link(homes):
    """The link into north's dashboard, from nothing by the one command of the page."""
    words = documented("duetto up")
    words[words.index("--address") + 1] = f"127.0.0.1:{free_port()}"
    words[words.index("--data") + 1] = str(homes["north"].parent / "exports-north")
    with served([*words, *KEYS, "--config", str(homes["north"])]) as found:
        yield found


@pytest.fixture(scope="module")
def browser(link, homes):
    """A browser in north's dashboard, where data are declared and a rule allows them."""
    with opened(link) as found:
        shows(found, "The first day", "Pair with the other institution")
        paired_in(found, homes["south"] / "south.pair")
        declared_and_allowed(found)
        assert "The first day" in text_at(found, "/")
        with south_by_commands(homes):
            yield found


def text_at(browser, path):
    at(browser, path)
    return text(browser)


def paired_in(browser, file):
    """Section 2 of the page: nothing is stored before the tick."""
    browser.find_element(By.LINK_TEXT, "Peers").click()
    said = browser.find_element(By.CLASS_NAME, "words").text.split()
    assert len(said) == 15
    browser.find_element(By.NAME, "file").send_keys(str(file))
    button(browser, "Look at it")
    shows(browser, "Pair with south?")
    assert browser.find_element(By.CLASS_NAME, "words").text.split() == [*words_of(read(file).fingerprint)]
    described_well(browser, "pair", 1280)
    browser.find_element(By.NAME, "compared").click()
    button(browser, "Pair with south")
    shows(browser, "Check the way to south")


@contextmanager
def south_by_commands(homes):
    """South by the page's commands, with a daemon that runs."""
    south = homes["south"]
    duetto("pair", homes["north"] / "north.pair", "--yes", "--config", south)
    process = started(south)
    try:
        for beginning in ("duetto data add", "duetto policy allow"):
            exported = str(south.parent / "exports-south" / "patienten.csv")
            words = [word.replace("patienten.csv", exported) for word in documented(beginning)]
            duetto(*words, "--config", south)
        duetto("data", "check", "--config", south)
        yield
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def reports(homes):
    """A folder with two reports of the anonymizer."""
    found = homes["north"].parent / "released"
    found.mkdir()
    for name in ("first", "second"):
        said = f"<p>report {name}</p><script>document.querySelector('p').append('ran')</script>"
        (found / f"{name}.html").write_text(said)
    return found


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
    shows(browser, f"{ROWS} rows were looked at", "a code for missing?", "Schäfer")
    ticked = {
        one.get_attribute("value") for one in browser.find_elements(By.CSS_SELECTOR, "[name=keep]:checked")
    }
    assert ticked == {*EXPORT["COLUMNS"]} - {"PatNr", "Nachname", "Vorname", "Bemerkung"}
    assert Select(browser.find_element(By.NAME, "person")).first_selected_option.text == "PatNr"
    assert browser.find_element(By.NAME, "unit:Gewicht (kg)").get_attribute("value") == "kg"
    typed(browser, "name", "patients")
    browser.find_element(By.NAME, "code:Alter").click()
    for column, lower, upper in (("integer:Alter", 0, 120), ("decimal:Gewicht (kg)", 20, 250)):
        typed(browser, f"lower:{column}", lower)
        typed(browser, f"upper:{column}", upper)
    Select(browser.find_element(By.NAME, "below:Kreatinin (mg/dl)")).select_by_value("half")
    browser.find_element(By.NAME, "stands:category:Raucher").click()
    button(browser, "Add it to the catalog")
    shows(browser, "Your changes were applied", "Kreatinin (mg/dl): Now read as decimal")
    described_well(browser, "changes", 1280)
    button(browser, "Add it to the catalog")
    shows(browser, "patients is as declared: ", "Not confirmed", "Alter:", "missing")  # the rest can wait
    browser.find_element(By.LINK_TEXT, "Policy").click()
    for column in ("Alter", "Raucher"):
        browser.find_element(By.CSS_SELECTOR, f"[name=column][value='{column}']").click()
    typed(browser, "epsilon_total", "three")
    button(browser, "Add the rule")
    shows(browser, "Write a number above 0")
    assert len(browser.find_elements(By.CSS_SELECTOR, "[name=column]:checked")) == 2
    described_well(browser, "faulty rule", 1280)
    typed(browser, "epsilon_total", 3)
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
        described_everywhere(north, "preview")
        printed_well(north, "preview")
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
        described_everywhere(south, "decide")
        printed_well(south, "decide")
        south.find_element(By.ID, "name").send_keys("Dr. Eva Meyer")
        button(south, "Approve")

        for browser in (north, south):
            shows(browser, "Check the certificate", "mean of Alter", "±")
            assert browser.find_elements(By.CSS_SELECTOR, "figure svg .error")
        described_everywhere(north, "result")
        count = next(
            row for row in north.find_elements(By.CSS_SELECTOR, "tbody tr") if "number of rows" in row.text
        )
        value = float(count.find_elements(By.CSS_SELECTOR, "td.n")[0].text.split()[0])
        # A third of epsilon is for the count; Laplace noise of scale 3 is beyond 60 once in e**20 runs.
        assert abs(value - sum(persons(homes[name].parent / f"exports-{name}") for name in SEEDS)) < 60

        north.find_element(By.LINK_TEXT, "Check the certificate").click()
        shows(north, "The certificate holds", "south: the one that was paired", "compared with the one")
        described_everywhere(north, "certificate")
        north.find_element(By.LINK_TEXT, "Budget").click()
        shows(north, "1 of epsilon 3 spent, 2 left")
        assert north.find_elements(By.CSS_SELECTOR, "figure svg .limit")
        north.find_element(By.XPATH, "//summary[contains(., 'on which job')]").click()
        shows(north, "Statistics of patients")
        described_everywhere(north, "budget")
        north.find_element(By.LINK_TEXT, "Learned").click()
        shows(north, "the noisy results of")
        described_everywhere(north, "learned")
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


MORE = (
    ("/nowhere", "That did not work"),
    ("/data/add?edit=patients", "Edit patients"),
    ("/data/remove?dataset=patients", "Remove patients?"),
    ("/data/add", "Add a data set"),
)
"""Pages that no menu names; the last one goes on to a draft."""


@pytest.mark.parametrize(("width", "dark"), grid([(390, False), (1600, True)], [(390, False)]))
def test_every_page_at_every_width(north, width, dark):
    """Nothing but tables scrolls sideways, a screen reader finds its way, and the console stays empty."""
    sized(north, width, dark=dark)
    grounds = north.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (grounds == "rgb(255, 255, 255)") is not dark
    for path, name in (*PAGES, *MORE):
        at(north, path)
        assert north.find_element(By.TAG_NAME, "h1").text == name
        described_well(north, path, width)
        if path == "/nowhere":
            assert "404" in north.get_log("browser")[0]["message"]  # what the browser itself says of it
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


def test_pages_before_somebody_is_signed_in(tmp_path):
    """The first page of all, and what a link says that was used before."""
    with served(["up", "--config", str(tmp_path / "north"), *KEYS]) as link, opened(link) as browser:
        for words in ("There is no party on this machine yet", "used before"):
            shows(browser, words)
            for width, dark in ((390, False), (1280, True)):
                sized(browser, width, dark=dark)
                assert violations(browser) == [], words
                assert browser.execute_script("return document.documentElement.scrollWidth") <= width, words
                assert browser.execute_script(UNNAMED) == [], words
            browser.get(link)


@pytest.mark.parametrize("width", [390, 1280])
def test_covert_runs_stand_side_by_side(homes, north, width):
    """Their commands are long, and scroll in their table alone."""
    store, job_id = EvidenceStore(homes["north"]), "ab" * 8
    store.begin(Standing(job_id, "south", DUE, COIN, ended="2026-11-29T12:00:00Z", peer_verdict="convicted"))
    sized(north, width)
    at(north, "/audits")
    assert "south is convicted" in text(north)
    assert f"duetto evidence bundle {job_id}" in text(north)
    described_well(north, "audits", width)
    store.delete(job_id)


def test_no_title_of_a_job_moves_a_column(north):
    """A peer chooses the title; 200 wide letters leave every column where people see it."""
    at(north, "/new")
    north.find_element(By.CSS_SELECTOR, 'input[value="mean:Alter"]').click()
    typed(north, "title", "W" * 200)
    button(north, "Check it")
    shows(north, "a person has to approve it")
    button(north, "Propose it to south")
    until(north, lambda: "/jobs/" in north.current_url)
    for width in (1280, 390):
        sized(north, width)
        for path in ("/", "/jobs", "/decide"):
            at(north, path)
            assert "W" * 50 in text(north).replace("\n", "")
            edges = (
                "return [...document.querySelectorAll('th, td')].map(e => e.getBoundingClientRect().right)"
            )
            assert max(north.execute_script(edges)) <= width, (path, width)
    at(north, "/jobs")
    north.find_element(By.PARTIAL_LINK_TEXT, "WWWW").click()
    described_well(north, "long title", 390)


def described_everywhere(browser, path):
    """The same page on a telephone, and on a wide dark screen."""
    for width, dark in ((390, False), (1600, True), (1280, False)):
        sized(browser, width, dark=dark)
        described_well(browser, path, width)


def described_well(browser, path, width):
    assert violations(browser) == [], path
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width, path
    assert browser.execute_script(UNNAMED) == [], path
    found = browser.execute_script(OUTLINE)
    assert found["landmarks"] == [1, 1, 1], path
    assert (found["levels"][0], found["levels"].count(1)) == (1, 1), path
    assert all(after <= before + 1 for before, after in pairwise(found["levels"])), (path, found["levels"])
    assert (found["language"], found["twice"], found["tabs"], found["current"]) == ("en", [], 0, 1), path


def test_reports_stand_beside_each_other_and_run_nothing(homes, reports, browser):
    with dashboard(homes["north"], "--releases", reports) as link, opened(link) as north:
        beside_each_other(north)


def beside_each_other(north):
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
    for path in ("/policy", "/jobs", "/learned", "/data", "/new"):
        at(north, path)
        controls = north.find_elements(By.CSS_SELECTOR, "button, input, select, textarea")
        assert controls, path
        assert not any(one.is_displayed() for one in controls), path


PAPER = """
const texts = ["h1", "h2", "h3", "p", "li", "td", "dd", "svg", "pre"].map(one => `main ${one}`).join();
const found = [...document.querySelectorAll(texts)].filter(one => one.checkVisibility())
  .filter(one => one.tagName === "svg" || one.innerText.trim());
const level = one => /^H[1-3]$/.test(one?.tagName ?? "H1") ? one?.tagName ?? "H1" : "none";
const alone = found.filter((one, place) => level(one) !== "none" && level(found[place + 1]) <= level(one));
const heads = [...document.querySelectorAll("main :is(caption, h1, h2, h3, summary)")];
const folded = [...document.querySelectorAll("main details:not(.screen, form *) > :not(summary)")];
return [alone.map(one => one.innerText),
  heads.filter(one => getComputedStyle(one).breakAfter !== "avoid").length,
  folded.filter(one => !one.checkVisibility() && !one.closest(".screen, form")).length]
"""
"""Headings with nothing below, those that a page may end behind, and what is folded and not printed."""


def printed_well(browser, path):
    sized(browser, 800, media="print")
    found = browser.execute_script(PAPER)
    sized(browser, 1280)
    assert found == [[], 0, 0], path


def test_paper_has_no_heading_alone_and_nothing_folded(north):
    for path in (*(path for path, _ in PAGES), "/data/add?edit=patients"):
        at(north, path)
        printed_well(north, path)


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


@pytest.mark.attack
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
