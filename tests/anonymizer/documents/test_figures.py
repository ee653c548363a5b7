"""What is known of a kind of text is measured, printed from one record, and said first."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from anonymizer.cli.sanitize import sanitize
from anonymizer.documents.direct.figures import (
    AS_WRITTEN,
    FirstPassFigure,
    as_csv,
    figure_of,
    kinds_of_text,
    known_figures,
    tables,
)
from anonymizer.documents.specification import parse_sanitization
from anonymizer.errors import SpecError
from tests.anonymizer.documents.test_everyday_texts import score, texts

ROOT = Path(__file__).parents[3]
CORPUS = Path(__file__).parent / "corpus"
RECORD = ROOT / "anonymizer" / "documents" / "direct" / "figures.csv"
ENGLISH = "The boy came to the school on that day, and the teacher saw that he was not well with Mr Quayle."
GERMAN = (
    "Der Junge ist an dem Tag nicht in der Schule gewesen, und die Lehrerin war auch nicht da, Herr Quayle."
)


def test_the_record_is_read_as_it_is_written():
    assert as_csv(known_figures()) == RECORD.read_text(encoding="utf-8")
    assert len(kinds_of_text()) == 12
    assert len(kinds_of_text("de")) == 6
    assert "news" not in kinds_of_text("de")


@pytest.mark.parametrize(
    ("language", "kind"), [("en", "school report"), ("ja", "hr mail"), ("fr", "therapy note")]
)
def test_the_record_is_what_is_measured(language, kind):
    documents = tuple(one for one in texts(language, "held") if one.form == kind)
    found, known = score(documents, language), figure_of(language, kind)
    assert known.texts == len(documents)
    assert (known.direct_whole, known.direct) == found.whole_of("DIRECT")
    assert (known.quasi_whole, known.quasi) == found.whole_of("QUASI")
    assert (known.right, known.words) == (found.right, found.words)


def test_the_documents_print_the_record():
    page = (ROOT / "docs" / "documents-direct.md").read_text(encoding="utf-8")
    for one in known_figures():
        row = (
            f"| {one.language} | {one.kind} | {one.templates} | "
            if one.kind
            else f"| {one.language} | {one.templates} | {one.texts} | {one.disguise} | "
        )
        if one.kind == "" or one.disguise == AS_WRITTEN:
            assert f"{row}{one.cells()} |\n" in page


def test_texts_of_one_template_have_no_interval():
    """What is missed in one filling is missed in all: six fillings are no six trials."""
    said = figure_of("de", "police report").sentence()
    assert "which are one template filled 6 times" in said
    assert "which are 2 templates filled 6 times each," in figure_of("de", "hospital letter").sentence()
    assert not any("confidence" in one.sentence() or "at least" in one.sentence() for one in known_figures())


def test_templates_are_counted_in_the_corpus():
    for one in known_figures():
        text = (CORPUS / "templates" / f"{one.language}-held.txt").read_text(encoding="utf-8")
        kinds = re.findall(r"^=== (.+)$", text, flags=re.MULTILINE)
        assert one.templates == (kinds.count(one.kind) if one.kind else len(kinds))


def test_an_interval_counts_each_kind_once():
    whole = FirstPassFigure("de", "blog", AS_WRITTEN, 1, 6, 48, 48, 1, 1, 1, 1)
    missed = replace(whole, kind="news", direct_whole=47)
    assert "| de | 2 | 1 | [0.01, 0.99] |" in tables([whole, missed])


def test_of_a_kind_that_nobody_said_or_measured_nothing_is_known():
    assert figure_of("en", "") is None
    assert figure_of("de", "blog") is None


@pytest.fixture
def run(tmp_path):
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "news.txt").write_text("It has been raining on the hills for weeks.")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(ENGLISH)

    def run(*arguments, status=0):
        paths = [str(tmp_path / "in"), "--web", str(tmp_path / "web"), "-o", str(tmp_path / "out")]
        done = CliRunner().invoke(sanitize, [*paths, "--report", str(tmp_path / "r.html"), *arguments])
        assert done.exit_code == status, done.output
        return done.output if status else done.stdout

    return run


def first_line(page):
    body = page.partition('<div class="body"')[2]  # behind the sheet, which is there in print alone
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", body.partition(">")[2], flags=re.S).split())


def test_without_a_kind_the_first_line_says_that_nothing_is_known(run, tmp_path):
    said = run()
    start = (
        "No figure is known of how many names and other identifiers the first pass overlooks in 1 English "
        "document"
    )
    assert said.startswith(f"{start}: their kind is not said.")
    assert first_line((tmp_path / "r.html").read_text()).startswith(start)


def test_of_a_measured_kind_the_first_line_prints_the_record(run, tmp_path):
    said = run("--kind", "hospital letter")
    sentence = figure_of("en", "hospital letter").sentence()
    assert said.startswith(f"What is known of 1 English document: {sentence}")
    assert "What is known of 1 English document" in first_line((tmp_path / "r.html").read_text())[:60]


def test_each_language_is_said_for_itself(run, tmp_path):
    (tmp_path / "in" / "b.txt").write_text(GERMAN)
    known = json.loads(run("--kind", "blog", "--json"))["figures"]
    assert [(one["language"], one["figure"] is None) for one in known] == [("en", False), ("de", True)]
    assert "were not measured in German" in known[1]["why"]


def test_another_first_pass_than_the_measured_one_has_no_figure(run, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text('kind = "blog"\n[direct]\nrecognizers = ["rules"]\n')
    (known,) = json.loads(run("--spec", str(spec), "--json"))["figures"]
    assert known["figure"] is None
    assert "which this specification changes" in known["why"]


def test_a_kind_that_was_not_measured_is_refused_with_those_that_were(run):
    assert "'novel' is not a kind of text that was measured" in run("--kind", "novel", status=78)
    with pytest.raises(SpecError, match="choose one of 'hospital letter'"):
        parse_sanitization({"kind": 7}, Path())


def test_generated_documents_are_as_the_record_says():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "gen_docs", "--check"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "documents-direct.md" not in done.stderr
