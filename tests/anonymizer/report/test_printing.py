"""The sheet for the person who signs prints on one page, however much there is to say."""

from __future__ import annotations

import base64
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.parties.dashboard.browsers import BROWSER, DRIVER, opened, sized

pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs Chromium and ChromeDriver (on Debian the packages chromium and chromium-driver)",
)

PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11)}
ROWS = 200


def quoted(value) -> str:
    return json.dumps(value, ensure_ascii=False)


def large(name: str, sentence: str) -> None:
    """A table of 30 columns and a specification of 8 steps, with long texts wherever there may be some."""
    drawn = np.random.default_rng(7)
    quasi = [f"{name} {number}" for number in range(12)]
    sensitive = [f"finding {number}" for number in range(5)]
    measured = [f"laboratory value {number}" for number in range(12)]
    cells: dict[str, object] = {"Name": [f"P{number}" for number in range(ROWS)]}
    cells |= {one: [("a", "b")[place] for place in drawn.integers(0, 2, ROWS)] for one in quasi}
    cells |= {one: [("x", "y", "z")[place] for place in drawn.integers(0, 3, ROWS)] for one in sensitive}
    cells |= {one: (drawn.integers(0, 4, ROWS) / 10).tolist() for one in measured}
    assert len(cells) == 30
    pl.DataFrame(cells).write_csv("data.csv")
    text = f"title = {quoted((sentence * 10)[:400])}\n[purpose]\n"
    for key in ("purpose", "legal_basis", "responsible", "recipient"):
        text += f"{key} = {quoted((sentence * 30)[:500])}\n"
    text += f'[roles]\nidentifiers = ["Name"]\nquasi_identifiers = {quoted(quasi)}\n'
    text += f"sensitive = {quoted(sensitive)}\n[hierarchies]\n"
    text += "".join(f'{quoted(one)} = {{ rows = [["a", "*"], ["b", "*"]] }}\n' for one in quasi)
    for number, one in enumerate(quasi[:7]):
        text += f'[[steps]]\nname = "s{number}"\nmethod = "suppress-cells"\ncolumns = [{quoted(one)}]\n'
        text += f"minimum_rows = 3\nunchanged = {quoted(sentence)}\n"
    text += '[[steps]]\nmethod = "local-recoding"\nk = 5\n'
    for one in measured[:4]:
        text += f'[[accept]]\nfinding = "identifying"\ncolumn = {quoted(one)}\nwhy = {quoted(sentence * 5)}\n'
    Path("large.toml").write_text(text, encoding="utf-8")


def pages(browser, page: str, paper: str) -> int:
    """How many sheets a page takes."""
    browser.get(Path(page).resolve().as_uri())
    wide, high = PAPERS[paper]
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": wide, "paperHeight": high})
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"])))


SENTENCES = {
    "plain": ("A quasi-identifier with a long name, number", "Somebody has thought about all of this well. "),
    "wide": ("WWWWWWWWWWWW長い名前の列ですWWWWWWWWWWWW", "研究の目的について WWWW MMMM "),
    "unbroken": ("quasi" * 20, "x" * 90),
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_it_takes_one_sheet(run, kind):
    large(*SENTENCES[kind])
    run("anonymize data.csv --spec large.toml -o out.csv --report r.html --summary s.html --by 'Eva Weber'")
    with opened("about:blank") as browser:
        sized(browser, 1280, media="print")
        for paper in PAPERS:
            assert pages(browser, "s.html", paper) == 1, paper
            assert pages(browser, "r.html", paper) > 1, "a page count that can differ from one"
    text = unescape(Path("s.html").read_text(encoding="utf-8"))
    assert re.search(r"and \d+ more: see the report", text), "what does not fit is counted"
    for heading in ("Judgment", "Warnings", "Promised", "This holds if", "Signature", "SHA-256"):
        assert heading in text
