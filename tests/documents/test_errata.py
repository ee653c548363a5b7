"""Errata of the papers: whatever is cited is on the page, once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tests.architecture.source import FOLDERS, ROOT, files

PAGE = ROOT / "docs" / "errata.md"
CITED = re.compile(r"errat(?:um|a)\s+((?:\d+(?:\s*(?:,|and|to|-)\s*)?)+)", re.IGNORECASE)


def cited(text: str) -> Iterator[int]:
    """The numbers of errata that a text cites, those of ranges as well."""
    for found in CITED.finditer(text):
        for first, last in re.findall(r"(\d+)(?:\s*(?:-|to)\s*(\d+))?", found[1]):
            yield from range(int(first), int(last or first) + 1)


def test_what_is_cited_is_on_the_page():
    stated = Counter(int(number) for number in re.findall(r"^- \*\*(\d+)\.", PAGE.read_text(), re.MULTILINE))
    assert max(stated.values()) == 1
    sources = [path for path in files(*FOLDERS) if path.suffix in {".py", ".md"}]
    used = {number: path for path in sources for number in cited((ROOT / path).read_text())}
    assert {3, 4, 5, 32, 33} <= set(used)
    assert not {number: path for number, path in used.items() if number not in stated}


def test_ranges_and_lists_are_read():
    assert list(cited("errata 1, 3-5 and 8; erratum\n36, errata 32 to 34.")) == [
        1,
        3,
        4,
        5,
        8,
        36,
        32,
        33,
        34,
    ]
