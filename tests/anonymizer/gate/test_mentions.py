"""Texts that hold the name of their row are found, short and Japanese names too; ordinary words are none."""

from __future__ import annotations

import unicodedata

import numpy as np
import polars as pl
import pytest

from anonymizer.gate.mentions import few_mentions, mentions
from anonymizer.gate.views import ColumnView
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROWS = 400
_SYLLABLES = ("ka", "ro", "mi", "ten", "val", "du", "sor", "bel", "nim", "gra")
ENGLISH = (
    "The patient may leave; the way is an art. Low pressure, sun, an old law of the day. Ray and Lee side.",
    "Seen by the team. An X-ray was taken. May need a lab test. Day 3: no pain.",
    "Law and order. The old man came in the sun. Art therapy on day 2, an hour a day.",
    "No complaints. Lee side of the house damp. Way home by tram. Ono tree in the yard, he said.",
)
JAPANESE = (
    "東京の病院で太い林を見た。",
    "中山道の田中で山を見る。",
    "花と子どもの本。山田は村の名。",
    "特に変わりなし。",
)


def names(rows: int = ROWS, seed: int = 3) -> list[str]:
    random = np.random.default_rng(seed)
    return [
        "".join(random.choice(_SYLLABLES, 3)).title() + " " + "".join(random.choice(_SYLLABLES, 4)).title()
        for _ in range(rows)
    ]


def found(holders, texts, quasi=()) -> list[str]:
    table = Table.of(pl.DataFrame({"name": list(holders), "note": list(texts)}))
    columns = [ColumnView.of(table, name) for name in ("name", "note")]
    return [one.rule for one in mentions(columns[1:], columns[:1], quasi)]


def noted(name: str, said: str, texts=ENGLISH[:3]) -> tuple[list[str], list[str]]:
    """Ten of 400 people have a name, and the notes on them hold what is said."""
    random = np.random.default_rng(6)
    holders, notes = names(), random.choice(texts, ROWS).tolist()
    for place, row in enumerate(range(0, ROWS, 40)):
        holders[row] = name.replace("#", names(10, 8)[place])
        notes[row] += said
    return holders, notes


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("# Kim", " Kim says she is well."),
        ("# Abe", " Mr ABE came."),
        ("Ono #", " Call Ono-san."),
        ("# Li", " Ms Li came."),
        ("# Núñez", " Nunez came."),
        ("# Grafenau", " grafenaus mother came."),
        ("# Mayer", " Ｍａｙｅｒ came."),
    ],
)
def test_names_of_two_letters_and_more_are_found(name, said):
    assert found(*noted(name, said)) == ["disguise"]


@pytest.mark.parametrize(
    ("person", "said"),
    [
        ("山田 太郎", "山田さんは元気。"),
        ("山田太郎", "山田さんは元気。"),
        ("山田　太郎", "太郎君が来た。"),
        ("サトウ ハナ", "サトウさんは元気。"),
        ("ｻﾄｳ ﾊﾅ", "サトウさんは元気。"),
        ("김 민준", "민준 came."),
    ],
)
def test_japanese_and_korean_names_are_found(person, said):
    random = np.random.default_rng(2)
    kanji = "一二三四五六七八九十百千万川口石木森原"
    holders = [
        "".join(random.choice(list(kanji), 2)) + " " + "".join(random.choice(list(kanji), 2))
        for _ in range(ROWS)
    ]
    notes = random.choice(JAPANESE[::3], ROWS).tolist()
    for place, row in enumerate(range(0, ROWS, 40)):
        holders[row] = person + kanji[place]
        notes[row] += said
    assert found(holders, notes) == ["disguise"]


def test_names_that_texts_do_not_hold_are_not_found():
    random = np.random.default_rng(4)
    short = ["Kim", "May", "Art", "Ray", "Lee", "Day", "Law", "The", "An", "No", "Ono", "Sun"]
    for seed in range(20):
        notes = random.choice(ENGLISH, ROWS)
        assert found(random.choice(short, ROWS), notes) == []
        assert (
            found(
                [f"{a} {b}" for a, b in zip(random.choice(short, ROWS), names(seed=seed), strict=True)], notes
            )
            == []
        )
        holders = random.choice(["山田 太郎", "東京 花子", "中山 本", "田中 子"], ROWS)
        assert found(holders, random.choice(JAPANESE, ROWS)) == []


def test_a_table_sorted_by_name_hides_nothing():
    """Neighbours share their family name: the notes of others are those of far rows."""
    family = sorted(["Kimmel", "Abendrot", "Onodera", "Lindgren"] * 100)
    holders = [f"{given} {own}" for given, own in zip(names(), family, strict=True)]
    assert found(holders, [f"{own} came" if row % 5 == 0 else "well" for row, own in enumerate(family)]) == [
        "disguise"
    ]


def test_a_category_among_the_identifiers_is_no_name():
    """Education and occupation of the Adult table share the word prof."""
    random = np.random.default_rng(5)
    schools = random.choice(
        ["Bachelors", "HS-grad", "Prof-school", "Masters"], 4000, p=[0.4, 0.4, 0.02, 0.18]
    )
    trades = random.choice(["Sales", "Craft-repair", "Prof-specialty"], 4000, p=[0.5, 0.4, 0.1])
    assert found(schools, np.where(schools == "Prof-school", "Prof-specialty", trades)) == []


def test_a_few_words_that_meet_by_chance_are_no_names():
    """Players and opposing teams: four of 392 players are called like the city of a team."""
    random = np.random.default_rng(7)
    cities = ["Houston", "Dallas", "Denver", "Oakland", "Buffalo", "Chicago", "Detroit", "Carolina"]
    teams = random.choice([f"{city} Bears" for city in cities], 392)
    players = names(392)
    for row in range(48):
        players[row] = f"{names(48, 9)[row]} {cities[row % 8]}"
    teams[:48] = [f"{cities[row % 8 if row < 4 else (row + 3) % 8]} Bears" for row in range(48)]
    assert found(players, teams) == []


def test_a_quasi_identifier_of_few_values_counts_in_the_classes():
    random = np.random.default_rng(5)
    towns = random.choice(["Springfield", "Riverside", "Franklin", "Clinton", "Georgetown"], 500)
    addresses = [f"{number} Main Street, {town}" for number, town in enumerate(towns)]
    assert found(addresses, towns, quasi=("note",)) == []
    assert found(addresses, towns) == ["disguise"]


def test_letters_are_compared_without_accents_and_widths():
    assert unicodedata.is_normalized("NFC", "が")
    holders, notes = noted("# がが", "ががさん", JAPANESE)
    assert found(holders, notes) == ["disguise"]
    assert found(holders, [note.replace("が", "か") for note in notes]) == []


def warned(changed: dict[int, tuple[str, str]]) -> list[str]:
    """Warnings of a table of 200 rows, of which some have these names and notes."""
    random = np.random.default_rng(8)
    holders, notes = names(200), random.choice(ENGLISH[:3], 200).tolist()
    for row, (name, note) in changed.items():
        holders[row], notes[row] = name, note
    frame = pl.DataFrame({"name": holders, "note": notes})
    table = Table.of(frame, Roles(identifiers=("name",), sensitive=("note",)))
    order = np.arange(200)[::-1].copy()
    return list(few_mentions(table, table.taken(order).without(("name",)), order))


def test_one_or_two_texts_with_the_name_of_their_row_are_a_warning():
    one = {5: ("山田 太郎", "山田さんは元気。")}
    (said,) = warned(one)
    assert "Column note holds a word of the name of the row in its texts, in 1 of 200 rows." in said
    (said,) = warned(one | {9: ("Sora Kim", "Ms Kim was calm.")})
    assert "in 2 of 200 rows" in said
    assert "山田" not in said


def test_no_texts_or_many_with_the_name_of_their_row_are_no_warning():
    assert warned({}) == []
    assert warned({5: ("山田 太郎", "佐藤さんは元気。")}) == []
    assert warned({row: (f"Sora {one}", f"{one} came.") for row, one in enumerate(names(5, 9))}) == []
    assert warned(dict.fromkeys(range(0, 200, 2), ("Ann Day", "A day of rest."))) == []
