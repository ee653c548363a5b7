"""What a pattern alone cannot say of a code: its check digits, and how far it reaches.

A check is given the text of a match and says how many of its first characters are the identifier; 0 if it is
none.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import cache
from typing import Final

from anonymizer.documents.direct.gazetteers import words_of, words_of_list
from anonymizer.documents.direct.lexicon import NOUN, is_common
from anonymizer.documents.languages.vocabulary import FUNCTION_WORDS
from anonymizer.documents.texts.text import Language
from commons.tabular.check_digits import (
    is_card,
    is_health_card,
    is_health_insured,
    is_my_number,
    is_of_register,
)
from commons.tabular.column_names import label_words
from commons.tabular.person_names import given_names, surnames

Check = Callable[[str], int]

_SHORTEST_IBAN: Final = 15

_ABBREVIATIONS: Final = frozenset(
    {"U.S.", "U.K.", "U.N.", "E.U.", "E.C.", "A.D.", "B.C.", "A.M.", "P.M.", "U.S.A."}
)
_OPENERS: Final = words_of_list("opener")
"""Words that begin a sentence or a heading after "A." or "B.", and are not surnames."""

_SHORT: Final = frozenset(
    {"Z.B.", "D.H.", "I.A.", "I.V.", "U.A.", "S.O.", "O.G.", "P.S.", "P.M.", "S.A.", "S.A.R.L."}
)
_NO_TOWNS: Final = frozenset(
    word.lower()
    for language in ("de", "fr")
    for name in ("month", "family", "role", "not_name")
    for word in words_of(language, name)
)
_NO_VALUES: Final = frozenset(
    word.lower()
    for language in ("de", "fr", "en")
    for name in (
        "month",
        "family",
        "role",
        "profession",
        "not_name",
        "field",
        "label",
        "title",
        "organization",
    )
    for one in words_of(language, name)
    for word in one.split()
) | frozenset(word for words in label_words().values() for word in words)
"""Not names: further words of fields, which stand beside one in tables."""
_NO_PERSONS: Final = frozenset(
    word.lower()
    for language in ("de", "fr", "en")
    for name in ("family", "role", "not_name", "field", "label", "title", "organization")
    for word in words_of(language, name)
) - words_of_list("month")
"""What a list of persons may name beside names, which professions and months are."""
_OTHERS: Final = frozenset(
    {"the", "a", "an", "this", "that", "his", "her", "their", "my", "our", "no", "not"}
)
_NO_ILLNESS: Final = frozenset(
    {
        *("diagnosis", "prognosis", "hypnosis", "sympathy", "empathy", "diploma", "aroma", "coma"),
        *("diagnose", "prognose", "hypnose", "dose", "hose", "mimose"),
    }
)
_DATE: Final = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}")
_YEARS: Final = re.compile(r"(?:1[5-9]|20|21)\d{2}[-/](?:\d{2}){1,2}")

_ONLY_TITLES: Final = frozenset({"mr", "mrs", "ms", "mx"})
"""Before a name and nothing else, also in small letters; "dr" and "miss" begin other phrases."""

_LISTED: Final = 4
"""Letters of a surname from which on it is one behind a title, though a word is written alike."""

_NOT_NAMES: Final = words_of_list("not-a-name")
"""What stands before 様, さん or 氏 without being a name."""


@cache
def _surnames() -> frozenset[str]:
    return frozenset(name.casefold() for name in surnames())


def luhn(text: str) -> int:
    """A number of a payment card, with its check digit."""
    return len(text) if is_card("".join(filter(str.isdigit, text))) else 0


def iban(text: str) -> int:
    """An account number whose remainder modulo 97 is 1 (ISO 13616), as far as it reaches."""
    for end in range(len(text), _SHORTEST_IBAN - 1, -1):
        code = text[:end].replace(" ", "")
        if text[end - 1] == " " or len(code) < _SHORTEST_IBAN or text[end : end + 1].isalnum():
            continue
        if int("".join(str(int(one, 36)) for one in code[4:] + code[:4])) % 97 == 1:
            return end
    return 0


def address(text: str) -> int:
    """An IP address of version 4 or 6."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return 0
    return len(text) if text.count(":") > 1 or "." in text else 0


def my_number(text: str) -> int:
    """A Japanese individual number, with its check digit."""
    return len(text) if is_my_number("".join(filter(str.isdigit, text))) else 0


def health_card(text: str) -> int:
    """A number of a European health insurance card."""
    return len(text) if is_health_card("".join(filter(str.isdigit, text))) else 0


def health_insured(text: str) -> int:
    """A German number of somebody insured, with its check digit."""
    return len(text) if is_health_insured("".join(filter(str.isalnum, text))) else 0


def register(text: str) -> int:
    """A French number of the register of persons with its key, or thirteen digits of one in parts."""
    number = "".join(filter(str.isalnum, text))
    return len(text) if is_of_register(number) or (len(number) == 13 and len(text) > 13) else 0


def phone(text: str) -> int:
    """A phone number: 8 to 15 digits (ITU-T E.164), brackets in pairs."""
    digits = sum(one.isdigit() for one in text)
    paired = text.count("(") == text.count(")") and text.count("（") == text.count("）")
    return len(text) if 8 <= digits <= 15 and paired else 0


def dialled(text: str) -> int:
    """A phone number behind its label: 5 to 15 digits, brackets in pairs."""
    digits = sum(map(str.isdigit, text))
    return len(text) if digits <= 15 and text.count("(") == text.count(")") else 0


def link(text: str) -> int:
    """An address of the web without the punctuation that follows it."""
    return len(text.rstrip(".,;:!?)]}'\"、。）」"))


def initials(text: str) -> int:
    """Initials alone, unless they are a common abbreviation."""
    return 0 if text.upper() in _ABBREVIATIONS else len(text)


def surname(text: str) -> int:
    """Initials with a surname, unless the last word only begins a sentence or heading."""
    last = text.replace(".", " ").split()[-1]
    return 0 if last.isupper() or last in _OPENERS else len(text)


def titled(text: str) -> int:
    """The name after a title, which neither ends with a possessive nor with a word that begins a sentence."""
    end = len(text)
    for mark in ("'s", "’s"):
        if text[:end].endswith(mark):
            end -= len(mark)
    words = text[:end].split()
    while len(words) > 1 and words[-1] in _OPENERS and words[-2].endswith("."):
        end = text.rindex(words.pop(), 0, end)
    return len(text[:end].rstrip())


def honoured(text: str) -> int:
    """A Japanese name before 様, さん or 氏."""
    return 0 if text in _NOT_NAMES else len(text)


def code(text: str) -> int:
    """A number of something: three digits and letters, four and signs, or six; no date, no decimals."""
    digits, letters = sum(map(str.isdigit, text)), sum(map(str.isalpha, text))
    signs = len(text) - digits - letters
    if (
        _DATE.fullmatch(text)
        or _YEARS.fullmatch(text)
        or (not letters and not set(text) & set("-/") and signs)
    ):
        return 0
    enough = digits >= 6 or (digits >= 4 and (letters or signs)) or (digits >= 3 and letters >= 1)
    return len(text) if enough else 0


def long_number(text: str) -> int:
    """Digits in groups: nine to twelve, as in numbers of people and phones."""
    return len(text) if 9 <= sum(map(str.isdigit, text)) <= 12 else 0


def called(text: str) -> int:
    """A name after a word such as "wife", without words that no name begins or ends with."""
    words = text.split(" ")
    if words[0].rstrip(",.") in _OPENERS or words[0].lower() in _OTHERS:
        return 0
    return len(text[: titled(text)].rstrip(",;: "))


def filled(text: str) -> int:
    """What stands in a field for a name, unless it is what other fields are called, or begins a sentence."""
    words = [word.strip(",.") for word in text.split()]
    if all(word.lower() in _NO_VALUES for word in words) or words[0] in _OPENERS:
        return 0
    return called(text)


def listed(text: str) -> int:
    """One of a list of persons, whatever word it is, but those that say what somebody is."""
    return 0 if text.lower() in _NO_PERSONS else titled(text)


def patient(text: str) -> int:
    """A name behind a German "Pat.", where the noun of a note without verbs may stand, too."""
    return 0 if NOUN.search(text.split(" ", maxsplit=1)[0]) else filled(text)


def small_named(text: str) -> int:
    """A title and a name in small letters in English, as `_small_named`; "dr" alone begins other phrases."""
    return _small_named(text, "en")


def small_named_de(text: str) -> int:
    """The same in German: frau yilmaz."""
    return _small_named(text, "de")


def small_named_fr(text: str) -> int:
    """The same in French: Mme dupont."""
    return _small_named(text, "fr")


def _small_named(text: str, language: Language) -> int:
    """A title and a name in small letters: words that no dictionary holds, or listed surnames.

    Behind a title in English that is nothing else, the first word may be any but a function word, and a
    surname any after a known first name. Other surnames that are words are not found ("ms mbatha brook").
    """
    title, *words = text.split(" ")
    while len(words) > 1 and words[0].endswith("."):  # frau dr. kowalczyk
        title = f"{title} {words.pop(0)}"
    sure, end = title.rstrip(".").lower() in _ONLY_TITLES, len(title)
    for at, word in enumerate(words):
        known = at == 1 and words[0].title() in given_names()
        listed = word in _surnames() and len(word) >= _LISTED
        named = (
            listed
            or not is_common(word, language)
            or (sure and (at == 0 or known) and word not in FUNCTION_WORDS)
        )
        if not named or (at > 0 and words[at - 1] in _surnames() and not listed):
            break
        end += 1 + len(word)
    return end if end > len(title) else 0


def surname_first(text: str) -> int:
    """A surname, a comma and a first name: one that is known, or after a surname in capitals."""
    last, _, first = text.partition(", ")
    name = first.split(" ")[0]
    shouted = len(last) > 2 and last.isupper() and not name.isupper()
    return len(text) if shouted or name in given_names() else 0


def organization(text: str) -> int:
    """The name of an organization, which has more than words that each such name may have."""
    words = [one for one in text.split(" ") if one[:1].isupper()]
    return len(text) if len(words) > 1 and words[0] not in _OPENERS else 0


def illness(text: str) -> int:
    """An illness by its ending, unless it is another word with that ending."""
    return 0 if text.lower() in _NO_ILLNESS else len(text)


def shortened(text: str) -> int:
    """Initials and a surname, or initials alone, unless they abbreviate words (z. B., d. h., i. A.)."""
    return 0 if text.replace(" ", "").upper() in _ABBREVIATIONS | _SHORT else len(text)


def shouted(text: str) -> int:
    """A surname in capitals and a first name that is not."""
    name = text.rsplit(" ", 1)[1]
    return 0 if name.isupper() or name in _OPENERS else len(text)


def town(text: str) -> int:
    """A word behind a preposition of place, unless it is a month or a name of something else."""
    return 0 if text.lower() in _NO_TOWNS else len(text)
