from __future__ import annotations

import pytest

from smc.errors import UsageError
from smc.forms import NAMED, ComparisonType, Form, Holding, Role, all_types


def test_there_are_216_types_and_42_of_them_are_trivial() -> None:
    types = list(all_types())
    assert len(set(types)) == 216
    trivial = {(t.x.value, t.y.value) for t in types if t.is_trivial}
    assert trivial == {
        ("PN", "PN"), ("PP", "PN"), ("PN", "PP"), ("NP", "NP"), ("PP", "NP"), ("NP", "PP"), ("PP", "PP"),
    }  # fmt: skip
    assert sum(t.is_trivial for t in types) == 42


def test_holdings_of_the_six_forms() -> None:
    table = {f.value: (f.holding(Role.ALICE), f.holding(Role.BOB)) for f in Form}
    assert table == {
        "ES": (Holding.CIPHERTEXT, Holding.SECRET_KEY),
        "SE": (Holding.SECRET_KEY, Holding.CIPHERTEXT),
        "SS": (Holding.SHARE, Holding.SHARE),
        "PN": (Holding.PLAIN, Holding.NOTHING),
        "NP": (Holding.NOTHING, Holding.PLAIN),
        "PP": (Holding.PLAIN, Holding.PLAIN),
    }


def test_mirror_exchanges_the_parties() -> None:
    for kind in all_types():
        mirror = kind.mirror
        assert mirror.mirror == kind
        assert ComparisonType.parse(str(kind)) == kind
        assert mirror.is_trivial is kind.is_trivial, kind
        forms = zip((kind.x, kind.y, kind.delta), (mirror.x, mirror.y, mirror.delta), strict=True)
        for form, mirrored in forms:
            assert all(form.holding(role) is mirrored.holding(role.other) for role in Role), kind
            assert {role.other for role in form.sees} == set(mirrored.sees), kind


def test_names_of_the_thesis() -> None:
    assert {name: str(kind) for name, kind in NAMED.items()} == {
        "type 1": "SS-SS-SS",
        "type 2": "SE-SE-SE",
        "type 3": "PN-NP-SE",
        "type 4": "PN-NP-SS",
        "type 5": "PN-NP-NP",
        "type 6": "PN-SE-SS",
        "type 7": "PP-SS-ES",
        "type 8": "SE[bits]-SE-SE",
    }
    assert ComparisonType.parse("Type 4").name == "type 4"
    assert ComparisonType.parse("se[bits]-se-se") == NAMED["type 8"]
    assert NAMED["type 8"] not in set(all_types())


@pytest.mark.parametrize(
    "text",
    ["", "SS", "SS-SS", "SS-SS-SS-SS", "SS-XX-SS", "SN-SS-SS", "type 9", "SS-SE[bits]-SS", "PN[bits]-NP-NP"],
)
def test_what_is_no_type(text: str) -> None:
    with pytest.raises(UsageError, match="is not a comparison type"):
        ComparisonType.parse(text)
