"""How names sound: codes that are the same for most spellings of a name.

Both are made of what `smc.analyses.records.letters.spell` finds, so a name in another script than Latin has
no code.

Reference: Soundex: Odell and Russell, US patents 1,261,167 and 1,435,663; Cologne phonetics: Postel, Die
Kölner Phonetik, IBM-Nachrichten 19, 1969.
"""

from __future__ import annotations

import re
from typing import Final

from smc.analyses.records.letters import spell

_SOUNDS: Final = {
    letter: str(digit)
    for digit, letters in enumerate(("bfpv", "cgjkqsxz", "dt", "l", "mn", "r"), start=1)
    for letter in letters
}
_SILENT: Final = "hw"

_COLOGNE: Final = {
    **dict.fromkeys("aeijouy", "0"),
    "b": "1",
    **dict.fromkeys("fvw", "3"),
    **dict.fromkeys("gkq", "4"),
    "l": "5",
    **dict.fromkeys("mn", "6"),
    "r": "7",
    **dict.fromkeys("sz", "8"),
}
_REPEATED: Final = re.compile(r"(.)\1+")


def soundex(text: str) -> str:
    """The Soundex code of a word: its first letter and three digits; empty without a letter of a to z."""
    letters = spell(text)
    if not letters:
        return ""
    code, last = letters[0], _SOUNDS.get(letters[0], "")
    for letter in letters[1:]:
        sound = _SOUNDS.get(letter, "")
        if sound and sound != last:
            code += sound
        if letter not in _SILENT:
            last = sound
    return code[:4].ljust(4, "0")


def cologne(text: str) -> str:
    """The code of a word in Cologne phonetics, of digits, made for German names; empty as that of Soundex.

    A word of nothing but h has the code 0, as a vowel.
    """
    letters = spell(text)
    if not letters:
        return ""
    around = zip("\0" + letters, letters, letters[1:] + "\0", strict=False)
    code = _REPEATED.sub(r"\1", "".join(_cologne(before, letter, after) for before, letter, after in around))
    return (code[:1] or "0") + code[1:].replace("0", "")


def _cologne(before: str, letter: str, after: str) -> str:
    """The digits of a letter between two others, or the edge of the word as NUL."""
    if letter in "dt":
        return "8" if after in "csz" else "2"
    if letter == "p":
        return "3" if after == "h" else "1"
    if letter == "x":
        return "8" if before in "ckq" else "48"
    if letter == "c":
        hard = "ahkloqrux" if before == "\0" else "ahkoqux"
        return "4" if after in hard and before not in "sz" else "8"
    return _COLOGNE.get(letter, "")
