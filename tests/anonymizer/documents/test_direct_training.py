"""The trained recognizer: what it is trained and measured on, and which model files are opened."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from anonymizer.cli.recognizer import recognizer
from anonymizer.documents.direct import model
from anonymizer.documents.direct.annotated import Annotated, Mention, outermost, read_annotated
from anonymizer.documents.direct.crf import Trained, train
from anonymizer.documents.direct.evaluation import Score
from anonymizer.documents.direct.features import VERSION, features, sentences, shape
from anonymizer.documents.direct.presidio import Presidio
from anonymizer.documents.languages.english import English
from anonymizer.documents.texts.text import Document
from anonymizer.errors import FileError, SpecError, TableError

NAMES = ("Anna Keller", "Otto Baumann", "Rosa Lindt", "Emil Vogt", "Paula Steiner", "Karl Huber")
DOCUMENTS = ["doc_id", "text", "split"]
MENTIONS = ["doc_id", "start", "end", "entity_type", "identifier_type"]


@pytest.fixture(scope="module")
def tagger() -> English:
    return English()


def case(at: int, name: str) -> Annotated:
    text = f"The patient {name} came to the clinic.\n\nThe treatment was paid by Turkey without delay."
    start, land = text.index(name), text.index("Turkey")
    mentions = (
        Mention(start, start + len(name), "PERSON", "DIRECT"),
        Mention(land, land + 6, "LOC", "NO_MASK"),
    )
    return Annotated(Document(f"case-{at}", text), mentions)


CASES = [
    case(at, f"{one.split()[0]} {other.split()[1]}")
    for at, (one, other) in enumerate((one, other) for one in NAMES for other in NAMES)
]


@pytest.fixture(scope="module")
def content(tagger: English) -> bytes:
    return train(CASES, [tagger.words(one.document.text) for one in CASES])


def write(path: Path, header: list[str], rows: list[list[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def files(folder: Path, cases: list[Annotated] = CASES) -> tuple[Path, Path]:
    documents = [[one.document.name, one.document.text, "train"] for one in cases]
    mentions: list[list[object]] = [
        [one.document.name, mark.start, mark.end, mark.kind, mark.identifier]
        for one in cases
        for mark in one.mentions
    ]
    return (
        write(folder / "documents.csv", DOCUMENTS, documents),
        write(folder / "mentions.csv", MENTIONS, mentions),
    )


def test_a_model_finds_people_that_it_has_not_seen(content: bytes, tagger: English) -> None:
    new = case(99, "Irma Zeller")
    words = tagger.words(new.document.text)
    found = Trained.of(content).find(new.document, words)
    assert [(new.document.text[one.start : one.end], one.kind) for one in found] == [
        ("Irma Zeller", "PERSON")
    ]
    assert all(0.15 <= one.probability <= 1 and one.by == "crf" for one in found)


def test_a_smaller_threshold_masks_no_less(content: bytes, tagger: English) -> None:
    text = "Mr Weber and the patient Irma Zeller went to Ankara. The clinic of Bremen paid."
    document, words = Document("a", text), tagger.words(text)
    masked = [
        {at for hit in Trained.of(content, one).find(document, words) for at in range(hit.start, hit.end)}
        for one in (1.0, 0.5, 0.1, 0.01, 1e-9)
    ]
    assert all(less <= more for less, more in pairwise(masked))
    assert masked[0] < masked[-1]


def test_training_is_repeatable(content: bytes, tagger: English) -> None:
    assert train(CASES, [tagger.words(one.document.text) for one in CASES]) == content


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1, math.nan])
def test_a_threshold_out_of_range_is_refused(content: bytes, threshold: float) -> None:
    with pytest.raises(SpecError, match="out of range"):
        Trained.of(content, threshold)


def test_an_empty_document_has_no_findings(content: bytes) -> None:
    assert Trained.of(content).find(Document("a", ""), ()) == ()


@pytest.mark.parametrize("identifier", ["NO_MASK", "DIRECT"])
def test_one_class_is_not_enough(tagger: English, identifier: str) -> None:
    text = "Anna Keller"
    one = Annotated(Document("a", text), (Mention(0, 11, "PERSON", identifier),))
    with pytest.raises(TableError, match="learns from both"):
        train([one], [tagger.words(text)])


def test_every_word_has_features_and_belongs_to_one_paragraph(tagger: English) -> None:
    text = "Mr A. Keller\n\nwas born in\nNew York, U.S.A."
    document, words = Document("a", text), tagger.words(text)
    assert len(features(document, words, ())) == len(words)
    ranges = list(sentences(document, words))
    assert [at for start, end in ranges for at in range(start, end)] == list(range(len(words)))
    assert len(ranges) == 3
    assert shape("Mc18403/91") == "Xxd/d"


def test_the_measure_is_what_it_says(tagger: English) -> None:
    text = "Anna Keller met the Turkish mayor of Bremen."
    mentions = (
        Mention(0, 11, "PERSON", "DIRECT"),
        Mention(20, 27, "DEM", "NO_MASK"),
        Mention(37, 43, "LOC", "QUASI"),
    )
    score = Score()
    score.add(
        Annotated(Document("a", text), mentions), tagger.words(text), [(0, 4), (5, 11), (20, 33), (37, 40)]
    )
    assert score.recall("DIRECT") == 1  # whole, though of two findings
    assert score.recall("QUASI") == 0  # "Bre" is not "Bremen"
    assert (score.right, score.words) == (3, 5)  # Anna, Keller, Bremen of these and Turkish, mayor
    assert math.isnan(score.recall("QUASI", "ORG"))
    assert score.to_json()["token_precision"] == 3 / 5


def test_of_nested_mentions_the_outer_one_counts() -> None:
    outer, inner = Mention(0, 20, "ORG", "QUASI"), Mention(4, 9, "LOC", "NO_MASK")
    assert outermost((inner, outer)) == (outer,)


@pytest.mark.parametrize(
    ("mention", "what"),
    [
        (["case-0", 0, 9999, "PERSON", "DIRECT"], "not in the text"),
        (["case-0", 5, 5, "PERSON", "DIRECT"], "not in the text"),
        (["case-0", -1, 5, "PERSON", "DIRECT"], "whole numbers"),
        (["case-0", "٣", 5, "PERSON", "DIRECT"], "whole numbers"),
        (["case-0", 1, 5, "NAME", "DIRECT"], "entity_type"),
        (["case-0", 1, 5, "PERSON", "direct"], "identifier_type"),
        (["case-0", 1, 14, "PERSON", "DIRECT"], "overlap another"),
        (["case-0", 12, 21, "ORG", "QUASI"], "overlap another"),
        (["other", 1, 5, "PERSON", "DIRECT"], "not a document"),
        (["case-0", 1, 5, "PERSON"], "as many fields"),
    ],
)
def test_wrong_mentions_are_named_by_line(tmp_path: Path, mention: list[object], what: str) -> None:
    documents, mentions = files(tmp_path, [case(0, "Irma Kell")])
    with mentions.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(mention)
    with pytest.raises(TableError, match=what) as caught:
        read_annotated(documents, mentions)
    assert "line" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([], "no document"),
        ([["a", "x", "train"], ["a", "y", "train"]], "twice"),
        ([["a", " \n", "train"]], "empty"),
    ],
)
def test_wrong_documents_are_refused(tmp_path: Path, rows: list[list[object]], what: str) -> None:
    documents = write(tmp_path / "d.csv", DOCUMENTS, rows)
    with pytest.raises(TableError, match=what):
        read_annotated(documents, write(tmp_path / "m.csv", MENTIONS, []))


@pytest.mark.parametrize("content", [b"\xff\xfe", b'doc_id,text\na,"x', b"doc_id\na\n", b""])
def test_files_that_are_not_such_tables_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(content)
    with pytest.raises((FileError, TableError)):
        read_annotated(path, write(tmp_path / "m.csv", MENTIONS, []))


def test_only_documents_of_a_split_are_read(tmp_path: Path) -> None:
    paths = files(tmp_path)
    assert len(read_annotated(*paths, "train")) == len(CASES)
    with pytest.raises(TableError, match="no document with 'test'"):
        read_annotated(*paths, "test")


def test_a_model_is_opened_only_if_somebody_vouches_for_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.crfsuite"
    path.write_bytes(content)
    with pytest.raises(FileError, match="Nobody vouches"):
        model.model(path)
    assert model.model(path, hashlib.sha256(content).hexdigest().upper()) == content
    with pytest.raises(FileError, match="expected SHA-256"):
        model.model(path, "0" * 64)
    model.write(content, path, {})
    assert model.model(path) == content
    path.write_bytes(content[:-1] + b"x")
    with pytest.raises(FileError, match="expected SHA-256"):
        model.model(path)


def test_a_model_of_other_features_or_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.crfsuite"
    model.write(content, path, {})
    said = json.loads(model.beside(path).read_text())
    model.beside(path).write_text(json.dumps({**said, "features": VERSION + 1}))
    with pytest.raises(FileError, match="version"):
        model.model(path)
    for text in ("[]", "{", "[" * 100_000):
        model.beside(path).write_text(text)
        with pytest.raises(FileError):
            model.model(path)
    model.write(b"pickle", path, {})
    with pytest.raises(FileError, match="not a model"):
        model.model(path)


def test_the_shipped_model_is_the_released_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(model.read_shipped_model()) < 1_500_000
    monkeypatch.setattr(model, "SHIPPED_SHA256", "0" * 64)
    with pytest.raises(FileError, match="expected SHA-256"):
        Trained.of()


def test_the_commands_train_and_measure(tmp_path: Path) -> None:
    documents, mentions = map(str, files(tmp_path))
    output = str(tmp_path / "model.crfsuite")
    made = CliRunner().invoke(recognizer, ["train", documents, mentions, "-o", output, "--json"])
    assert made.exit_code == 0, made.output
    assert json.loads(made.output)["documents"] == len(CASES)
    asked = ["evaluate", documents, mentions, "--model", output]
    found = json.loads(CliRunner().invoke(recognizer, [*asked, "--json"]).output)
    assert found["success"]
    assert found["recall"] == {"DIRECT": 1.0}
    assert "token precision" in CliRunner().invoke(recognizer, asked).output
    assert (
        json.loads(CliRunner().invoke(recognizer, [*asked[:3], "--threshold", "1", "--json"]).output)[
            "threshold"
        ]
        == 1
    )


def test_the_commands_name_what_is_wrong(tmp_path: Path) -> None:
    documents, mentions = map(str, files(tmp_path))
    for arguments, status, what in (
        (["train", documents, mentions, "-o", documents, "--json"], 2, "named twice"),
        (["train", documents, documents, "-o", str(tmp_path / "m"), "--json"], 2, "named twice"),
        (
            ["train", documents, str(tmp_path / "no.csv"), "-o", str(tmp_path / "m"), "--json"],
            65,
            "cannot be read",
        ),
        (["evaluate", documents, mentions, "--model", mentions, "--json"], 65, "Nobody vouches"),
        (["evaluate", documents, mentions, "--sha256", "00"], 2, "--model"),
        (["evaluate", documents, mentions, "--threshold", "0"], 2, "range"),
    ):
        run = CliRunner().invoke(recognizer, arguments)
        assert run.exit_code == status, run.output
        assert what in run.output


def test_presidio_is_used_where_it_is_installed() -> None:
    pytest.importorskip("presidio_analyzer", reason="the extra recognizers is not installed")
    text = "Write to anna@example.org or pay with 4111111111111111."
    found = {text[one.start : one.end] for one in Presidio.of("en").find(Document("a", text))}
    assert {"anna@example.org", "4111111111111111"} <= found


def test_without_presidio_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "presidio_analyzer", None)
    with pytest.raises(SpecError, match=r"pip install 'duetto\[recognizers\]'"):
        Presidio.of("en")
