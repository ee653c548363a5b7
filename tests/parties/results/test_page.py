"""The report of a joint result: what it says, that nothing in it runs or is loaded, and how it reads."""

from __future__ import annotations

import re
import stat
import sys
from html.parser import HTMLParser

import pytest

from parties.client.result import Result
from parties.errors import ConfigError, JobError
from parties.results.page import Report, report_page
from parties.results.tables import ResultTable
from smc.errors import UsageError
from tests.parties.results.test_tables import STATISTICS

pytest.importorskip("jinja2")

EVIL = '<script>alert(1)</script><img src="http://evil.example/x" onerror="x">\x1b[31m'


class Seen(HTMLParser):
    """All elements and attributes of a page, and what has no end."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "line", "circle", "rect", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag


def seen(page):
    parser = Seen()
    parser.feed(page)
    assert parser.open == []
    return parser


def story(**changed):
    facts = [("a", "b")]
    given = {
        "title": "t",
        "subtitle": "s",
        "cards": facts,
        "asked": facts,
        "parameters": "{}",
        "notes": ["n"],
        "learned": facts,
        "spent": facts,
        "totals": ["all"],
        "cost": facts,
        "certificate": facts,
    }
    return Report(**{**given, **changed})


def test_nothing_runs_and_nothing_is_loaded():
    evil = [(EVIL, EVIL)]
    names = ("cards", "asked", "learned", "spent", "cost", "certificate")
    told = story(
        title=EVIL, subtitle=EVIL, parameters=EVIL, notes=[EVIL], totals=[EVIL], **dict.fromkeys(names, evil)
    )
    columns = {EVIL: [EVIL], "n": [3], "lower_95": [1], "upper_95": [5]}
    page = report_page(told, [ResultTable(EVIL, columns, {})])
    assert '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src' in page
    assert "\x1b" not in page
    found = seen(page)
    assert not {"script", "img", "link", "iframe", "object", "form", "input", "base"} & set(found.elements)
    names = [name for name, _ in found.attributes]
    assert not [name for name in names if name.startswith("on")]
    assert not {"src", "href", "srcset", "style"} & set(names)
    assert "url(" not in re.search("<style>(.*?)</style>", page, re.DOTALL)[1]
    assert "@import" not in page


def test_figures_have_error_bars_and_texts_and_tables_captions():
    page = report_page(story(), [STATISTICS])
    assert "5461 ± 9" in page
    assert "1983-09-10 ± 10 days" in page
    assert "{\n  &#34;epsilon&#34;: 1\n}" in report_page(story(parameters='{\n  "epsilon": 1\n}'), [])
    assert page.count("<figure>") == page.count('<svg role="img" aria-label=') == 3
    assert page.count('class="error"') == 3
    assert page.count("<table>") == page.count("<caption>")
    found = seen(page)
    assert ("scope", "col") in found.attributes
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_large_results_are_in_the_report_in_part():
    tables = [ResultTable(f"t{i}", {"row": list(range(1000))}, {}) for i in range(130)]
    page = report_page(story(), tables)
    assert "800 more rows" in page
    assert "30 more tables" in page
    assert len(page) < 2_000_000


def test_the_report_of_a_job(served, party, command, file):
    job = party.submit(file).wait(timeout=20)
    path = served.folder / "report.html"
    assert "Written to" in command("job", "report", job.id, "--output", path).stdout
    page = path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for said in ("both sums", "the sum", "the number of rows", "spent as entry", "epsilon 0.5", ">62<"):
        assert said in page, said
    assert job.contract["spec"]["alice"]["dataset"] in page
    assert "left under rule" in page
    assert job.result().report() != ""
    command("job", "report", job.id, "--output", served.folder / "none" / "report.html", code=2)
    with pytest.raises(UsageError, match="cannot be written"):
        job.result().report(served.folder / "none" / "report.html")


def test_a_result_without_a_daemon_has_no_report(monkeypatch):
    with pytest.raises(JobError, match="comes from no daemon"):
        Result("1", {}, (), {}, {}, {}).report()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ConfigError, match=r"duetto\[report\]"):
        report_page(story(), [])
