"""Attacks by all combinations of keywords: what is found, set aside, remembered, and what a failure means."""

from __future__ import annotations

import pytest

from anonymizer.documents.attacks.attack import Attacker
from anonymizer.documents.attacks.risk import KnownNames, SharedWords, most_shared, successes
from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.texts.text import Document
from anonymizer.documents.words.information import Informative
from anonymizer.errors import TableError
from tests.anonymizer.documents.webs import Web

DOCUMENT = Document("cases/1.txt", "A boy fell from the roof of the mill in Tallinn; his teacher was fined.")
NEWS = "Tallinn: Jaan Kallas, 12, died in the old mill. He fell from its roof; a teacher was fined."
OTHER = "A roof burned in Tartu. Nobody was hurt."


def keywords(*words):
    return tuple(Informative(one.lower(), one, "noun", 1, 1, 9.0) for one in words)


def attacked(web, words=("roof", "mill", "Tallinn"), **given):
    return Attacker(web).attack(DOCUMENT, keywords(*words), **given)


def test_every_combination_is_searched_for_and_what_it_finds_is_kept():
    found = attacked(Web({"news": NEWS, "other": OTHER}))
    by_words = {
        tuple(one.text for one in search.keywords): [hit.name for hit in search.hits]
        for search in found.searches
    }
    assert len(by_words) == 7
    assert by_words["roof",] == ["news", "other"]
    assert by_words["roof", "mill", "Tallinn"] == ["news"]


def test_searches_are_made_by_words_as_they_are_written():
    web = Web({"news": NEWS})
    attacked(web, ("Tallinn",))
    assert web.asked == [("Tallinn",)]


def test_at_most_ten_hits_are_looked_at():
    web = Web({f"{at}": f"roof number {at}" for at in range(30)})
    (search,) = attacked(web, ("roof",)).searches
    assert len(search.hits) == 10


def test_the_document_itself_and_its_versions_are_no_hits_and_take_no_place():
    original = DOCUMENT.text.replace("A boy", "Jaan Kallas")
    again = DOCUMENT.text.replace(" ", "\n").upper()
    texts = {f"{at}": f"roof number {at}" for at in range(10)}
    web = Web({"01": again, "the original": original + " roof", "00": original, **texts})
    found = attacked(web, ("roof",), versions=(original,))
    assert set(found.own) == {"01", "00"}
    (search,) = found.searches
    assert len(search.hits) == 10
    assert "the original" in {hit.name for hit in search.hits}


def test_an_answered_search_is_remembered_for_other_documents():
    web = Web({"news": NEWS})
    attacker = Attacker(web)
    first = attacker.attack(DOCUMENT, keywords("roof", "mill"))
    asked = len(web.asked)
    other = Document("2", "Another mill with a roof.")
    again = attacker.attack(other, keywords("mill", "roof"))
    assert (asked, len(web.asked)) == (3, 3)
    assert first.searches[-1].hits == again.searches[-1].hits


def test_a_search_that_fails_ends_the_attack():
    with pytest.raises(EngineError, match="is down"):
        attacked(Web({"news": NEWS}, fails=frozenset({"Tallinn"})))


def test_a_failed_search_is_asked_again_the_next_time():
    web = Web({"news": NEWS}, fails=frozenset({"Tallinn"}))
    attacker = Attacker(web)
    with pytest.raises(EngineError):
        attacker.attack(DOCUMENT, keywords("Tallinn"))
    web.fails = frozenset()
    (search,) = attacker.attack(DOCUMENT, keywords("Tallinn")).searches
    assert [hit.name for hit in search.hits] == ["news"]


@pytest.mark.parametrize("answer", [None, ["news"], ({"name": "news"},)])
def test_an_answer_that_is_not_hits_ends_the_attack(answer):
    web = Web({})
    web.search = lambda keywords, limit: answer
    with pytest.raises(EngineError, match="something else than documents"):
        attacked(web)


def test_progress_is_told_search_by_search():
    told = []
    attacked(Web({}), progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 7) for done in range(1, 8)]


def test_no_keywords_make_no_search():
    web = Web({"news": NEWS})
    assert attacked(web, ()).searches == ()
    assert web.asked == []


def found(names, web=NEWS, words=("roof", "mill", "Tallinn"), parts="all"):
    evaluation = KnownNames({DOCUMENT.name: names}, parts)
    return successes(attacked(Web({"news": web, "other": OTHER}), words), evaluation)


def test_an_attack_succeeds_if_a_hit_has_the_name():
    won = found(["Jaan Kallas"])
    assert {success.keywords for success in won} >= {("mill",), ("roof", "tallinn")}
    assert {success.found for success in won} == {"news"}


def test_an_attack_fails_if_no_hit_has_the_name():
    assert found(["Mari Kallas"]) == ()


@pytest.mark.parametrize(
    ("name", "text", "holds"),
    [
        ("Jaan Kallas", "KALLAS, Jaan (12) of the mill", True),
        ("Jaan Kallas", "Jaan Kallaste of the mill", False),
        ("Jaan Kallas", "Jaan of the mill", False),
        ("Anna Şahin", "Anna Sahin of the mill", True),
        ("Bulent Isik", "Bülent Işık of the mill", True),
        ("Anna Evagorou-Christou", "Ａｎｎａ Evagorou Christou of the mill", True),
        ("Nico\u200bs Li", "Nicos Li of the mill", True),
        ("An Li", "Annie Li of the mill", False),
        ("田中太郎", "田中 太郎さん of the mill", True),
        ("田中 太郎", "田中太郎君 of the mill", True),
        ("がんだ", "かんた of the mill", False),
        ("5", "15 men of the mill", False),
    ],
)
def test_names_are_found_as_people_write_them(name, text, holds):
    assert bool(found([name], text, ("mill",))) is holds


def test_a_part_of_a_name_is_enough_where_that_is_asked_for():
    assert found(["Mari Kallas"], parts="any")
    assert not found(["Mari J."], parts="any")


@pytest.mark.parametrize("names", [[], ["..."]])
def test_a_document_without_names_is_refused(names):
    with pytest.raises(TableError, match="No name with letters"):
        KnownNames({"1": names})


def test_a_document_whose_names_are_not_known_is_not_safe():
    evaluation = KnownNames({"2": ["Jaan Kallas"]})
    with pytest.raises(TableError, match=r"No name is known of the people in cases/1.txt"):
        successes(attacked(Web({"news": NEWS})), evaluation)


def test_shared_words_are_counted_other_than_those_of_the_search():
    evaluation = SharedWords({DOCUMENT.name: ["mill", "Tallinn", "teacher", "fined", "yard"]}, 3)
    result = attacked(Web({"news": NEWS, "other": OTHER}), ("roof", "mill"))
    shared = {
        tuple(one.text for one in search.keywords): evaluation.count_shared(
            DOCUMENT.name, search, search.hits[0]
        )
        for search in result.searches
    }
    assert shared == {("roof",): 4, ("mill",): 3, ("roof", "mill"): 3}
    assert most_shared(result, evaluation) == 4


def test_only_the_top_words_other_than_those_of_the_search_count():
    evaluation = SharedWords({DOCUMENT.name: ["roof", "yard", "Tallinn", "teacher", "fined"]}, 1, top=2)
    (search,) = attacked(Web({"news": NEWS}), ("roof",)).searches
    assert evaluation.count_shared(DOCUMENT.name, search, search.hits[0]) == 1


@pytest.mark.parametrize(("threshold", "succeeds"), [(3, True), (4, True), (5, False)])
def test_the_threshold_decides(threshold, succeeds):
    evaluation = SharedWords({DOCUMENT.name: ["mill", "Tallinn", "teacher", "fined", "yard"]}, threshold)
    assert bool(successes(attacked(Web({"news": NEWS}), ("roof",)), evaluation)) is succeeds


@pytest.mark.parametrize("threshold", [0, 21])
def test_a_threshold_out_of_range_is_refused(threshold):
    with pytest.raises(TableError, match="out of range"):
        SharedWords({}, threshold)


def test_a_document_without_hits_shares_nothing():
    assert most_shared(attacked(Web({})), SharedWords({DOCUMENT.name: ["mill"]}, 1)) == 0
