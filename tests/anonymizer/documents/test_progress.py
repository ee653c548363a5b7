"""Finished documents are kept, and only sound ones are used again."""

from __future__ import annotations

import json
import os
import stat

import pytest

from anonymizer.documents.folders import progress
from anonymizer.documents.folders.progress import Kept, key_of, work_folder
from anonymizer.errors import FileError

VALUE = {"edits": [[0, 4, "東京"]], "rounds": 3, "risk": 0.25}


@pytest.fixture
def kept(tmp_path):
    return Kept(work_folder(tmp_path / "out"))


def test_a_value_is_there_again(kept):
    key = key_of(document=b"Anna", specification="ab")
    assert kept.get(key) is None
    kept.put(key, VALUE)
    assert Kept(kept.folder).get(key) == VALUE
    assert kept.get(key_of(document=b"Anna", specification="ac")) is None


def test_nobody_else_may_read_it_and_it_is_outside_of_the_output(kept, tmp_path):
    kept.put(key_of(a=1), VALUE)
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(one.stat().st_mode) == 0o600 for one in kept.folder.iterdir())
    assert kept.folder.parent == tmp_path
    assert not kept.folder.is_relative_to(tmp_path / "out")


def test_a_folder_that_others_could_read_is_closed(kept):
    kept.folder.mkdir(mode=0o755)
    kept.put(key_of(a=1), VALUE)
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "parts", [{"a": b"x", "b": 2}, {"a": b"y", "b": 1}, {"a": b"x"}, {"b": b"x", "a": 1}]
)
def test_every_part_counts(parts):
    assert key_of(**parts) != key_of(a=b"x", b=1)
    assert key_of(b=1, a=b"x") == key_of(a=b"x", b=1)


def test_the_version_of_the_program_counts(monkeypatch):
    before = key_of(a=1)
    monkeypatch.setattr(progress, "program_version", lambda: "another")
    assert key_of(a=1) != before


def test_a_damaged_entry_is_computed_anew(kept):
    key = key_of(a=1)
    kept.put(key, VALUE)
    (place,) = kept.folder.iterdir()
    whole = place.read_bytes()
    for at in range(len(whole)):
        place.write_bytes(whole[:at])
        assert kept.get(key) is None
        changed = bytearray(whole)
        changed[at] ^= 1
        place.write_bytes(bytes(changed))
        assert kept.get(key) is None
    kept.put(key, VALUE)
    assert kept.get(key) == VALUE


def test_an_entry_under_another_key_is_not_used(kept):
    kept.put(key_of(a=1), VALUE)
    (place,) = kept.folder.iterdir()
    place.rename(kept.folder / f"{key_of(a=2)}.json")
    assert kept.get(key_of(a=2)) is None


@pytest.mark.parametrize("text", ["[]", "3", '{"value": 1}', "[" * 100_000])
def test_other_json_is_not_an_entry(kept, text):
    key = key_of(a=1)
    kept.put(key, VALUE)
    (place,) = kept.folder.iterdir()
    place.write_text(text)
    assert kept.get(key) is None


def test_a_run_that_was_killed_while_it_wrote_leaves_the_entry_before(kept, monkeypatch):
    key = key_of(a=1)
    kept.put(key, VALUE)

    def killed(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        kept.put(key, {"edits": []})
    assert kept.get(key) == VALUE
    assert len(list(kept.folder.iterdir())) == 1


def test_it_can_be_cleared(kept):
    kept.put(key_of(a=1), VALUE)
    kept.clear()
    kept.clear()
    assert not kept.folder.exists()


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_is_not_a_folder_is_refused(kept, tmp_path, kind):
    if kind == "link":
        (tmp_path / "elsewhere").mkdir()
        kept.folder.symlink_to(tmp_path / "elsewhere")
    else:
        kept.folder.write_text("x")
    for use in (lambda: kept.put(key_of(a=1), VALUE), lambda: kept.get(key_of(a=1)), kept.clear):
        with pytest.raises(FileError, match="not a folder of your own"):
            use()


def test_a_folder_that_cannot_be_written_in_is_an_error(tmp_path):
    with pytest.raises(FileError, match="cannot be written"):
        Kept(tmp_path / "no" / "such").put(key_of(a=1), VALUE)


def test_values_are_json(kept):
    kept.put(key_of(a=1), VALUE)
    (place,) = kept.folder.iterdir()
    assert json.loads(place.read_text())["value"] == VALUE
