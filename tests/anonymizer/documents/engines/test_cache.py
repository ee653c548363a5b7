"""Answers that are kept: asked for once, of their owner alone, and not for ever."""

from __future__ import annotations

import os

import pytest

from anonymizer.documents.engines.cache import Cached
from anonymizer.documents.engines.engine import EngineError, Hit
from anonymizer.errors import FileError

HITS = (Hit("a", "Larnaca 東京"), Hit("b", ""))
DAY = 86_400


class Counting:
    """An engine that counts how often it is asked."""

    leaks = True

    def __init__(self, name="the web", hits=HITS):
        self.name, self.hits, self.count = name, hits, 0

    def search(self, keywords, limit=10):
        self.count += 1
        if self.hits is None:
            raise EngineError("It is down.", "Start it.")
        return self.hits[:limit]


class Clock:
    now = 1_700_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "deep" / "answers"


def test_an_answer_is_asked_for_once(folder):
    engine = Counting()
    cached = Cached(engine, folder)
    assert cached.search(("a", "b")) == cached.search(("a", "b")) == HITS
    assert Cached(engine, folder).search(("a", "b")) == HITS
    assert engine.count == 1
    assert (cached.name, cached.leaks) == ("the web", True)


def test_that_nothing_was_found_is_kept_too(folder):
    engine = Counting(hits=())
    assert Cached(engine, folder).search(("a",)) == Cached(engine, folder).search(("a",)) == ()
    assert engine.count == 1


def test_other_words_orders_limits_and_engines_are_other_questions(folder):
    engine, other = Counting(), Counting("another web")
    cached = Cached(engine, folder)
    for keywords in (("a", "b"), ("b", "a"), ("a b",), ("a",), ("ab",)):
        cached.search(keywords)
    cached.search(("a", "b"), 1)
    Cached(other, folder).search(("a", "b"))
    assert (engine.count, other.count) == (6, 1)


def test_only_the_owner_can_look(folder):
    Cached(Counting(), folder).search(("Larnaca",))
    assert folder.stat().st_mode & 0o777 == 0o700
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert "Larnaca" not in path.name


def test_a_folder_that_others_can_look_into_is_refused(folder, tmp_path):
    folder.mkdir(parents=True)
    folder.chmod(0o750)
    with pytest.raises(FileError, match="chmod 700"):
        Cached(Counting(), folder)
    folder.chmod(0o700)
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(FileError, match="only a link"):
        Cached(Counting(), link)


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(FileError, match="cannot be used"):
        Cached(Counting(), tmp_path / "x")


def test_answers_age(folder):
    engine, clock = Counting(), Clock()
    cached = Cached(engine, folder, days=2, clock=clock)
    cached.search(("a",))
    clock.now += 2 * DAY - 1
    cached.search(("a",))
    assert engine.count == 1
    clock.now += 1
    cached.search(("a",))
    assert engine.count == 2
    clock.now += 2 * DAY
    (folder / "left.part").write_text("of an interrupted run")
    os.utime(folder / "left.part", (0, 0))
    Cached(engine, folder, days=2, clock=clock)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("text", ["", "[[", "{}", "[1]", '[["a"]]', '[["a", 1]]', "[" * 100_000, "\xff"])
def test_a_broken_file_is_asked_for_again(folder, text):
    engine = Counting()
    cached = Cached(engine, folder)
    cached.search(("a",))
    (path,) = folder.iterdir()
    path.write_bytes(text.encode("latin-1"))
    assert cached.search(("a",)) == HITS
    assert engine.count == 2
    assert cached.search(("a",)) == HITS
    assert engine.count == 2


def test_failures_are_not_kept(folder):
    engine = Counting(hits=None)
    cached = Cached(engine, folder)
    with pytest.raises(EngineError):
        cached.search(("a",))
    assert not list(folder.iterdir())
    engine.hits = HITS
    assert cached.search(("a",)) == HITS


def test_a_folder_that_vanished(folder):
    cached = Cached(Counting(), folder)
    folder.rmdir()
    with pytest.raises(FileError, match="cannot be written"):
        cached.search(("a",))
