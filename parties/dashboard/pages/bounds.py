"""Bounds and labels that a person stands for, as a form asks for them.

A field is named after the type of its column, so that what was typed for one type is not taken for another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.drafting.confirming import proposal


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one column.

    Attributes:
        field: the end of the names of its fields.
        proposed: the proposal, which is sent back.
        values: by name of a field, what stands in it.
        stands: whether the person has said to stand for it.
    """

    field: str
    proposed: str
    values: Mapping[str, str]
    stands: bool


def questions(columns: Iterable[ColumnDeclaration], sent: Mapping[str, str]) -> dict[str, Question]:
    """What is to be asked, by column, of columns for which nobody stands; what was typed before stays."""
    found = {}
    for column in columns:
        if not column.is_confirmed:
            field, proposed = _field(column), proposal(column)
            lower, _, upper = proposed.partition(":")
            values = {"values": proposed} if column.type == "category" else {"lower": lower, "upper": upper}
            stays = sent.get(f"was:{field}") == proposed
            kept = {
                name: sent.get(f"{name}:{field}", value) if stays else value for name, value in values.items()
            }
            found[column.name] = Question(field, proposed, kept, stays and f"stands:{field}" in sent)
    return found


def chosen_bounds(
    sent: Mapping[str, str], columns: Iterable[ColumnDeclaration]
) -> tuple[dict[str, str], list[str]]:
    """What a person stands for: bounds and labels that were changed, and columns that stand as proposed.

    What is neither changed nor ticked, and what was proposed otherwise on the page, stays unconfirmed.
    """
    given, stands = {}, []
    for column in columns:
        field = _field(column)
        if column.is_confirmed or sent.get(f"was:{field}") != proposal(column):
            continue
        parts = ("values",) if column.type == "category" else ("lower", "upper")
        typed = ":".join(sent.get(f"{part}:{field}", "").strip() for part in parts)
        if typed != proposal(column):
            given[column.name] = typed
        elif f"stands:{field}" in sent:
            stands.append(column.name)
    return given, stands


def _field(column: ColumnDeclaration) -> str:
    return f"{column.type}:{column.name}"
