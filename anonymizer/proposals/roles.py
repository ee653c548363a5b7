"""Roles that are proposed for columns, by their names and by how well they tell rows apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from anonymizer.gate.forms import IN_SOME
from anonymizer.gate.names import OF_NAMES
from anonymizer.gate.persons import FEW_PERSONS, OF_EACH_PERSON
from anonymizer.gate.traces import GIVEN_OUT
from anonymizer.proposals.profiles import Profile
from commons.tabular.column_names import Role, is_called, kinds_of

MAX_QUASI_IDENTIFIERS: Final = 12
"""Quasi-identifiers up to which columns are added whose names say nothing: of more, little is left."""
MIN_QUASI_IDENTIFIERS: Final = 2
_NAMES: Final = ("surname", "given_name", "full_name", "street")
"""Of which several equal ones need not be one person; so are streets."""
_ACCOUNTS: Final = ("account", "mail", "phone")
_NONE: Final[Mapping[str, str]] = {}
_NOBODYS: Final = 0.1
"""Rows that are nobody's, by those that are somebody's, up to which it is proposed to leave them out."""
_DISTINCT: Final = 0.05
_BATTERY: Final = 10
"""Values of columns that may belong to one battery, such as the states of a drug or the answers of a form."""
_UNKNOWN: Final = "nothing says what it tells of a person"
_REPEATED: Final = 2.0
"""Rows of a value on average, from which on texts repeat."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """The role of a column.

    Attributes:
        profile: of the column.
        role: empty for none, and then it is released as it is.
        why: for people.
        is_guess: whether nothing but the want of any other sign speaks for the role.
    """

    profile: Profile
    role: Role
    why: str
    is_guess: bool = False


def propose_roles(profiles: Sequence[Profile], copies: Mapping[str, str] = _NONE) -> list[Proposed]:
    """The role of each column, in their order.

    Args:
        profiles: of all columns.
        copies: of columns that rename another, such as a logarithm, that other one.
    """
    found = {one.name: _by_itself(one) for one in profiles}
    found |= {one.profile.name: one for one in _alike(found)}
    for name, other in copies.items():
        if found[other].role == "sensitive" and not found[name].role and not found[name].why:
            found[name] = replace(found[name], role="sensitive", why=f"tells {other} one by one")
    count = sum(one.role == "quasi_identifiers" for one in found.values())
    left = [one for one in found.values() if not one.role and not one.why and not _is_measured(one.profile)]
    left.sort(key=lambda one: -one.profile.separation)
    for place, one in enumerate(left[: max(0, MAX_QUASI_IDENTIFIERS - count)]):
        if place < MIN_QUASI_IDENTIFIERS - count or one.profile.distinction > _DISTINCT:
            found[one.profile.name] = replace(
                one, role="quasi_identifiers", why="tells rows apart better than others"
            )
    if not any(one.role == "quasi_identifiers" for one in found.values()):
        whole = [one for one in found.values() if one.profile.look != "nested"]
        given = [one for one in whole if not (one.profile.naming or one.profile.numbering)]
        least = min(given, key=lambda one: (one.profile.distinction, one.role == "sensitive"), default=None)
        if least is not None:
            found[least.profile.name] = replace(
                least, role="quasi_identifiers", why="no other column can be kept and protected"
            )
    return list(found.values())


def with_guesses(columns: Sequence[Proposed]) -> tuple[Proposed, ...]:
    """The columns, of which those that nothing speaks for or against are sensitive, as a guess.

    They tell something of a person that nobody may know beforehand. Only what says how the table was made, or
    is the same in every row, remains without a role, unless it singles out most rows: then it is a guess too.
    """
    return tuple(
        replace(one, role="sensitive", why=_guess(one), is_guess=True) if needs_guess(one) else one
        for one in columns
    )


def needs_guess(one: Proposed) -> bool:
    """Whether nothing has said the role of a column that is not to leave without one."""
    return not one.role and (not one.why or one.profile.is_mostly_alone)


def _guess(one: Proposed) -> str:
    if not one.profile.is_mostly_alone:
        return _UNKNOWN
    return f"{one.why or _UNKNOWN}, and singles out most rows"


def person_of(columns: Sequence[Proposed]) -> Profile | None:
    """The identifier that says whose a row is where persons have several rows; None if none seems to.

    A few rows may say nothing of whose they are: they are to be left out.
    """
    found = [one for one in _repeating(columns) if one.missing <= _NOBODYS * one.counts.sum()]
    called = _most_values(one for one in found if is_called(one.name, "person"))
    return called or _most_values(one for one in found if one.numbering.startswith(OF_EACH_PERSON))


def perhaps_person(columns: Sequence[Proposed]) -> Profile | None:
    """What may say whose a row is, where nothing surely does: an identifier that repeats, or has many gaps.

    Where a cell of it is empty somebody has to fill it, or to leave its row out, before it can.
    """
    if person_of(columns) is not None:
        return None
    found = [*_repeating(columns)]
    return _most_values(one for one in found if is_called(one.name, "person")) or _most_values(found)


def _repeating(columns: Sequence[Proposed]) -> Iterator[Profile]:
    """The identifiers of which a value has several rows: numbers, keys, accounts and the like; no names."""
    for one in columns:
        found = one.profile
        is_key = bool(found.numbering)
        is_key |= found.naming not in ("", OF_NAMES) and IN_SOME not in found.naming
        is_known = is_called(found.name, "identifier", "person", *_ACCOUNTS) or is_key
        if (
            one.role == "identifiers"
            and len(found.counts) > FEW_PERSONS
            and found.counts.max(initial=0) > 1
            and is_known
            and not is_called(found.name, *_NAMES)
        ):
            yield found


def _most_values(profiles: Iterable[Profile]) -> Profile | None:
    return max(profiles, key=lambda one: len(one.counts), default=None)


def _is_measured(profile: Profile) -> bool:
    """Whether a column of numbers singles out most rows, as laboratory values do that nobody knows."""
    return profile.look == "number" and profile.is_mostly_alone


def _by_itself(profile: Profile) -> Proposed:
    role, why = _role(profile)
    return Proposed(profile, role, why)


def _role(profile: Profile) -> tuple[Role, str]:
    """The role of a column by itself, and why."""
    called = {kind.role for kind in kinds_of(profile.name)}
    is_design = is_called(profile.name, "design") and not called - {""}
    is_key = is_called(profile.name, "identifier")
    is_date = profile.look == "date"
    is_known = is_date or bool(called & {"quasi_identifiers", "sensitive"})
    if profile.look == "nested":
        return "identifiers", "holds lists, records or bytes, of which nothing can be said"
    if profile.naming:
        return "identifiers", profile.naming
    if profile.numbering:
        return "identifiers", profile.numbering
    if len(profile.counts) <= 1:
        return "", "has one value at most"
    found = profile.identifying
    is_quasi = is_date or "quasi_identifiers" in called
    looks_given_out = found and not is_date and (not is_known or "look like" in found)
    looks_given_out = looks_given_out or (GIVEN_OUT in found and not is_quasi)
    rules: tuple[tuple[object, Role, str], ...] = (
        (looks_given_out, "identifiers", f"holds values that {found}"),
        (profile.singling and (is_key or not is_known), "identifiers", profile.singling),
        (
            profile.look == "text" and profile.repetition < _REPEATED and not called & {"quasi_identifiers"},
            "identifiers",
            "holds texts that hardly repeat, which may name persons",
        ),
        (is_date, "quasi_identifiers", "holds dates, which an attacker may know of a person"),
        (is_design, "", "is called like what says how the table was made"),
        ("sensitive" in called, "sensitive", "is called like what an attacker wants to learn"),
        (profile.is_medical_code, "sensitive", "holds medical codes, like those of ICD, ATC or LOINC"),
        (
            "quasi_identifiers" in called,
            "quasi_identifiers",
            "is called like what an attacker may know of a person",
        ),
        (profile.look == "text", "quasi_identifiers", "holds texts of many kinds, which may find persons"),
    )
    return next(((role, why) for holds, role, why in rules if holds), ("", ""))


def _alike(found: Mapping[str, Proposed]) -> Iterator[Proposed]:
    """The columns without a role that hold the same few texts as several sensitive ones, as drugs do."""
    small = {
        name: set(one.profile.texts)
        for name, one in found.items()
        if one.profile.look == "category" and 1 < len(one.profile.counts) <= _BATTERY
    }
    for name, own in small.items():
        if found[name].role or found[name].why:
            continue
        near = [other for other, texts in small.items() if other != name and (own <= texts or texts <= own)]
        roles = Counter(found[other].role for other in near)
        if roles["sensitive"] >= 2 and roles["sensitive"] > roles["quasi_identifiers"]:
            first = next(other for other in near if found[other].role == "sensitive")
            why = f"holds the same values as {first} and others that an attacker wants to learn"
            yield replace(found[name], role="sensitive", why=why)
