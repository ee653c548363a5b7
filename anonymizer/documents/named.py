"""Measures how many documents of a folder attackers name rightly, before it is sanitized and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from anonymizer.documents.attacks.naming import (
    STAGES,
    AttackerName,
    NamedFirst,
    Reference,
    Stage,
    WholeTexts,
    most_found,
)
from anonymizer.documents.engines.index import FolderIndex
from anonymizer.documents.sanitization.treated import SanitizedFolder
from anonymizer.documents.sanitizer import Names, OnProgress, Sanitizer
from anonymizer.documents.texts.edits import Edit, apply_edits
from anonymizer.documents.texts.matching import Searched, parts_of

_HITS: Final = 20
"""Texts of the web that are looked at for a name."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A document: the texts that attackers are given, and which document of the web is the right one."""

    name: str
    texts: dict[Stage, str]
    reference: Reference
    is_right: Callable[[str], bool]


def named_first(
    sanitizer: Sanitizer,
    web: FolderIndex,
    names: Names,
    treated: Sequence[SanitizedFolder],
    on_progress: OnProgress | None = None,
) -> tuple[NamedFirst, ...]:
    """How many documents two attackers name rightly, in each stage.

    The web is on this machine; no word leaves it.

    Args:
        sanitizer: that has treated the documents.
        web: what the attackers know.
        names: of persons, by document.
        treated: the documents.
        on_progress: of the progress.

    Returns:
        A row for each attacker and reference; none for a reference without documents. Documents whose persons
        are known by name but not named in the web, and those that are nearest to no text of it, do not count.
    """
    texts = dict(web.documents())
    given = {one.name: {stage: _text(sanitizer, one, stage) for stage in STAGES} for one in treated}
    originals = [given[one.name]["original"] for one in treated]
    whole = WholeTexts(texts, originals)
    nearest = {
        stage: dict(
            zip(
                given,
                whole.nearest([given[one.name][stage] for one in treated], originals),
                strict=True,
            )
        )
        for stage in STAGES
    }
    targets = []
    for one in treated:
        if one.name in names:
            right = _holding(names[one.name], texts)
            if any(map(right, _candidates(web, names[one.name]))):
                targets.append(_Target(one.name, given[one.name], "known names", right))
        elif (first := nearest["original"][one.name]) is not None:
            targets.append(_Target(one.name, given[one.name], "the nearest text", first.__eq__))
    counts: dict[tuple[AttackerName, Reference], dict[Stage, int]] = {}
    sizes: dict[Reference, int] = {}
    for number, target in enumerate(targets):
        if on_progress is not None:
            on_progress(number, len(targets), f"{target.name}, attackers")
        sizes[target.reference] = sizes.get(target.reference, 0) + 1
        for stage in STAGES:
            searched = most_found(sanitizer.attacks(target.name, target.texts[stage]))
            guesses: dict[AttackerName, str | None] = {
                "search": searched,
                "whole text": nearest[stage][target.name],
            }
            for attacker, guess in guesses.items():
                row = counts.setdefault((attacker, target.reference), dict.fromkeys(STAGES, 0))
                row[stage] += guess is not None and target.is_right(guess)
    return tuple(
        NamedFirst(attacker, reference, sizes[reference], row)
        for (attacker, reference), row in counts.items()
    )


def _text(sanitizer: Sanitizer, one: SanitizedFolder, stage: Stage) -> str:
    """A text as attackers read it: placeholders say nothing to them."""
    edits: dict[Stage, Sequence[Edit]] = {
        "original": (),
        "first pass": sanitizer.first_edits(one.name),
        "released": one.edits,
    }
    blank = [replace(edit, text=" ") if edit.hides else edit for edit in edits[stage]]
    return apply_edits(one.sanitized.document.text, blank)


def _holding(names: Sequence[str], texts: dict[str, str]) -> Callable[[str], bool]:
    def holds(found: str) -> bool:
        text = Searched(texts[found])
        return any(text.holds(name) for name in names)

    return holds


def _candidates(web: FolderIndex, names: Sequence[str]) -> list[str]:
    return [hit.name for name in names for hit in web.search(parts_of(name), _HITS)]
