"""Where words that must be gone still stand in a text as it would leave: one look, for all who ask."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from anonymizer.documents.texts.edits import Edit
from anonymizer.documents.texts.terms import BREAK, Standing, Terms


def still_standing(
    text: str, edits: Sequence[Edit], terms: Iterable[Terms], kept: Collection[str] = ()
) -> tuple[Standing, ...]:
    """Places where a term stands, other than in what was written to hide something.

    Args:
        text: as it would leave, with its edits made.
        edits: that were made, in any order.
        terms: that must be gone.
        kept: texts that a person keeps in the document; a term that stands in one of them may stand.

    Returns:
        The places in the text, in their order; they may overlap.
    """
    hidden = _without_placeholders(text, edits)
    found = sorted((one for some in terms for one in some.standing(hidden)), key=lambda one: one.span)
    may = {term for term in {one.term for one in found} if any(Terms([term]).standing(one) for one in kept)}
    return tuple(one for one in found if one.term not in may)


def _without_placeholders(text: str, edits: Sequence[Edit]) -> str:
    """A text in which placeholders, whose words nobody has written in the document, are no words."""
    written = {edit.text for edit in edits if edit.hides and edit.cause != "person"} - {""}
    if not written:
        return text
    pattern = "|".join(map(re.escape, sorted(written, key=len, reverse=True)))
    return re.sub(pattern, lambda match: BREAK * len(match[0]), text)
