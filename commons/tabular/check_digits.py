"""Numbers of persons and of their cards that say by their own digits that they are such numbers."""

from __future__ import annotations

from typing import Final

_CARD: Final = range(13, 20)
_HEALTH_CARDS: Final = frozenset(
    (
        *("040", "056", "100", "191", "196", "203", "208", "233", "246", "250", "276", "300", "348", "352"),
        *("372", "380", "428", "438", "440", "442", "470", "528", "578", "616", "620", "642", "703", "705"),
        *("724", "752", "756", "826"),
    )
)
"""Countries (ISO 3166-1) that give out the European health insurance card."""
_WEIGHTS: Final = (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
"""Of the digits of an individual number (My Number Act, ordinance 85 of 2014, article 5)."""
_REST: Final = 97


def is_card(digits: str) -> bool:
    """Whether digits are a number of a payment card: 13 to 19 with a Luhn sum of 0 (ISO/IEC 7812-1)."""
    return len(digits) in _CARD and len(set(digits)) > 1 and _sum_doubled(digits[::-1]) % 10 == 0


def is_health_card(digits: str) -> bool:
    """Whether 20 digits are a number of a European health insurance card: 80 and a country that has it.

    It has no check digit that all countries calculate alike.
    """
    return len(digits) == 20 and digits.startswith("80") and digits[2:5] in _HEALTH_CARDS


def is_health_insured(number: str) -> bool:
    """Whether a letter and nine digits are a German number of somebody insured (SGB V, section 290).

    The letter counts as two digits, every second digit twice, and the last one is the sum of the digits of
    all modulo 10.
    """
    if not (len(number) == 10 and "A" <= number[0] <= "Z" and _are_digits(number[1:])):
        return False
    return _sum_doubled(f"{ord(number[0]) - ord('A') + 1:02d}{number[1:9]}") % 10 == int(number[9])


def is_of_register(number: str) -> bool:
    """Whether 15 signs are a French number of the register of persons (NIR): its key is right.

    That is 97 less the rest of the first thirteen modulo 97, in which 2A and 2B of Corsica are 19 and 18.
    """
    plain = number[:5] + number[5:7].replace("2A", "19").replace("2B", "18") + number[7:]
    if len(number) != 15 or not _are_digits(plain):
        return False
    is_month = 1 <= int(plain[3:5]) <= 12 or int(plain[3:5]) >= 20  # of persons whose month is not known
    return plain[0] in "123478" and is_month and _REST - int(plain[:13]) % _REST == int(plain[13:])


def is_my_number(digits: str) -> bool:
    """Whether twelve digits are a Japanese individual number, of which the last one checks the others."""
    if len(digits) != 12 or not _are_digits(digits) or len(set(digits)) == 1:
        return False
    rest = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, digits[:11], strict=True)) % 11
    return int(digits[11]) == (0 if rest <= 1 else 11 - rest)


def _sum_doubled(digits: str) -> int:
    """The sum of the digits of all, every second one, the second first, taken twice."""
    return sum(sum(divmod(int(one) * (1 + at % 2), 10)) for at, one in enumerate(digits))


def _are_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
