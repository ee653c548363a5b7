"""The gate of documents: planted faults stay inside, sound releases leave whole."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from anonymizer.documents.folders.folder import read
from anonymizer.documents.folders.gate import DocumentGate, Outgoing, checked_release
from anonymizer.documents.folders.names import released_names
from anonymizer.documents.texts.edits import Edit
from anonymizer.errors import FileError, GateError, SpecError
from anonymizer.gate.finding import Finding
from anonymizer.releases.acceptance import Acceptance
from anonymizer.releases.guarantee import Guarantee
from anonymizer.releases.manifest import Manifest
from tests.anonymizer.documents.formats.looks import edits_of, pdf
from tests.anonymizer.documents.formats.words import paragraph, run, word
from tests.anonymizer.documents.test_folder import filled

FILES = {
    "smith/a.txt": "Anna Smith lived in Nicosia.\nShe left.",
    "b.html": "<title>Case</title><p>An<b>na</b> Smith was <i>here</i>.",
    "c.pdf": pdf([["Of Anna Smith."]]),
}
HIDDEN = ["Anna", "Smith", "Nicosia"]
PROMISE = Guarantee("search-attack", {"engine": "fts5", "keywords": 3, "results": 10})


@pytest.fixture
def outgoing(tmp_path):
    sources = read(filled(tmp_path / "in", FILES)).sources
    names = released_names(sources, seed=1)
    return [
        Outgoing(
            one,
            tuple(edits_of(one.opened.text, HIDDEN, "[X]")),
            names[one.name],
            frozenset({"anna", "nicosia"}),
        )
        for one in sources
    ]


def write(gate, outgoing, folder, **more):
    return gate.write(outgoing, folder, Manifest(guarantees=(PROMISE,)), **more)


def found(gate, outgoing, folder):
    """The rules of findings; nothing may be there."""
    around = sorted(folder.parent.iterdir())
    with pytest.raises(GateError) as problem:
        write(gate, outgoing, folder)
    assert sorted(folder.parent.iterdir()) == around
    assert "Nicosia" not in str(problem.value)
    return [one["rule"] for one in problem.value.findings]


def test_a_sound_release_leaves_whole_with_its_manifest(outgoing, tmp_path):
    gate = DocumentGate(terms=frozenset({"Smith"}))
    mapping = tmp_path / "names.json"
    passed = write(
        gate, outgoing, tmp_path / "out", inputs=[tmp_path / "in"], private={mapping: lambda _: "smith"}
    )
    names = sorted(one.released for one in outgoing)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [*names, "manifest.json"]
    manifest = checked_release(tmp_path / "out")
    assert manifest == passed.manifest
    assert manifest.rows == 3
    assert sorted(manifest.files) == names
    assert manifest.order == "shuffled"
    assert manifest.guarantees == (PROMISE,)
    assert (tmp_path / "out" / outgoing[2].released).read_text() == "[X] [X] lived in [X].\nShe left."
    assert stat.S_IMODE(mapping.stat().st_mode) == 0o600
    assert all(os.access(path, os.R_OK) for path in passed.paths)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "names.json", "out"]
    for path in (tmp_path / "out").iterdir():
        assert not {"smith", "anna", "nicosia"} & set(path.read_text().lower().replace("</b>", "").split())


def test_a_term_that_still_stands_is_found_with_its_lines(outgoing, tmp_path):
    few = replace(outgoing[2], edits=outgoing[2].edits[:2])
    with pytest.raises(GateError, match=r"\[term\].*smith/a\.txt as it would leave, line 1\."):
        write(DocumentGate(), [few], tmp_path / "out")


@pytest.mark.parametrize("term", ["LIVED", "lived in", "ｌｉｖｅｄ", "She"])
def test_a_term_of_the_whole_folder_is_found_as_people_read_it(outgoing, tmp_path, term):
    assert found(DocumentGate(terms=frozenset({term})), outgoing, tmp_path / "out") == ["term"]


def test_words_of_placeholders_are_not_those_of_the_document(outgoing, tmp_path):
    write(DocumentGate(terms=frozenset({"x"})), outgoing, tmp_path / "out")


def test_what_a_person_puts_in_is_looked_at(outgoing, tmp_path):
    one = replace(outgoing[2], edits=(Edit(0, 28, "[of Nicosia]", "person", "hide"),))
    assert found(DocumentGate(), [one], tmp_path / "out") == ["term"]


def test_kept_names_that_say_who_it_is_are_found(outgoing, tmp_path):
    names = released_names([one.source for one in outgoing], keep=True)
    kept = [replace(one, released=names[one.source.name]) for one in outgoing]
    assert found(DocumentGate(terms=frozenset({"Smith"})), kept, tmp_path / "out") == ["name"]
    passed = write(DocumentGate(), kept, tmp_path / "out")
    assert passed.manifest.order == "kept"
    assert checked_release(tmp_path / "out").files.keys() == set(names.values())


def test_a_release_without_a_change_has_to_be_accepted(outgoing, tmp_path):
    same = [replace(one, edits=(), terms=frozenset()) for one in outgoing]
    assert found(DocumentGate(), same, tmp_path / "out") == ["unchanged"]
    accept = (Acceptance("unchanged", "", "reports without people"),)
    assert write(DocumentGate(accept), same, tmp_path / "out").manifest.accepted == accept
    with pytest.raises(SpecError, match="cannot be accepted"):
        Acceptance("term", "", "why not")


def test_a_reason_in_the_manifest_must_not_say_it(outgoing, tmp_path):
    accept = (Acceptance("unchanged", "", "of Nicosia"),)
    assert found(DocumentGate(accept), outgoing, tmp_path / "out") == ["manifest"]


def test_a_document_of_which_nothing_is_left_is_found(outgoing, tmp_path):
    one = outgoing[2]
    gone = replace(one, edits=(Edit(0, len(one.source.document.text), "", "attack", "deletion"),))
    assert found(DocumentGate(), [gone], tmp_path / "out") == ["empty"]


def test_a_recheck_has_the_last_word(outgoing, tmp_path):
    texts = {}

    def recheck(one, text):
        texts[one.source.name] = text
        if one.source.name == "c.pdf":
            yield Finding("attack", one.source.name, "A search leads to the person.", "Run it again.")

    assert found(DocumentGate(recheck=recheck), outgoing, tmp_path / "out") == ["attack"]
    assert texts["b.html"] == "Case\n[X] [X] was here."


def test_a_recheck_that_fails_lets_nothing_out(outgoing, tmp_path):
    def recheck(one, text):
        raise RuntimeError("the engine does not answer")

    with pytest.raises(RuntimeError):
        write(DocumentGate(recheck=recheck), outgoing, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@dataclass
class Faulty:
    """A format that writes something else than it says."""

    good: Any
    change: Any

    def __getattr__(self, name):
        return getattr(self.good, name)

    def apply_edits(self, edits):
        return self.change(self.good.apply_edits(edits))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda data: data.replace(b"was", b"is"), "altered"),
        (lambda data: data.replace(b"here", b"here, by the sea"), "altered"),
        (lambda data: data.replace(b"<b>", b""), "container"),
        (lambda data: data.replace(b"<p>", b"<p><!-- note -->"), "container"),
        (lambda data: data.replace(b"<p>", b"<p class='note'>"), "container"),
        (lambda data: data + b"\n", "container"),
        (lambda data: data.replace(b"<p>", b"<p title='note'>"), "altered"),
        (lambda data: b"\xff" + data, "altered"),
        (lambda data: b"", "altered"),
    ],
)
def test_a_format_that_writes_something_else_is_found(outgoing, tmp_path, change, rule):
    one = next(one for one in outgoing if one.source.name == "b.html")
    source = replace(one.source, opened=Faulty(one.source.opened, change))
    assert found(DocumentGate(), [replace(one, source=source)], tmp_path / "out")[0] == rule


def test_a_word_in_the_bytes_that_no_reader_sees_is_found_as_such(outgoing, tmp_path):
    one = next(one for one in outgoing if one.source.name == "b.html")
    fault = Faulty(one.source.opened, lambda data: data.replace(b"<p>", b"<p><!-- of Nicosia -->"))
    broken = replace(one, source=replace(one.source, opened=fault))
    with pytest.raises(
        GateError, match=r"word that must be gone stands in the file of b\.html beside its text"
    ):
        write(DocumentGate(), [broken], tmp_path / "out")


def test_word_documents_go_through_as_well(tmp_path):
    boxed = paragraph("An", run("na", "<w:b/>"), " was here", f"<w:del>{run('Nicosia')}</w:del>")
    (source,) = read(filled(tmp_path / "in", {"a.docx": word(boxed)})).sources
    one = Outgoing(
        source, tuple(edits_of(source.opened.text, ["Anna"])), "b.docx", frozenset({"Anna", "Nicosia"})
    )
    write(DocumentGate(), [one], tmp_path / "out")
    assert read(tmp_path / "out" / "b.docx").documents[0].text == " was here"
    few = replace(one, edits=(Edit(0, 2, "", "attack", "deletion"),), terms=frozenset({"na"}))
    assert found(DocumentGate(), [few], tmp_path / "more") == ["term"]


def test_all_findings_stand_in_the_documentation():
    root = Path(__file__).parents[3]
    room = root / "anonymizer" / "documents"
    source = "".join((room / name).read_text(encoding="utf-8") for name in ("folders/gate.py", "released.py"))
    rules = set(re.findall(r'Finding\(\s*"([a-z-]+)"', source))
    page = (root / "docs" / "documents.md").read_text(encoding="utf-8")
    page = page.partition("### The gate of documents")[2].partition("\n### ")[0]
    assert rules == set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE))


@pytest.mark.parametrize("where", ["in", "in/out", "in/smith/out"])
def test_a_release_does_not_lie_in_its_originals(outgoing, tmp_path, where):
    with pytest.raises(FileError, match=r"or lies in it|is there already"):
        write(DocumentGate(), outgoing, tmp_path / where, inputs=[tmp_path / "in"])


def test_a_link_does_not_hide_that(outgoing, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "in")
    with pytest.raises(FileError, match="or lies in it"):
        write(DocumentGate(), outgoing, tmp_path / "link" / "out", inputs=[tmp_path / "in"])


@pytest.mark.parametrize(
    ("page", "what"), [("out/names.json", "lie in the release"), ("in/n", "lie in what is read")]
)
def test_pages_stay_at_home(outgoing, tmp_path, page, what):
    with pytest.raises(FileError, match=what):
        write(
            DocumentGate(),
            outgoing,
            tmp_path / "out",
            inputs=[tmp_path / "in"],
            private={tmp_path / page: lambda _: "x"},
        )


def test_what_is_there_is_not_replaced_and_an_empty_folder_is(outgoing, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(FileError, match="is there already"):
        write(DocumentGate(), outgoing, folder)
    assert (folder / "mine.txt").read_text() == "mine"
    (folder / "mine.txt").unlink()
    write(DocumentGate(), outgoing, folder)
    checked_release(folder)


def test_if_the_folder_cannot_be_moved_pages_are_as_before(outgoing, tmp_path, monkeypatch):
    page = tmp_path / "names.json"
    page.write_text("before")
    real = Path.replace

    def fails(self, target):
        if self.is_dir():
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(FileError, match="No space left"):
        write(DocumentGate(), outgoing, tmp_path / "out", private={page: lambda _: "after"})
    assert page.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "names.json"]


KILLED = """
import os, signal, sys
from pathlib import Path
from anonymizer.documents.folders.folder import read
from anonymizer.documents.folders.gate import DocumentGate, Outgoing
from anonymizer.documents.folders.names import released_names
from anonymizer.documents.texts.edits import Edit
from anonymizer.releases.manifest import Manifest
home = Path(sys.argv[1])
sources = read(home / "in").sources
names = released_names(sources)
def recheck(one, text):
    if one.source is sources[1]:
        os.kill(os.getpid(), signal.SIGKILL)
    return ()
out = [Outgoing(one, (Edit(0, 1, "x", "direct", "PERSON"),), names[one.name]) for one in sources]
DocumentGate(recheck=recheck).write(out, home / "out", Manifest())
"""


def test_killed_in_the_middle_leaves_the_target_as_before(tmp_path):
    filled(tmp_path / "in", FILES)
    (tmp_path / "out").mkdir()
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, cwd=Path.cwd())
    assert done.returncode == -signal.SIGKILL
    assert list((tmp_path / "out").iterdir()) == []
    left = [path for path in tmp_path.iterdir() if path.name.startswith(".duetto-")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in left] == [0o700]


@pytest.mark.parametrize("fault", ["changed", "missing", "more", "manifest"])
def test_a_release_that_was_changed_is_not_opened(outgoing, tmp_path, fault):
    folder = tmp_path / "out"
    write(DocumentGate(), outgoing, folder)
    file = folder / outgoing[0].released
    if fault == "changed":
        file.write_bytes(file.read_bytes() + b" ")
    elif fault == "missing":
        file.unlink()
    elif fault == "more":
        (folder / "more.txt").write_text("x")
    else:
        document = json.loads((folder / "manifest.json").read_text())
        document["files"]["../in/b.html"] = document["files"][file.name]
        (folder / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(FileError, match="not as the manifest says"):
        checked_release(folder)
