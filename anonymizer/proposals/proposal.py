"""A whole specification that is proposed for a table, tried on it, and written with comments."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from typing import Any, Final

import numpy as np
import tomli_w

from anonymizer.errors import TableError, list_names
from anonymizer.gate.looks import MAX_ROWS, inspect
from anonymizer.gate.names import RULE
from anonymizer.gate.relations import determines_both_ways
from anonymizer.pipelines.spec import Spec, parse
from anonymizer.proposals.hierarchies import Suggestion, suggest_hierarchy
from anonymizer.proposals.profiles import Profile, profile, together, with_numbering
from anonymizer.proposals.roles import (
    Proposed,
    needs_guess,
    perhaps_person,
    person_of,
    propose_roles,
    with_guesses,
)
from anonymizer.tables.roles import Roles
from anonymizer.tables.sums import caution_of_sums, sums_of
from anonymizer.tables.table import Table
from commons.tabular.cells import lost_by_limits
from commons.tabular.column_names import Role
from commons.tabular.dialect import Dialect

ROLES: Final[tuple[Role, ...]] = ("identifiers", "quasi_identifiers", "sensitive")
K: Final = 5
MAX_FREE: Final = 5
"""Columns without a role, or with a guessed one, from which on what they single out together is said."""
_CHOICES: Final = 100_000
_SMALL: Final = 60
_SPELLING: Final = re.compile(r"[\W_]+")
_NO_STEP: Final = (
    "No column could be proposed as a quasi-identifier, and so no step: this draft says what to take out, "
    "and releases nothing. Give the columns that an attacker may know that role, with hierarchies, and "
    "write a step; or add columns."
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed for a table.

    Attributes:
        dialect: of the file.
        columns: roles in the order of the table.
        hierarchies: of the quasi-identifiers.
        figures: distinction and separation of growing sets of quasi-identifiers, the best first.
        method: of the step that is proposed; empty for none, where no column can become coarser.
        k: of the step.
        rows: of the table.
        loose: rows that the columns without a role, or with a guessed one, together single out.
        doubt: what to know of how the file was read.
        sums: what the last rows begin with, if they look like sums below the table.
    """

    dialect: Dialect
    columns: tuple[Proposed, ...]
    hierarchies: Mapping[str, Suggestion] = field(repr=False)
    figures: tuple[tuple[str, float, float], ...]
    method: str
    k: int
    rows: int
    loose: int = 0
    doubt: str = ""
    sums: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know besides: of encodings, sums, values below limits, and columns without a role."""
        said = (
            self.doubt,
            caution_of_sums(self.sums),
            lost_by_limits(self.dialect.writing.missing_tokens),
            "" if self.method else _NO_STEP,
            self._of_persons(),
            self._of_spellings(),
            self._of_short_years(),
            self._of_free(),
        )
        return tuple(filter(None, said))

    def _of_persons(self) -> str:
        """Where persons seem to have several rows, and nothing can be proposed that says whose they are."""
        found = perhaps_person(self.columns)
        if found is None:
            return ""
        entry = tomli_w.dumps({"person": found.name}).strip()
        gaps = f" and once its {found.missing:,} empty cells are filled or left out" if found.missing else ""
        return (
            f"k counts rows, and an identifier has up to {int(found.counts.max()):,} rows of one value, so "
            f"that rows alike may be those of one person: if so{gaps}, write {entry} below [roles]."
        )

    def _of_spellings(self) -> str:
        """Where values that say whose a row is differ by how they are written alone."""
        if self.person is None:
            return ""
        texts = self.person.texts
        meant = len({_SPELLING.sub("", text.casefold()) for text in texts})
        if meant == len(texts):
            return ""
        return (
            f"The {len(texts):,} values of {self.person.name}, each of which counts as a person of its own, "
            f"are {meant:,} without regard to capitals, blanks, points and hyphens: if those are the same "
            "persons, write them alike in the source, or k counts some of them twice."
        )

    def _of_short_years(self) -> str:
        columns = [one.profile for one in self.columns if one.role == "quasi_identifiers"]
        found = [one.name for one in columns if any("%y" in form for form in one.date_formats)]
        if not found:
            return ""
        return (
            f"The years of {list_names(found)} have two digits: those up to 68 are read as of 2000 to 2068, "
            "and births before 1969 get wrong labels. Write years of four digits in the source."
        )

    def _of_free(self) -> str:
        free = _free(self.columns)
        if len(free) <= MAX_FREE or not self.loose:
            return ""
        return (
            f"{len(free)} columns say nothing of their role and are released as they are; together they "
            f"single out {self.loose:,} of {self.rows:,} rows. Name those among the quasi-identifiers that "
            "an attacker may know."
        )

    def names(self, role: Role) -> list[str]:
        """The columns of a role."""
        return [one.name for one in _profiles(self.columns, role)]

    @property
    def person(self) -> Profile | None:
        """The column that says whose a row is, where persons seem to have several."""
        return person_of(self.columns)

    @property
    def document(self) -> dict[str, Any]:
        """The specification as plain values."""
        roles: dict[str, Any] = {role: self.names(role) for role in ROLES if self.names(role)}
        if self.person is not None:
            roles["person"] = self.person.name
        gaps = [one for one in _profiles(self.columns, "quasi_identifiers") if one.missing]
        found: dict[str, Any] = {"csv": self.dialect.entries(), "roles": roles}
        found["columns"] = {one.name: {"missing": "value"} for one in gaps}
        if self.person is not None and self.person.missing:
            found["columns"][self.person.name] = {"missing": "drop"}
        found["hierarchies"] = {name: dict(one.declared) for name, one in self.hierarchies.items()}
        found["steps"] = [{"method": self.method, "k": self.k}] if self.method else []
        return {key: value for key, value in found.items() if value}

    @property
    def specification(self) -> Spec:
        """The specification, checked.

        Raises:
            SpecError: it has no step.
        """
        return parse(self.document, Path(), "the proposal")


def propose(table: Table, dialect: Dialect, doubt: str = "") -> Proposal:
    """Propose a specification, and correct it until a release by it passes the looks of the gate.

    Args:
        table: as it was read.
        dialect: of its file.
        doubt: what to know of how the file was read.

    Raises:
        TableError: it has fewer than two rows.
    """
    if len(table) < 2:
        raise TableError(f"The table has {len(table)} rows.", "Give the whole table: nobody hides alone.")
    profiles = with_numbering(table, [profile(table, name) for name in table.names])
    columns = tuple(propose_roles(profiles, _copies(table, profiles)))
    while True:  # each round moves a column nearer to being taken out
        found = _proposal(table, dialect, columns)
        if not found.method:
            return replace(found, columns=with_guesses(columns), doubt=doubt, sums=sums_of(table))
        better = _correct(table, found)
        if better == columns:
            # only now, as the gate asks less of sensitive columns than of those without a role
            return replace(found, columns=with_guesses(columns), doubt=doubt, sums=sums_of(table))
        columns = better


def _copies(table: Table, profiles: Sequence[Profile]) -> dict[str, str]:
    """Of columns of many values another one that they rename, value by value."""
    part = table if len(table) <= MAX_ROWS else table.take(np.arange(MAX_ROWS))
    many = [one.name for one in profiles if len(one.counts) > _SMALL and one.look != "nested"]
    codes = {name: part.codes(name).codes for name in many}
    found: dict[str, str] = {}
    for one, other in permutations(many, 2):
        if one not in found and determines_both_ways(codes[one], codes[other]):
            found[one] = other
    return found


def _profiles(columns: Sequence[Proposed], role: Role) -> list[Profile]:
    """The columns of a role, those of which it is a guess last."""
    return [one.profile for one in sorted(columns, key=lambda one: one.is_guess) if one.role == role]


def _proposal(table: Table, dialect: Dialect, columns: tuple[Proposed, ...]) -> Proposal:
    quasi = _profiles(columns, "quasi_identifiers")
    hierarchies = {one.name: suggest_hierarchy(table, one, _target(columns, one)) for one in quasi}
    return Proposal(
        dialect=dialect,
        columns=columns,
        hierarchies=hierarchies,
        figures=_figures(table, quasi),
        method=_method(table, tuple(one.name for one in quasi), hierarchies) if quasi else "",
        k=max(2, min(K, len(table) // 2)),
        rows=len(table),
        loose=_alone(table, _free(columns)),
    )


def _free(columns: Sequence[Proposed]) -> list[str]:
    """The columns without a role, or with a guessed one."""
    return [one.profile.name for one in columns if not one.role or one.is_guess]


def _alone(table: Table, names: Sequence[str]) -> int:
    """Rows that no other row is like in some columns; a missing cell counts as a value."""
    if not names:
        return 0
    cells = np.stack([table.codes(name).codes for name in names], axis=1)
    return int((np.unique(cells, axis=0, return_counts=True)[1] == 1).sum())


def _method(table: Table, names: tuple[str, ...], hierarchies: Mapping[str, Suggestion]) -> str:
    """Local recoding loses least and looks at all choices of levels; Mondrian does not."""
    document = {name: dict(one.declared) for name, one in hierarchies.items()}
    built = parse({"hierarchies": document, "steps": [{"method": "mondrian"}]}, Path()).hierarchies
    fitted = table.declare(Roles(quasi_identifiers=names), built).hierarchies
    choices = math.prod(one.height + 1 for one in fitted.values())
    return "local-recoding" if choices <= _CHOICES else "mondrian"


def _target(columns: Sequence[Proposed], own: Profile) -> str | None:
    """The column by which values of another are grouped: a sensitive one, else a small category."""
    fit = [one for one in columns if one.profile.name != own.name and 1 < len(one.profile.counts) <= _SMALL]
    fit = [one for one in fit if one.profile.look != "nested"]
    fit.sort(key=lambda one: (one.role != "sensitive", one.role != "", len(one.profile.counts)))
    return fit[0].profile.name if fit else None


def _figures(table: Table, quasi: Sequence[Profile]) -> tuple[tuple[str, float, float], ...]:
    order = sorted(quasi, key=lambda one: -one.separation)
    found = []
    for count in range(1, len(order) + 1):
        names = tuple(one.name for one in order[:count])
        found.append((order[count - 1].name, *together(table, names)))
    return tuple(found)


def _correct(table: Table, tried: Proposal) -> tuple[Proposed, ...]:
    """The columns with other roles where the looks of the gate find that they tell what is withheld."""
    spec = tried.specification
    original = table.declare(spec.roles, spec.hierarchies, spec.schema)
    made = spec.pipeline().release(original)
    released = made.table
    reasons: dict[str, str] = {}
    # numbers that single out most rows and have no role yet: they get one in the end, as a guess
    waiting = {one.profile.name for one in tried.columns if needs_guess(one) and not one.profile.singling}
    for finding in inspect(original, released, origin=made.origin, ordered=True):
        # of what several columns tell together the first one is enough
        name = finding.column or next(iter(finding.together), None)
        if name is not None and not (finding.rule == RULE and name in waiting):
            reasons.setdefault(name, finding.what)
    changed = []
    for one in tried.columns:
        name = one.profile.name
        if name not in reasons or one.role == "identifiers":
            changed.append(one)
            continue
        joins = one.role != "quasi_identifiers" and _may_join(one.profile)
        role: Role = "quasi_identifiers" if joins else "identifiers"
        changed.append(replace(one, role=role, why=reasons[name].rstrip(".")))
    return tuple(changed)


def _may_join(found: Profile) -> bool:
    """Whether a column that tells another is better protected with it than taken out."""
    return found.look in ("number", "date", "code", "category") and not found.identifying
