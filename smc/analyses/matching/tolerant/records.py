"""The records of one side as both the joint and the plain run take them: filters, and their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.tolerant.blocking import EMPTY, BucketLayout, Index, lay_out
from smc.analyses.matching.tolerant.encoding import Filters, Octet, encode
from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.matching.tolerant.ranks import RankLayout, rank
from smc.analyses.matching.tolerant.score import Score
from smc.analyses.records.normalization import normalize
from smc.analyses.studies.columns import Data
from smc.errors import DomainError

Texts = Mapping[str, Sequence[str]]
"""The normalized texts of columns by their names, all of one length."""


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one side.

    Attributes:
        score: how they are compared.
        filters: of all rows.
        terms: their local terms, shape (n,).
        layouts: one for each pass, where rows meet in buckets.
        ranked: one for each pass, where they meet by ranks.
    """

    score: Score
    filters: Filters
    terms: NDArray[np.int64] = field(repr=False)
    layouts: tuple[BucketLayout, ...]
    ranked: tuple[RankLayout, ...] = ()

    def __len__(self) -> int:
        return len(self.terms)

    def bits(self, rows: Index) -> Octet:
        """The filters of rows, with one axis more; zeros where a place is empty."""
        found = self.filters.rows[rows]
        found[rows == EMPTY] = 0
        return found

    def weigh(self, rows: Index) -> Octet:
        """As `bits`, each one as what it weighs."""
        found: Octet = self.bits(rows) * self.score.weights
        return found

    def local(self, rows: Index) -> NDArray[np.int64]:
        """The local terms in the shape of rows; of nothing where a place is empty."""
        return np.where(rows == EMPTY, self.score.absent, self.terms[rows])


def count_rows(parameters: TolerantParameters, data: Data) -> int:
    """How many rows the local columns have.

    Raises:
        DomainError: they differ in length.
    """
    lengths = {len(data[name]) for name in (*parameters.columns, *parameters.show)}
    if len(lengths) != 1:
        raise DomainError(
            "The columns of this side have different lengths.", "Give every column one value per row."
        )
    return lengths.pop()


def read_texts(parameters: TolerantParameters, data: Data) -> Texts:
    """The texts of all columns that are compared or block, normalized.

    Raises:
        UsageError: keys take the year of columns that do not hold dates.
        DomainError: a text is not a date where the normalization asks for dates.
    """
    parameters.check_dates({name: data[name].schema for name in parameters.columns})
    return {
        name: normalize(data[name], parameters.steps(name), f"The column {name!r}")
        for name in parameters.columns
    }


def rank_layouts(parameters: TolerantParameters, texts: Texts) -> tuple[RankLayout, ...]:
    """Rank rows in each pass; the arguments are as of `layouts`."""
    return tuple(
        rank(key, texts, parameters.ordering(key), parameters.ranks, f"{number}/{parameters.salt}")
        for number, key in enumerate(parameters.blocking)
    )


def layouts(parameters: TolerantParameters, texts: Texts, buckets: int) -> tuple[BucketLayout, ...]:
    """Place rows in each pass.

    Args:
        parameters: of the job.
        texts: of at least one row.
        buckets: public.
    """
    return tuple(
        lay_out(key, texts, buckets, parameters.bucket, f"{number}/{parameters.salt}")
        for number, key in enumerate(parameters.blocking)
    )


def prepare(parameters: TolerantParameters, texts: Texts, buckets: int) -> Records:
    """Encode and place rows.

    Args:
        parameters: of the job.
        texts: of at least one row.
        buckets: public.
    """
    score = parameters.score
    filters = encode(parameters.fields, texts, parameters.salt, score.most_weight)
    terms = score.local(filters.sizes, filters.rarities)
    if parameters.ranks:
        return Records(score, filters, terms, (), rank_layouts(parameters, texts))
    return Records(score, filters, terms, layouts(parameters, texts, buckets))
