"""Made-up people, and the same people with errors in their records: for benchmarks and tests of matching.

Names are drawn from syllables, by a distribution under which some are frequent and most are rare; nobody is
real. A second record of a person has errors: two letters exchanged, one changed, left out or doubled, or an
empty field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from smc.analyses.studies.columns import Column, Data, Schema
from smc.forms import Role
from smc.numeric.random import Randomness

FIELDS: Final = ("given_name", "surname", "street", "house", "town", "postcode", "born")

ERRORS: Final = 2
"""Fields of a second record that are wrong."""

_SYLLABLES: Final = tuple(before + after for before in "bdfghjklmnprstvwz" for after in "aeiou")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SHARED: Final = ("surname", "street", "house", "town", "postcode")
_KNOWN: Final = {"given_name": (300, 2), "surname": (2000, 3), "street": (1500, 3), "town": (400, 3)}
"""How many there are, and of how many syllables."""

Person = dict[str, str]


def people(random: Randomness, rows: int, common: int, family: int = 1) -> Mapping[Role, Data]:
    """Tables of two sides that have persons in common.

    Args:
        random: the source.
        rows: of each side.
        common: persons whom both have, at most `rows`: row k of Alice is row k of Bob, with errors.
        family: so many persons each share surname and address; which of them either side has is by chance.

    Returns:
        The columns `FIELDS` of both sides, texts.
    """
    lists = {name: _words(random, *known) for name, known in _KNOWN.items()}
    alice = [_person(random, lists) for _ in range(rows)]
    others = [_person(random, lists) for _ in range(rows - common)]
    _join(random, [*alice, *others], family)
    bob = [_wrong(random, person) for person in alice[:common]] + others
    return {Role.ALICE: _columns(alice), Role.BOB: _columns(bob)}


def _columns(table: list[Person]) -> Data:
    return {name: Column([person[name] for person in table], Schema("text")) for name in FIELDS}


def _words(random: Randomness, count: int, syllables: int) -> list[str]:
    drawn = random.below(len(_SYLLABLES), count * syllables)
    parts = np.array(_SYLLABLES)[np.array(drawn)].reshape(count, syllables)
    return ["".join(row) for row in parts.tolist()]


def _person(random: Randomness, lists: Mapping[str, list[str]]) -> Person:
    found = {name: words[_draw_skewed(random, len(words))] for name, words in lists.items()}
    town, house, year, month, day = (random.below(bound, 1)[0] for bound in (1500, 200, 90, 12, 28))
    found["postcode"] = str(1000 + town)
    found["house"] = str(house + 1)
    found["born"] = f"{1920 + year}{month + 1:02}{day + 1:02}"
    return found


def _join(random: Randomness, persons: list[Person], family: int) -> None:
    """Give the members of each family the surname and the address of its first."""
    if family < 2:
        return
    order = random.shuffled(range(len(persons)))
    for start in range(0, len(order), family):
        first, *rest = (persons[number] for number in order[start : start + family])
        for person in rest:
            person.update({name: first[name] for name in _SHARED})


def _draw_skewed(random: Randomness, count: int) -> int:
    """The lesser of two draws: the first words come most often."""
    return min(random.below(count, 2))


def _wrong(random: Randomness, person: Person) -> Person:
    found = dict(person)
    for number in random.shuffled(range(len(FIELDS)))[:ERRORS]:
        found[FIELDS[number]] = _misspelt(random, found[FIELDS[number]])
    return found


def _misspelt(random: Randomness, text: str) -> str:
    place = random.below(max(1, len(text) - 1), 1)[0]
    kind = random.below(8, 1)[0]
    letter = str(random.below(10, 1)[0]) if text.isdigit() else _LETTERS[random.below(26, 1)[0]]
    before, here, after = text[:place], text[place : place + 1], text[place + 1 :]
    if kind == 0:
        return ""
    if kind < 3:
        return before + after[:1] + here + after[1:]
    if kind < 5:
        return before + letter + after
    return before + after if kind < 7 else before + here + here + after
