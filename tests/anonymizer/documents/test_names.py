"""The names that documents leave under."""

from __future__ import annotations

import pytest

from anonymizer.documents.folders.folder import read
from anonymizer.documents.folders.names import released_names
from anonymizer.errors import FileError
from tests.anonymizer.documents.formats.looks import pdf
from tests.anonymizer.documents.test_folder import filled

FILES = {"smith/a.txt": "A", "b.MD": "B", "c.pdf": pdf([["C"]]), "d.htm": "<p>D"}


def test_documents_are_numbered_and_say_nothing(tmp_path):
    sources = read(filled(tmp_path, FILES)).sources
    names = released_names(sources)
    assert sorted(name.partition(".")[0] for name in names.values()) == [
        f"document-000{n}" for n in (1, 2, 3, 4)
    ]
    assert {one.name: names[one.name].partition(".")[2] for one in sources} == {
        "smith/a.txt": "txt",
        "b.MD": "md",
        "c.pdf": "txt",
        "d.htm": "html",
    }


def test_the_numbers_do_not_follow_the_alphabet(tmp_path):
    sources = read(filled(tmp_path, {f"{n:02}.txt": "x" for n in range(30)})).sources
    first, second = released_names(sources), released_names(sources)
    assert list(first.values()) != sorted(first.values())  # fails once in 30!
    assert first != second
    assert released_names(sources, seed=1) == released_names(sources, seed=1)


def test_names_can_be_kept(tmp_path):
    sources = read(filled(tmp_path, FILES)).sources
    assert released_names(sources, keep=True) == {
        "smith/a.txt": "smith/a.txt",
        "b.MD": "b.MD",
        "c.pdf": "c.txt",
        "d.htm": "d.htm",
    }


@pytest.mark.parametrize("files", [{"a.pdf": pdf([["A"]]), "a.txt": "A"}, {"a/b.txt": "A", "A/B.TXT": "A"}])
def test_two_documents_of_one_name_are_refused(tmp_path, files):
    sources = read(filled(tmp_path, files)).sources
    with pytest.raises(FileError, match=r"would both be released as.*let all be numbered"):
        released_names(sources, keep=True)
    assert len(set(released_names(sources).values())) == 2
