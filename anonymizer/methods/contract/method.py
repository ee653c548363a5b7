"""What every method is: parameters, fit, transform, its traits, and what it promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import SpecError, TableError
from anonymizer.hierarchies.hierarchy import Hierarchy
from anonymizer.methods.contract.parameters import Parameterized
from anonymizer.releases.claims import Claim, sentence, split
from anonymizer.releases.composition import PrivacyLoss, budget, compose
from anonymizer.releases.foreign import ForeignCode, code_of
from anonymizer.releases.guarantee import ABOUT_CLASSES, Guarantee, published_gamma
from anonymizer.releases.manifest import Manifest
from anonymizer.releases.purpose import Purpose
from anonymizer.releases.release import Release, Step
from anonymizer.risk.simulator import Simulatable
from anonymizer.schema.columns import Schema
from anonymizer.tables.changes import changed_cells, origin_in
from anonymizer.tables.persons import PersonRows
from anonymizer.tables.provenance import Dependence, TableProvenance
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

Int = NDArray[np.int64]

TRAITS: Final = ("random", "keeps_rows", "keeps_classes")
"""What every method has to say of itself; the defaults are for methods that are still being written."""
BY_PERSONS: Final = (
    *("local-recoding", "incognito", "mondrian", "k-member", "one-pass-clustering", "local-suppression"),
    "suppress-records",
)
"""The methods whose promises about classes count persons, where these have several rows."""


class Method(Parameterized, ABC):
    """A method in the manner of scikit-learn: parameters in the constructor, learned things end in `_`.

    Subclasses give `_transform`, and `_fit` if they learn something, which see a `Table`, and `provenance`,
    which says what they make the cells of: what is promised is granted by that. Parameters are annotated
    fields, and `parameters` makes the constructor of them. Those that the attack simulator knows are
    `Simulatable` as well. What a method is to pipelines, reports and the simulator it says by its traits; a
    method that says nothing is taken for the most dangerous kind.

    Attributes:
        origin_: after a transformation, where each row of the output stood in the input, shape (m,); None if
            rows come from no row of it.
        changed_: after a transformation, of each column that differs in how many cells of the output.
        done_: after a transformation, the same as a `Step`, with the rows that were lost.
        extra_: after a transformation, further tables of the release, by a short word.
    """

    columns: tuple[str, ...] | None = None
    """The columns named to it; a parameter of the methods that let them be named."""
    name: ClassVar[str]
    """The name in specifications."""
    example: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Parameters with which it works on `anonymizer.testing.people`, where its own defaults do not."""
    random: ClassVar[bool] = True
    """Whether another run may make another release."""
    needs_columns: ClassVar[bool] = True
    """Whether it works on columns, so that without any it would protect nothing and refuses."""
    keeps_rows: ClassVar[bool] = False
    """Whether every row of the input is in the output."""
    keeps_classes: ClassVar[bool] = False
    """Whether cells of a column that are alike stay alike, so that classes can only join."""
    makes_classes: ClassVar[bool] = False
    """Whether it promises something of classes of rows, and draws at random only how it makes them."""
    counts_persons: ClassVar[bool] = True
    """Whether what it promises holds where a person has several rows; if not, it refuses such tables."""
    last: ClassVar[bool] = False
    """Whether no step may follow it."""
    ensures: ClassVar[bool] = False
    """Whether it only makes sure of something, so that a run that changes nothing is none in vain."""
    applies_to: ClassVar[str] = "The table has no quasi-identifiers"
    """What is said where it finds no column to work on."""
    specification_: str = ""
    """The digest of the specification that it was made from, if any."""
    choice_: str = ""
    """How its epsilon was chosen, a sentence; see `Spec.choice`."""
    purpose_: Purpose = Purpose()
    """What its releases are for; see `Spec.purpose`."""

    def fit(
        self,
        frame: Any,
        y: Any = None,
        *,
        roles: Roles | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        schema: Schema | None = None,
    ) -> Self:
        """Learn from a frame.

        Args:
            frame: of pandas or Polars.
            y: not used; scikit-learn passes it.
            roles: of the columns.
            hierarchies: by column.
            schema: what is declared of the columns.

        Raises:
            AnonymizerError: the frame does not fit the method; of its kind.
        """
        del y
        self.fit_table(self._build_table(frame, roles, hierarchies, schema))
        return self

    def transform(self, frame: Any, *, keep_index: bool = False) -> Any:
        """Apply what was learned to a frame of the same columns.

        Args:
            frame: of pandas or Polars.
            keep_index: as in `fit_transform`.

        Raises:
            NotFittedError: nothing was learned yet.
            AnonymizerError: the frame does not fit; of its kind.
        """
        if not hasattr(self, "roles_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"{type(self).__name__} has not been fitted; call fit first.")
        table = Table.of(frame, self.roles_, self.hierarchies_, self.schema_)
        released = self.transform_table(_without_index(table, keep_index))
        return released.native if keep_index else released.renumber().native

    def fit_transform(
        self,
        frame: Any,
        y: Any = None,
        *,
        roles: Roles | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        schema: Schema | None = None,
        keep_index: bool = False,
    ) -> Any:
        """The main table of a release of a frame; see `fit` and `release`.

        Nothing looks at it: what leaves the house goes through the gate, `Gate().write(release, path)`.

        Args:
            frame: of pandas or Polars.
            y: not used; scikit-learn passes it.
            roles: of the columns.
            hierarchies: by column.
            schema: what is declared of the columns.
            keep_index: release the index of a pandas frame, to which no role can be given and which may hold
                names or the row numbers of the original. Else rows are numbered anew, and a frame with
                another index than row numbers is refused.

        Raises:
            TableError: the frame has an index of its own.
            AnonymizerError: as `fit`.
        """
        del y
        table = _without_index(self._build_table(frame, roles, hierarchies, schema), keep_index)
        released = self.fit_transform_table(table)
        return released.native if keep_index else released.renumber().native

    def _build_table(
        self,
        frame: Any,
        roles: Roles | None,
        hierarchies: Mapping[str, Hierarchy] | None,
        schema: Schema | None,
    ) -> Table:
        """The table of a call of `fit` or `fit_transform`."""
        return Table.of(frame, roles, hierarchies, schema)

    def release(self, table: Table) -> Release:
        """Make a release of a table, with what is promised of it; rows are numbered anew.

        Raises:
            TableError: the table is a frame with an index of its own.
            AnonymizerError: the table does not fit the method; of its kind.
        """
        released = self.fit_transform_table(_without_index(table, keep=False)).renumber()
        granted, refused = self._judge(table, released)
        persons = self._person_rows(table)
        guarantees = compose(granted, persons)
        epsilon, delta = budget(guarantees)
        manifest = Manifest(
            specification=self.specification_,
            purpose=self.purpose_,
            columns=released.schema,
            guarantees=guarantees,
            epsilon=epsilon,
            delta=delta,
            gamma=published_gamma(guarantees),
            choice=self.choice_,
            discretisation=self.discretisation,
            seeded=self.seeded,
            rows=len(released),
            counts="rows" if persons is None else "persons",
            rows_per_person=None if persons is None else persons.most,
            made_of=released.provenance.describe(),
            rows_by=released.provenance.rows.describe(),
            code=self.foreign_code,
        )
        return Release(
            released,
            self.extra_,
            self.origin_,
            guarantees,
            manifest,
            self.changed_,
            (*self.notes, *(sentence(*one) for one in refused)),
            original=table,
            steps=self.done_,
            broken=self.broken_,
        )

    def _judge(
        self, table: Table, released: Table
    ) -> tuple[tuple[Guarantee, ...], tuple[tuple[Guarantee, str], ...]]:
        """What is promised of the last release, and what the method gives and is not, with the reason."""
        return split(self.claims(table), released.provenance)

    def _person_rows(self, table: Table) -> PersonRows | None:
        """Whose the rows are by which promises count; None if each row is a person of its own.

        Args:
            table: that was given.
        """
        return table.persons

    def claims(self, table: Table) -> tuple[Claim, ...]:
        """The guarantees of the last transformation, to be granted by what is released in the end.

        Args:
            table: that was transformed.
        """
        return tuple(
            Claim.of(one, table.provenance, self._mark(table, *(one.columns if one.unit == "cell" else ())))
            for one in self.guarantees(table)
        )

    @property
    def broken_(self) -> tuple[tuple[Guarantee, str], ...]:
        """After a transformation, the guarantees of parts that a later part took away, and its name."""
        return ()

    def fit_transform_table(self, table: Table) -> Table:
        """`fit_transform` of a table."""
        self.fit_table(table)
        return self.transform_table(table)

    def fit_table(self, table: Table) -> None:
        """`fit` of a table.

        Raises:
            TableError: it has no rows, lacks a column of the method, or leaves it without any.
            SpecError: persons have several rows, and what the method promises counts rows.
        """
        if not len(table):
            raise TableError("The table has no rows.", "Give at least one.")
        if not self.counts_persons and table.persons is not None and table.persons.repeat:
            raise SpecError(
                f"Persons of this table have several rows, and {self.name} counts rows, not persons.",
                f"Write rows_per_person = 1 below [roles], or take {', '.join(BY_PERSONS[:-1])} or "
                f"{BY_PERSONS[-1]}.",
            )
        self.check()
        columns = self.columns_of(table)
        for column in columns:
            table.require(column)
        if self.needs_columns and not columns:
            raise TableError(
                f"{self.applies_to}, so that {self.name} would change nothing.",
                "Name columns, or correct the roles.",
            )
        self.roles_, self.hierarchies_, self.schema_ = table.roles, table.hierarchies, table.schema
        self._fit(table)

    def transform_table(self, table: Table) -> Table:
        """`transform` of a table; notes where rows came from and what has changed."""
        self.extra_: Mapping[str, Table] = {}
        released = self._transform(table)
        names = dict.fromkeys((*released.names, *(n for one in self.extra_.values() for n in one.names)))
        released = replace(released, provenance=self.provenance(table).among(names))
        self._note(table, released)
        return released

    @abstractmethod
    def provenance(self, table: Table) -> TableProvenance:
        """What its output is made of, that of further tables included.

        A column of the output of which nothing is said counts as made of all cells of all rows.

        Args:
            table: as given to it; only parameters, `columns_of`, `table.provenance` and what is declared may
                be asked, no cells and nothing learned: this is published, and asked before a fit.
        """

    def _mark(self, table: Table, *cell: str) -> str:
        """Its mark as a mechanism that is given this table.

        Args:
            table: as given to it.
            cell: the column, where it accounts for cells and not for records.
        """
        return " ".join((table.provenance.mark(self.name), *cell))

    def _behind_noise(self, table: Table, read: Dependence, *cell: str) -> Dependence:
        """What a mechanism with a guarantee of records makes of what it reads; nothing new with a seed.

        Args:
            table: as given to it.
            read: the cells that it is given, each of its own row where noise accounts for it, and all else
                that decides its law.
            cell: as in `_mark`: noise on a cell accounts for no other cell that was made of the same.
        """
        return read if self.seeded else read.behind(self._mark(table, *cell))

    def recode(self, table: Table) -> Table:
        """Another table in the form of the release, as who knows the hierarchies would bring it there.

        Args:
            table: of the same columns as the one that was learned from.
        """
        return self.transform_table(table)

    def _note(self, table: Table, released: Table) -> None:
        self.origin_: Int | None = origin_in(table, released)
        self.changed_: Mapping[str, int] = changed_cells(table, released, self.origin_)
        lost = max(0, len(table) - len(released))
        self.done_: tuple[Step, ...] = (
            Step(
                self.name,
                self.name,
                self.changed_,
                lost,
                self.ensures,
                tuple(self.columns_of(table)),
                self.adds,
                self.blurs,
            ),
        )

    def check(self) -> None:
        """Check the parameters by themselves; specifications do it when they are read, `fit` does it again.

        Raises:
            AnonymizerError: one is out of range.
        """
        confidence = self.get_params(deep=False).get("confidence", 0.9)
        if not 0 < confidence <= 1:
            raise TableError(f"The confidence {confidence} lies outside (0, 1].", "Write, for example, 0.9.")

    def columns_of(self, table: Table) -> tuple[str, ...]:
        """The columns that the method works on: those named, or else those that it usually takes."""
        return self._usual(table) if self.columns is None else tuple(self.columns)

    def _usual(self, table: Table) -> tuple[str, ...]:
        """The columns that it takes where none are named: the quasi-identifiers."""
        return table.roles.quasi_identifiers

    @classmethod
    def undeclared_traits(cls) -> tuple[str, ...]:
        """Those of `TRAITS`, and of what every method gives, that neither it nor a method above it states."""
        stated = {key for kind in cls.__mro__ if kind not in Method.__mro__ for key in vars(kind)}
        lacking = tuple(trait for trait in TRAITS if trait not in stated)
        return (*lacking, *sorted(cls.__abstractmethods__))

    @property
    def foreign_code(self) -> tuple[ForeignCode, ...]:
        """The code that it is of, if that is not of this program."""
        found = (code_of(kind) for kind in type(self).__mro__ if issubclass(kind, Method))
        return tuple(dict.fromkeys(one for one in found if one is not None))

    @property
    def adds(self) -> tuple[str, ...]:
        """The columns that it adds to a table."""
        return ()

    def works_by_rows(self, table: Table) -> bool:
        """Whether, with these parameters and hierarchies, what a row becomes depends on that row alone.

        Args:
            table: as given to it.
        """
        fresh = replace(table, provenance=table.provenance.afresh())
        return not self.random and self.provenance(fresh).is_by_rows

    @property
    def seeded(self) -> bool:
        """Whether it draws from a seed, which others may know."""
        return self.get_params(deep=False).get("random_state") is not None

    @property
    def discretisation(self) -> Mapping[str, Any]:
        """After a fit, of each column the declared cells that rows were counted in; or empty."""
        return {}

    @property
    def declared_loss(self) -> PrivacyLoss | None:
        """What it spends of a record by its parameters alone; None where only a fit tells, or nothing."""
        return None

    @property
    def sampling_rate(self) -> float:
        """The part of the rows that it draws at random, alpha in the thesis; 1 if it draws none."""
        return 1.0

    @property
    def unsimulated(self) -> tuple[str, ...]:
        """The names of the steps that the attack simulator does not know."""
        return () if isinstance(self, Simulatable) else (self.name,)

    @property
    def blurs(self) -> bool:
        """Whether it makes cells differ at random that were alike, so that classes say little after it."""
        return self.random and self.needs_columns and not self.keeps_classes and not self.makes_classes

    @property
    def blurred(self) -> tuple[str, ...]:
        """After a transformation, the columns whose cells it drew at random."""
        return tuple(dict.fromkeys(name for step in self.done_ if step.blurs for name in step.columns))

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known of the last release, a sentence each."""
        return ()

    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """What the last transformation gives, if it accounts for all that the cells were made of.

        Whether it is promised of a release is decided by `anonymizer.releases.claims` for all methods alike.

        Args:
            table: that it was made of.
        """
        del table
        return ()

    def keeps(self, guarantee: Guarantee, before: Table, after: Table) -> bool:
        """Whether an earlier step's guarantee holds after this one's last transformation.

        Promises about classes end where rows were lost, where the sensitive column or one that an attacker
        may know changed, or where cells that were alike may differ. Differential privacy survives whatever is
        done to what it has released.

        Args:
            guarantee: of a step before.
            before: the table that this step was given.
            after: what it made of it.
        """
        if guarantee.kind not in ABOUT_CLASSES | {"anatomy"}:
            return True
        changed = set(self.changed_) & set(guarantee.columns)
        aware = set(guarantee.known) - set(guarantee.columns)
        if len(after) < len(before) or self.origin_ is None or guarantee.sensitive in changed:
            return False
        if aware & set(self.changed_):
            return False
        return not changed or (self.keeps_classes and guarantee.kind in ABOUT_CLASSES)

    @property
    def condition_(self) -> Any:
        """What the condition of its guarantees holds fast, after a transformation.

        Two tables for which it is equal are neighbours within the condition; None where there is none.
        """
        return None

    def _fit(self, table: Table) -> None:
        """Learn; what is learned goes into attributes that end in `_`."""

    @abstractmethod
    def _transform(self, table: Table) -> Table:
        """The table as released."""


def _without_index(table: Table, keep: bool) -> Table:
    """The table, if its index holds nothing or is to be kept.

    Raises:
        TableError: it holds something.
    """
    if table.has_index and not keep:
        raise TableError(
            "The frame has an index of its own, which would be released.",
            "Drop it with frame.reset_index(drop=True), or give keep_index=True if it may be known.",
        )
    return table
