"""What names and cells suggest: units, codes for missing cells, and which columns a person has to choose."""

from __future__ import annotations

import pytest

from parties.catalog.drafting.sniffing import infer
from parties.catalog.drafting.suggesting import codes_in, is_asked_for, unit_in


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("Gewicht (kg)", "kg"),
        ("Poids [kg]", "kg"),
        ("Kreatinin (mg/dl)", "mg/dl"),
        ("Créatinine µmol/l", "µmol/l"),
        ("Kosten EUR", "EUR"),
        ("HbA1c [%]", "%"),
        ("Größe_cm", "cm"),
        ("BMI (kg/m²)", "kg/m²"),
        ("Alter", ""),
        ("Datum (TT.MM.JJJJ, laut Akte)", ""),
        ("Typ A", ""),
    ],
)
def test_the_unit_of_a_name(name, unit):
    assert unit_in(name) == unit


def codes(*cells):
    counts = {str(cell): cells.count(cell) for cell in cells}
    return [(code.text, code.count, code.nearest) for code in codes_in(infer("x", counts).column, counts)]


AGES = [*range(20, 97)]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([*AGES, 999, 999], [("999", 2, "96")]),
        ([*AGES, 998, 999, 998, 999], [("998", 2, "96"), ("999", 2, "96")]),
        ([*AGES, -9, -9], [("-9", 2, "20")]),
        ([*AGES, -1, -1, 999, 999], [("999", 2, "96"), ("-1", 2, "20")]),
        ([0, 1, 0, 1, 9, 9], [("9", 2, "1")]),
        ([*AGES, 999], []),  # once is no custom
        ([*AGES, 500, 500], []),  # nobody writes that
        ([*range(0, 1000, 3), 999], []),
        ([-99, -50, 0, 50, -99], []),
        ([9, 9], []),
    ],
)
def test_codes_are_customary_frequent_and_far_away(cells, found):
    assert codes(*cells) == found


def test_persons_and_free_text_are_for_a_person_to_choose():
    remarks = {"Bett am Fenster bitte": 4, "ruft morgen noch einmal an": 5}
    asked = {"Nachname": {"Weiss": 3}, "PatNr": {"1": 1, "2": 1}, "Bemerkung": remarks, "Alter": {"20": 3}}
    chosen = {name: is_asked_for(infer(name, cells).column) for name, cells in asked.items()}
    assert chosen == {"Nachname": True, "PatNr": True, "Bemerkung": True, "Alter": False}


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Remarque",
            "Bemerkung",
            "Notizen (Arzt)",
            "Admission notes",
            "free_text",
            "Observación",
            "Commenti",
        ),
        *("Opmerkingen", "備考", "COMMENT"),
    ],
)
def test_what_people_write_beside_is_free_text_however_short(name):
    """Its labels would be shown to the peer."""
    cells = {"rief an": 3, "siehe Akte": 5, None: 40}
    assert not is_asked_for(infer("Station", cells).column)
    assert is_asked_for(infer(name, cells).column)


@pytest.mark.parametrize(
    ("cells", "is_asked"),
    [
        ({str(80_000_000_003 + 7 * n): 1 for n in range(40)}, True),  # national numbers
        ({str(8_000_003 + 7 * n): 3 for n in range(40)}, False),  # they repeat, as measurements do
        ({str(150_001 + 7 * n): 1 for n in range(40)}, False),  # platelets
        ({str(1_000_000 + 1000 * n): 1 for n in range(40)}, False),  # incomes
        ({str(9_999_990 + n): 1 for n in range(40)}, False),  # of two lengths
        (dict.fromkeys(("Kowalski", "Gęś", "Łuczak", "Żak", "Nowak-Lis", "Wójcik"), 3), True),
        (dict.fromkeys(("Kardiologie", "Chirurgie", "Urologie", "Innere", "Augen"), 30), False),
        (dict.fromkeys(("Ja", "Nein", "Weiß nicht"), 3), False),
        (dict.fromkeys(("sehr gut", "gut", "mittel", "schlecht", "keine"), 3), False),
    ],
)
def test_what_looks_like_persons_is_asked_for_whatever_it_is_called(cells, is_asked):
    assert is_asked_for(infer("Merkmal", cells).column, cells) is is_asked


@pytest.mark.parametrize(
    "name",
    [
        "Nazwisko",
        "Imię",
        "PESEL",
        "Nr pacjenta",
        "Příjmení",
        "Förnamn",
        "Fødselsnummer",
        "SOYADI",
        "Henkilötunnus",
    ],
)
def test_the_commonest_words_for_persons_are_known_in_other_languages(name):
    assert is_asked_for(infer(name, {"a": 30, "b": 40}).column)


@pytest.mark.parametrize("name", ["Notaufnahme", "Station", "Denote", "Fumeur ?"])
def test_other_names_are_not_those_of_remarks(name):
    assert not is_asked_for(infer(name, {"ja": 3, "nein": 5}).column)


def test_not_determined_is_missing():
    cells = {"<1,0": 30, ">30": 20, "n.d.": 60, **{f"{n},5": 3 for n in range(30)}}
    found = infer("CRP (mg/l)", cells).column
    assert (found.type, {"<1,0", ">30", "n.d."} <= {*found.tokens}) == ("decimal", True)
