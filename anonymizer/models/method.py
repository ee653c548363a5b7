"""What every method is: parameters, fit, transform, and how an attacker would simulate it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import Hierarchy
from anonymizer.risk.candidates import Sets
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table


class Method(BaseEstimator):  # type: ignore[misc]
    """A method in the manner of scikit-learn: parameters in the constructor, learned things end in `_`.

    Subclasses give `_fit` and `_transform`, which see a `Table`, and `spread`, the simulator of the thesis.
    `fit_transform` is what a release is made with; `transform` of another table applies what was learned,
    and raises where the method has nothing to apply to rows it has not seen.

    Attributes:
        origin_: after a transformation, where each row of the output stood in the input, shape (m,).
    """

    word: ClassVar[str]
    """The name in specifications."""

    def fit(
        self,
        frame: Any,
        y: Any = None,
        *,
        roles: Roles | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> Self:
        """Learn from a frame.

        Args:
            frame: of pandas or Polars.
            y: not used; scikit-learn passes it.
            roles: of the columns.
            hierarchies: by column.

        Raises:
            AnonymizerError: the frame does not fit the method; of its kind.
        """
        del y
        self.fit_table(self._given(frame, roles, hierarchies))
        return self

    def transform(self, frame: Any) -> Any:
        """Apply what was learned to a frame of the same columns.

        Raises:
            NotFittedError: nothing was learned yet.
            AnonymizerError: the frame does not fit; of its kind.
        """
        if not hasattr(self, "roles_"):
            raise NotFittedError(f"{type(self).__name__} has not been fitted; call fit first.")
        table = Table.of(frame, self.roles_, self.hierarchies_)
        return self.transform_table(table).native

    def fit_transform(
        self,
        frame: Any,
        y: Any = None,
        *,
        roles: Roles | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> Any:
        """Make a release of a frame; see `fit`."""
        del y
        return self.release(self._given(frame, roles, hierarchies)).native

    def _given(self, frame: Any, roles: Roles | None, hierarchies: Mapping[str, Hierarchy] | None) -> Table:
        """The table of a call of `fit` or `fit_transform`."""
        return Table.of(frame, roles, hierarchies)

    def release(self, table: Table) -> Table:
        """`fit_transform` of a table."""
        self.fit_table(table)
        return self.transform_table(table)

    def fit_table(self, table: Table) -> None:
        """`fit` of a table.

        Raises:
            TableError: it has no rows or lacks a column of the method.
        """
        if not len(table):
            raise TableError("The table has no rows.", "Give at least one.")
        for column in self.columns_of(table):
            table.require(column)
        confidence = getattr(self, "confidence", 0.9)
        if not 0 < confidence <= 1:
            raise TableError(f"The confidence {confidence} lies outside (0, 1].", "Write such as 0.9.")
        self.roles_ = table.roles
        self.hierarchies_ = table.hierarchies
        self._fit(table)

    def transform_table(self, table: Table) -> Table:
        """`transform` of a table; notes where rows came from."""
        return self._noted(table, self._transform(table))

    def _noted(self, table: Table, released: Table) -> Table:
        """Note where the rows of a release came from."""
        order = np.argsort(table.origin)
        places = np.searchsorted(table.origin, released.origin, sorter=order)
        self.origin_: NDArray[np.int64] = order[places]
        return released

    def columns_of(self, table: Table) -> tuple[str, ...]:
        """The columns that the method works on: its parameter `columns`, or the quasi-identifiers."""
        named = getattr(self, "columns", None)
        return table.roles.quasi_identifiers if named is None else tuple(named)

    @abstractmethod
    def _fit(self, table: Table) -> None:
        """Learn; what is learned goes into attributes that end in `_`."""

    @abstractmethod
    def _transform(self, table: Table) -> Table:
        """The table as released."""

    def spread(self, column: str, sets: Sets) -> Sets:
        """The simulator f_sim of one column: what the values that an attacker thinks of may become.

        Args:
            column: a quasi-identifier.
            sets: for each original value, what it may be before this method.

        Returns:
            What it may be after it. The default is for methods that leave the cells of the column alone.

        Reference: thesis, Definition 4.2 and sections 4.2.2 and 4.2.3.
        """
        del column
        return sets
