"""The dashboards of two parties in a real browser: propose, decide on both sides, watch, result, budget."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from parties.cli.main import main
from parties.dashboard.drawing.desk import PAGES
from scripts.processes import COMMAND, started
from tests.parties.test_party_cli import free_port

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), None)
DRIVER = shutil.which("chromedriver")
SECONDS = 60

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


@contextmanager
def dashboard(home, *options):
    """The link into a dashboard that runs as a process of its own."""
    words = [*COMMAND, "dashboard", "--config", str(home), "--json", *options]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        yield json.loads(process.stdout.readline())["link"]
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """Two paired parties, made by the commands of docs/first-hour.md, with daemons."""
    folder = tmp_path_factory.mktemp("browser")
    found = {name: folder / name for name in ("north", "south")}
    for name, home in found.items():
        words = documented("duetto init north")[:-2]
        duetto(*_of(name, words), "--home", home, "--address", f"127.0.0.1:{free_port()}", "--key", "2048")
        (home / "patienten.csv").write_bytes(export(name))
    for name, other in (("north", "south"), ("south", "north")):
        duetto("pair", found[other] / f"{other}.pair", "--yes", "--config", found[name])
    for name, home in found.items():
        for beginning in ("duetto data add", "duetto policy allow"):
            words = [
                word.replace("patienten.csv", str(home / "patienten.csv")) for word in documented(beginning)
            ]
            duetto(*_of(name, words), "--config", home)
        duetto("data", "check", "--config", home)
    with ExitStack() as running:
        for home in found.values():
            process = started(home)
            running.callback(process.wait)
            running.callback(process.terminate)
        yield found


def _of(name, words):
    """The words of a command of north's, as `name` writes them."""
    other = {"north": "south", "south": "north"}
    return words if name == "north" else [other.get(word, word) for word in words]


@contextmanager
def opened(link, *, width=1280, dark=False):
    """A browser that has come in by a link."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={width},900"]
    for argument in (*arguments, *(["--force-dark-mode"] if dark else [])):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        if width < 500:  # narrower than a window of the desktop can be
            phone = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        browser.get(link)
        yield browser
    finally:
        browser.quit()


def text(browser):
    return browser.find_element(By.TAG_NAME, "main").text


def button(browser, label):
    browser.find_element(By.XPATH, f"//main//button[normalize-space()='{label}']").click()


def until(browser, holds):
    wait = WebDriverWait(browser, SECONDS, ignored_exceptions=(StaleElementReferenceException,))
    wait.until(lambda _: holds())


def shows(browser, *words):
    """Wait until the page says these words; forms are answered when the daemon has answered."""
    until(browser, lambda: all(word in text(browser) for word in words))


def at(browser, path):
    """Go to a path of the same dashboard."""
    browser.get(f"http://{browser.current_url.split('/')[2]}{path}")


def test_from_a_question_to_a_result(homes):
    with ExitStack() as used:
        links = [used.enter_context(dashboard(home, "--decide")) for home in homes.values()]
        north, south = (used.enter_context(opened(link)) for link in links)
        start = south.current_url
        assert north.find_element(By.TAG_NAME, "h1").text == "Today"
        north.find_element(By.LINK_TEXT, "New job").click()
        for figure in ("mean:Alter", "histogram:Raucher"):
            north.find_element(By.CSS_SELECTOR, f'input[value="{figure}"]').click()
        button(north, "Check it")
        shows(north, "a person has to approve it", "under differential privacy with epsilon 1")
        button(north, "Propose it to south")
        until(north, lambda: "/jobs/" in north.current_url)
        job = north.current_url.rsplit("/", 1)[1]
        north.find_element(By.LINK_TEXT, "Look at it and decide").click()
        shows(north, "north would learn")
        button(north, "Approve")
        until(north, lambda: north.current_url.endswith(f"/jobs/{job}"))

        shows(south, "Statistics of patients")  # the page refreshes itself
        assert south.current_url == start
        south.find_element(By.LINK_TEXT, "Statistics of patients").click()
        shows(south, "south would learn", "The policy allows it, by rule “noisy statistics with north”.")
        assert "makes epsilon 1 of 3 towards north, after 0 before it" in text(south)
        south.find_element(By.ID, "name").send_keys("Dr. Eva Meyer")
        button(south, "Approve")

        for browser in (north, south):
            shows(browser, "Download the certificate", "mean of Alter", "±")
            assert browser.find_elements(By.CSS_SELECTOR, "figure svg .error")
        count = next(row for row in north.find_elements(By.CSS_SELECTOR, "tbody tr") if "count" in row.text)
        value = float(count.find_elements(By.CSS_SELECTOR, "td.n")[0].text.split()[0])
        # A third of epsilon is for the count; Laplace noise of scale 3 is beyond 100 once in e**33 runs.
        assert abs(value - 2 * ROWS) < 100

        north.find_element(By.LINK_TEXT, "Budget").click()
        shows(north, "1 of epsilon 3 spent, 2 left")
        north.find_element(By.LINK_TEXT, "Learned").click()
        shows(north, "the noisy results of")
        assert [entry for browser in (north, south) for entry in browser.get_log("browser")] == []


@pytest.mark.parametrize(("width", "dark"), [(390, False), (1600, True)])
def test_every_page_at_every_width(homes, width, dark):
    """Nothing but tables scrolls sideways, and the browser's console stays empty."""
    with dashboard(homes["north"]) as link, opened(link, width=width, dark=dark) as browser:
        for path, name in PAGES:
            at(browser, path)
            assert browser.find_element(By.TAG_NAME, "h1").text == name
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width, path
            unnamed = "return [...document.querySelectorAll('input:not([type=hidden]),select,textarea')]"
            assert browser.execute_script(f"{unnamed}.filter(field => !field.labels.length).length") == 0, (
                path
            )
        assert browser.get_log("browser") == []


def test_the_keyboard_is_enough(homes):
    """The first key leads past the menu; every control can be reached and is seen when it is."""
    with dashboard(homes["north"], "--decide") as link, opened(link) as browser:
        at(browser, "/new")
        keys = webdriver.ActionChains(browser)
        keys.send_keys(Keys.TAB).perform()
        assert browser.switch_to.active_element.text == "To the content"
        keys.send_keys(Keys.ENTER).perform()
        reached = set()
        for _ in range(60):
            keys.send_keys(Keys.TAB).perform()
            reached.add(browser.switch_to.active_element.get_attribute("name"))
        assert {"title", "peer", "peer_dataset", "figure", "epsilon", "text"} <= reached


def test_a_hostile_page_in_the_same_browser_does_nothing(homes, tmp_path):
    """It posts a form of the dashboard and frames a page of it: the cookie stays away from both."""
    with dashboard(homes["north"], "--decide") as link, opened(link) as browser:
        host = browser.current_url.split("/")[2]
        evil = tmp_path / "evil.html"
        evil.write_text(
            f'<iframe src="http://{host}/jobs"></iframe><form method="post" action="http://{host}/leave">'
            '<input name="form_key" value="x"></form><script>document.forms[0].submit()</script>'
        )
        browser.get(evil.as_uri())
        until(browser, lambda: browser.current_url.endswith("/leave"))
        assert "Nobody is signed in" in browser.find_element(By.TAG_NAME, "body").text
        at(browser, "/jobs")
        assert browser.find_element(By.TAG_NAME, "h1").text == "Jobs"  # nobody has left
        browser.get(link.replace("127.0.0.1", "localhost"))
        assert "used before" in browser.find_element(By.TAG_NAME, "body").text
