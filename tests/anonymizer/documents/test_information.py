"""The information of words by Eq. 6.1 and 6.2, its weights, and the keywords that are chosen by it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.words.information import ACCIDENTS, COURTS, Corpus, Informative, Weights
from anonymizer.documents.words.keywords import combine, set_keywords
from anonymizer.documents.words.preprocessing import Preprocessing
from anonymizer.documents.words.similarity import Similarity
from anonymizer.errors import TableError
from tests.anonymizer.documents.webs import read, words

PLAIN = Weights(tags={"noun": 0.0}, added=-8.0, similar=0.0)


def information(found):
    return {one.lemma: one.information for one in found}


def test_information_is_the_logarithm_of_the_share_of_the_words_of_d():
    documents = [words("a", "b", "b", "c"), words("a", "d", "e", "f")]
    found = Corpus.of(documents).informative(documents[0], PLAIN)
    assert information(found) == pytest.approx({"a": 3.0, "b": 2.0, "c": 3.0})


def test_a_further_corpus_counts_below_the_fraction_only():
    documents = [words("a", "b", "b", "c"), words(*"xyzuvw", "a", "a", "a", "a", "a", "a")]
    found = Corpus.of(documents).informative(documents[0], PLAIN)
    assert information(found) == pytest.approx({"a": 4.0, "b": 3.0, "c": 4.0})


def test_the_other_reading_counts_all_documents_above_it_as_well():
    documents = [words("a", "b", "b", "c"), words(*"xyzuvw", "a", "a", "a", "a", "a", "a")]
    found = Corpus.of(documents).informative(documents[0], PLAIN, numerator="corpus")
    assert information(found) == pytest.approx({"a": math.log2(16 / 7), "b": 3.0, "c": 4.0})


def test_the_printed_values_are_those_of_one_two_and_three_occurrences_in_base_two():
    """23.80, 22.79, 22.21 (section 6.2.2) up to a hundredth, with #d = 150,000 and one epsilon."""
    corpus = Corpus(150_000, {}, {})
    weights = Weights(tags={"noun": 6.60})
    found = corpus.informative(words("a", "b", "b", "c", "c", "c"), weights)
    assert [one.information for one in found] == pytest.approx([23.80, 22.79, 22.21], abs=0.011)
    natural = [math.log(150_000 / count) for count in (1, 2, 3)]
    assert natural[0] - natural[1] != pytest.approx(23.80 - 22.79, abs=0.1)


def test_among_equals_those_that_fewer_documents_have_come_first():
    documents = [words("common", "rare", "usual"), words("common", "usual"), words("common")]
    found = Corpus.of(documents).informative(documents[0], PLAIN)
    assert [one.lemma for one in found] == ["rare", "usual", "common"]
    assert len(set(information(found).values())) == 1


def test_kinds_without_a_weight_are_not_searched_for():
    text = "The applicant of Nicosia was aged 17 and lived there, on 5 Street."
    found = Corpus.of([read(text)]).informative(read(text), ACCIDENTS)
    assert {"the", "of", ",", "be"}.isdisjoint(one.lemma for one in found)
    assert found[0].lemma == "nicosia"


@pytest.mark.parametrize("text", ["He was aged 17.", "A boy, 17 years old.", "At the age 17 he fell."])
def test_ages_have_their_weight(text):
    corpus = Corpus.of([read(text)])
    plain, heavy = (corpus.informative(read(text), one) for one in (ACCIDENTS, replace(ACCIDENTS, age=3.0)))
    assert information(heavy)["17"] == pytest.approx(information(plain)["17"] + 3)


def test_a_number_that_is_not_an_age_has_not():
    text = "On 17 May 12 years later"
    found = Corpus.of([read(text)]).informative(read(text), COURTS)
    assert {one.information for one in found if one.tag == "number"} == {math.log2(6)}


def test_words_that_the_sanitizer_wrote_weigh_less():
    document = words("a", "b")
    found = Corpus.of([document]).informative(document, PLAIN, original={"a"})
    assert information(found) == pytest.approx({"a": 1.0, "b": -7.0})


@pytest.mark.parametrize("wrong", [{"similar": 1.0}, {"age": math.inf}, {"tags": {"noun": math.nan}}])
def test_weights_that_are_none_are_refused(wrong):
    with pytest.raises(TableError, match="weight"):
        Weights(**wrong)


def test_documents_without_words_are_refused():
    with pytest.raises(TableError, match="have no words"):
        Corpus.of([(), words("a", tag="symbol")])


def test_similarity_is_of_letters_or_of_neighbours():
    documents = [read(f"The {one} witness said in the {one} hearing that the house burned.") for one in
                 ("first", "second", "first", "second")]  # fmt: skip
    similarity = Similarity([*documents, read("A dog ran. A dog fell. A dog barked at noon.")])
    assert similarity.to("first", ["first", "second", "dog"]) == pytest.approx([1.0, 1.0, 0.0], abs=0.05)
    assert similarity.to("1996", ["1997", "2003"]) == pytest.approx([0.5, 0.0])
    assert similarity.to("unseen", ["noon", "unsee"]) == [0.0, pytest.approx(8 / 11)]


def test_similarities_of_no_documents_are_of_letters():
    assert Similarity([]).to("a", ["a", "b"]) == [1.0, 0.0]


def test_a_word_like_a_chosen_one_is_passed_over():
    documents = [read(f"The {one} witness said in the {one} hearing that the house burned.") for one in
                 ("first", "second", "first", "second")]  # fmt: skip
    rated = [
        Informative(one, one, "noun", 1, 1, bits)
        for one, bits in (("first", 9.0), ("second", 8.5), ("house", 8.0))
    ]
    weights = Weights(similar=-4.0)
    similarity = Similarity(documents)
    assert [one.lemma for one in set_keywords(rated, weights, similarity, 2)] == ["first", "house"]
    assert [one.lemma for one in set_keywords(rated, weights, None, 2)] == ["first", "second"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["ab", "abc", "abd", "xyz", "xyw", "q", "abcd"]), st.floats(0, 9)),
        unique_by=lambda one: one[0],
    ),
    st.integers(0, 5),
)
def test_keywords_are_those_of_a_plain_search(rated, size):
    """The set that is looked through is cut by a bound; nothing that would be chosen may go."""
    similarity, weights = Similarity([]), Weights(similar=-3.0)
    left = sorted(
        (Informative(one, one, "noun", 1, 1, bits) for one, bits in rated), key=lambda one: -one.information
    )
    chosen = []
    while left and len(chosen) < size:

        def worth(one, chosen=tuple(chosen)):
            return one.information - 3 * max(
                similarity.to(one.lemma, [other.lemma for other in chosen]), default=0
            )

        best = max(left, key=worth)
        chosen.append(best)
        left.remove(best)
    given_ = sorted(
        (Informative(one, one, "noun", 1, 1, bits) for one, bits in rated), key=lambda one: -one.information
    )
    assert set_keywords(given_, weights, similarity, size) == tuple(chosen)


@pytest.mark.parametrize("size", range(6))
def test_all_combinations_are_searched_for_once(size):
    keywords = [Informative(f"w{at}", f"w{at}", "noun", 1, 1, 1.0) for at in range(size)]
    found = combine(keywords)
    assert len(found) == len(set(found)) == 2**size - 1
    assert [len(one) for one in found] == sorted(len(one) for one in found)


@pytest.mark.parametrize("size", [-1, 6])
def test_too_many_keywords_are_refused(size):
    with pytest.raises(TableError, match=r"-?\d keywords \(\|KW\|\) are out of range"):
        set_keywords([], ACCIDENTS, None, size)


def test_a_document_is_prepared():
    texts = [
        "The boy Kallas fell from the roof in Tallinn.",
        "The girl fell in the yard.",
        "A boy in a yard.",
    ]
    prepared = Preprocessing([read(one) for one in texts[:2]], [read(texts[2])], weights=ACCIDENTS).prepare(
        read(texts[0])
    )
    assert {one.lemma for one in prepared.keywords[:2]} == {"kallas", "tallinn"}
    assert len(prepared.keywords) == 3
    assert prepared.label is None
    assert prepared.top[0] == prepared.keywords[0].text
