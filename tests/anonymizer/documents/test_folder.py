"""Folders of documents: what is read, what is said, what is refused."""

from __future__ import annotations

import os

import pytest

from anonymizer.documents.folders.folder import Limits, read
from anonymizer.errors import FileError
from tests.anonymizer.documents.formats.looks import pdf


def filled(folder, files):
    for name, data in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def test_documents_are_read_by_name_with_their_folders(tmp_path):
    filled(tmp_path, {"b.txt": "B", "a/c.md": "C", "a.pdf": pdf([["A"]]), "B/東.html": "<p>D"})
    found = read(tmp_path)
    assert [one.name for one in found.sources] == ["B/東.html", "a.pdf", "a/c.md", "b.txt"]
    assert [one.text.strip() for one in found.documents] == ["D", "A", "C", "B"]
    assert found.skipped == ()
    assert "text" not in repr(found.sources[0])


def test_one_document_is_a_folder_of_one(tmp_path):
    filled(tmp_path, {"b.txt": "B"})
    assert [one.name for one in read(tmp_path / "b.txt").sources] == ["b.txt"]


def test_links_and_hidden_files_are_said(tmp_path):
    filled(tmp_path, {"in/a.txt": "A", "in/.b.txt": "B", "in/.git/c.txt": "C", "out/d.txt": "D"})
    (tmp_path / "in/e.txt").symlink_to(tmp_path / "out/d.txt")
    (tmp_path / "in/f").symlink_to(tmp_path / "out")
    found = read(tmp_path / "in")
    assert [one.name for one in found.sources] == ["a.txt"]
    assert [one.split()[0] for one in found.skipped] == [".b.txt", ".git", "e.txt", "f"]


def test_all_files_that_cannot_be_read_are_named(tmp_path):
    filled(tmp_path, {"a.txt": b"\xff", "b.exe": "x", "c.txt": "", "d.txt": "fine"})
    with pytest.raises(
        FileError, match=r"(?s)3 files.*a\.txt is not UTF-8.*b\.exe is not of.*c\.txt holds no"
    ):
        read(tmp_path)


def test_the_encoding_is_handed_on(tmp_path):
    filled(tmp_path, {"a.txt": "Zoë".encode("cp1252")})
    assert read(tmp_path, encoding="cp1252").documents[0].text == "Zoë"


@pytest.mark.parametrize("name", [b"a\xff.txt", b"a\x1b[2J.txt", "a\u202etxt.txt".encode(), b"a\nb/c.txt"])
def test_names_that_cannot_be_printed_are_refused(tmp_path, name):
    place = os.path.join(os.fsencode(tmp_path), name)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as file:
        file.write(b"x")
    with pytest.raises(FileError, match=r"cannot be printed.*Rename") as problem:
        read(tmp_path)
    assert str(problem.value).isprintable()


def test_what_is_not_a_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(FileError, match="not a regular file"):
        read(tmp_path)


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_nothing_to_read_is_an_error(tmp_path, make):
    make(tmp_path / "in")
    with pytest.raises(FileError, match=r"cannot be read|holds no documents"):
        read(tmp_path / "in")


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        (Limits(files=2), "3 files; 2 can be read"),
        (Limits(bytes=9), r"c\.txt is larger than 9 bytes"),
        (Limits(total=11), "more than 11 bytes"),
    ],
)
def test_sizes_are_bounded(tmp_path, limits, what):
    filled(tmp_path, {"a.txt": "x", "b.txt": "x", "c.txt": "x" * 10})
    with pytest.raises(FileError, match=what):
        read(tmp_path, limits=limits)
    assert len(read(tmp_path, limits=Limits(3, 10, 12)).sources) == 3
