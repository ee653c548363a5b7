"""Whether texts are names of persons, by lists of common ones: a look, not a proof."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from commons.tabular.column_names import is_called, is_of_persons
from commons.tabular.readings import Listed, find_listed, is_alone, lists

_WORDS: Final = re.compile(r"[^\W\d_]+")
_SIGNS: Final = re.compile(r"[\W_]+")
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
_ADDRESSED: Final = ("さん", "様", "氏", "先生", "君")
_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.[ -]?){2,4}")
"""Each with its point: two capitals alone are as often codes of countries or of tests."""
_INITIAL: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]\.")
_MOST_WORDS: Final = 5
_LONGEST_EASTERN: Final = 7
_DIFFERENT: Final = 3
"""Listed names that must be there: a category may be called Charlotte or Adams by chance."""
_CLEARLY: Final = 0.2
_MOST_OF_ONE: Final = 3
"""Words of a text that is the name of one person, and not of a school or a street."""
_MANY: Final = 12
"""Different texts in small letters from which on those in a column called like persons are no categories."""
_OF_SMALL: Final = 3
"""Of so many texts in small letters one must be a listed name for them to be names, where they are fewer."""
_CODE: Final = 3
"""So many capitals alone are a code."""
_OF_THINGS: Final = ("科", "者", "員", "医", "師", "職", "婦", "課", "型", "級", "年", "組", "回", "歳")
"""How words of Japanese end that say what somebody is; no common name ends so."""
_SCIENCES: Final = re.compile(
    r"(?:olog(?:y|ist|ia|ie|ue)|iatr(?:y|ist|ics|ician|ie)|tion|icine|schaft|itis)$"
)
"""How words for departments and illnesses end in languages of Europe."""


def holds_names(counts: Mapping[str, int]) -> bool:
    """Whether half of the cells of a column, and half of its different values, are names of persons.

    Three of them must be there; or one that is hardly anything else, as with a title, or of a listed first
    name and a listed surname. Of these a fifth is enough.

    Args:
        counts: how often each text occurs.
    """
    kana = {text: found for text in counts if (found := _of_japan(text)) is not None}
    has_given = _GIVEN_OF_KANA * sum("given" in found for found in kana.values()) >= len(kana)
    named = {text for text in counts if is_name(text) and (has_given or not kana.get(text))}
    named |= _alone({text for text in counts if text not in named})
    clear = {text for text in counts if _is_clear(text)}
    rows = sum(counts.values())
    if clear and min(len(clear) / len(counts), sum(counts[text] for text in clear) / rows) >= _CLEARLY:
        return True
    least = 1 if clear else _DIFFERENT
    if len(named) < max(least, len(counts) / 2):
        return False
    return 2 * sum(counts[text] for text in named) >= rows


def names_bearers(counts: Mapping[str, int]) -> bool:
    """Whether cells of a column that is called like persons, as `Patient`, are names; listed or not.

    They are, unless they show that they are something else: half of the different ones, and of all, that name
    anybody or anything are codes, words in small letters (unless a third of these are listed names), or hold
    a word that says what a person is, has or does (`[things]` of `person_names.toml`). One that is hardly
    anything but a name is enough. Nothing is said of cells as `unknown`.

    Args:
        counts: how often each text occurs.
    """
    told = {text: count for text, count in counts.items() if _SIGNS.sub("", _plain(text)) not in _nobody()}
    known = {text for text in told if is_name(text)}
    small = {text for text in told if _bare(text)[0].islower() and _may_be_name(text, is_small=True)}
    is_small = len(told) > _MANY or _OF_SMALL * len(small & known) >= len(small)
    named = known | {text for text in told if _may_be_name(text, is_small=is_small)}
    if any(_is_clear(text) or _bare(text)[1] for text in named):
        return True
    of_cells = 2 * sum(told[text] for text in named) >= sum(told.values())
    return bool(named) and (of_cells or 2 * len(named) >= len(told))


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
    return not _fold(words).isdisjoint(_western("given", "surname", "elsewhere")) or _is_titled(plain)


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


def _is_clear(text: str) -> bool:
    """Whether a text is hardly anything but the name of a person."""
    plain, is_addressed = _bare(text)
    if _EASTERN.search(plain):
        parted = _BETWEEN.sub(" ", plain)
        joined = "".join(parted.split())
        named = joined.startswith(_eastern("surname")) and len(joined) <= _LONGEST_EASTERN
        return named and (is_addressed or joined.endswith(_eastern("given")))
    if any(letter.isdigit() for letter in plain):
        return False
    words = [*_fold(_WORDS.findall(plain))]
    if _is_titled(plain):  # `Doctor visit` is nobody
        behind = [word for word in _TITLED.findall(plain) if not _is_title(word)]
        return any(not word.islower() for word in behind) and _things().isdisjoint(words)
    if not 1 < len(words) <= _MOST_OF_ONE:
        return False
    surnames = _western("surname") | _western("elsewhere")
    if len(words) == 2 and _INITIAL.search(plain):
        return not surnames.isdisjoint(words)
    given = _western("given") | _western("elsewhere")
    pairs = ((one, other) for one in words for other in words if one != other)
    return any(one in given and other in surnames for one, other in pairs)


def _may_be_name(text: str, *, is_small: bool) -> bool:
    """Whether a text in a column called like persons can be a name, as nothing shows otherwise.

    Args:
        text: of a cell.
        is_small: whether names are written in small letters, as words that are categories are.
    """
    plain = _bare(text)[0]
    words = _WORDS.findall(plain)
    if not 0 < len(words) <= _MOST_WORDS or any(letter.isdigit() for letter in plain):
        return False
    folded = _fold(words)
    if not folded.isdisjoint(_things()) or is_of_persons(plain) or any(map(_SCIENCES.search, folded)):
        return False
    if len(words) == 1 and plain.isascii() and len(plain) <= (_CODE if plain.isupper() else 2):
        return False
    if _EASTERN.search(plain):
        joined = "".join(_BETWEEN.sub(" ", plain).split())
        return len(joined) <= _LONGEST_EASTERN and not joined.endswith(_OF_THINGS)
    return is_small or not plain.islower()


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
    return find_listed(words)


def names_somebody(text: str, *, surely: bool = False) -> bool:
    """Whether a sentence holds the name of a person.

    A listed first name, or a title, before a word with a capital letter; or a listed surname of Japan before
    a listed given name or a form of address.

    Args:
        text: of any length.
        surely: whether a first name counts before a listed surname alone, as `May income` is nobody.
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
    known = _western("surname") | _western("elsewhere")
    return any(
        after[0].isupper()
        and len(after) > 1
        and (
            _plain(before) in _TITLES
            or (before[0].isupper() and _plain(before) in listed and (not surely or _plain(after) in known))
        )
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


def _fold(words: Sequence[str]) -> set[str]:
    return {_plain(word) for word in words}


def _plain(word: str) -> str:
    split = unicodedata.normalize("NFKD", word.casefold())
    return "".join(one for one in split if not unicodedata.combining(one))


@cache
def _western(*kinds: str) -> frozenset[str]:
    western = (
        words for kind in kinds for language, words in lists()[kind].items() if not language.startswith("ja")
    )
    return frozenset(_plain(word) for words in western for word in words)


@cache
def _things() -> frozenset[str]:
    return frozenset(_plain(word) for words in lists()["things"].values() for word in words)


@cache
def _nobody() -> frozenset[str]:
    return frozenset(("", *(_plain(word) for words in lists()["nobody"].values() for word in words)))


@cache
def _eastern(kind: str) -> tuple[str, ...]:
    return tuple(lists()[kind]["ja"])
