"""Methods one after another, as one method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from anonymizer.errors import SpecError, TableError
from anonymizer.hierarchies.hierarchy import Hierarchy
from anonymizer.models.dp_noise import DpNoise
from anonymizer.models.method import Method
from anonymizer.models.sampling import Sampling
from anonymizer.models.suppression import DropIdentifiers
from anonymizer.risk.candidates import Sets
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table


class Pipeline(Method):
    """Runs steps in order; identifiers are taken out before the first.

    Args:
        steps: names and methods.
        roles: of the columns; a call of `fit` may give others.
        hierarchies: by column; a call of `fit` may give others.

    Reference: thesis, section 4.2.3: methods are combined in any order, and so are their simulators.
    """

    word: ClassVar[str] = "pipeline"

    def __init__(
        self,
        *,
        steps: Sequence[tuple[str, Method]] = (),
        roles: Roles | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> None:
        self.steps = steps
        self.roles = roles
        self.hierarchies = hierarchies

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep` also those of the steps, as `step__parameter`."""
        found: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, method in self.steps:
                found[name] = method
                found |= {f"{name}__{key}": value for key, value in method.get_params().items()}
        return found

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

    def _given(self, frame: Any, roles: Roles | None, hierarchies: Mapping[str, Hierarchy] | None) -> Table:
        return super()._given(frame, roles or self.roles, hierarchies or self.hierarchies)

    def columns_of(self, table: Table) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return table.roles.quasi_identifiers

    def release(self, table: Table) -> Table:
        """`fit_transform` of a table, each step once."""
        self._check(table)
        self.roles_, self.hierarchies_ = table.roles, table.hierarchies
        return self._noted(table, self._run(table, fresh=True))

    def _fit(self, table: Table) -> None:
        self._check(table)
        self._run(table, fresh=True)

    def _transform(self, table: Table) -> Table:
        return self._run(table, fresh=False)

    def _check(self, table: Table) -> None:
        names = [name for name, _ in self.steps]
        for name in names:
            if names.count(name) > 1:
                raise SpecError(f"Two steps are called {name!r}.", "Rename one.")
        if not len(table):
            raise TableError("The table has no rows.", "Give at least one.")

    def _run(self, table: Table, *, fresh: bool) -> Table:
        self.dropped_ = DropIdentifiers()
        methods = [self.dropped_, *(method for _, method in self.steps)]
        for method in methods:
            table = (
                method.release(table) if fresh or method is self.dropped_ else method.transform_table(table)
            )
        return table

    @property
    def is_random(self) -> bool:
        """Whether another run may make another release."""
        return any(
            isinstance(method, DpNoise) or "random_state" in method.get_params() for _, method in self.steps
        )

    @property
    def sampling_rate(self) -> float:
        """The product of the rates of all sampling steps, alpha in the thesis."""
        rate = 1.0
        for _, method in self.steps:
            if isinstance(method, Sampling):
                rate *= method.rate
        return rate

    def spread(self, column: str, sets: Sets) -> Sets:
        """The simulators of the steps, one after another."""
        for _, method in self.steps:
            sets = method.spread(column, sets)
        return sets
