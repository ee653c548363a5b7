"""Whether texts are names of persons, by lists of common ones: a look, not a proof."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from commons.tabular.column_names import is_called
from commons.tabular.readings import Listed, is_alone, listed, lists

_WORDS: Final = re.compile(r"[^\W\d_]+")
_EASTERN: Final = re.compile(r"[\u3005-\u30ff\u3400-\u9fff]+")
_TITLES: Final = frozenset(
    {
        "mr",
        "mrs",
        "ms",
        "miss",
        "dr",
        "prof",
        "herr",
        "herrn",
        "frau",
        "mme",
        "monsieur",
        "madame",
        "senor",
        "senora",
        "signor",
        "signora",
        "mevrouw",
        "meneer",
    }
)
_BETWEEN: Final = re.compile(r" +| *[,・/、_=^] *|(?<=[^\W\d_]{3})\.(?=[^\W\d_]{3})")
_GIVEN_OF_KANA: Final = 4
"""Of so many names in kana one must have a listed given name: cars and firms are called like families."""
_TITLES_OF_CELLS: Final = _TITLES | {
    *("sir", "lady", "rev", "mlle", "mmes", "dra", "drmed", "dott", "dottssa", "dottoressa", "dottor", "avv"),
    *("ing", "sig", "sigra", "sra", "srta", "don", "dona", "dhr", "mevr", "hrn", "doktor", "docteur"),
    *("doctor", "med"),
}
_SHORT_TITLES: Final = frozenset(
    {"mr", "ms", "miss", "dr", "fr", "hr", "sr", "mw", "rev", "sig", "don", "med", "ing", "dott", "avv"}
)
"""Titles that are other words too, and count with a point, or as `Mr` with one capital; `M.` is Morbus."""
_TITLED: Final = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*\.?")
_MOST_NAMES: Final = 3
_ADDRESS: Final = re.compile(
    r"(?:\s*(?:さん|様|さま|サマ|氏|殿|先生|君|くん|ちゃん|医師|看護師)|[ -](?i:san|sama|sensei))$"
)
_CALLED: Final = re.compile(
    r"[\u3400-\u9fff]{2,4}|[\u3041-\u3096]{2,6}|[\u30a1-\u30fc]{2,6}"
    r"|[\u3005-\u30ff\u3400-\u9fff]{1,4} [\u3005-\u30ff\u3400-\u9fff]{1,4}"
)
_BEHIND: Final = re.compile(
    r"\s*(?:[(\[【].{1,24}[)\]】]|[,*]*\s*(?:19|20)\d\d(?:[-/.]\d\d?){0,2}|[,*]*\s*\d\d?[/.]\s?\d\d?[/.]\s?\d{2,4})$"
)
_OF_A_LIST: Final = re.compile(
    r"[^\W\d_a-z][^\W\d_]+(?:[ '-][^\W\d_]+)?, ?[^\W\d_a-z](?:[^\W\d_]*\.?)(?:[ -][^\W\d_]+\.?)?"
    r"|(?:[^\W\d_]\. ?-?){1,3}[^\W\d_a-z][^\W\d_]+|[^\W\d_a-z][^\W\d_]+ [^\W\d_]\."
)
_CAPITALS: Final = re.compile(r"[^\W\d_a-z][^\W\d_]+(?:[ -][^\W\d_a-z][^\W\d_]+){1,3}")
_EASTERN_WORDS: Final = re.compile(r"[\u3005-\u30ff\u3400-\u9fff]{1,4} [\u3005-\u30ff\u3400-\u9fff]{1,4}")
_MANY_FORMS: Final = 8
_ADDRESSED: Final = ("さん", "様", "氏", "先生", "君")
_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.[ -]?){2,4}")
"""Each with its point: two capitals alone are as often codes of countries or of tests."""
_MOST_WORDS: Final = 5
_LONGEST_EASTERN: Final = 7
_DIFFERENT: Final = 3
"""Listed names that must be there: a category may be called Charlotte or Adams by chance."""


def holds_names(counts: Mapping[str, int], *, least: int = _DIFFERENT) -> bool:
    """Whether half of the cells of a column, and half of its different values, are names of persons.

    Args:
        counts: how often each text occurs.
        least: names that must be there: one where the column is called like persons.
    """
    kana = {text: found for text in counts if (found := _of_japan(text)) is not None}
    is_of_persons = _GIVEN_OF_KANA * sum("given" in found for found in kana.values()) >= len(kana)
    named = {text for text in counts if is_name(text) and (is_of_persons or not kana.get(text))}
    named |= _alone({text for text in counts if text not in named})
    if len(named) < max(least, len(counts) / 2):
        return False
    return 2 * sum(counts[text] for text in named) >= sum(counts.values())


def look_like_names(counts: Mapping[str, int]) -> bool:
    """Whether half of the cells of a column have the form of names of persons, listed or not.

    A title, `Weber, A.`, an initial, or two words with capitals, of which there have to be many. Where
    nothing else speaks for persons that says little: so are diseases and towns written. Of the others one is
    enough.

    Args:
        counts: how often each text occurs.
    """
    forms = {text: form for text in counts if (form := _form(text))}
    if (
        not forms
        or len(forms) < len(counts) / 2
        or 2 * sum(counts[one] for one in forms) < sum(counts.values())
    ):
        return False
    plain = sum(form == "words" for form in forms.values())
    return 2 * plain <= len(forms) or len(forms) >= _MANY_FORMS


def is_name(text: str) -> bool:
    """Whether a text has the form of a name, with a listed first name or surname in it, or is initials.

    Args:
        text: such as `Anna Weber`, `WEBER, A.`, `H.-J. W.`, `Frau Zielińska`, `山田 太郎 様`,
            `ヤマダ・タロウ` or `YAMADA Tarō`; behind it may stand a date, an age or another way to read it.
    """
    plain, is_addressed = _bare(text)
    if _INITIALS.fullmatch(plain) or _of_japan(text):
        return True
    if _EASTERN.search(plain):
        parted = _BETWEEN.sub(" ", plain)
        return _is_eastern(parted) or (is_addressed and _is_somebody(parted))
    if any(letter.isdigit() for letter in plain):
        return False
    words = _WORDS.findall(plain)
    if not 0 < len(words) <= _MOST_WORDS:
        return False
    return not _folded(words).isdisjoint(_western()) or _is_titled(plain)


def _bare(text: str) -> tuple[str, bool]:
    """A text without a date, an age or a reading behind it, and without how one addresses somebody in Japan.

    Also whether somebody is addressed.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    whole = _BEHIND.sub("", plain).strip()
    if len(_WORDS.findall(whole)) > 1 or _EASTERN.search(whole):
        plain = whole
    bare = _ADDRESS.sub("", plain)
    return (bare.strip(), True) if bare.strip() and bare != plain else (plain, False)


def _is_eastern(plain: str) -> bool:
    joined = "".join(plain.split())
    return (
        len(joined) <= _LONGEST_EASTERN
        and _EASTERN.fullmatch(joined) is not None
        and joined.startswith(_eastern("surname"))
        and (joined in _eastern("surname") or joined.endswith(_eastern("given")) or " " in plain)
    ) or joined in _eastern("given")


def _is_somebody(plain: str) -> bool:
    """Whether a text that somebody is addressed by is a name, and not, as of `患者様`, whoever it may be."""
    if plain.startswith(_eastern("surname")) and len(plain) <= _LONGEST_EASTERN:
        return True
    return bool(_CALLED.fullmatch(plain)) and not is_called(plain, "person", "bearer")


def _is_titled(plain: str) -> bool:
    """Whether a text is a title and one to three names, as `Frau Zielińska` or `Dr. med. K. Wójcik`."""
    words = _TITLED.findall(plain)
    count = 0
    while count < len(words) and _is_title(words[count]):
        count += 1
    names = words[count:]
    return count > 0 and 0 < len(names) <= _MOST_NAMES and any(len(one.strip(".")) > 1 for one in names)


def _is_title(word: str) -> bool:
    bare = _plain(word.replace(".", ""))
    if bare in _TITLES_OF_CELLS and bare not in _SHORT_TITLES:
        return True
    # `MR` and `MS` are an image and an illness, and `FR` a country.
    return bare in _SHORT_TITLES and (
        word.endswith(".") or (len(bare) > 1 and word.istitle() and bare in _TITLES)
    )


def _form(text: str) -> str:
    """`named` for what is hardly anything but a name, `words` for words with capitals; else empty."""
    plain, is_addressed = _bare(text)
    if is_name(text) or is_addressed or _is_titled(plain) or _OF_A_LIST.fullmatch(plain):
        return "named"
    if _EASTERN_WORDS.fullmatch(_BETWEEN.sub(" ", plain)):
        return "named"
    return "words" if _CAPITALS.fullmatch(plain) else ""


def _alone(texts: Collection[str]) -> set[str]:
    """The single words that are readings of Japanese names, if enough of them are hardly anything else."""
    found = {text: told for text in texts if (told := is_alone(_bare(text)[0])) is not None}
    clear = sum(found.values())
    return set(found) if clear >= _DIFFERENT and 2 * clear >= len(found) else set()


def _of_japan(text: str) -> frozenset[Listed] | None:
    """Which listed readings a text has; None if it has not the form of a name of Japan."""
    words = _BETWEEN.split(_bare(text)[0].replace("'", "").replace("’", ""))
    if len(words) == 2 and all(word.rstrip(".").isascii() for word in words):
        words = [word.strip(".") for word in words]
        short = [word for word in words if len(word) == 1]
        if len(short) == 1 and is_alone(max(words, key=len)):
            return frozenset({"surname", "given"})  # an initial for the given name
    return listed(words)


def names_somebody(text: str) -> bool:
    """Whether a sentence holds the name of a person.

    A listed first name, or a title, before a word with a capital letter; or a listed surname of Japan before
    a listed given name or a form of address.

    Args:
        text: of any length.
    """
    plain = unicodedata.normalize("NFKC", text)
    for run in _EASTERN.findall(plain):
        surname = next((one for one in _eastern("surname") if one in run), None)
        rest = run.partition(surname)[2] if surname else ""
        if rest.startswith((*_eastern("given"), *_ADDRESSED)):
            return True
    if any(
        surname + word in "".join(plain.split()) for surname in _eastern("surname") for word in _ADDRESSED
    ):
        return True
    words = _WORDS.findall(plain)
    listed = {_plain(word) for word in given_names()}
    return any(
        after[0].isupper()
        and len(after) > 1
        and (_plain(before) in _TITLES or (before[0].isupper() and _plain(before) in listed))
        for before, after in pairwise(words)
    )


def given_names() -> frozenset[str]:
    """First names of English, German and French, as they are written."""
    return frozenset(word for language in ("en", "de", "fr") for word in lists()["given"][language])


def surnames() -> frozenset[str]:
    """Surnames of all languages in Latin letters, as they are written."""
    return frozenset(
        word
        for language, words in lists()["surname"].items()
        if not language.startswith("ja")
        for word in words
    )


def _folded(words: Sequence[str]) -> set[str]:
    return {_plain(word) for word in words}


def _plain(word: str) -> str:
    split = unicodedata.normalize("NFKD", word.casefold())
    return "".join(one for one in split if not unicodedata.combining(one))


@cache
def _western() -> frozenset[str]:
    western = (
        words for one in lists().values() for language, words in one.items() if not language.startswith("ja")
    )
    return frozenset(_plain(word) for words in western for word in words)


@cache
def _eastern(kind: str) -> tuple[str, ...]:
    return tuple(lists()[kind]["ja"])
