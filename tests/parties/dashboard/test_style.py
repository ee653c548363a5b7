"""The style by figures: contrast of every pair of colours that meet, in light and dark."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

STYLE = (files("parties.dashboard.drawing") / "static" / "style.css").read_text(encoding="utf-8")
INKS = ("ink", "soft", "blue", "red", "green", "amber")
GROUNDS = ("page", "pale", "pale-red", "pale-green")
BUTTONS = ("blue", "green")
TEXT, SHAPE = 4.5, 3.0
"""Least contrast of text and of what is not text: WCAG 2.2, success criteria 1.4.3 and 1.4.11."""


def colours(text):
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", text))


LIGHT, DARK = (colours(part) for part in STYLE.split("@media (prefers-color-scheme: dark)"))


def luminance(colour):
    """Relative luminance as WCAG defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_the_formula():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)  # the usual near miss


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_can_be_read(palette):
    assert set(palette) >= {*INKS, *GROUNDS, "line"}
    low = {
        (ink, ground): round(contrast(palette[ink], palette[ground]), 2)
        for ink in INKS
        for ground in GROUNDS
        if contrast(palette[ink], palette[ground]) < TEXT
    }
    low |= {
        ("page", button): contrast(palette["page"], palette[button])
        for button in BUTTONS
        if contrast(palette["page"], palette[button]) < TEXT
    }
    assert not low
    assert contrast(palette["soft"], palette["page"]) > SHAPE  # edges of fields


def test_a_row_with_a_fault_stays_a_row_of_its_table():
    """Rows and texts have the class `wrong`, and only a text is a block of its own."""
    blocks = [part.split("{")[0] for part in STYLE.split("}") if "display: block" in part.split("{")[-1]]
    assert not [one for one in blocks if one.strip().split(",")[-1].strip() == ".wrong"]


def test_colours_are_of_the_palette_and_nowhere_else():
    rest = STYLE[STYLE.index("* {") :]
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b", rest)
    assert set(re.findall(r"var\(--([\w-]+)\)", rest)) <= {*INKS, *GROUNDS, "line"}
    assert set(LIGHT) == set(DARK)
