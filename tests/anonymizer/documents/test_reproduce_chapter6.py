"""The script that attacks and sanitizes court cases: its trends on a few of them."""

from __future__ import annotations

import importlib
import os
import sys
from itertools import combinations
from pathlib import Path

import pytest

from anonymizer.documents.texts.edits import apply_edits
from anonymizer.documents.texts.text import fold
from scripts.reproduce.calibration import Observation

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "reproduce" / "chapter6.py"
DATA = Path(os.environ.get("DUETTO_SHARED_DATA", ROOT.parent / "shared" / "data"))
CASES = 8


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(SCRIPT.parent))
    names = ("chapter6_cases", "chapter6_experiments", "chapter6_statements", "chapter6")
    yield {name: importlib.import_module(name) for name in names}
    sys.path.remove(str(SCRIPT.parent))


@pytest.fixture(scope="module")
def cases(scripts):
    if not (DATA / "documents" / "tab_echr_documents.csv").exists():
        pytest.skip("the court cases are not there; DUETTO_SHARED_DATA names their folder")
    return scripts["chapter6_cases"].cases(DATA, CASES)


@pytest.fixture(scope="module")
def study(scripts, cases):
    return scripts["chapter6_experiments"].Study(cases, "DIRECT and QUASI")


def test_missing_cases_are_named(scripts, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["thesis_chapter6", "--data", str(tmp_path)])
    assert scripts["chapter6"].main() == 66
    assert f"{tmp_path / 'documents' / 'tab_echr_documents.csv'} is missing" in capsys.readouterr().err


def test_masks_hide_what_the_annotators_marked(scripts, cases):
    for case in cases:
        for kinds in scripts["chapter6_cases"].MASKS.values():
            edits = case.masks(kinds)
            hidden = {at for edit in edits for at in range(*edit.span)}
            marked = {
                at for one in case.mentions if one.identifier in kinds for at in range(one.start, one.end)
            }
            assert hidden == marked
            assert all(word.text in apply_edits(case.document.text, edits) for word in case.words(edits))


def test_an_article_names_the_applicant_and_is_not_the_case(cases):
    for case in cases:
        assert case.applicant.split()[-1].lower() in case.article.lower()
        assert len(case.article) < len(case.document.text)


def test_masked_cases_are_found_by_their_article_and_not_without_it(study):
    found = [one.succeeded for one in study.outcomes()]
    control = [one.succeeded for one in study.outcomes(article=False)]
    assert sum(found) >= CASES // 3
    assert sum(control) == 0


def test_more_keywords_find_no_fewer_cases(study):
    found = [{one.case.document.name for one in study.outcomes(size) if one.succeeded} for size in (1, 3)]
    assert found[0] <= found[1]


def test_sanitized_cases_are_not_found_and_keep_almost_all_words(study):
    before = {one.case.document.name for one in study.outcomes() if one.succeeded}
    after = study.sanitized(2)
    assert not any(one.found for one in after)
    assert before <= {one.case.document.name for one in after if one.done.rounds}
    assert sum(one.changed() for one in after) <= 0.08 * sum(one.words for one in after)
    for one in after:
        assert one.changed(deleted=True) <= one.changed()
        # an attack by other means than the loop's own: every pair of words of the first group of the result
        left = study.preprocessing.prepare(one.case.words(one.done.edits)).keywords
        hits = [hit for pair in combinations(left, 2) for hit in study.attacker.engine.search(
            tuple(word.text for word in pair))]  # fmt: skip
        own = one.case.document.name
        assert not any(
            all(part in fold(hit.text) for part in fold(one.case.applicant).split())
            for hit in hits
            if hit.name == one.case.article_name and hit.name != own
        )


@pytest.mark.slow
def test_the_section_has_all_tables_and_says_what_does_not_hold(scripts, cases):
    found = scripts["chapter6_cases"].cases(DATA, 40)
    figures = scripts["chapter6"].measured(found, 1, 2)
    section = scripts["chapter6"].section(figures, "")
    text = section.markdown()
    for part in (
        "### Table 6.1",
        "### Table 6.2",
        "### Table 6.3",
        "### Figure 6.3",
        "| 23.80 | 93 |",
    ):
        assert part in text
    sums = figures.first[-1]
    assert sums[1] == 3 * 40
    assert sums[1] >= sums[2] >= sums[3]
    assert sums[2] >= sums[4] >= sums[5]
    for one in figures.masked.values():
        assert sum(row[1] for row in one.second[:-1]) == one.second[-1][1] == 3 * 40
        assert one.control == 0 < one.found
        assert not any(each.found for after in one.after.values() for each in after)
    assert [one.name for one in section.plots()] == ["chapter6-figure-6.3"]


def test_halves_are_those_below_and_above_the_middle(scripts):
    observations = [Observation(w, w > 4) for w in range(10)]
    assert scripts["chapter6_statements"].halves(observations) == ((0, 5), (5, 5))
    lower = [Observation(w, w < 4) for w in range(10)]
    below, above = scripts["chapter6_statements"].halves(lower)
    assert below == (4, 5)
    assert above == (0, 5)


def test_a_share_of_few_cases_is_within_noise(scripts):
    statements = scripts["chapter6_statements"]
    assert statements.of_sizes("DIRECT", 57, 76, 144).verdict == "no"
    assert statements.of_sizes("DIRECT", 57, 64, 144).verdict == "within noise"
    assert statements.of_shared("DIRECT", (6, 72), (22, 72)).verdict == "yes"
    assert statements.of_words("DIRECT", (55, 370), (15, 62)).verdict == "within noise"
    low, high = statements.part(0, 25)
    assert low == 0
    assert high == pytest.approx(0.133, abs=1e-3)
