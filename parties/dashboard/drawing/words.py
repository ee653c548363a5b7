"""How numbers, times and states are written on pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from parties.client.words import moment_of
from smc.protocols.against import Against

_FIELDS: Final = {
    "with --sheet": "under “Sheet of an Excel file”",
    "with --name": "under “Name of the data set”",
    "by --encoding": "under “Encoding” below",
    "choose types with --type COLUMN=text": "choose the type text for columns",
}
"""Options of commands that hints name, and where a page has the same."""
_GIVE: Final = re.compile(r"Give --(encoding|header) ([^ ,]+[^ ,.])")
_WHERE: Final = {"encoding": "Encoding", "header": "Row that names the columns"}
_CONFIRM: Final = re.compile(r"Run `duetto data confirm (\S+) [^`]*` with")


def when(text: str) -> str:
    """A time of the daemon, RFC 3339 in UTC, to the minute."""
    moment = moment_of(text)
    return text if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def limits(found: Mapping[str, Any]) -> list[str]:
    """Limits of disclosure as sentences; none for a limit that limits nothing.

    Args:
        found: the limits by name, as contracts have them: `minimum_group`, `dominance`, ...
    """
    group, matches, rows = (int(found.get(f"minimum_{what}", 0)) for what in ("group", "intersection", "set"))
    dominance, ratio = Fraction(found.get("dominance", 1)), Fraction(found.get("maximum_ratio", 0))
    return [
        said
        for limits_something, said in (
            (group > 0, f"No figure is about fewer than {group} persons."),
            (
                group > 1 and found.get("zeros") == "shown",
                "Cells of tables in which this side has nobody are shown.",
            ),
            (dominance < 1, f"No single person makes up more than {float(100 * dominance):.3g} % of a sum."),
            (rows > 0, f"Each side brings at least {rows} rows to a matching."),
            (
                ratio > 0,
                f"No side brings more than {float(ratio):.3g} times the other’s rows to a matching.",
            ),
            (matches > 0, f"Nothing is said about fewer than {matches} matches."),
        )
        if limits_something
    ]


def width(figure: Mapping[str, Any]) -> str:
    """Half the width of the 95 % interval of a figure of `parties.jobs.terms`, as far as it is known."""
    if figure["half_width"] is None:
        return "exact or not known"
    return f"± {figure['half_width']:.3g} {figure['unit']}".rstrip()


_COLUMNS: Final = frozenset(
    {
        *("column", "columns", "alice_columns", "bob_columns", "numbers", "keys", "show", "on", "product"),
        *("by", "strata", "target", "outcome", "weight", "exposure", "time", "start", "x", "y"),
    }
)
"""Settings that name columns, as far as their values are names of the job; in others a label may be called
alike."""

_SETTINGS: Final[Mapping[str, str]] = {
    "queries": "figure",
    "by": "separately for each",
    "on": "explained by",
    "where": "only rows with",
    "edges": "edges of bins",
    "alice_columns": "columns of alice",
    "bob_columns": "columns of bob",
    "share": "share of epsilon",
    "maximum_rows": "most rows of a side",
    "one_to_one": "one to one",
}
"""Settings whose names say little to somebody who did not write the job."""

_VALUES: Final[Mapping[str, Mapping[str, str]]] = {"kind": {"count": "number of rows"}}


def settings(parameters: Mapping[str, Any], columns: Mapping[str, str]) -> list[tuple[str, str]]:
    """The parameters of an analysis as names and values in words; entries of lists have rows of their own.

    Args:
        parameters: of the job.
        columns: by the names that the job has for columns, what a catalog calls them.
    """
    found: list[tuple[str, str]] = []
    for key, value in parameters.items():
        if isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
            name = _SETTINGS.get(key, key.replace("_", " "))
            single = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
            named = [(number, _entry(entry, columns)) for number, entry in enumerate(value, 1)]
            found += [(f"{single.capitalize()} {number}", said) for number, said in named]
        else:
            found.append((_setting(key).capitalize(), _words(value, key, columns)))
    return found


def _entry(entry: Any, columns: Mapping[str, str]) -> str:
    """An entry of a list: what it is called first, then its kind, then the rest of what it says."""
    if not isinstance(entry, Mapping):
        return _words(entry, "", columns)
    called = [str(entry["name"])] if "name" in entry else []
    rest = sorted(
        ((key, value) for key, value in entry.items() if key != "name"), key=lambda one: one[0] != "kind"
    )
    return ". ".join(called + ["; ".join(_said(key, value, columns) for key, value in rest)] * bool(rest))


def _said(key: str, value: Any, columns: Mapping[str, str]) -> str:
    return f"{_setting(key).capitalize()}: {_words(value, key, columns)}"


def _setting(key: str) -> str:
    return _SETTINGS.get(key, key.replace("_", " "))


def _words(value: Any, key: str, columns: Mapping[str, str]) -> str:
    """A value in words, of the setting `key`, at any depth."""
    if isinstance(value, Mapping):
        return ", ".join(f"{_setting(name)} {_words(inner, name, columns)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(_words(inner, key, columns) for inner in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return (columns if key in _COLUMNS else _VALUES.get(key, {})).get(text, text)


def hint(text: str) -> str:
    """A hint as it helps somebody who has this page, and no command line."""
    for option, field in _FIELDS.items():
        text = text.replace(option, field)
    text = _GIVE.sub(lambda found: f"Write {found[2]} under “{_WHERE[found[1]]}”", text)
    return _CONFIRM.sub(r"Confirm it on Data, under Edit \1: type", text)


def against(level: str) -> str:
    """What a run holds against a peer that deviates, as a sentence."""
    return Against(level).means
