"""docs/architecture.md speaks of the house as it is: every path and name on it exists."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import ROOT

PAGE = ROOT / "docs" / "architecture.md"
DRAWING = ROOT / "docs" / "pictures" / "architecture.svg"
HOUSES = ("parties", "smc", "anonymizer", "commons")
WORD = re.compile(r"(?:duetto|smc|parties|anonymizer|commons|tests|scripts|docs|proto)/[\w/.-]*\w")


def missing(text: str) -> Iterator[str]:
    """The paths in a text that lead nowhere."""
    return (path for path in WORD.findall(text) if not (ROOT / path).exists())


def drawn_rooms() -> list[str]:
    """What the drawing's boxes are called, but for the people's."""
    text = DRAWING.read_text(encoding="utf-8")
    names = re.findall(r'class="(?:name|bold)"[^>]*>([^<]*)<', text)
    names += re.findall(r'<text class="mid"[^>]*>([^<]+)<', text)
    return [room for name in names for room in name.split(", ") if room != "people"]


def test_every_path_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert not list(missing(text))
    assert len(set(WORD.findall(text))) > 40


def test_every_drawn_room_exists() -> None:
    rooms = drawn_rooms()
    places = [ROOT, *(ROOT / house for house in HOUSES)]
    lost = [r for r in rooms if not any((p / r).exists() or (p / f"{r}.py").exists() for p in places)]
    assert not lost
    assert len(rooms) > 25
    assert not list(missing(DRAWING.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", ["smc/protocols/no_such.py", "parties/nowhere"])
def test_a_lost_path_is_found(path: str) -> None:
    assert list(missing(f"see `{path}` and `smc/errors.py`")) == [path]
