"""A_(ano,r): the factors of users are de-identified by any methods, and multiplied with those of items again.

What the steps promise they promise of the factors. Of the product k-anonymity is left: users with equal
factors have equal rows, whatever the factors of items are (Theorem 5.1; its proof says "at most k kinds"
where every kind has at least k rows). Differential privacy is not: both factors are made of the cells of
everybody, and so is what the noise is put on.

Reference: thesis, Algorithm 3, Eq. 5.1 and Theorem 5.1, with erratum 16: line 9 has to take U'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from typing_extensions import override

from anonymizer.errors import SpecError, TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.guarantee import Guarantee, k_anonymity
from anonymizer.schema.columns import Column, Schema
from anonymizer.series.factorization import KINDS, Factors, factorize, refit_features
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from commons.errors import near

Float = NDArray[np.float64]


@parameters
class Recombined(Method):
    """De-identification by matrix factorization; without steps the factorization alone.

    The steps see a table with the columns f1, ..., fr, all quasi-identifiers. Labels of intervals that they
    leave, such as those of clusters, count by their middles.

    Args:
        rank: r.
        factorization: "sgd" or "nmf".
        steps: names and methods, applied to the factors of users.
        iterations: of the factorization.
        rate: of SGD, see `factorize`.
        penalty: of Eq. 2.10, see `factorize`.
        refit: optimise the factors of items once more for the de-identified users.
        bounds: factors of users are clamped to these ends and declared with them, for methods that need
            bounds; None leaves them out.
        digits: behind the point of the released cells.
        columns: numeric columns; the quasi-identifiers if None.
        random_state: of the factorization; the steps have their own.

    Attributes:
        factors_: after a transformation, as recombined; not for release.
    """

    name: ClassVar[str] = "factorization"
    applies_to: ClassVar[str] = "The matrix has no items"

    rank: int = 10
    factorization: str = "sgd"
    steps: Sequence[tuple[str, Method]] = ()
    iterations: int = 100
    rate: float = 0.05
    penalty: float = 0.01
    refit: bool = False
    bounds: tuple[float, float] | None = None
    digits: int = 3
    columns: tuple[str, ...] | None = None
    random_state: int | None = None

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A cell is a product of factors of all cells."""
        columns = self.columns_of(table)
        read = table.provenance.content(*columns).spread()
        return table.provenance.recode(dict.fromkeys(columns, read), gaps="none").with_rows(read)

    @override
    def check(self) -> None:
        super().check()
        if self.factorization not in KINDS:
            raise SpecError(
                f"{self.factorization!r} is not a valid factorization.", near(self.factorization, KINDS)
            )
        if not 0 <= self.digits <= 12:
            raise TableError(f"digits is {self.digits}.", "Choose 0 to 12; further digits tell more.")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise TableError(
                "The bounds of the factors are the wrong way round.", "Write the smaller one first."
            )

    @override
    def _fit(self, table: Table) -> None:
        table.complete(self.columns_of(table))

    @override
    def _transform(self, table: Table) -> Table:
        columns = self.columns_of(table)
        cells = csr_matrix(np.stack([table.numbers(name) for name in columns], axis=1))
        found = factorize(
            cells,
            self.rank,
            kind="nmf" if self.factorization == "nmf" else "sgd",
            iterations=self.iterations,
            rate=self.rate,
            penalty=self.penalty,
            seed=self.random_state,
        )
        users, rows = self._protect(found.users)
        items = found.items
        if self.refit:
            positive = self.factorization == "nmf"
            items = refit_features(cells[rows], users, penalty=self.penalty, positive=positive)
        self.factors_ = Factors(users, items)
        product = _product(self.factors_, self.digits)
        return table.take(rows).replace(dict(zip(columns, product.T, strict=True)))

    def _protect(self, users: Float) -> tuple[Float, NDArray[np.int64]]:
        """U' and, of each of its rows, where it stood in U."""
        names = tuple(f"f{number}" for number in range(1, self.rank + 1))
        schema = Schema()
        if self.bounds is not None:
            users = np.clip(users, *self.bounds)
            schema = Schema({name: Column("float", *self.bounds) for name in names})
        self.promised_: tuple[Guarantee, ...] = ()
        if not self.steps:
            return users, np.arange(len(users), dtype=np.int64)
        before = Table.of(
            pd.DataFrame(users, columns=[*names]), Roles(quasi_identifiers=names), schema=schema
        )
        inner = Pipeline(steps=self.steps)
        after = inner.fit_transform_table(before)
        self.promised_ = inner.promises
        if inner.origin_ is None:
            raise TableError(
                "A step makes rows that stem from no user or several, which no product can take.",
                "Take a method that keeps rows or leaves some out.",
            )
        if not len(after):
            raise TableError("The steps have left no user.", "Let them suppress less.")
        return np.stack([_numbers(after, name) for name in names], axis=1), inner.origin_

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """As `Method.guarantees`: k-anonymity over all items, where the steps give it over all factors."""
        whole = [
            int(one.number("k"))
            for one in self.promised_
            if one.kind == "k-anonymity" and len(one.columns) == self.rank
        ]
        return k_anonymity(max(whole, default=1), self.columns_of(table), self.name)

    @property
    @override
    def notes(self) -> tuple[str, ...]:
        """As `Method.notes`: what the steps promise of the factors and nobody of the product."""
        lost = sorted({one.kind for one in getattr(self, "promised_", ()) if one.kind != "k-anonymity"})
        return tuple(
            f"Not promised of the matrix: {kind}, which the steps promise of the factors. Both factors are "
            "made of the cells of all users."
            for kind in lost
        )

    @property
    @override
    def blurs(self) -> bool:
        """As `Method.blurs`: not where k-anonymity is left."""
        return not any(one.kind == "k-anonymity" for one in getattr(self, "promised_", ()))

    @property
    @override
    def seeded(self) -> bool:
        """As `Method.seeded`, of the factorization or a step."""
        return self.random_state is not None or any(method.seeded for _, method in self.steps)


def _numbers(table: Table, column: str) -> Float:
    table.require(column)
    found: Any = numbers_of(table, column)
    if found is None or np.isnan(found).any():
        raise TableError(
            f"A step leaves cells in the factor {column!r} that are neither numbers nor intervals.",
            "Take a method that changes numbers or joins them to intervals with both ends.",
        )
    return np.asarray(found, dtype=np.float64)


def _product(factors: Factors, digits: int) -> Float:
    """U'V', rounded, shape (n, m).

    Users with equal factors get one and the same row: products of matrices by blocks may round equal rows
    differently, and the guarantee would hang on that.
    """
    different, rows = np.unique(factors.users, axis=0, return_inverse=True)
    product: Float = np.round(different @ factors.items.T, digits) + 0.0
    return product[rows.reshape(-1)]
