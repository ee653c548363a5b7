"""Files that take the place of others: whole or not at all, with their rights."""

from __future__ import annotations

import os

import pytest

from commons.files import replacing


def test_a_file_is_replaced_with_its_rights(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path, 0o640) as part:
        assert part.stat().st_mode & 0o777 == 0o600
        part.write_text("new")
        assert path.read_text() == "old"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failing", ["body", "os.fsync", "pathlib.Path.replace"])
def test_the_old_file_stays_where_something_fails(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def broken(*_):
        raise OSError("disk full")

    def write():
        with monkeypatch.context() as patched, replacing(path, 0o600) as part:
            part.write_text("new")
            if failing == "body":
                broken()
            patched.setattr(failing, broken)

    with pytest.raises(OSError, match="disk full"):
        write()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_the_names_of_new_files(tmp_path):
    with (
        replacing(tmp_path / "a.csv", 0o600) as one,
        replacing(tmp_path / "b", 0o600, prefix="x-", suffix=".z") as two,
    ):
        assert one.name.startswith(".a.csv.")
        assert one.name.endswith(".new")
        assert (two.name[:2], two.name[-2:]) == ("x-", ".z")
