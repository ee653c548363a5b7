"""One hidden word never blocks a folder: what the gate would refuse is hidden before."""

from __future__ import annotations

import io
import json
import re

import docx
import pytest
from click.testing import CliRunner

from anonymizer.cli.sanitize import sanitize
from anonymizer.documents.direct.annotated import read_annotated
from anonymizer.documents.sanitization.gone import folder_terms, hidden_everywhere, must_go
from anonymizer.documents.texts.edits import Edit, apply_edits
from anonymizer.documents.texts.standing import still_standing
from anonymizer.documents.texts.terms import Terms
from anonymizer.documents.texts.text import Document
from tests.anonymizer.documents.test_everyday_texts import TEXTS

REPORT = "The boy came to the school on that day, and the teacher saw that he was not well. "


def edit(text, word, put="[CODE 1]", cause="direct", kind="CODE"):
    start = text.index(word)
    return Edit(start, start + len(word), put, cause, kind)


def closed(text, *edits, **more):
    found = hidden_everywhere(Document("a.txt", text), edits, "en", **more)
    terms = Terms([must_go(text, one, "en") for one in edits])
    assert not still_standing(apply_edits(text, found), found, [terms])
    return apply_edits(text, found)


def test_a_number_of_a_code_is_hidden_where_it_stands_as_that_of_articles():
    text = "Case 10/11 was heard under Articles 10, 11 of the act."
    assert closed(text, edit(text, "10/11")) == "Case [CODE 1] was heard under Articles [CODE 1] of the act."


@pytest.mark.parametrize(
    "written",
    ["quayle", "Quay-\nle", "Q u a y l e", "Quay\u200ble", "Quаyle", "QUAYLE", "Ｑｕａｙｌｅ", "Quayle-Lee"],
)
def test_what_was_hidden_once_is_hidden_in_every_form_that_the_gate_sees(written):
    text = f"Judge Quayle spoke. Then {written} left."
    made = closed(text, edit(text, "Quayle", "[PERSON 1]", kind="PERSON"))
    assert made.startswith("Judge [PERSON 1] spoke. Then [PERSON 1]")


@pytest.mark.parametrize(
    ("name", "language", "written", "left"),
    [
        ("Katharina Brandt-Schröder", "de", "Schröders Blutdruck", "[...] Blutdruck"),
        ("Katharina Brandt-Schröder", "de", "Fr. Schroeder", "Fr. [...]"),
        ("Jörg Wüstenhöfer", "de", "Wuestenhoefers Sohn", "[...] Sohn"),
        ("Hélène D’Aubigné-Lefèvre", "fr", "Mme Lefevre et Mme d'Aubigné", "Mme [...] et Mme d'[...]"),
        ("Anna Quayle", "en", "see #annaquayle or quayleanna", "see #[...] or [...]"),
        ("Uwe Ander", "de", "das ist anders", "das ist anders"),
        ("Anna Quayle", "en", "two quayles", "two quayles"),
        ("Ann Lee", "en", "#annlee", "#annlee"),
    ],
)
def test_other_forms_of_a_name_are_hidden(name, language, written, left):
    text = f"{name}, {written}."
    edits = [edit(text, name, "[PERSON 1]", kind="PERSON")]
    found = hidden_everywhere(Document("a.txt", text), edits, language)
    assert apply_edits(text, found) == f"[PERSON 1], {left}."


@pytest.mark.parametrize(
    ("word", "kind", "told"),
    [
        ("60", "DEM", ""),
        ("1974", "CODE", "1974"),
        (",", "LOC", ""),
        ("Between", "DATETIME", ""),
        ("no.", "MISC", ""),
        ("Jan", "PERSON", "Jan"),
        ("a", "PERSON", ""),
        ("X", "PERSON", "X"),
        ("Turkish", "DEM", "Turkish"),
    ],
)
def test_what_says_something_else_in_other_places_may_stand(word, kind, told):
    assert must_go(word, Edit(0, len(word), "[X 1]", "direct", kind), "en") == told
    assert bool(must_go(word, Edit(0, len(word), "", "attack", kind), "en")) == any(map(str.isalnum, word))


def test_what_a_person_keeps_or_writes_is_not_touched():
    text = "Quayle spoke. Quayle sat. Quayle left."
    start = text.index("Quayle sat")
    by_person = edit(text, "Quayle left", "Quayle went", "person", "decided")
    edits = (edit(text, "Quayle", "[PERSON 1]", kind="PERSON"), by_person)
    made = hidden_everywhere(Document("a.txt", text), edits, "en", kept=[(start, start + 6)])
    assert apply_edits(text, made) == "[PERSON 1] spoke. Quayle sat. Quayle went."


def test_a_phrase_of_which_a_part_is_kept_loses_the_other_part():
    text = "Case 10/11 of Articles 10, 11."
    at = text.index("10,")
    made = hidden_everywhere(Document("a.txt", text), [edit(text, "10/11")], "en", kept=[(at, at + 2)])
    assert apply_edits(text, made) == "Case [CODE 1] of Articles 10, [CODE 1]."


def other(text, source, put="[PERSON 1]", kind="PERSON", language="en", names=()):
    """What a document becomes since another one names somebody."""
    edits = [Edit(0, len(source), put, "direct", kind)] if source else []
    folder = folder_terms([(source, edits, language)], names)
    return apply_edits(text, hidden_everywhere(Document("b.txt", text), (), language, folder=folder))


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("so said Barnaby Wigglesworth.", "so said [PERSON 1]."),
        ("so said barnaby wigglesworth.", "so said [PERSON 1]."),
        ("so said Wigglesworth, Barnaby.", "so said [PERSON 1]."),
        ("so said wigglesworth.", "so said [...]."),
        ("so said W i g g l e s w o r t h.", "so said [...]."),
        ("so said Wiggles-\nworth.", "so said [...]."),
        ("so said Wigglesw0rth.", "so said [...]."),
        ("so said Wiggleswоrth.", "so said [...]."),
        ("so said Wiggles\u200bworth.", "so said [...]."),
    ],
)
def test_a_name_of_one_document_is_hidden_in_all_in_every_disguise(text, made):
    assert other(text, "Mr Barnaby Wigglesworth") == made


def test_common_words_places_and_lone_surnames_of_other_documents_stay():
    assert other("a young baker of Paris", "Paris Young Baker") == "a young baker of Paris"
    assert other("so said wigglesworth.", "Mr Wigglesworth") == "so said wigglesworth."


def test_codes_and_japanese_names_of_one_document_are_hidden_in_all():
    assert other("ref AB 1234 56", "AB-1234-56", "[CODE 1]", "CODE") == "ref [CODE 1]"
    assert other("ref 12", "12", "[CODE 1]", "CODE") == "ref 12"
    assert (
        other("担当は鰐淵 善三郎である。", "鰐淵善三郎", "［PERSON 1］", language="ja")
        == "担当は［PERSON 1］である。"
    )


def test_known_names_of_one_document_are_hidden_in_all():
    assert other("so said Imhof, Jonas.", "", names=["Jonas Imhof"]) == "so said [...]."


def word_file(*paragraphs):
    made = docx.Document()
    for one in paragraphs:
        made.add_paragraph(one)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "news.txt").write_text("It has been raining on the hills for weeks.")
    (tmp_path / "in").mkdir()

    def run(files, *arguments, status=0, as_json=True):
        for name, data in files.items():
            (tmp_path / "in" / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        more = ["--json"] if as_json else []
        done = CliRunner().invoke(sanitize, ["in", "--web", "web", "-o", "out", *arguments, *more])
        assert done.exit_code == status, done.output
        return done

    return run


def texts(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.suffix in {".txt", ".html"}}


def test_a_name_of_one_paragraph_goes_from_all_paragraphs_and_files(run, tmp_path):
    named = f"{REPORT}She met Mr Barnaby Wigglesworth. "
    spaced = "W i g g l e s w o r t h"
    run(
        {
            "a.docx": word_file(named, f"{REPORT}so did wigglesworth", f"{REPORT}and {spaced} too"),
            "b.html": f"<p>{named}</p><p>{REPORT}so did wiggles<b>worth</b></p><p>Wiggles&#8203;worth</p>",
            "c.txt": f"{REPORT}Again it was barnaby wigglesworth who came.",
        }
    )
    (made,) = (tmp_path / "out").glob("*.docx")
    everything = [*texts(tmp_path / "out").values(), *(one.text for one in docx.Document(made).paragraphs)]
    assert len(everything) > 4
    for one in everything:
        assert "wigglesworth" not in re.sub(r"<[^>]*>|\s", "", one).lower()


@pytest.mark.parametrize(
    ("language", "count"),
    [
        *(("en", 9), ("ja", 9), ("de", 9), ("fr", 9)),
        *(pytest.param(language, 100, marks=pytest.mark.slow) for language in ("en", "ja")),
    ],
)
def test_all_documents_of_a_folder_pass(run, tmp_path, language, count):
    marked = read_annotated(TEXTS / f"{language}-documents.csv", TEXTS / f"{language}-mentions.csv", "held")
    chosen = marked[:: len(marked) // count][:count]
    files = {f"{number:03}.txt": one.document.text for number, one in enumerate(chosen)}
    (tmp_path / "spec.toml").write_text(f'language = "{language}"\n[attack]\nwords = 3\n')
    said = json.loads(run(files, "--spec", "spec.toml").stdout)
    assert len(said["documents"]) == count
    assert len(texts(tmp_path / "out")) == count


def test_documents_in_no_known_language_are_named_together(run):
    files = {f"{one}.txt": "De jongen is van het klimrek gevallen en brak zijn arm." for one in "ab"}
    done = run({**files, "c.txt": REPORT}, status=65)
    assert (
        "2 documents are in no language that is read: a.txt, b.txt"
        in json.loads(done.stdout)["error"]["what"]
    )


SPEC = """
[[hide]]
document = "a.txt"
word = "hill"
text = "the place of Wigglesworth"
why = "it says where"
"""


def test_words_to_decide_are_named_in_the_terminal_alone(run, tmp_path):
    text = f"{REPORT}She met Mr Barnaby Wigglesworth on the hill."
    (tmp_path / "spec.toml").write_text(SPEC)
    done = run({"a.txt": text}, "--spec", "spec.toml", status=65, as_json=False)
    assert 'A text that a [[hide]] writes into a.txt holds "Wigglesworth": write another text' in done.stderr
    done = run({"a.txt": text}, "--spec", "spec.toml", status=65)
    assert "igglesworth" not in done.output
    (tmp_path / "spec.toml").write_text(SPEC.replace("Wigglesworth", "a friend"))
    run({"a.txt": text}, "--spec", "spec.toml")


@pytest.mark.parametrize("kind", ["hide", "keep"])
def test_following_the_message_to_the_letter_works(run, tmp_path, monkeypatch, kind):
    """The recheck of what was read back finds something: each word that carried it is to be decided."""
    from anonymizer.documents.sanitization.sanitizing import Success
    from anonymizer.documents.sanitizer import Sanitizer

    def found_again(self, name, text, edits):
        kept = {word.lower() for word in self.kept_texts(name)}
        return [Success(("kite",), "news.txt")] if "kite" in text and "kite" not in kept else []

    monkeypatch.setattr(Sanitizer, "found_again", found_again)
    files = {"a.txt": f"{REPORT}She flew a kite with Mr Barnaby Wigglesworth."}
    done = run(files, status=65, as_json=False)
    (block,) = re.findall(rf"^\[\[{kind}\]\]\n(?:\w+ = .*\n?)+", done.stderr, re.M)
    (tmp_path / "spec.toml").write_text(block)
    run(files, "--spec", "spec.toml")
    (made,) = texts(tmp_path / "out").values()
    assert ("kite" in made) is (kind == "keep")


@pytest.mark.parametrize("word", ["release", "engine", "documents", "Time"])
def test_a_word_of_our_own_sentences_in_the_manifest_blocks_nothing(run, tmp_path, word):
    run({"a.txt": f"{REPORT}She met Mrs {word.title()} Wigglesworth, and Mrs {word.title()} left."})
    assert "Wigglesworth" not in next(iter(texts(tmp_path / "out").values()))


def test_names_in_names_of_files_are_refused_only_where_these_are_kept(run):
    files = {
        "wigglesworth.txt": f"{REPORT}Nothing else was seen on that day, he said to her.",
        "b.txt": f"{REPORT}She met Mr Barnaby Wigglesworth.",
    }
    done = run(files, "--keep-names", status=65, as_json=False)
    assert 'wigglesworth.txt holds "wigglesworth": leave out --keep-names' in done.stderr
    run(files)


@pytest.mark.parametrize("name", ["broken.txt", "empty.txt"])
def test_one_file_that_cannot_be_read_is_named(run, name):
    files = {"a.txt": REPORT, "broken.txt": b"caf\xe9", "empty.txt": b""}
    done = run({one: files[one] for one in ("a.txt", name)}, status=65)
    assert name in json.loads(done.stdout)["error"]["what"]
