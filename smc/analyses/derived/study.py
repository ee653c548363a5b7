"""A study over derived columns: the same study, which finds them among its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from typing_extensions import override

from smc.analyses.derived.columns import Derived, parse_derived
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import MARK, PERSONS, Column, Data, Schema, missing_mark
from smc.analyses.studies.facts import Facts, Stated
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Estimate, Leakage, Preview, Study
from smc.analyses.studies.traced import estimate_cost
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session

KEY: Final = "derived"
"""The table below `[parameters]`."""


@dataclass(frozen=True, slots=True)
class DerivedStudy(Study):
    """A study of which some columns are derived.

    A derived cell depends on cells of its row, so neighbours of the local columns are neighbours of the
    derived ones: what the study says of its loss holds.

    Attributes:
        study: the study that works on them.
        derived: the columns, each after those that it is derived from.
    """

    study: Study
    derived: tuple[Derived, ...]

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The columns of each role, with those that others are derived from instead of these."""
        return {role: self._sources(names) for role, names in self.study.columns.items()}

    @property
    @override
    def longest(self) -> Study | None:
        longest = self.study.longest
        return None if longest is None else replace(self, study=longest)

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that what columns are derived from is there and fits, and what the study checks."""
        for each in self.derived:
            self._check_sources(each, {Role.ALICE: alice, Role.BOB: bob})
            for source in each.sources:
                units = {schemas[source].unit for schemas in (alice, bob) if source in schemas}
                if len(units) > 1 and all(self.needs(role, each.name) for role in Role):
                    raise UsageError(
                        f"derived.{each.name}: Alice and Bob declare the unit of {source!r} differently.",
                        "Declare it alike.",
                    )
        first, second = (
            self._wanted_schemas(self._schemas(schemas), role)
            for role, schemas in zip(Role, (alice, bob), strict=True)
        )
        self.study.check(first, second)

    def _check_sources(self, derived: Derived, schemas: Mapping[Role, Mapping[str, Schema]]) -> None:
        """Check that each side that works on a derived column has all that it is derived from."""
        made = {each.name for each in self.derived}
        for role in Role:
            if not self.needs(role, derived.name):
                continue
            for source in derived.sources:
                if source in made or source in schemas[role]:
                    continue
                if source in schemas[role.other]:
                    raise UsageError(
                        f"derived.{derived.name}: {source!r} is at {role.other.value}, and the column at "
                        f"{role.value}.",
                        "No column is derived of columns of both sides: use one side's that has them all.",
                    )
                raise UsageError(
                    f"derived.{derived.name}: {role.value} has no column {source!r}.",
                    "Add it to that side of the job.",
                )

    @override
    def check_recipients(self, recipients: frozenset[Role]) -> None:
        self.study.check_recipients(recipients)

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """As the study says; what it says of derived columns is so of their sources."""
        facts = self.study.facts(recipients)
        sorts_by, kept = (frozenset(self._sources(names)) for names in (facts.sorts_by, facts.keeps_missing))
        asked = replace(
            facts.asked,
            keys=frozenset(self._sources(facts.asked.keys)),
            values=facts.asked.values | self._further(facts.asked.keys),
            states=facts.asked.states | {Stated.DERIVED},
        )
        exact = facts.exact
        if exact is not None:
            exact = replace(exact, count=max(exact.count, self._alike(exact.added_up)))
        return replace(facts, sorts_by=sorts_by, keeps_missing=kept, asked=asked, exact=exact)

    def _further(self, keys: frozenset[str]) -> frozenset[str]:
        """The columns that are keys, and of which figures are derived."""
        others = {name for names in self.study.columns.values() for name in names} - keys
        return frozenset(self._sources(keys)) & frozenset(self._sources(others))

    def _alike(self, added_up: Iterable[str]) -> int:
        """The most of some columns that are derived from one, or are it."""
        found = Counter(source for name in added_up for source in self._sources((name,)))
        return max(found.values(), default=0)

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        return self.study.brief(recipients)

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """As the study says; the declarations of derived columns are public."""
        leakage = self.study.leakage(recipients)
        declared = tuple(f"the derived column {each}" for each in self.derived)
        return replace(leakage, public=(*leakage.public, *declared))

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """As the study says, of the derived columns."""
        own = self._data(data, role)
        theirs = None if peer is None else self._wanted_schemas(self._schemas(peer), role.other)
        return self.study.preview(own, role, limits, theirs)

    def cost(
        self, schemas: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
    ) -> Estimate:
        """As the study says: columns are derived locally."""
        return estimate_cost(self.study, self._schemas(schemas), recipients, setting)

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """Derive the columns, and run the study; raises what the study does, and UsageError before it."""
        return self.study.run(session, self._data(data, session.role), recipients, release)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        first, second = (self._data(data, role) for role, data in zip(Role, (alice, bob), strict=True))
        return self.study.reference(first, second, recipients)

    def _sources(self, names: Iterable[str]) -> tuple[str, ...]:
        found = list(names)
        for each in reversed(self.derived):
            parts = (each.sources if name == each.name else (name,) for name in found)
            found = [source for sources in parts for source in sources]
        return tuple(dict.fromkeys(found))

    def needs(self, role: Role, name: str) -> bool:
        """Whether a role works on a derived column, or on one that is derived from it."""
        wanted = set(self.study.columns[role])
        for each in reversed(self.derived):
            if each.name in wanted:
                wanted.update(each.sources)
        return name in wanted

    def _schemas(self, schemas: Mapping[str, Schema]) -> dict[str, Schema]:
        """The declarations with those of the derived columns whose sources are among them."""
        exact = self.study.facts(frozenset(Role)).exact is not None
        found = dict(schemas)
        for each in self.derived:
            if all(source in found for source in each.sources):
                found[each.name] = each.schema(found, exact=exact)
        return found

    def _wanted_schemas(self, schemas: Mapping[str, Schema], role: Role) -> dict[str, Schema]:
        return {name: schemas[name] for name in self.study.columns[role] if name in schemas}

    def _data(self, data: Data, role: Role) -> Data:
        schemas = self._schemas({name: column.schema for name, column in data.items()})
        found = dict(data)
        for each in self.derived:
            if all(source in found for source in each.sources):
                held = {source: found[source].array for source in each.sources}
                found[each.name] = Column(each.values(held, schemas), schemas[each.name])
                marks = [found[mark].array for mark in map(missing_mark, each.sources) if mark in found]
                if marks:
                    found[missing_mark(each.name)] = Column(np.maximum.reduce(marks), MARK)
        wanted = self.study.columns[role]
        passed = {*wanted, *map(missing_mark, wanted), PERSONS}
        return {name: column for name, column in found.items() if name in passed}


def with_derived(parameters: Mapping[str, Any], parse: Callable[[Mapping[str, Any]], Study]) -> Study:
    """The study of parameters that may declare derived columns.

    Args:
        parameters: of the job.
        parse: makes a study of the others, in which derived columns have their names.

    Raises:
        UsageError: a declaration is impossible, or nothing uses it; or as `parse`.
    """
    if KEY not in parameters:
        return parse(parameters)
    derived = parse_derived(parameters[KEY], f"parameters.{KEY}")
    study = parse({key: value for key, value in parameters.items() if key != KEY})
    found = DerivedStudy(study, derived)
    for each in derived:
        if not any(found.needs(role, each.name) for role in Role):
            raise UsageError(
                f"parameters.{KEY}: nothing uses the derived column {each.name!r}.",
                "Use it in a query, or remove it.",
            )
    return found
