"""Texts that find somebody by their form, whatever their column is called: addresses, accounts, phones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from anonymizer.gate.traces import MIN_VALUES
from commons.tabular.check_digits import (
    is_card,
    is_health_card,
    is_health_insured,
    is_my_number,
    is_of_register,
)

_MAIL: Final = re.compile(
    r"[^\s@<>()\[\],;:\"'|]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?!\w)"
)
_ACCOUNT: Final = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
"""An IBAN (ISO 13616). Its check digits are not asked for where most cells have one: one that was copied
wrongly finds somebody too."""
_ACCOUNT_LETTERS: Final = range(15, 35)
_PHONE: Final = re.compile(
    r"(?<![\w./:+-])(?:"
    r"(?:\+[1-9]\d{0,2}[ ./()-]+|00[1-9]\d{0,2}[ /(]+)\d[\d ./()-]{5,}"  # +49 731 123456
    r"|\+\d{8,15}"
    r"|\(0?\d{1,5}\)[ /-]*\d[\d /-]{3,}"  # (0731) 12 34 56
    r"|0\d{1,5}[ /]\d[\d /-]{4,}"  # 0731/123456, 06 12 34 56 78
    r"|0\d{1,3}-\d{2,4}-\d{4}|0\d{2,5}-\d{5,8}"  # 03-1234-5678; codes of drugs end in one or two digits
    r"|0\d(?:\.\d\d){4}"
    r"|(?:1-)?\d{3}[-.]\d{3}[-.]\d{4}"  # 555-123-4567
    r")(?![\w:])"
)
_PHONE_DIGITS: Final = range(8, 16)
_DATE: Final = re.compile(r"(?<![\d./-])\d{1,4}([/.-])\d{1,2}\1\d{2,4}(?![./-]?\d)")
_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_MACHINE: Final = re.compile(
    rf"{_OCTET}(?:\.{_OCTET}){{3}}(?::\d{{1,5}})?"
    r"|(?=.*::|(?:[0-9A-Fa-f]+:){7})[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}"
    r"|[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}"
)
"""An IP address of version 4 or 6, or the address of a network card."""
_PAGE: Final = re.compile(
    r"(?:https?://|www\.)[^\s/]+/\S+|(?<![\w.@])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|[a-z]{2})/[\w.@%~-]+(?![\w/])",
    re.IGNORECASE,
)
_ACCOUNT_NAME: Final = re.compile(r"(?<![\w.@])@[^\W\d]\w[\w.-]{1,28}")
_PLATE: Final = re.compile(r"[A-ZÄÖÜ]{1,3}-[A-ZÄÖÜ]{1,2} \d{1,4}[EH]?|[A-Z]{2}-\d{3}-[A-Z]{2}")
"""Of Germany, and of France and Italy."""
_PAPER: Final = re.compile(
    r"\b(?:[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]"  # codice fiscale
    r"|[A-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D]"  # National Insurance
    r"|\d\d ?(?:[0-2]\d|3[01])(?:0\d|1[0-2])\d\d ?[A-Z] ?\d{3}"  # Rentenversicherung, with the date of birth
    r"|(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4})\b"  # Social Security
)
_CARD: Final = re.compile(r"(?<![\d.,-])(?<!\d )\d(?:[ -]?\d){12,18}(?![\d-]|[.,]\d)")
_GROUPED_CARD: Final = re.compile(
    r"(?<![\d.,-])(?<!\d )(?:[2-6]\d{3}([ -])\d{4}\1\d{4}\1\d{4}|3[47]\d\d([ -])\d{6}\2\d{5})(?![\d-])"
)
"""As cards of the world's networks print it, which stand alone for one."""
_HEALTH_CARD: Final = re.compile(r"(?<![\d.,-])80(?:[ .-]?\d){18}(?![\d-])")
_HEALTH_INSURED: Final = re.compile(r"(?<![\w-])[A-Z](?:[ .-]?\d){9}(?![\w-])")
_REGISTER: Final = re.compile(
    r"(?<![\w.,-])[1-478]([ .-]?)\d\d\1\d\d\1\d[\dAB]\1\d{3}\1\d{3}[ ./-]{0,3}\d\d(?![\w-])"
)
_PERSON: Final = re.compile(r"(?<![\d.,-])(?<!\d )\d{4}([ -]?)\d{4}\1\d{4}(?![\d-]|[.,]\d)")
_BORN: Final = re.compile(
    r"[^\W\d_]{2}[\s,(]+(?:\*|°|geb\.?|born|née?(?: le)?|dob|生)"
    r"\s*:?\s*\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4}",
    re.IGNORECASE,
)
"""A name, a sign of birth and a date."""


def _is_account(text: str) -> bool:
    return len(text.replace(" ", "")) in _ACCOUNT_LETTERS and _ACCOUNT.fullmatch(text) is not None


def _find_account(text: str) -> bool:
    """Whether there is an account with its check digits in a text."""
    found = (one.replace(" ", "") for one in _ACCOUNT.findall(text))
    return any(len(one) in _ACCOUNT_LETTERS and _has_check_digits(one) for one in found)


def _has_check_digits(account: str) -> bool:
    return int("".join(str(int(one, 36)) for one in account[4:] + account[:4])) % 97 == 1


def _find_phone(text: str) -> bool:
    return any(
        sum(map(str.isdigit, one[0])) in _PHONE_DIGITS for one in _PHONE.finditer(_DATE.sub(" . ", text))
    )


def _find(form: re.Pattern[str], check: Callable[[str], bool], least: int = 0) -> Callable[[str], bool]:
    """A search for what has a form and, without the signs between its digits, check digits that are right.

    Args:
        form: as it is written.
        check: of its digits and letters.
        least: signs between its digits that there must be.
    """

    def find(text: str) -> bool:
        found = ((one[0], "".join(filter(str.isalnum, one[0]))) for one in form.finditer(text))
        return any(len(said) >= len(bare) + least and check(bare) for said, bare in found)

    return find


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of texts that find somebody.

    Attributes:
        words: what they are, for people.
        find: whether there is one in a text.
        least: different ones that there must be: versions of programs, licences on the web and codes of
            rooms are few.
        share: of the rows in which there is one, and of the different texts; of those that are hardly
            anything else any is enough.
    """

    words: str
    find: Callable[[str], Any]
    least: int = 1
    share: float = 0.5


IN_SOME: Final = "in at least"
"""What is said of a column of which less than half of the rows hold such a form."""
_ANY: Final = 0.0
_FORMS: Final = (
    _Form("mail addresses", _MAIL.search, share=_ANY),
    _Form("numbers of accounts", _find_account, share=_ANY),
    _Form("numbers of accounts", _is_account),
    _Form("numbers of cards", _find(_GROUPED_CARD, is_card), share=_ANY),
    _Form("numbers of cards", _find(_CARD, is_card), 3),
    _Form("numbers of health insurance cards", _find(_HEALTH_CARD, is_health_card), share=_ANY),
    _Form("numbers of health insurance", _find(_HEALTH_INSURED, is_health_insured), 3),
    _Form("numbers of health insurance", _find(_REGISTER, is_of_register, 5), share=_ANY),
    _Form("numbers of health insurance", _find(_REGISTER, is_of_register), share=0.1),
    _Form("numbers of persons with check digits", _find(_PERSON, is_my_number), 3),
    _Form("phone numbers", _find_phone, share=0.1),
    _Form("names with dates of birth", _BORN.search, share=_ANY),
    _Form("numbers of papers", _PAPER.search, 3),
    _Form("addresses of computers", _MACHINE.fullmatch, 3),
    _Form("addresses of pages, as profiles of persons are", _PAGE.search, 3),
    _Form("names of accounts", _ACCOUNT_NAME.search, 2),
    _Form("number plates", _PLATE.fullmatch, MIN_VALUES),
)
_FEWEST_DIGITS: Final = 12
_CHECKED: Final = ("numbers of cards", "numbers of health", "numbers of persons")
_OF_NUMBERS: Final = tuple(form for form in _FORMS if form.words.startswith(_CHECKED))


def name_form(counts: Mapping[str, int]) -> str | None:
    """What cells of a column hold by their form, by itself or beside words, and in how many; None if nothing.

    Args:
        counts: how often each text occurs.
    """
    return next(_told(counts), None)


def name_number(counts: Mapping[str, int]) -> str | None:
    """The same of a column of numbers, of which those alone are looked at that have digits enough."""
    if not any(len(text) >= _FEWEST_DIGITS and text.isdigit() for text in counts):
        return None
    return next(_told(counts, _OF_NUMBERS), None)


def _told(counts: Mapping[str, int], forms: Sequence[_Form] = _FORMS) -> Iterator[str]:
    texts, rows = {text: text.strip() for text in counts}, sum(counts.values())
    for form in forms:
        found = [text for text, bare in texts.items() if form.find(bare)]
        held = sum(counts[text] for text in found)
        if len(found) >= max(form.least, form.share * len(counts)) and held >= form.share * rows:
            yield form.words if 2 * held >= rows else f"{form.words} {IN_SOME} {held:,} rows"
