"""How limits and hints are said on pages: in sentences, and without options of commands."""

from __future__ import annotations

import re
from contextlib import ExitStack
from fractions import Fraction
from types import SimpleNamespace

import pytest
import tomli_w

from parties.client import Party
from parties.contracts.contract import limits_document
from parties.dashboard.drawing.words import hint, limits, settings
from scripts.soak.kinds import furnish, kinds
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from tests.parties.dashboard.browsing import Browser
from tests.parties.jobs.institutions import Institutions
from tests.parties.served import control


def test_limits_are_sentences_and_none_is_silent():
    assert limits(limits_document(NO_LIMITS)) == []
    said = limits(limits_document(Limits(5, Fraction(4, 5), 100, Fraction(10), 3)))
    assert len(said) == 5
    text = " ".join(said)
    assert not re.search(r"[a-z]_[a-z]|\b0\b", text)
    for words in (
        "fewer than 5 persons",
        "more than 80 % of a sum",
        "100 rows",
        "10 times",
        "than 3 matches",
    ):
        assert words in text


def test_settings_are_in_words_and_name_columns_as_the_catalog_does():
    query = {"name": "n", "kind": "count", "by": "c_x", "where": [{"column": "mean", "at_least": 90}]}
    asked = {
        "epsilon": "1/2",
        "maximum_rows": 100,
        "queries": [query, {"kind": "mean", "column": "c_x", "labels": ["c_x", "mean"]}],
        "keys": ["mean", "c_x"],
        "match": {"keys": ["c_x"], "duplicates": "error"},
    }
    assert settings(asked, {"c_x": "Masa ciała [kg]", "mean": "Wiek"}) == [
        ("Epsilon", "1/2"),
        ("Most rows of a side", "100"),
        (
            "Figure 1",
            "n. Kind: number of rows; Separately for each: Masa ciała [kg]; "
            "Only rows with: column Wiek, at least 90",
        ),
        ("Figure 2", "Kind: mean; Column: Masa ciała [kg]; Labels: c_x, mean"),
        ("Keys", "Wiek, Masa ciała [kg]"),
        ("Match", "keys Masa ciała [kg], duplicates error"),
    ]


def test_hints_name_what_the_page_has():
    assert hint("Choose one with --sheet: a, b.") == "Choose one under “Sheet of an Excel file”: a, b."
    assert "--" not in hint("Choose another with --name.")
    assert "--" not in hint(
        "Put rows below a row that names each column once, or choose types with --type COLUMN=text."
    )


def test_files_are_read_again_from_the_page(party, served, monkeypatch):
    from parties.dashboard.pages import peers

    browser = Browser(party)
    monkeypatch.setattr(peers, "own_pairing", lambda _: SimpleNamespace(fingerprint="ABCD-EFGH"))
    policy = served.folder / "north" / "policy.toml"
    right = policy.read_text()
    done = browser.post("/peers/reload")
    assert done.status_code == 200
    assert "The daemon has read its configuration and peers again" in done.text
    assert "/peers/reload" not in Browser(party, decides=False).get("/peers").text
    policy.write_text("[[rules]]\n")
    refused = browser.post("/peers/reload")
    assert refused.status_code == 409
    assert "policy.toml" in refused.text
    policy.write_text(right)


NAMES = ("north", "south")
KINDS = kinds(NAMES)


@pytest.fixture(scope="module")
def trying(tmp_path_factory):
    """A dashboard of a party whose policy allows everything, and which has data for every kind of job."""
    folder = tmp_path_factory.mktemp("t")
    made = Institutions(folder)
    for number, name in enumerate(NAMES):
        furnish(folder / name, number, 40)
    with ExitStack() as opened:
        home = opened.enter_context(control(made.network.managers["north"], folder / "north"))
        yield Browser(opened.enter_context(Party(home)))
    made.close()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_job_can_be_tried(trying, kind):
    page = trying.post("/policy/try", {"text": tomli_w.dumps(KINDS[kind])})
    assert page.status_code == 200, page.text
    rule = "vectors" if KINDS[kind]["parameters"].get("method") == "vectors" else "everything"
    assert f"Allowed by rule “{rule}”" in page.text
    assert "Every condition of every rule" in page.text
