"""What was done to a document, as commands tell it and as it is kept on the way."""

from __future__ import annotations

import json

import pytest

from anonymizer.documents.sanitization.sanitizing import Round, Sanitized, Success
from anonymizer.documents.sanitization.treated import SanitizedFolder
from anonymizer.documents.texts.edits import Edit
from anonymizer.documents.texts.text import Document
from anonymizer.errors import FileError

DOCUMENT = Document("a.txt", "Anna is 60 and lives in Nicosia.")
SUCCESS = Success(("nicosia",), "news.txt", 3)
TREATED = SanitizedFolder(
    Sanitized(
        DOCUMENT,
        (Edit(0, 4, "[PERSON 1]", "direct", "PERSON"), Edit(24, 31, "a town", "attack", "place")),
        (Round((SUCCESS,), ("nicosia",)),),
    ),
    "en",
    7,
)


def test_figures_hold_no_word_of_the_document():
    figures = TREATED.figures()
    assert (figures["found_before"], figures["found_after"], figures["risk_words"]) == (1, 0, 1)
    assert not {"Anna", "Nicosia", "nicosia"} & set(json.dumps(figures).split('"'))


def test_what_is_kept_is_read_again():
    values = json.loads(json.dumps(TREATED.to_values()))
    assert SanitizedFolder.from_values(DOCUMENT, values) == TREATED
    with pytest.raises(FileError, match=r"record of an earlier run about a\.txt cannot be read"):
        SanitizedFolder.from_values(DOCUMENT, {**values, "edits": [{"start": 9}]})
