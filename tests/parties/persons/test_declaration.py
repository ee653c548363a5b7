"""`persons.toml` is read strictly: what is wrong is named with its place and a hint."""

from __future__ import annotations

import datetime as dt

import pytest

from parties.errors import ConfigError
from parties.person_roles import PersonRole
from parties.persons.declaration import MAX_BYTES, parse_persons
from parties.persons.roles import Act
from parties.policy.rules import parse_policy
from tests.parties.persons.made import KEYS, key, persons_toml

WEBER = '[persons.weber]\nname = "Dr Weber"\nroles = ["steward"]\nkey = "{key}"\n'.format(
    key=KEYS["weber"].public.text
)
AWAY = "[[persons.weber.absences]]\nfrom = 2027-07-01\nuntil = 2027-07-21\n"


def test_the_whole_file():
    persons = parse_persons(persons_toml(weber=AWAY + 'delegate = "klein"\n').encode())
    weber = persons.persons["weber"]
    assert (weber.name, weber.roles, weber.key) == (
        "Dr Weber",
        frozenset({PersonRole.STEWARD}),
        (KEYS["weber"].public,),
    )
    assert [
        weber.absence(dt.date(2027, month, day)) is not None
        for month, day in ((6, 30), (7, 1), (7, 21), (7, 22))
    ] == [
        False,
        True,
        True,
        False,
    ]
    assert persons.of_role(PersonRole.STEWARD, dt.date(2027, 7, 2)) == ["klein"]
    assert weber.may(Act.APPROVE)
    assert not weber.is_valid(dt.date(2030, 1, 1)) or weber.until is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "persons"),
        ("[persons]\n", "persons"),
        (WEBER + "age = 3\n", "age"),
        (WEBER.replace("steward", "boss"), "boss"),
        (WEBER.replace('["steward"]', "[]"), "roles"),
        (WEBER.replace("Dr Weber", "Dr\\u202eWeber"), "name"),
        (WEBER.replace("persons.weber", 'persons."Weber W"'), "Weber W"),
        (WEBER.replace("ed25519:", "ed448:"), "key"),
        (WEBER.replace(f'"{KEYS["weber"].public.text}"', "[]"), "key"),
        (WEBER.replace("steward", "viewer"), "steward"),
        (WEBER + 'until = "soon"\n', "until"),
        (WEBER + WEBER.replace("persons.weber", "persons.other"), "key"),
        (WEBER + AWAY.replace("2027-07-21", "2027-06-21"), "until"),
        (WEBER + AWAY + 'delegate = "nobody"\n', "delegate"),
        (WEBER + AWAY + 'delegate = "weber"\n', "delegate"),
        (persons_toml(weber=AWAY + 'delegate = "vogt"\n'), "delegate"),
        (
            persons_toml(weber=AWAY + 'delegate = "adler"\n').replace(
                'roles = ["analyst"]', 'roles = ["auditor"]'
            ),
            "delegate",
        ),
        ("#" * (MAX_BYTES + 1), "longer"),
    ],
)
def test_what_is_wrong_is_named(text, what):
    with pytest.raises(ConfigError) as caught:
        parse_persons(text.encode())
    assert what in caught.value.what, caught.value
    assert caught.value.what.startswith("persons.toml")
    assert caught.value.hint


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ConfigError, match="UTF-8"):
        parse_persons(b"\xff")


def test_several_keys_are_one_persons():
    second = key(60).public
    text = WEBER.replace(
        f'"{KEYS["weber"].public.text}"', f'["{KEYS["weber"].public.text}", "{second.text}"]'
    )
    found = parse_persons(text.encode())
    assert found.find(second)[0] == found.find(KEYS["weber"].public)[0] == "weber"


RULE = {
    "name": "r", "analyses": ["statistics"], "peers": ["south"], "datasets": ["patients"],
    "columns": ["age"], "recipients": ["both"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("approval", "needs", "count"),
    [
        ("auto", False, None),
        ("person", True, None),
        ({"role": "steward", "count": 2}, True, 2),
        ({}, True, 1),
    ],
)
def test_a_rule_says_who_approves(approval, needs, count):
    rule = parse_policy({"rules": [{**RULE, "approval": approval}]}, "policy.toml").rules[0]
    assert (rule.needs_person, getattr(rule.needed, "count", None)) == (needs, count)


@pytest.mark.parametrize(
    "approval",
    [
        "nobody",
        2,
        ["auto"],
        {"role": "viewer"},
        {"role": "boss"},
        {"count": 0},
        {"count": 21},
        {"who": "weber"},
    ],
)
def test_another_approval_is_refused(approval):
    with pytest.raises(ConfigError) as caught:
        parse_policy({"rules": [{**RULE, "approval": approval}]}, "policy.toml")
    assert "rule 1" in caught.value.what
    assert caught.value.hint
