"""Which elements and attributes of web pages are kept, and why others are not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final


def _names(*lines: str) -> frozenset[str]:
    return frozenset(name for line in lines for name in line.split())


BLOCKS: Final = _names(
    "address article aside blockquote br button caption dd details div dl dt fieldset figcaption figure",
    "footer h1 h2 h3 h4 h5 h6 header hgroup hr label legend li main menu nav ol optgroup option p pre",
    "section select summary table tbody td textarea tfoot th thead tr ul",
)
"""Before and behind them a new line begins."""

INLINE: Final = _names(
    "a abbr b bdi bdo cite code data del dfn em i img input ins kbd mark q ruby s samp small span strong",
    "sub sup time u var",
)
"""They may stand in the middle of a word. Elements that are named nowhere here leave what is in them."""

VOID: Final = frozenset({"br", "hr", "img", "input"})

READ: Final = ("title", "aria-label", "aria-description", "aria-roledescription", "aria-valuetext")
"""Attributes of any element that people see or hear."""

READ_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "img": ("alt",),
    "input": ("alt", "placeholder", "value"),
    "textarea": ("placeholder",),
    "option": ("label",),
    "optgroup": ("label",),
    "th": ("abbr",),
    "table": ("summary",),
}
"""The same of certain elements."""

TYPES: Final = _names(
    "text search email tel url number date month week time datetime-local submit button reset image"
)
"""Kinds of input elements whose text people see."""

WORDS: Final[Mapping[str, re.Pattern[str]]] = {
    "lang": re.compile("en|ja"),
    "dir": re.compile("ltr|rtl|auto"),
    "colspan": re.compile("[1-9][0-9]?"),
    "rowspan": re.compile("[1-9][0-9]?"),
}
"""Attributes that are kept where they have one of these values."""

FIXED: Final = {**WORDS, "charset": re.compile("utf-8"), "name": re.compile("description")}
"""All attributes of the fixed markup, with the values that they may have."""

MARKS: Final = frozenset(
    {"hidden", "align", "border", "width", "height", "valign", "type", "alt", "value", "label"}
)
"""Attributes whose loss need not be said."""

_SCRIPTS: Final = "Scripts, styles and what they show."
_EMBEDDED: Final = "Images, sounds, films, drawings and pages that are embedded; alternative texts are kept."

GONE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("script", "style", "noscript", "template", "link", "base"), _SCRIPTS),
    **dict.fromkeys(
        _names("iframe frame frameset noframes object embed applet svg canvas audio video map area portal"),
        _EMBEDDED,
    ),
    "math": "Formulas.",
    "datalist": "Proposals for fields of forms.",
    "rt": "Readings beside characters (ruby).",
    "rp": "Readings beside characters (ruby).",
    "rtc": "Readings beside characters (ruby).",
    "meta": "Data about the page, other than its title and description.",
    "title": "Titles inside the page.",
}
"""Elements that are left out with all that is in them, and the sentence that says so."""
