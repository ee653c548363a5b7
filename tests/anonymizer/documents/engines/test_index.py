"""The index over a folder: what it finds, in which order, and what it leaves on the machine."""

from __future__ import annotations

import os
import sqlite3
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.engines import index as module
from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.engines.index import FolderIndex

WEB = [
    ("a.txt", "A plane accident at Larnaca in August 2005; the pilots were unconscious."),
    ("b.txt", "The applicant, Mr José Núñez O'Brien, lived in Larnaca. Larnaca is a town by the sea."),
    ("c.txt", "東京都の中学校で、体育の授業中に生徒が負傷した。ジョン・スミス校長が謝罪した。"),
    ("d.txt", "京都の高校で生徒が死亡した。ＡＢＣ新聞が報じた。"),
    ("e.txt", 'Nothing AND "everything" OR none NEAR text:x *'),
]


@pytest.fixture(scope="module")
def web():
    with FolderIndex(WEB, "the folder web") as index:
        yield index


def names(index, *keywords, limit=10):
    return [hit.name for hit in index.search(keywords, limit)]


@pytest.mark.parametrize(
    ("keywords", "found"),
    [
        (("larnaca", "pilot"), ["a.txt"]),
        (("LARNACA", "pilots", "sea"), []),
        (("jose",), ["b.txt"]),
        (("Nuñez",), ["b.txt"]),
        (("O'Brien",), ["b.txt"]),
        (("O’Brien",), ["b.txt"]),
        (("Brien O",), []),
        (("accidents",), ["a.txt"]),
        (("Ｌａｒｎａｃａ", "２００５"), ["a.txt"]),
        (("東京",), ["c.txt"]),
        (("東京都",), ["c.txt"]),
        (("京都",), ["d.txt", "c.txt"]),
        (("都",), ["d.txt", "c.txt"]),
        (("た",), ["d.txt", "c.txt"]),
        (("中学",), ["c.txt"]),
        (("学中",), []),
        (("ジョン・スミス",), ["c.txt"]),
        (("スミ",), ["c.txt"]),
        (("ｽﾐｽ",), ["c.txt"]),
        (("ABC新聞",), ["d.txt"]),
        (("ABC新",), ["d.txt"]),
        (("BC新聞",), []),
        (("か",), []),
        (("生徒", "死亡"), ["d.txt"]),
        (("生徒", "plane"), []),
        (("中学校で、体育",), ["c.txt"]),
    ],
)
def test_all_keywords_must_occur_whatever_their_case_width_accents_and_inflection(web, keywords, found):
    assert names(web, *keywords) == found


def test_the_more_often_and_the_shorter_the_better(web):
    assert names(web, "larnaca") == ["b.txt", "a.txt"]
    assert names(web, "larnaca", limit=1) == ["b.txt"]


def test_hits_of_one_rank_are_in_the_order_of_their_names():
    same = [(f"{number}.txt", "one and the same") for number in (7, 3, 9, 1, 5)]
    with FolderIndex(same) as index:
        assert names(index, "same", limit=3) == ["1.txt", "3.txt", "5.txt"]


@pytest.mark.parametrize(
    "keyword",
    [
        '"',
        '" OR "a',
        "larnaca OR x",
        "NEAR(a b)",
        "text:larnaca",
        "larnaca NOT sea",
        "acc*",
        "(",
        "^acc",
        "\x00",
    ],
)
def test_a_keyword_cannot_be_syntax(web, keyword):
    assert names(web, keyword) == []


def test_operators_are_words(web):
    assert names(web, "AND") == ["e.txt"]
    assert names(web, "NOT OR") == []
    assert names(web, "everything OR") == ["e.txt"]


def test_symbols_are_left_out_as_on_the_web(web):
    assert names(web, "larnaca", "?!", "...") == ["b.txt", "a.txt"]
    assert names(web, "?!") == names(web) == []


def test_a_hit_holds_the_document_and_does_not_show_it(web):
    (hit,) = web.search(("pilots",))
    assert hit.text == WEB[0][1]
    assert "pilots" not in repr(hit)


@given(st.lists(st.text(st.sampled_from("aA1é-“ 'か東京ｱ・\x00\ud800"), max_size=12), min_size=1, max_size=4))
def test_every_part_of_a_text_that_ends_at_words_is_found(parts):
    text = " ".join(parts)
    keywords = tuple(part for part in parts if any(c.isalnum() for c in unicodedata.normalize("NFKC", part)))
    with FolderIndex([("other", "zzz"), ("it", text)]) as index:
        assert names(index, *keywords) == (["it"] if keywords else [])


@given(st.text(st.sampled_from("東京都かき々ー"), min_size=1, max_size=12), st.data())
def test_japanese_is_found_exactly_where_its_characters_stand_together(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    other = data.draw(st.text(st.sampled_from("東京都かき々ー"), min_size=1, max_size=4))
    with FolderIndex([("it", text)]) as index:
        assert names(index, text[start:end]) == ["it"]
        assert names(index, other) == (["it"] if other in text else [])


@given(st.text(max_size=30))
def test_no_keyword_breaks_a_search(keyword):
    with FolderIndex([("it", "a text")]) as index:
        index.search((keyword,))


def test_the_digest_is_of_names_and_texts_in_any_order():
    def digest(documents):
        with FolderIndex(documents) as index:
            return index.digest

    assert digest(WEB) == digest(WEB[::-1])
    others = {digest(WEB[1:]), digest([("z.txt", WEB[0][1]), *WEB[1:]]), digest([("a.txt", "x"), *WEB[1:]])}
    assert len({digest(WEB), *others}) == 4


def test_progress_counts_documents():
    seen = []
    with FolderIndex(iter(WEB), progress=seen.append) as index:
        assert seen == [1, 2, 3, 4, 5]
        assert len(index) == 5


def test_a_name_that_is_not_text_is_written_as_the_disk_gave_it():
    with FolderIndex([("a\udcff.txt", "Larnaca")]) as index:
        assert names(index, "Larnaca") == ["a\\udcff.txt"]


def test_two_documents_of_one_name_are_an_error():
    with pytest.raises(EngineError, match=r"'a\.txt'.*name of its own"):
        FolderIndex([("a.txt", "x"), ("a.txt", "y")])


def test_a_folder_without_documents_is_an_error():
    with pytest.raises(EngineError, match="no documents in the folder web"):
        FolderIndex([], "the folder web")


def test_a_sqlite_without_full_text_says_where_there_is_one(monkeypatch):
    class Poor(sqlite3.Connection):
        def execute(self, statement, *parameters):
            return super().execute(statement.replace("fts5", "fts5_is_missing"), *parameters)

    real = sqlite3.connect
    monkeypatch.setattr(module.sqlite3, "connect", lambda *args, **named: real(*args, **named, factory=Poor))
    with pytest.raises(EngineError, match=r"lacks the full-text index FTS5\. Use a Python"):
        FolderIndex(WEB)


def test_an_index_that_is_closed_does_not_say_that_nothing_was_found():
    index = FolderIndex(WEB)
    index.close()
    with pytest.raises(EngineError, match="cannot be used"):
        index.search(("larnaca",))


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed by Linux alone")
def test_what_outgrows_the_memory_goes_to_a_file_that_only_its_owner_could_read(monkeypatch):
    def spilled():
        mine = {}
        for entry in os.listdir("/proc/self/fd"):
            path = f"/proc/self/fd/{entry}"
            try:
                if os.readlink(path).endswith("(deleted)"):
                    mine[entry] = os.stat(path)
            except OSError:  # the descriptor of the listing itself
                continue
        return mine

    before = spilled()
    monkeypatch.setattr(module, "_MEMORY", 64)
    words = [f"{chr(97 + n % 26)}{n * 7919 % 10007}" for n in range(40_000)]
    with FolderIndex((f"{n}", " ".join(words[n * 100 : n * 100 + 100])) for n in range(400)) as index:
        files = [status for entry, status in spilled().items() if entry not in before]
        assert any(status.st_size > 500_000 for status in files)
        assert all(status.st_mode & 0o077 == 0 and status.st_nlink == 0 for status in files)
        assert names(index, words[-1])
