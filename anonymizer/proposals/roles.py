"""Roles that are proposed for columns, by their names and by how well they tell rows apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from anonymizer.proposals.profiles import Profile

Role = Literal["identifiers", "quasi_identifiers", "sensitive", ""]

IDENTIFYING: Final = re.compile(
    r"(^|_)(id|ids|nr|nbr|no|num|number|key|uuid|guid|name|names|surname|forename|firstname|lastname|givenname|mail|"
    r"email|phone|telephone|mobile|fax|ssn|soc|mrn|passport|licen[cs]e|iban|account|address|street|url|ip|username|"
    r"login|device|plate|vin|insurance)(_|$|\d)"
)
_CERTAIN: Final = re.compile(r"(^|_)(id|uuid|guid|ssn|email|phone|iban|mrn)$")
KNOWN: Final = re.compile(
    r"(^|_)(age|alter|birth\w*|dob|born|sex|gender|geschlecht|race|ethnic\w*|nation\w*|native|country|land|region|state|"
    r"province|county|city|town|suburb|village|area|zip\w*|post\w*|plz|ort|marital\w*|family|relationship|education\w*|"
    r"school\w*|degree|occupation|job|profession|work\w*|employ\w*|industry|household\w*|home|kids|children|language|"
    r"height|weight|admi\w*|discharge\w*|date|hours|residence|bpl|qob|student|economic|social)(_|$|\d)"
)
SECRET: Final = re.compile(
    r"(^|_)(diag\w*|disease\w*|illness\w*|ill|condition\w*|icd\w*|symptom\w*|salary|income|wage\w*|earn\w*|religion\w*|"
    r"orientation|hiv|medication\w*|drug\w*|crime\w*|health\w*|outcome|readmitted|credit|debt|balance|vote\w*|party|"
    r"result|quality|agi|taxinc)(_|$|\d)"
)
MAX_QUASI_IDENTIFIERS: Final = 12
"""Quasi-identifiers up to which columns are added whose names say nothing: of more, little is left."""
MIN_QUASI_IDENTIFIERS: Final = 2
_DISTINCT: Final = 0.05
_FEW: Final = 60


@dataclass(frozen=True, slots=True)
class Proposed:
    """The role of a column.

    Attributes:
        profile: of the column.
        role: empty for none, and then it is released as it is.
        why: for people.
    """

    profile: Profile
    role: Role
    why: str


def proposed(profiles: Sequence[Profile]) -> list[Proposed]:
    """The role of each column, in their order."""
    found = {one.name: _by_itself(one) for one in profiles}
    count = sum(one.role == "quasi_identifiers" for one in found.values())
    left = [one for one in found.values() if not one.role and not one.why]
    left.sort(key=lambda one: -one.profile.separation)
    for place, one in enumerate(left[: max(0, MAX_QUASI_IDENTIFIERS - count)]):
        if place < MIN_QUASI_IDENTIFIERS - count or one.profile.distinction > _DISTINCT:
            found[one.profile.name] = replace(
                one, role="quasi_identifiers", why="tells rows apart better than others"
            )
    if not any(one.role == "quasi_identifiers" for one in found.values()):
        given = [one for one in found.values() if one.profile.look != "nested"]
        least = min(given, key=lambda one: (one.profile.distinction, one.role == "sensitive"), default=None)
        if least is not None:
            found[least.profile.name] = replace(
                least, role="quasi_identifiers", why="no other column can be kept and protected"
            )
    return list(found.values())


def _by_itself(profile: Profile) -> Proposed:
    role, why = _role(profile)
    return Proposed(profile, role, why)


def _role(profile: Profile) -> tuple[Role, str]:
    """The role of a column by itself, and why."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])|[^0-9A-Za-z]+", "_", profile.name).lower()
    named = _CERTAIN.search(word) or (IDENTIFYING.search(word) and not KNOWN.search(word))
    is_date = profile.look == "date"
    if profile.look == "nested":
        return "identifiers", "holds lists or bytes, of which nothing can be said"
    if len(profile.counts) <= 1:
        return "", "has one value at most"
    rules: tuple[tuple[object, Role, str], ...] = (
        (named and len(profile.counts) > _FEW and not is_date, "identifiers", "is called like an identifier"),
        (profile.identifying and not is_date, "identifiers", f"holds values that {profile.identifying}"),
        (profile.look == "text", "identifiers", "holds texts of many kinds, which may name persons"),
        (SECRET.search(word), "sensitive", "is called like what an attacker wants to learn"),
        (
            KNOWN.search(word) or is_date,
            "quasi_identifiers",
            "is called like what an attacker may know of a person",
        ),
    )
    return next(((role, why) for holds, role, why in rules if holds), ("", ""))
