"""The reader of declared settings: values, defaults, and for each mistake its place and a hint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from commons.errors import HintedError
from commons.settings.bounds import Between, OneOf, Terms
from commons.settings.marks import (
    Given,
    Inline,
    Item,
    Key,
    Length,
    Matching,
    Parse,
    Powers,
    Read,
    Repeated,
    Single,
    UnfitError,
    Unread,
    Variants,
    Wrong,
)
from commons.settings.reader import read_declared, schema_of
from commons.settings.table import StrictTable
from commons.settings.toml import parse


class WrongSettingError(HintedError):
    """What the tests want raised."""


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


WORD = Matching(re.compile("[a-z]+"), "is not a plain word", "Use letters.")


def even(text: str) -> int:
    if int(text) % 2:
        raise WrongSettingError(f"{text} is odd.", "Write an even number.")
    return int(text)


def doubled(value: Any, place: str) -> int:
    if value == 7:
        raise WrongSettingError(f"{place} is seven.", "Write another number.")
    return 2 * value


@dataclass(frozen=True, slots=True)
class Bounds:
    lower: int = 0
    upper: Annotated[int, Between(maximum=100)] = 10

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise UnfitError("lower", "is above upper", "Exchange them.")


@dataclass(frozen=True, slots=True)
class Circle:
    radius: int


@dataclass(frozen=True, slots=True)
class Square:
    side: int
    name: Annotated[str, Unread()] = ""


@dataclass(frozen=True, slots=True)
class Peer:
    number: Annotated[int, Unread()]
    host: Annotated[str, WORD]
    tags: tuple[str, ...] = ()


SHAPES = Variants.by_word("form", {"circle": Circle, "square": Square}, "square")


@dataclass(frozen=True, slots=True)
class Sections:
    """Keys of several tables.

    Attributes:
        name: of somebody.
        port: of the same.
    """

    name: Annotated[str, Key("party.name"), WORD]
    port: Annotated[int, Key("listen.port"), Between(0, 99)] = 7
    file: Annotated[Path, Key("party.file")] = Path("x.toml")


@dataclass(frozen=True, slots=True)
class Settings:
    count: Annotated[int, Between(1, 64)]
    name: Annotated[str, WORD, Length(maximum=5)] = "abc"
    flag: bool = False
    ratio: Annotated[Fraction, Terms(1000)] = Fraction(1, 2)
    delta: Annotated[Fraction, Powers()] = Fraction(0)
    real: Annotated[float, Between(0, 1)] = 0.5
    day: date | None = None
    colour: Colour = Colour.RED
    level: Literal["low", "high"] = "low"
    engine: Annotated[str, OneOf(("auto", "fast"))] = "auto"
    home: Path = Path("home")
    tags: frozenset[str] = frozenset()
    keys: Annotated[tuple[str, ...], Single()] = ()
    numbers: Annotated[tuple[Annotated[int, Between(0, 9)], ...], Repeated(), Length(1, 3)] = (1,)
    parts: Annotated[tuple[str, ...], Length(1)] = ("a",)
    source: Annotated[str, Key("from")] = ""
    text: Annotated[int, Parse(even)] = 0
    twice: Annotated[int, Read(doubled)] = 0
    strict: Annotated[str, WORD, Wrong("is not what it has to be", "Write a word.")] = "x"
    bounds: Bounds = field(default_factory=Bounds)
    flat: Annotated[Circle | None, Inline(when="radius")] = None
    has_count: Annotated[bool, Given("count")] = False
    peers: Annotated[tuple[Peer, ...], Item("peer")] = ()
    shapes: Annotated[Mapping[str, Circle | Square], Item("shape"), SHAPES] = field(default_factory=dict)
    columns: Annotated[
        Mapping[str, str], WORD, Wrong("is not a table", "Write { x = ... }.", entry="has a wrong entry")
    ] = field(default_factory=dict)


def read(text: str, folder: Path = Path("at")) -> Settings:
    document = parse(text, "a.toml", WrongSettingError)
    return read_declared(Settings, StrictTable(document, "a.toml", WrongSettingError, folder=folder))


def test_what_is_not_said_is_the_default():
    assert read("count = 3") == Settings(3, has_count=True, home=Path("at/home"))


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ('name = "xyz"', "name", "xyz"),
        ("flag = true", "flag", True),
        ('ratio = "1/3"', "ratio", Fraction(1, 3)),
        ("ratio = 0.1", "ratio", Fraction(1, 10)),
        ("ratio = 2", "ratio", Fraction(2)),
        ('delta = "2^-30"', "delta", Fraction(1, 2**30)),
        ('delta = "1e-9"', "delta", Fraction(1, 10**9)),
        ("real = 0.25", "real", 0.25),
        ("real = 1", "real", 1),
        ("day = 2020-02-29", "day", date(2020, 2, 29)),
        ('day = "2020-02-29"', "day", date(2020, 2, 29)),
        ('colour = "blue"', "colour", Colour.BLUE),
        ('level = "high"', "level", "high"),
        ('home = "x"', "home", Path("at/x")),
        ('home = "/x"', "home", Path("/x")),
        ('tags = ["a", "b"]', "tags", frozenset("ab")),
        ('keys = "a"', "keys", ("a",)),
        ('keys = ["a", "b"]', "keys", ("a", "b")),
        ("numbers = [9, 9]", "numbers", (9, 9)),
        ('from = "there"', "source", "there"),
        ('text = "8"', "text", 8),
        ("twice = 8", "twice", 16),
        ("bounds = { lower = 3 }", "bounds", Bounds(3, 10)),
        ("radius = 3", "flat", Circle(3)),
        ('peers = [{ host = "a" }, { host = "b" }]', "peers", (Peer(1, "a"), Peer(2, "b"))),
        (
            'shapes = { x = { form = "circle", radius = 1 }, y = { side = 2 } }',
            "shapes",
            {"x": Circle(1), "y": Square(2, "y")},
        ),
        ('columns = { x = "age" }', "columns", {"x": "age"}),
    ],
)
def test_values_are_read(line, name, value):
    found = getattr(read(f"count = 3\n{line}"), name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("line", "what", "hint"),
    [
        ("coumt = 3", "a.toml: count is missing.", "Is 'coumt' meant to be it?"),
        ("", "a.toml: count is missing.", "Add count = ..."),
        ("count = 0", "a.toml: count is below 1.", "Write 1 or more."),
        ("count = 65", "a.toml: count is above 64.", "Write 64 or less."),
        ("count = true", "a.toml: count has to be an integer.", "without quotation marks"),
        ("count = 3.0", "a.toml: count has to be an integer.", "without quotation marks"),
        ("count = 3\nnmae = 'x'", "a.toml: 'nmae' is not a known key.", "Did you mean 'name'?"),
        ("count = 3\nhas_count = true", "a.toml: 'has_count' is not a known key.", "Did you mean 'count'"),
        ("count = 3\nname = 3", "a.toml: name has to be text.", "quotation marks"),
        ("count = 3\nname = 'A'", "a.toml: name is not a plain word.", "Use letters."),
        ("count = 3\nname = 'abcdef'", "a.toml: name is over 5 characters.", "Shorten it."),
        ("count = 3\nflag = 1", "a.toml: flag has to be true or false.", "without"),
        ("count = 3\nratio = '-1'", "a.toml: ratio is negative.", "0 or more"),
        ("count = 3\nratio = '1/0'", "a.toml: ratio is not a number of at most 30 digits.", '"1/2"'),
        ("count = 3\nratio = '1e400000'", "a.toml: ratio is not a number of at most 30 digits.", '"1/2"'),
        ("count = 3\nratio = nan", "a.toml: ratio is not a number of at most 30 digits.", '"1/2"'),
        ("count = 3\nratio = '1/1001'", "a.toml: ratio has a numerator or denominator above 1000.", '"0.8"'),
        ("count = 3\ndelta = '2^30'", "a.toml: delta is not a number of at most 30 digits.", '"1/2"'),
        ("count = 3\nreal = inf", "a.toml: real has to be a number.", "without"),
        ("count = 3\nreal = 1.5", "a.toml: real is above 1.", "1 or less"),
        ("count = 3\nday = '2021-02-29'", "a.toml: day is not a date.", "1990-12-31"),
        ("count = 3\nday = 2021-02-02T00:00:00", "a.toml: day is not a date.", "1990-12-31"),
        ("count = 3\ncolour = 'rad'", "a.toml: colour is 'rad'.", "Did you mean 'red'?"),
        ("count = 3\nlevel = 'mid'", "a.toml: level is 'mid'.", "There are: high, low."),
        ("count = 3\nengine = 'fats'", "a.toml: engine is 'fats'.", "Did you mean 'fast'?"),
        ('count = 3\nhome = "a\\u0000"', "a.toml: home is not a path.", "control characters"),
        ("count = 3\ntags = ['a', 'a']", "a.toml: tags names something twice.", "Remove"),
        ("count = 3\ntags = 'a'", "a.toml: tags has to be a list of texts.", '["a", "b"]'),
        ("count = 3\ntags = [1]", "a.toml: tags has to be a list of texts.", '["a", "b"]'),
        ("count = 3\nkeys = 3", "a.toml: keys has to be a list of texts.", '["a", "b"]'),
        ("count = 3\nnumbers = []", "a.toml: numbers has not 1 to 3 entries.", "1 to 3"),
        ("count = 3\nparts = []", "a.toml: parts is empty.", "Write 1 or more."),
        ("count = 3\nnumbers = [3, 10]", "a.toml: numbers is above 9.", "9 or less"),
        ("count = 3\ntext = '7'", "a.toml: text: 7 is odd.", "even"),
        ("count = 3\ntwice = 7", "a.toml: twice is seven.", "another"),
        ("count = 3\nstrict = 3", "a.toml: strict is not what it has to be.", "Write a word."),
        ("count = 3\nstrict = 'A'", "a.toml: strict is not what it has to be.", "Write a word."),
        ("count = 3\nbounds = 3", "a.toml, bounds has to be a table.", "[name]"),
        ("count = 3\nbounds = { lower = 11 }", "a.toml, bounds: lower is above upper.", "Exchange"),
        ("count = 3\nbounds = { loewr = 1 }", "a.toml, bounds: 'loewr' is not a known key.", "'lower'"),
        ("count = 3\npeers = { host = 'a' }", "a.toml: peers has to be a list of tables.", "[[peers]]"),
        ("count = 3\npeers = [{ host = 'a' }, {}]", "a.toml, peer 2: host is missing.", "Add host = ..."),
        ("count = 3\nshapes = { x = { form = 'disk' } }", "a.toml, shape x: form is 'disk'.", "There are"),
        (
            "count = 3\nshapes = { x = { radius = 1 } }",
            "a.toml, shape x: 'radius' is not a known key.",
            "There are",
        ),
        ("count = 3\ncolumns = ['x']", "a.toml: columns is not a table.", "{ x = ... }"),
        ("count = 3\ncolumns = { x = 1 }", "a.toml: columns has a wrong entry 'x'.", "{ x = ... }"),
        ("count = 3\ncolumns = { X = 'a' }", "a.toml: columns has a wrong entry 'X'.", "{ x = ... }"),
        ("count = ", "a.toml is not valid TOML", "Correct the line."),
        (f"count = {'9' * 5000}", "a.toml has a number with thousands of digits.", "Shorten it."),
        (f"name = '{'x' * (1 << 20)}'", "a.toml is longer than", "Shorten it."),
    ],
)
def test_a_mistake_has_its_place_and_a_hint(line, what, hint):
    with pytest.raises(WrongSettingError) as caught:
        read(line)
    assert caught.value.what.startswith(what)
    assert hint in caught.value.hint


def test_nothing_is_asked_of_a_table_twice():
    """A key that one declaration knows is known to the whole table; one that none knows is refused."""
    table = StrictTable({"lower": 1, "radius": 2, "side": 3}, "t", WrongSettingError)
    assert (table.text("name", "x"), table.texts("tags", ()), table.choice("form", ("a",), "a")) == (
        "x",
        (),
        "a",
    )
    table.expect(("lower", "radius"))
    with pytest.raises(WrongSettingError, match="'side' is not a known key"):
        table.close()


def sections(text: str) -> Sections:
    table = StrictTable(
        parse(text, "a.toml", WrongSettingError), "a.toml", WrongSettingError, folder=Path("at")
    )
    return read_declared(Sections, table)


def test_keys_of_sections():
    assert sections("[party]\nname = 'a'") == Sections("a", 7, Path("at/x.toml"))
    found = sections("[party]\nname = 'a'\nfile = 'y'\n[listen]\nport = 8")
    assert found == Sections("a", 8, Path("at/y"))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "a.toml: party is missing."),
        ("[party]", "a.toml, party: name is missing."),
        ("party = 3", "a.toml, party has to be a table."),
        ("[party]\nname = 'A'", "a.toml, party: name is not a plain word."),
        ("[party]\nname = 'a'\nnane = 'b'", "a.toml, party: 'nane' is not a known key."),
        ("[party]\nname = 'a'\n[listn]\nport = 1", "a.toml: 'listn' is not a known key."),
        ("[party]\nname = 'a'\n[listen]\nport = 100", "a.toml, listen: port is above 99."),
    ],
)
def test_mistakes_in_sections(text, what):
    with pytest.raises(WrongSettingError) as caught:
        sections(text)
    assert caught.value.what == what
    assert caught.value.hint


def test_the_schema_of_sections():
    schema = schema_of(Sections, "Sections")
    assert schema["required"] == ["party"]
    party, listen = schema["properties"]["party"], schema["properties"]["listen"]
    assert (party["required"], party["additionalProperties"]) == (["name"], False)
    assert party["properties"]["name"]["description"] == "of somebody."
    assert party["properties"]["file"]["default"] == "x.toml"
    assert listen["properties"]["port"] == {
        "type": "integer", "minimum": 0, "maximum": 99, "description": "of the same.", "default": 7,
    }  # fmt: skip


@dataclass(frozen=True)
class Parts:
    one: Bounds
    several: Annotated[tuple[Peer, ...], Item("peer")]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[[several]]\nhost = 'a'", "Add a table [one] with keys below."),
        ("[one]\nlower = 1", "Add tables, each below its own [[several]]."),
    ],
)
def test_a_table_that_is_missing_is_asked_for_as_a_table(text, hint):
    with pytest.raises(WrongSettingError) as caught:
        read_declared(
            Parts, StrictTable(parse(text, "a.toml", WrongSettingError), "a.toml", WrongSettingError)
        )
    assert caught.value.hint == hint
