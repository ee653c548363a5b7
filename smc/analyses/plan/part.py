"""A part of a plan: a study, and what its columns are called in the job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from smc.analyses.studies.columns import PERSONS, Data, Schema, missing_mark
from smc.analyses.studies.study import Study
from smc.errors import DuettoError, UsageError
from smc.forms import Role

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A part.

    Attributes:
        name: of its results.
        analysis: by which it is computed.
        study: bound to its parameters.
        renamed: of its columns those that the job calls otherwise, with the names in the job.
    """

    name: str
    analysis: str
    study: Study
    renamed: Mapping[str, str]

    def __post_init__(self) -> None:
        known = {name for role in Role for name in self.study.columns[role]}
        if strange := sorted(self.renamed.keys() - known):
            raise UsageError(
                f"Part {self.name!r} names a column {strange[0]!r} that it does not use.",
                f"Remove it from columns. There are: {', '.join(sorted(known))}.",
            )
        for role in Role:
            found = self.columns(role)
            if len(set(found)) < len(found):
                raise UsageError(
                    f"Part {self.name!r} has one column of the job under two names.",
                    "Give each of its columns another one.",
                )

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns that a role brings, by their names in the job."""
        return tuple(self.outside(self.study.columns[role]))

    def outside(self, names: Iterable[str]) -> Iterator[str]:
        """What the job calls columns of the part."""
        return (self.renamed.get(name, name) for name in names)

    def inside(self, known: Mapping[str, V], role: Role | None = None) -> dict[str, V]:
        """Of something for columns of the job what is for columns of the part, by its names.

        Args:
            known: by names in the job.
            role: whose columns; None for those of both.
        """
        roles = Role if role is None else (role,)
        names = {name for each in roles for name in self.study.columns[each]}
        pairs = ((name, self.renamed.get(name, name)) for name in sorted(names))
        return {name: known[there] for name, there in pairs if there in known}

    def data(self, data: Data, role: Role) -> Data:
        """Its columns, with their marks of missing cells where it keeps them, and whom rows are about."""
        found = self.inside(data, role)
        for name in self.study.facts(frozenset(Role)).keeps_missing:
            mark = missing_mark(self.renamed.get(name, name))
            if mark in data:
                found[missing_mark(name)] = data[mark]
        return found | ({PERSONS: data[PERSONS]} if PERSONS in data else {})

    def likely(self, schemas: Mapping[str, Schema]) -> dict[str, Schema]:
        """The declarations of its columns as they may be, by their names in the job."""
        found = self.study.likely(self.inside(schemas))
        return {self.renamed.get(name, name): schema for name, schema in found.items()}

    @contextmanager
    def name_errors(self) -> Iterator[None]:
        """Let errors say which part they are of."""
        try:
            yield
        except DuettoError as error:
            raise self.its(error) from error.__cause__

    def its(self, error: DuettoError) -> DuettoError:
        """An error that says that it is of this part."""
        error.what = f"Part {self.name!r}: {error.what}"
        error.args = (error.what,)
        return error
