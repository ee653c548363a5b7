"""Hypernyms from files in WordNet's format, and from WordNet's own where they are installed."""

from __future__ import annotations

import pytest

from anonymizer.documents.generalization.hypernyms import Hypernyms
from anonymizer.documents.generalization.wordnet import PLACES, WordNet
from anonymizer.documents.texts.text import Word
from anonymizer.errors import FileError
from tests.anonymizer.documents.generalization.dictionary import written
from tests.anonymizer.documents.generalization.said import steps, words_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return written(tmp_path_factory.mktemp("wordnet"))


@pytest.fixture(scope="module")
def small(folder):
    return Hypernyms(WordNet(folder))


@pytest.fixture(scope="module")
def real():
    found = next((one for one in PLACES if (one / "data.noun").is_file()), None)
    if found is None:
        pytest.skip("WordNet is not installed: apt-get install wordnet-base")
    return WordNet(found)


def lemmatized(text, at, lemma, tag="noun"):
    words = list(words_of(text))
    one = words[at]
    words[at] = Word(one.text, lemma, tag, one.start, one.end)
    return tuple(words)


@pytest.mark.parametrize(
    ("text", "word", "lemma", "tag", "whole", "found"),
    [
        ("the plane fell", "plane", "plane", "noun", "plane", ["aircraft", "craft", "vehicle"]),
        ("many planes", "planes", "plane", "noun", "planes", ["aircrafts", "crafts", "vehicles"]),
        ("Planes fell", "Planes", "plane", "noun", "Planes", ["Aircrafts", "Crafts", "Vehicles"]),
        ("a plane", "plane", "plane", "noun", "a plane", ["an aircraft", "a craft", "a vehicle"]),
        ("an aircraft", "aircraft", "aircraft", "noun", "an aircraft", ["a craft", "a vehicle"]),
        ("a minute", "minute", "minute", "noun", "a minute", ["an hour", "a unit of time"]),
        ("many hours", "hours", "hour", "noun", "hours", ["units of time"]),
        ("Atlantis fell", "Atlantis", "atlantis", "name", "Atlantis", ["a craft", "a vehicle"]),
        ("strangle him", "strangle", "strangle", "verb", "strangle", ["kill"]),
        ("a loop", "loop", "loop", "noun", "a loop", ["a ring"]),
    ],
)
def test_what_is_wider(small, text, word, lemma, tag, whole, found):
    at = text.split().index(word)
    assert steps(small, text, word, words=lemmatized(text, at, lemma, tag)) == (whole, found)


def test_a_synonym_is_not_wider(small):
    # A dentist is a doctor by name and by kind: what is above it goes by its other word.
    assert steps(small, "dentist", "dentist") == ("dentist", ["medical man", "person"])


@pytest.mark.parametrize(
    ("text", "lemma", "tag", "language"),
    [
        ("entity", "entity", "noun", "en"),
        ("unknown", "unknown", "noun", "en"),
        ("strangled", "strangle", "verb", "en"),
        ("kill", "kill", "verb", "en"),
        ("Plane", "plane", "name", "en"),
        ("Curie", "curie", "name", "en"),
        ("Atlantis Hotel", "atlantis", "name", "en"),
        ("curie", "curie", "noun", "en"),
        ("Curie", "curie", "person", "en"),
        ("plane", "plane", "adjective", "en"),
        ("plane", "plane", "noun", "ja"),
    ],
)
def test_what_is_left_to_deletion(small, text, lemma, tag, language):
    assert small.steps(lemmatized(text, 0, lemma, tag), 0, language) is None


@pytest.mark.parametrize("name", ["data.noun", "index.noun", "data.verb", "index.verb"])
def test_a_missing_file(tmp_path, name):
    (written(tmp_path) / name).unlink()
    with pytest.raises(FileError, match=rf"{name} cannot be read.*wordnet-base"):
        WordNet(tmp_path)


@pytest.mark.parametrize("text", ["", "not WordNet at all", "plane n 1 9 @\n", "\x00\xff"])
def test_an_index_that_is_not_one(tmp_path, text):
    (written(tmp_path) / "index.noun").write_text(text, encoding="latin-1")
    with pytest.raises(FileError, match="broken"):
        WordNet(tmp_path)


@pytest.mark.parametrize("text", ["", "not WordNet at all", "00000034 03 n zz plane 0 000 | x\n"])
def test_data_that_do_not_fit_their_index(tmp_path, text):
    (written(tmp_path) / "data.noun").write_text(text)
    with pytest.raises(FileError, match="broken"):
        steps(Hypernyms(WordNet(tmp_path)), "plane", "plane")


def test_every_word_of_wordnet_has_ancestors_that_are_not_its_synonyms(real):
    made = Hypernyms(real)
    for lemma in sorted(real._first["noun"])[::97]:
        place = real.first(lemma, "noun")
        own = {one.lower() for one in real.synset(place, "noun").words}
        above = {word.lower() for synset in real.above(place, "noun") for word in synset.words}
        found = made.steps((Word(lemma, lemma, "noun", 0, len(lemma)),), 0, "en")
        for text in found.texts if found else ():
            assert text.lower() in above - own


def test_words_of_wordnet(real):
    assert steps(Hypernyms(real), "dog", "dog")[1][:2] == ["canine", "carnivore"]
