"""docs/glossary.md: in order, each term once, no term that nobody uses, and found from the other pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
ROWS = re.findall(r"^\| \*\*(.*?)\*\* \| (.*) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
TERMS = [term for term, _ in ROWS]

ABBREVIATIONS = re.compile(r"\b(?:[A-Z]{2}[A-Z]+|[AB]2[AB]|zCDP)\b")


def plain(text: str) -> str:
    """In small letters, with blanks for hyphens: `circuit-psi` is a circuit PSI."""
    return re.sub(r"[-_\s]+", " ", text.lower())


def places() -> Iterator[Path]:
    """All other documents, and then the sources with their messages and docstrings."""
    yield ROOT / "README.md"
    yield from (page for page in sorted((ROOT / "docs").glob("*.md")) if page != GLOSSARY)
    for package in ("smc", "parties", "anonymizer", "commons"):
        yield from sorted((ROOT / package).rglob("*.py"))


def test_terms_are_in_order_and_each_stands_once() -> None:
    assert len(TERMS) > 90
    assert [term.lower() for term in TERMS] == sorted({term.lower() for term in TERMS})


def test_each_term_is_used() -> None:
    unused = {
        term: [re.compile(rf"\b{re.escape(plain(name))}") for name in term.split(", ")] for term in TERMS
    }
    for path in places():
        text = plain(path.read_text(encoding="utf-8"))
        unused = {
            term: names for term, names in unused.items() if not any(name.search(text) for name in names)
        }
        if not unused:
            break
    assert not list(unused)


def test_abbreviations_of_an_explanation_are_explained() -> None:
    known = {name for term in TERMS for name in re.findall(r"\w+", term)}
    everyday = {"AES", "TLS", "TOML", "XOR", "DIS"}
    used = {name for _, meaning in ROWS for name in ABBREVIATIONS.findall(meaning)}
    assert used
    assert not used - known - everyday


def test_it_is_found_from_other_pages() -> None:
    for page in ("README.md", *(f"docs/{name}.md" for name in ("analyses", "tutorial", "anonymizer"))):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert re.search(r"\]\((?:docs/)?glossary\.md\)", text), page
