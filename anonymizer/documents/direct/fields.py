"""Names in forms, beside labels that are called like columns of names: `Versicherungsnehmer: Kurz`.

Which words those are the table of column names says, in seven languages; the rules of a language have those
of their own lists, and take more for a name beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from anonymizer.documents.direct.checks import honoured, listed
from anonymizer.documents.languages.vocabulary import FUNCTION_WORDS
from anonymizer.documents.texts.text import Language, Span
from commons.tabular.column_names import direct, is_of_persons, kinds_of
from commons.tabular.person_names import names_bearers

_OF_NAMES: Final = ("surname", "given_name", "full_name")
_EASTERN: Final = "\u3005-\u30ff\u3400-\u9fff"
_OF_SOMEBODY: Final = re.compile(
    rf"[{_EASTERN}]{{0,8}}(?:者|人|医|師|士|員|主|役|父|母|夫|妻|夫人|長男|長女|次男|次女)(?:の?(?:御|ご|お)?氏名|名|さま|様)?"
)
"""How labels of Japanese end that ask for somebody."""
_PERSONS: Final = "persons"
_ALL_NAMES: Final = "names"
_OF_MAILS: Final = frozenset(("subject", "subjects"))
"""Persons in tables alone."""
_ELSEWHERE: Final = frozenset(
    ("siehe", "see", "voir", "wie", "oben", "unten", "above", "below", "same", "dito", "ditto", "idem")
)
"""Words of fields that are filled elsewhere."""
_IN_BRACKETS: Final = re.compile(r"[(（][^()（）]{0,30}[)）]")
_PARTICLES: Final = (
    r"(?:(?:vom?|van|de[nrs]?|zu[mr]?|von der|van de[nr]|du|la|le|di|da|dos|al|el|bin|ben|ter|ten)[ ]){0,2}"
)
_CAPITAL: Final = r"(?:(?![\u3005-\u9fff])[^\W\d_a-zß-ÿ][\w'’-]{0,30}\.?)"
_EAST: Final = rf"[{_EASTERN}]{{1,10}}"
_SMALL: Final = r"(?:[a-zß-ÿ][\w'’-]{1,30})"
_NAME: Final = (
    rf"(?:{_PARTICLES}{_CAPITAL}[ ]?,[ ]?{_CAPITAL}(?:[ ]{_CAPITAL})?"
    rf"|(?:{_PARTICLES}{_CAPITAL})(?:[ ]{_PARTICLES}{_CAPITAL}){{0,3}}"
    rf"|{_SMALL}(?:,?[ ]{_SMALL}){{0,2}}(?=[ \t]*(?:\n|\Z))"
    rf"|{_EAST}(?:[ ・]{_EAST}){{0,2}})"
)
_END: Final = (
    r"(?=[ \t]{0,20}(?:[\n|;\t(（/、。※*\d]|\Z|[ ]{2}|[^\W\d_]{1,20}[:：]"
    r"|,[ ]?(?:[\dA-ZÄÖÜ*]|geb|n[ée]|born|tel)|[ ](?:und|and|et|geb|n[ée]|born|DOB)\b))"
)
_FIELD: Final = re.compile(
    r"(?:^|(?<=[|;\t。、])|(?<=[ ]{2}))[ \t>*#•・【|-]{0,12}(?P<label>[^\W\d_][^\n:：=|;\t【】]{0,48}?)"
    r"(?:】|[】*]{0,2}[ \t]{0,20}(?:(?P<sign>[:：=／])|\t|(?<=[ \t]{3})))[ \t*]{0,20}(?:\n[ \t]{0,12})?"
    rf"(?P<it>{_NAME}){_END}",
    re.MULTILINE,
)
"""A label at the beginning of a line or of a cell, a sign or a wide blank, and nothing but a name behind."""
_CELLS: Final = re.compile(
    r"^[ \t]{0,12}\|?[ ]{0,12}(?P<label>[^\W\d_][^\n|]{0,48}?)[ ]{0,40}(?P<sign>:?)[ ]{0,40}\|[ ]{0,12}"
    rf"(?P<it>{_NAME})[ ]{{0,40}}\|?[ ]{{0,12}}$(?!\n[ ]?\|?[ :]?--)",
    re.MULTILINE,
)
"""A line of two cells that does not head a table."""


def named_fields(text: str, language: Language) -> Iterator[Span]:
    """Where names stand in fields of a form.

    Args:
        text: of a document.
        language: of it; labels are read in all.
    """
    for found in chain(_FIELD.finditer(text), _CELLS.finditer(text)):
        asked = asks_for(found["label"])
        if not asked or (not found["sign"] and kinds_of(found["it"])):  # else the next heading
            continue
        if _is_name(found["it"], language, is_of_names=asked == _ALL_NAMES):
            yield found.span("it")


@cache
def asks_for(label: str) -> str:
    """What a label or a heading asks for: `names`, `persons`, or nothing, which is empty."""
    plain = _IN_BRACKETS.sub("", label.lower()).strip(" .*")
    if plain in _OF_MAILS:
        return ""
    kind = direct(plain)
    if kind is not None:
        return _ALL_NAMES if kind.name in _OF_NAMES else ""
    return _PERSONS if is_of_persons(plain) or _OF_SOMEBODY.fullmatch(plain) else ""


@lru_cache(maxsize=4096)
def _is_name(said: str, language: Language, *, is_of_names: bool) -> bool:
    if is_of_persons(said):
        return False
    words = {word.strip(".") for word in re.split(r"[\s,]+", said.lower())}
    if not words.isdisjoint(_ELSEWHERE) or (language == "en" and not words.isdisjoint(FUNCTION_WORDS)):
        return False
    if said.islower() and not is_of_names:
        return names_bearers({said: 1})
    if said[0] > "\u3000":
        return bool(honoured(said)) and names_bearers({said: 1})
    return any(map(listed, words)) and names_bearers({said.title() if said.islower() else said: 1})
