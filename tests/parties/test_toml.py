"""Files that are asked for again and again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parties.errors import ConfigError
from parties.toml import TomlFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "a.toml"
    written.write_text("a = 1")
    return written


def rewrite(path: Path, text: str) -> None:
    """In place, with the same stamp if the size is the same."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_file_is_parsed_only_when_it_has_changed_even_within_a_tick(path):
    understood = []

    def understand(document):
        understood.append(document)
        return document["a"]

    file = TomlFile(path, ConfigError, understand)
    assert [file.load(), file.load()] == [1, 1]
    rewrite(path, "a = 2")
    assert [file.load(), file.load()] == [2, 2]
    assert understood == [{"a": 1}, {"a": 2}]


def test_a_file_that_became_wrong_or_went_is_an_error_each_time(path):
    file = TomlFile(path, ConfigError, lambda document: document["a"])
    assert file.load() == 1
    rewrite(path, "a = ?")
    for _ in range(2):
        with pytest.raises(ConfigError, match="not valid TOML"):
            file.load()
    path.unlink()
    with pytest.raises(ConfigError, match="does not exist"):
        file.load()
    path.write_text("a = 1")
    assert file.load() == 1


def test_what_does_not_last_is_parsed_each_time(path):
    understood = []
    file = TomlFile(path, ConfigError, understood.append, lambda _: False)
    file.load()
    file.load()
    assert len(understood) == 2
