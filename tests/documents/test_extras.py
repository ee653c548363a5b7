"""What messages and documents say of extras: each that is named exists, and no library is named instead."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
with (ROOT / "pyproject.toml").open("rb") as _file:
    PROJECT = tomllib.load(_file)["project"]
EXTRAS = PROJECT["optional-dependencies"]
SOURCES = [
    path
    for package in ("duetto", "smc", "parties", "anonymizer", "commons")
    for path in (ROOT / package).rglob("*.py")
]
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]


def named(paths: list[Path]) -> set[str]:
    """The extras that are named as they are installed, such as `duetto[frames]`."""
    texts = (path.read_text(encoding="utf-8") for path in paths)
    return {
        name
        for text in texts
        for names in re.findall(r"duetto\[([\w,]+)\]", text)
        for name in names.split(",")
    }


def distributions(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", requirement)[0].lower() for requirement in requirements} - {"duetto"}


def test_messages_name_extras_that_exist():
    assert named(SOURCES) <= set(EXTRAS)
    assert {"anonymizer", "dashboard", "excel", "frames", "parquet", "plots", "report"} <= named(SOURCES)


def test_documents_name_extras_that_exist():
    assert named(PAGES) <= set(EXTRAS)
    for page in PAGES:
        said = re.findall(r"\bextras? `(\w+)`", page.read_text(encoding="utf-8"))
        assert set(said) <= set(EXTRAS), page.name


def test_no_message_asks_for_a_library_that_an_extra_brings():
    """Who installs the library alone can get a version that the program was never tried with."""
    brought = distributions([*PROJECT["dependencies"], *(one for extra in EXTRAS.values() for one in extra)])
    for path in SOURCES:
        for asked in re.findall(r"pip install '?([A-Za-z][\w-]*)", path.read_text(encoding="utf-8")):
            assert asked.lower() not in brought, f"{path.name}: {asked}"
