"""Texts that find somebody by their form, whatever their column is called: addresses, accounts, phones."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from anonymizer.gate.traces import MIN_VALUES

_MAIL: Final = re.compile(r"(?:mailto:)?[^\s@<>]+@[^\s@<>]+\.[^\W\d_]{2,}")
_ACCOUNT: Final = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?")
"""An IBAN (ISO 13616). Its check digits are not asked for: one that was copied wrongly finds somebody too."""
_ACCOUNT_LETTERS: Final = range(15, 35)
_PHONE: Final = re.compile(
    r"(?:\+[1-9]\d{0,2}[ ./()-]+|00[1-9]\d{0,2}[ /(]+)\d[\d ./()-]{5,}"  # +49 731 123456
    r"|\+\d{8,15}"
    r"|\(0?\d{1,5}\)[ /-]*\d[\d /-]{3,}"  # (0731) 12 34 56
    r"|0\d{1,5}[ /]\d[\d /-]{4,}"  # 0731/123456, 06 12 34 56 78
    r"|0\d{1,3}-\d{2,4}-\d{4}|0\d{2,5}-\d{5,8}"  # 03-1234-5678; codes of drugs end in one or two digits
    r"|0\d(?:\.\d\d){4}"
    r"|(?:1-)?\d{3}[-.]\d{3}[-.]\d{4}"  # 555-123-4567
)
_PHONE_DIGITS: Final = range(8, 16)
_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_MACHINE: Final = re.compile(
    rf"{_OCTET}(?:\.{_OCTET}){{3}}(?::\d{{1,5}})?"
    r"|(?=.*::|(?:[0-9A-Fa-f]+:){7})[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}"
    r"|[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}"
)
"""An IP address of version 4 or 6, or the address of a network card."""
_PAGE: Final = re.compile(r"(?:https?://|www\.)[^\s/]+/\S+", re.IGNORECASE)
_PLATE: Final = re.compile(r"[A-ZÄÖÜ]{1,3}-[A-ZÄÖÜ]{1,2} \d{1,4}[EH]?|[A-Z]{2}-\d{3}-[A-Z]{2}")
"""Of Germany, and of France and Italy."""


def _is_account(text: str) -> bool:
    return len(text.replace(" ", "")) in _ACCOUNT_LETTERS and _ACCOUNT.fullmatch(text) is not None


def _is_phone(text: str) -> bool:
    return sum(map(str.isdigit, text)) in _PHONE_DIGITS and _PHONE.fullmatch(text) is not None


_FORMS: Final[Mapping[str, tuple[Callable[[str], Any], int]]] = {
    "mail addresses": (_MAIL.fullmatch, 1),
    "numbers of accounts": (_is_account, 1),
    "phone numbers": (_is_phone, 1),
    "addresses of computers": (_MACHINE.fullmatch, 3),
    "addresses of pages, as profiles of persons are": (_PAGE.fullmatch, 3),
    "number plates": (_PLATE.fullmatch, MIN_VALUES),
}
"""Of each form how a text of it is told, and how many different ones there must be: versions of programs,
licences on the web and codes of rooms are few."""


def name_form(counts: Mapping[str, int]) -> str | None:
    """What half of the cells and half of the different values of a column are by their form, or None.

    Args:
        counts: how often each text occurs.
    """
    texts = {text: text.strip() for text in counts}
    for words, (is_one, least) in _FORMS.items():
        found = [text for text, bare in texts.items() if is_one(bare)]
        if len(found) < max(least, len(counts) / 2):
            continue
        if 2 * sum(counts[text] for text in found) >= sum(counts.values()):
            return words
    return None
