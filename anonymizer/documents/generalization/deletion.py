"""The last resort: that something stood there, and nothing else."""

from __future__ import annotations

from typing import Final

from anonymizer.documents.texts.text import Language

PLACEHOLDERS: Final[dict[Language, str]] = {"en": "[...]", "ja": "［…］", "de": "[...]", "fr": "[...]"}
"""Without a letter or digit, so that none of them says or is found by anything."""

NAME: Final = "deletion"
