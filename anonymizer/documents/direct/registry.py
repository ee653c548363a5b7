"""All recognizers, by the words of specifications."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from anonymizer.documents.direct.found import Recognizer
from anonymizer.documents.direct.rules import Rules
from anonymizer.documents.text import Language

RECOGNIZERS: Final[Mapping[str, Callable[[Language], Recognizer | None]]] = {"rules": Rules}
"""Each makes its recognizer of a language; None where it does not read that language."""
