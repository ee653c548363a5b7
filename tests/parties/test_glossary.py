"""docs/glossary.md: in order, each term once, no term that nobody uses, and found from the other pages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
ROWS = re.findall(r"^\| \*\*(.*?)\*\* \| (.*) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
TERMS = [term for term, _ in ROWS]

ABBREVIATIONS = re.compile(r"\b(?:[A-Z]{2}[A-Z]+|[AB]2[AB]|zCDP)\b")


def plain(text: str) -> str:
    """In small letters, with blanks for hyphens: `circuit-psi` is a circuit PSI."""
    return re.sub(r"[-_\s]+", " ", text.lower())


@cache
def elsewhere() -> str:
    """All other documents, and the sources with their messages and docstrings."""
    files = [ROOT / "README.md", *(page for page in (ROOT / "docs").glob("*.md") if page != GLOSSARY)]
    for package in ("smc", "parties", "anonymizer"):
        files += (ROOT / package).rglob("*.py")
    return plain("\n".join(path.read_text(encoding="utf-8") for path in files))


def test_terms_are_in_order_and_each_stands_once() -> None:
    assert len(TERMS) > 90
    assert [term.lower() for term in TERMS] == sorted({term.lower() for term in TERMS})


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used(term: str) -> None:
    names = [plain(name) for name in term.split(", ")]
    assert any(re.search(rf"\b{re.escape(name)}", elsewhere()) for name in names)


def test_abbreviations_of_an_explanation_are_explained() -> None:
    known = {name for term in TERMS for name in re.findall(r"\w+", term)}
    everyday = {"AES", "TLS", "TOML", "XOR", "DIS"}
    used = {name for _, meaning in ROWS for name in ABBREVIATIONS.findall(meaning)}
    assert used
    assert not used - known - everyday


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{name}.md" for name in ("analyses", "tutorial", "anonymizer"))]
)
def test_it_is_found_from_other_pages(page: str) -> None:
    assert re.search(r"\]\((?:docs/)?glossary\.md\)", (ROOT / page).read_text(encoding="utf-8"))
