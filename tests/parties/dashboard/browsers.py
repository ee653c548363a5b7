"""A real browser in a dashboard that runs as a process of its own: what tests of pages do in it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.processes import COMMAND

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402, F401
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402, F401

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), None)
DRIVER = shutil.which("chromedriver")
SECONDS = 30
AXE = Path(__file__).with_name("axe.min.js")
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")


def dashboard(home, *options):
    """The link into a dashboard that runs as a process of its own."""
    return served(["dashboard", "--config", str(home), *map(str, options)])


@contextmanager
def served(words):
    """The link that a command prints which serves a dashboard."""
    process = subprocess.Popen([*COMMAND, *words, "--json"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        yield json.loads(process.stdout.readline())["link"]
    finally:
        process.send_signal(signal.SIGINT)  # what Ctrl-C sends
        process.wait(40)
        process.stdout.close()


@contextmanager
def opened(link):
    """A browser that has come in by a link."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        sized(browser, 1280)
        browser.get(link)
        yield browser
    finally:
        browser.quit()


def sized(browser, width, *, dark=False, media="screen"):
    """Make the page as wide as that, on a dark or light screen or on paper."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    colours = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [colours]})


def violations(browser):
    """What axe-core finds of WCAG 2.2 at levels A and AA on this page."""
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text()})
    run = "axe.run(document, {runOnly: arguments[0]}).then(arguments[1], arguments[1])"
    found = browser.execute_async_script(run, WCAG)
    return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found["violations"]]


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


def typed(browser, name, value):
    field = browser.find_element(By.NAME, name)
    field.clear()
    field.send_keys(str(value))
