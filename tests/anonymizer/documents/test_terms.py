"""Words that must be gone are found as a reader would find them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.texts.terms import Terms
from anonymizer.documents.texts.text import fold


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("Smith", "x SMITH's y"),
        ("Ｓｍｉｔｈ", "smith"),
        ("smith", "Ｓｍｉｔｈ"),
        ("New York", "new\n  york"),
        ("Nicosia", "Nico-\nsia"),
        ("Nicosia", "Ni\u00adco\u200bsia"),
        ("José", "JOSE"),
        ("Isik", "Işık"),
        ("O'Brien", "o’brien"),
        ("12,000", "of 12.000 x"),
        ("1974", "in 1974/5"),
        ("20%", "２０ ％"),
        ("20", "20%"),
        ("§5", "§ 5"),
        ("€ 5", "€5"),
        ("1974", "１９７４年"),
        ("straße", "STRASSE"),
        ("fire", "ﬁre"),
        ("a@b.org", "mail a@b.org."),
        ("Smith", "_smith_"),
        ("東京", "東\n京都に"),
        ("東京", "は東京"),
        ("森", "森さん"),
        ("マリ", "とマリは"),
        ("マリ", "ﾏﾘ"),
        ("さくら", "はさくらと"),
        ("NHK", "東京NHKが"),
        ("葛城", "葛\U000e0100城"),
        ("第3号", "第３号証"),
        ("©", "x © y"),
    ],
)
def test_a_term_stands(term, text):
    assert Terms(["other", term]).lines(f"first line\n{text}")[0] >= 2


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("Smith", "Smiths"),
        ("Smith", "Blacksmith"),
        ("1974", "19745"),
        ("20%", "20 days"),
        ("§ 5", "5"),
        ("New York", "new old york"),
        ("森", "森林"),
        ("マリ", "マリーナ"),
        ("", "anything"),
        (" ", "any thing"),
        ("東京", "京東"),
    ],
)
def test_a_term_does_not_stand(term, text):
    assert Terms([term]).lines(text) == ()


def test_all_its_lines_are_named():
    assert Terms(["Anna", "New York"]).lines("Anna\nx\nNew\nYork anna\n") == (1, 3, 4)


@pytest.mark.parametrize(
    ("term", "name", "stands"),
    [
        ("Smith", "case_smith2020.txt", True),
        ("Smith", "johnsmith.txt", True),
        ("Smith", "smith/a.txt", True),
        ("2020", "smith2020.txt", True),
        ("Ann", "susanna.txt", False),
        ("東京", "報告東京.txt", True),
        ("Smith", "document-0001.txt", False),
    ],
)
def test_names_of_files_are_looked_at_more_closely(term, name, stands):
    assert bool(Terms([term]).in_name(name)) is stands


@given(st.text("ab ANé東京マ森の1-_.\n", max_size=30), st.text("abANé東京マ森の1", min_size=1, max_size=4))
def test_a_term_between_blanks_always_stands(text, term):
    assert Terms([term]).lines(f"{text} \n. {term} .\n {text}")
    assert Terms([term]).lines(fold(f"{text} . {term} ."))


@pytest.mark.parametrize(
    "text",
    [
        "W i g g l e s w o r t h",
        "Wiggles-\nworth",
        "Wig-gles-worth",
        "W\u200bi\u200bg\u200bg\u200blesworth",
        "Wigg1esw0rth",
        "Wіgglеswоrth",
        "Ｗｉｇｇｌｅｓｗｏｒｔｈ",
        "W.i.g.g.l.e.s.w.o.r.t.h",
    ],
)
def test_a_disguised_term_stands(text):
    assert Terms(["Wigglesworth"]).lines(f"first line\nMr {text} came.") == (2,)


def test_pairs_of_letters_that_scanners_confuse_are_the_same_in_words_of_five_letters():
    assert Terms(["Sherman"]).lines("Mr Sherrnan")
    assert not Terms(["Tom"]).lines("a torn page")


def test_a_spaced_japanese_term_stands():
    assert Terms(["鰐淵善三郎"]).lines("被告人鰐 淵 善 三 郎は") == (1,)
