"""Methods one after another, as one method."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from typing_extensions import override

from anonymizer.errors import HierarchyError, SpecError, TableError
from anonymizer.hierarchies.hierarchy import Hierarchy
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.reduction.suppression import DropIdentifiers
from anonymizer.pipelines.missing import MissingCells
from anonymizer.pipelines.persons import LimitRows
from anonymizer.releases.claims import Claim, sentence, split
from anonymizer.releases.composition import PrivacyLoss, compose
from anonymizer.releases.foreign import ForeignCode
from anonymizer.releases.guarantee import Guarantee
from anonymizer.releases.release import Step
from anonymizer.risk.candidates import Candidates
from anonymizer.risk.simulator import Simulatable
from anonymizer.schema.columns import Schema
from anonymizer.tables.persons import PersonRows
from anonymizer.tables.provenance import Provenance, TableProvenance
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table


@parameters
class Pipeline(Method):
    """Runs steps in order; what is declared of persons, identifiers and missing cells is done before them.

    Args:
        steps: names and methods.
        roles: of the columns; a call of `fit` may give others.
        hierarchies: by column; a call of `fit` may give others.
        schema: what is declared of the columns; a call of `fit` may give another.

    Attributes:
        done_: after a transformation, what each step has done.
        persons_: after a transformation, whose the rows are that the first step was given.

    Reference: thesis, section 4.2.3: methods are combined in any order, and so are their simulators.
    """

    name: ClassVar[str] = "pipeline"
    needs_columns: ClassVar[bool] = False
    rows_seed_: int | None = None
    """The seed by which rows of persons are left out who have too many; None is fresh randomness."""

    steps: Sequence[tuple[str, Method]] = ()
    roles: Roles | None = None
    hierarchies: Mapping[str, Hierarchy] | None = None
    schema: Schema | None = None

    @override
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep` also those of the steps, as `step__parameter`."""
        found: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, method in self.steps:
                found[name] = method
                found |= {f"{name}__{key}": value for key, value in method.get_params().items()}
        return found

    @override
    def set_params(self, **params: Any) -> Pipeline:
        """Set parameters, those of steps as `step__parameter`.

        Raises:
            ValueError: there is no such step or parameter.
        """
        named = dict(self.steps)
        for key, value in params.items():
            step, _, inner = key.partition("__")
            if inner and step in named:
                named[step].set_params(**{inner: value})
            elif key in named:
                self.steps = [(name, value if name == key else method) for name, method in self.steps]
            else:
                super().set_params(**{key: value})
        return self

    @override
    def _build_table(
        self,
        frame: Any,
        roles: Roles | None,
        hierarchies: Mapping[str, Hierarchy] | None,
        schema: Schema | None,
    ) -> Table:
        return super()._build_table(
            frame, roles or self.roles, hierarchies or self.hierarchies, schema or self.schema
        )

    @override
    def fit_transform_table(self, table: Table) -> Table:
        """`fit_transform` of a table, each step once."""
        self._check(table)
        self.roles_, self.hierarchies_, self.schema_ = table.roles, table.hierarchies, table.schema
        released = self._run(table, fresh=True)
        self._note(table, released)
        return released

    @override
    def recode(self, table: Table) -> Table:
        """As `Method.recode`, by the steps that work row by row and keep all rows."""
        for _, step in self.steps:
            if step.keeps_rows and step.works_by_rows(table):
                table = step.recode(table)
        return table

    @override
    def _note(self, table: Table, released: Table) -> None:
        super()._note(table, released)
        self.done_ = tuple(self._steps)

    @property
    @override
    def foreign_code(self) -> tuple[ForeignCode, ...]:
        """As `Method.foreign_code`, of all steps."""
        return tuple(dict.fromkeys(code for _, method in self.steps for code in method.foreign_code))

    @property
    @override
    def broken_(self) -> tuple[tuple[Guarantee, str], ...]:
        return tuple(self._lost)

    @override
    def _fit(self, table: Table) -> None:
        self._check(table)
        self._run(table, fresh=True)

    @override
    def _transform(self, table: Table) -> Table:
        return self._run(table, fresh=False)

    @override
    def transform_table(self, table: Table) -> Table:
        """As `Method.transform_table`; each step says itself what it makes the cells of."""
        released = self._run(table, fresh=False)
        self._note(table, released)
        return released

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """What the steps promise, no later step takes away and what is released grants."""
        return self.guarantees_

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """What the steps made of the last table."""
        return self.provenance_

    @override
    def _judge(
        self, table: Table, released: Table
    ) -> tuple[tuple[Guarantee, ...], tuple[tuple[Guarantee, str], ...]]:
        """As `Method._judge`; `notes` say what is refused, with its step."""
        return self.guarantees_, ()

    def _check(self, table: Table) -> None:
        names = [name for name, _ in self.steps]
        for name in names:
            if names.count(name) > 1:
                raise SpecError(f"Two steps are called {name!r}.", "Rename one.")
        for name, method in self.steps[:-1]:
            if method.last:
                raise SpecError(f"Step {name!r} ({method.name}) is not the last.", "Put it at the end.")
        if not len(table):
            raise TableError("The table has no rows.", "Give at least one.")

    def _run(self, table: Table, *, fresh: bool) -> Table:
        if fresh:
            self.first_: tuple[Method, ...] = self._begins
        self._steps: list[Step] = []
        self._lost: list[tuple[Guarantee, str]] = []
        self.extra_: Mapping[str, Table] = {}
        held: list[Claim] = []
        trail = [("", table.provenance)]
        further: dict[str, Provenance] = {}
        for name, method in self.methods:
            before = table
            if method is self.first_[1]:
                self.persons_: PersonRows | None = table.persons
            with self._naming_earlier():
                table = method.fit_transform_table(before) if fresh else method.transform_table(before)
            self.extra_ = {**self.extra_, **method.extra_}
            further |= {n: table.provenance[n] for one in method.extra_.values() for n in one.names}
            self._steps += [replace(one, name=name) for one in method.done_]
            self._lost += [(c.guarantee, name) for c in held if not method.keeps(c.guarantee, before, table)]
            held = [claim for claim in held if method.keeps(claim.guarantee, before, table)]
            held += method.claims(before) if fresh else ()
            trail.append((name, table.provenance))
        whole = table.provenance.beside(further)
        self.provenance_ = whole
        self.guarantees_, self._refused = split(held, whole, trail)
        return replace(table, provenance=whole)

    @contextmanager
    def _naming_earlier(self) -> Iterator[None]:
        """Say of a column that does not fit a step which step before has changed it."""
        try:
            yield
        except (HierarchyError, TableError) as problem:
            changed = {column: step.name for step in self._steps for column in step.changed}
            for column, step in changed.items():
                if repr(column) in problem.what:
                    raise type(problem)(
                        f"{problem.what} The step {step!r} before has changed this column.",
                        f"Leave the column to one of the two steps by their parameters. {problem.hint}",
                    ) from None
            raise

    @property
    def methods(self) -> list[tuple[str, Method]]:
        """All steps by name, with those that every pipeline begins with."""
        first: tuple[Method, ...] = getattr(self, "first_", self._begins)
        return [*((method.name, method) for method in first), *self.steps]

    @property
    def _begins(self) -> tuple[Method, ...]:
        return (LimitRows(random_state=self.rows_seed_), DropIdentifiers(), MissingCells())

    @override
    def _person_rows(self, table: Table) -> PersonRows | None:
        """As `Method._person_rows`, when rows beyond the bound have gone."""
        return self.persons_

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        """The guarantees of the last release, what a record has spent added up."""
        return compose(getattr(self, "guarantees_", ()), getattr(self, "persons_", None))

    @property
    @override
    def notes(self) -> tuple[str, ...]:
        """What the steps say of the last release, and what it promises less than they; a sentence each."""
        own = [note for _, method in self.methods if hasattr(method, "roles_") for note in method.notes]
        later = [(one, f"the later step {name!r} takes it away") for one, name in self._lost]
        return (*own, *(sentence(*one) for one in (*later, *self._refused)))

    @property
    @override
    def condition_(self) -> Any:
        """Those of the steps; None where none has one."""
        found = tuple(method.condition_ for _, method in self.steps)
        return None if all(one is None for one in found) else found

    @property
    def is_random(self) -> bool:
        """Whether another run may make another release."""
        return any(method.random for _, method in self.steps)

    @property
    @override
    def seeded(self) -> bool:
        """Whether a step draws from a seed, or which rows of persons are left out."""
        return self.rows_seed_ is not None or any(method.seeded for _, method in self.steps)

    @property
    @override
    def discretisation(self) -> Mapping[str, Any]:
        """Of the steps, as `Method.discretisation`."""
        return {name: cells for _, method in self.steps for name, cells in method.discretisation.items()}

    @property
    @override
    def declared_loss(self) -> PrivacyLoss | None:
        """The largest of the steps: what they spend together is not less."""
        losses = [one for _, method in self.steps if (one := method.declared_loss) is not None]
        return max(losses, key=lambda one: one.epsilon, default=None)

    @property
    @override
    def sampling_rate(self) -> float:
        """The product of the rates of all sampling steps, alpha in the thesis."""
        return math.prod(method.sampling_rate for _, method in self.steps)

    @property
    @override
    def unsimulated(self) -> tuple[str, ...]:
        """The words of the steps that the attack simulator does not know."""
        return tuple(word for _, method in self.steps for word in method.unsimulated)

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """The simulators of the steps, one after another.

        Raises:
            TableError: a step has none.
        """
        for _, method in self.steps:
            if not isinstance(method, Simulatable):
                raise TableError(
                    f"The attack simulator does not know what {method.name} makes of a table.",
                    "Give the method a `simulate`.",
                )
            candidates = method.simulate(column, candidates)
        return candidates
