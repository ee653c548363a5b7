"""A spaCy model as a recognizer: one that is made here, and GiNZA's."""

from __future__ import annotations

import pytest

from anonymizer.documents.direct.registry import RECOGNIZERS
from anonymizer.documents.direct.spacy import Spacy
from anonymizer.documents.texts.text import Document
from anonymizer.errors import SpecError


def test_a_model_of_spacy_says_names() -> None:
    spacy = pytest.importorskip("spacy", reason="the extra recognizers is not installed")
    model = spacy.blank("en")
    ruler = model.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": "Ann Lee"}, {"label": "PRODUCT", "pattern": "soap"}])
    found = Spacy(model).find(Document("a.txt", "Yesterday Ann Lee bought soap."))
    assert [(one.start, one.end, one.kind, one.by) for one in found] == [(10, 17, "PERSON", "spacy")]


@pytest.mark.filterwarnings("ignore:Dictionary.create:DeprecationWarning")  # spaCy calls SudachiPy so
def test_a_japanese_model_says_names() -> None:
    pytest.importorskip(
        "ja_ginza", reason="GiNZA's model is not installed: pip install --no-deps ja_ginza ginza plac"
    )
    text = "昨日、山田太郎が東京に来た。"
    found = Spacy.of("ja").find(Document("a.txt", text))
    assert ("山田太郎", "PERSON") in [(text[one.start : one.end], one.kind) for one in found]


def test_without_spacy_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    with pytest.raises(SpecError, match=r"pip install 'duetto\[recognizers\]'"):
        RECOGNIZERS["spacy"]("en", 0.15)
