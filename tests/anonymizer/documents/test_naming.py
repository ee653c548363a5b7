"""Attackers who name one text of the web for each report: figures of before and after."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from anonymizer.cli.sanitize import sanitize
from anonymizer.documents.attacks.attack import Attacked, Search
from anonymizer.documents.attacks.naming import NamedFirst, WholeTexts, most_found
from anonymizer.documents.engines.engine import Hit
from anonymizer.documents.engines.index import FolderIndex

WEB = {
    "mill.txt": "Jaan Kallas, 12, fell from the roof of the Volta mill in Tallinn. A teacher was fined.",
    "yard.txt": "In the yard of a school in Tartu a teacher was hurt by a swing that broke.",
    "coast.txt": "The storm broke the roof of the harbour, and the ferry to the island did not sail.",
}


def hits(*names):
    return Search((), tuple(Hit(one, WEB[one]) for one in names))


def test_the_text_that_comes_up_most_and_highest_is_named():
    searches = [Attacked("a", (), (hits("yard.txt", "mill.txt"), hits("mill.txt")), ())]
    assert most_found(searches) == "mill.txt"
    assert most_found([*searches, Attacked("a", (), (hits("yard.txt"),), ())]) == "yard.txt"
    assert most_found([Attacked("a", (), (hits(),), ())]) is None


def test_the_nearest_text_is_found_and_the_report_itself_set_aside():
    whole = WholeTexts(WEB)
    texts = [
        "He fell from the roof of the mill.",
        "The ferry did not sail.",
        "xyzzy",
        WEB["mill.txt"].upper(),
    ]
    assert whole.nearest(texts, texts) == ["mill.txt", "coast.txt", None, "yard.txt"]


def test_japanese_texts_are_compared():
    whole = WholeTexts({"a": "生徒が屋上から転落した。", "b": "港の屋根が嵐で壊れた。"})
    assert whole.nearest(["嵐で壊れた屋根について"], [""]) == ["b"]


def test_figures_have_intervals():
    one = NamedFirst("search", "known names", 16, {"original": 15, "released": 0})
    assert one.interval("original") == pytest.approx((0.6977, 0.9984), abs=1e-4)
    assert one.interval("released")[0] == 0.0
    assert json.loads(json.dumps(one.to_values()))["intervals"]["released"][1] == pytest.approx(
        0.2059, abs=1e-4
    )


def test_an_index_gives_its_texts():
    assert dict(FolderIndex(WEB.items()).documents()) == WEB


REPORTS = {
    "a.txt": "The boy Jaan Kallas was 12 years old when he fell from the roof of the Volta mill in Tallinn.",
    "b.txt": "The woman was hurt in the yard of the school when the swing that she had been on broke.",
}


@pytest.fixture
def said(tmp_path):
    for folder, texts in (("web", WEB), ("in", REPORTS)):
        (tmp_path / folder).mkdir()
        for name, text in texts.items():
            (tmp_path / folder / name).write_text(text)
    (tmp_path / "names.csv").write_text("document,name\na.txt,Jaan Kallas\n")
    given = {"--web": "web", "-o": "out", "--names": "names.csv", "--report": "report.html"}
    paths = [part for option, name in given.items() for part in (option, str(tmp_path / name))]

    def run(*arguments):
        done = CliRunner().invoke(sanitize, [str(tmp_path / "in"), *paths, *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


def test_both_attackers_are_measured_before_and_after(said, tmp_path):
    rows = {(one["attacker"], one["reference"]): one for one in json.loads(said("--json"))["attackers"]}
    assert len(rows) == 4
    for attacker in ("search", "whole text"):
        named = rows[attacker, "known names"]
        assert (named["documents"], named["first"]["original"]) == (1, 1)
        assert rows[attacker, "the nearest text"]["documents"] == 1
    assert rows["whole text", "the nearest text"]["first"]["original"] == 1
    assert rows["search", "known names"]["first"]["released"] == 0
    page = (tmp_path / "report.html").read_text()
    assert "Attackers who name one text" in page
    assert "1 of 1 [0.03, 1.00]" in page


def test_the_terminal_says_both(said):
    lines = said().splitlines()
    assert any(one.startswith("an attacker who searches names the right text") for one in lines)
    assert any(one.startswith("an attacker who compares whole texts names") for one in lines)
