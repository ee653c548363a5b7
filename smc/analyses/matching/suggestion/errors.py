"""How records of one person differ between two registers: a public model of errors, to simulate with."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.suggestion.roles import BORN, GIVEN, HOUSE, POSTCODE, SEX, STREET, SURNAME, TOWN
from smc.errors import UsageError
from smc.numeric.random import Randomness

Texts = Mapping[str, Sequence[str]]
"""Normalized texts by role, all of one length."""

MAX_FACTOR: Final = 5.0
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_DIGITS: Final = "0123456789"
_WORD: Final = 2.0**64
_KEPT: Final = 3
"""Letters that a short form of a given name has."""


@dataclass(frozen=True, slots=True)
class ErrorModel:
    """The share of records that an error befalls in the second register; errors are independent.

    Attributes:
        typo: in each of given name, surname, street and town: a letter exchanged with its neighbour,
            replaced, left out or doubled.
        digit: in each of date of birth, postcode and house number: a digit replaced, or two neighbours
            exchanged.
        turned: day and month of the birth date are exchanged, where the day is at most 12.
        missing: each field is empty.
        short: the given name is a short form, its first three letters.
        crossed: given name and surname are exchanged.
        renamed: another surname, that of another row.
        moved: another postcode, town, street and house number, those of another row.
    """

    typo: float = 0.10
    digit: float = 0.04
    turned: float = 0.01
    missing: float = 0.02
    short: float = 0.02
    crossed: float = 0.01
    renamed: float = 0.025
    moved: float = 0.08

    def times(self, factor: float) -> ErrorModel:
        """The same with all shares multiplied.

        Args:
            factor: 0 to 5.

        Raises:
            UsageError: it is out of range.
        """
        if not 0 <= factor <= MAX_FACTOR:
            raise UsageError(
                f"The factor of errors is not from 0 to {MAX_FACTOR:g}.", "1 is the model as documented."
            )
        return ErrorModel(*(factor * getattr(self, one.name) for one in fields(self)))


DEFAULT_ERRORS: Final = ErrorModel()
"""The model as documented."""


def corrupt_register(texts: Texts, model: ErrorModel, random: Randomness) -> dict[str, list[str]]:
    """A second register of the same persons, row by row.

    Args:
        texts: of at least one row.
        model: which errors, and how often.
        random: of a seed; this is a simulation.
    """
    count = len(texts[SURNAME])
    found = {role: list(column) for role, column in texts.items()}

    def strike(rate: float) -> list[int]:
        return [int(row) for row in np.flatnonzero(_words(random, count) < rate * _WORD)]

    for rate, roles in ((model.renamed, (SURNAME,)), (model.moved, (POSTCODE, TOWN, STREET, HOUSE))):
        rows = strike(rate)
        others = random.below(count, len(rows))
        for role in roles:
            if role in found:
                for row, other in zip(rows, others, strict=True):
                    found[role][row] = texts[role][other]
    for row in strike(model.short):
        found[GIVEN][row] = found[GIVEN][row][:_KEPT]
    for row in strike(model.turned):
        found[BORN][row] = _exchange_day_and_month(found[BORN][row])
    for role, change, rate in _mistakes(model):
        if role in found:
            for row in strike(rate):
                found[role][row] = change(found[role][row], random)
    for row in strike(model.crossed):
        found[GIVEN][row], found[SURNAME][row] = found[SURNAME][row], found[GIVEN][row]
    for role in [one for one in found if one != SEX]:
        for row in strike(model.missing):
            found[role][row] = ""
    return found


def _words(random: Randomness, count: int) -> NDArray[np.float64]:
    return random.words(count).astype(np.float64)


def _exchange_day_and_month(date: str) -> str:
    """A date YYYY-MM-DD or YYYYMMDD with day and month exchanged, where that is a date."""
    parts = re.fullmatch(r"([0-9]{4}-?)([0-9]{2})(-?)([0-9]{2})", date)
    if parts is None or int(parts[4]) > 12:
        return date
    return f"{parts[1]}{parts[4]}{parts[3]}{parts[2]}"


def _misspelt(text: str, random: Randomness) -> str:
    if not text:
        return text
    place, kind = random.below(len(text), 1)[0], random.below(4, 1)[0]
    before, here, after = text[:place], text[place], text[place + 1 :]
    if kind == 0:
        return before + after[:1] + here + after[1:]
    if kind == 1:
        return before + _LETTERS[random.below(26, 1)[0]] + after
    return before + after if kind == 2 else before + here + here + after


def _mistype(text: str, random: Randomness) -> str:
    places = [place for place, letter in enumerate(text) if letter in _DIGITS]
    if not places:
        return _misspelt(text, random)
    which = random.below(len(places), 1)[0]
    cells = list(text)
    if which and random.below(2, 1)[0]:
        here, there = places[which], places[which - 1]
        cells[here], cells[there] = cells[there], cells[here]
    else:
        cells[places[which]] = _DIGITS[random.below(10, 1)[0]]
    return "".join(cells)


_Change = Callable[[str, Randomness], str]


def _mistakes(model: ErrorModel) -> tuple[tuple[str, _Change, float], ...]:
    return (
        *((role, _misspelt, model.typo) for role in (GIVEN, SURNAME, STREET, TOWN)),
        *((role, _mistype, model.digit) for role in (BORN, POSTCODE, HOUSE)),
    )
