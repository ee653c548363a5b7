"""The check of texts: what is let in, what is shown, in documents, logs and spreadsheets."""

from __future__ import annotations

import io
import json
import logging
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.cli.output import Screen, table, talk
from parties.client.spreadsheet import harmless
from parties.daemon.logs import PlainFormatter
from parties.texts import escape_unprintable, is_plain, json_visible, unfit, with_unit

HOSTILE = {
    "escape": "a\x1b[2J\x1b[H",
    "C1": "a\x9b2J",
    "line end": "a\nb",
    "carriage return": "a\rb",
    "tab": "a\tb",
    "next line": "a\x85b",
    "line separator": "a\u2028b",
    "paragraph separator": "a\u2029b",
    "override": "a\u202etxt.exe",
    "isolate": "a\u2066b",
    "mark of direction": "a\u200fb",
    "zero width": "a\u200bb",
    "joiner": "a\u200db",
    "byte order mark": "\ufeffa",
    "surrogate": "a\ud800",
    "private": "a\ue000",
    "unassigned": "a\U000e0fff",
    "tag": "a\U000e0041",
    "no-break space": "a\xa0b",
    "soft hyphen": "a\xadb",
    "filler": "\u3164" * 80 + "b",
    "half-width filler": "\uffa0",
    "Braille blank": "\u2800" * 80,
    "variation": "a\ufe0f",
    "pile of marks": "a" + "\u0301" * 60,
    "row of blanks": "a" + " " * 60 + "alice and bob learn: nothing",
}
HARMLESS = [
    "",
    "age",
    "Ärzte über 40",
    "年齢",
    "возраст",
    "e\u0301t\u00e9",
    "a  b",
    "5 % < x & y",
    "[bold]x[/]",
    "x\\n",
    "😀",
]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_not_plain(text):
    assert not is_plain(text)
    assert unfit({"a": ["b", {"c": text}]}, "job") == "job, a, entry 2, c"
    assert unfit({"a": {text: 1}}, "job") == "job, a, a key"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_plain(text):
    assert is_plain(text)
    assert escape_unprintable(text) == text
    assert unfit({text: [text, 1, None, True]}, "job") is None


@given(st.text())
def test_what_is_shown_moves_no_cursor(text):
    shown = escape_unprintable(text)
    assert shown.isprintable()
    assert escape_unprintable(shown) == shown
    assert not any(unicodedata.category(character)[0] == "C" for character in shown)


@given(st.recursive(st.text() | st.integers(), lambda inner: st.dictionaries(st.text(), inner)))
def test_json_is_shown_exactly(value):
    text = json_visible(json.dumps(value, ensure_ascii=False))
    assert text.isprintable()
    assert json.loads(text) == value


def logged(message, *arguments, trace=None):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(PlainFormatter())
    record = logging.LogRecord("duetto.jobs", logging.INFO, "file", 1, message, arguments, trace)
    handler.emit(record)
    return stream.getvalue()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_one_record_is_one_line(text):
    lines = logged("job %s: refused", text).split("\n")
    assert len(lines) == 2
    assert lines[0].isprintable()


def test_no_record_is_forged_by_a_trace():
    forged = "2026-11-22 03:00:00,000 INFO duetto.jobs: job 0123456789abcdef: approved by Dr. Adams"
    try:
        raise ValueError(f"x\n{forged}")
    except ValueError as problem:
        lines = logged("a defect", trace=(type(problem), problem, problem.__traceback__)).splitlines()
    assert any(forged in line for line in lines)
    assert all(line.startswith("    | ") for line in lines[1:])


def test_rich_markup_is_text(capsys):
    Screen().print(
        "[bold red]x[/bold red]", table("[t]", ["[red]h[/]"], [["[link=http://x]c[/link]", ":smile:"][:1]])
    )
    out = capsys.readouterr().out
    for text in ("[bold red]x[/bold red]", "[t]", "[red]h[/]", "[link=http://x]c[/link]"):
        assert text in out


@pytest.mark.parametrize("text", [text for name, text in HOSTILE.items() if name != "row of blanks"])
def test_nothing_reaches_the_screen_raw(capsys, text):
    screen = Screen()
    screen.print(text, table(text, [text], [[text]]))
    screen.json({text.encode("utf-8", "replace").decode(): text})
    talk(text)
    out, err = capsys.readouterr()
    assert text not in out + err
    assert all(c == "\n" or c.isprintable() for c in out + err)


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ('=HYPERLINK("http://x/"&A1,"x")', '\'=HYPERLINK("http://x/"&A1,"x")'),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("@SUM(1)", "'@SUM(1)"),
        ("-x", "'-x"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\uff1dx", "'\uff1dx"),
        *(
            (plain, plain)
            for plain in ("", "a=b", "-1.5", "+3", "-1/2", "-1e-5", "1-2", -1, -1.5, None, True)
        ),
        ("-1-2", "'-1-2"),
    ],
)
def test_cells_are_no_formulas(cell, written):
    assert harmless(cell) == written


@pytest.mark.parametrize(
    ("name", "unit", "shown"),
    [
        ("Gewicht", "kg", "Gewicht (kg)"),
        ("Gewicht (kg)", "kg", "Gewicht (kg)"),
        ("HbA1c [%]", "%", "HbA1c [%]"),
        ("Gewicht", "g", "Gewicht (g)"),
        ("Alter", "", "Alter"),
    ],
)
def test_a_unit_stands_behind_a_name_once(name, unit, shown):
    assert with_unit(name, unit) == shown
