"""How CSV files are written: separator, encoding, numbers, dates, and what stands for a missing cell."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, Self

import polars as pl

from anonymizer.errors import SpecError
from anonymizer.hierarchies.days import names_one_day
from commons.errors import near
from commons.tabular.cells import BELOW_LIMIT, LIMIT_SIGN

SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""The separators that are recognized, and how they are called."""

Kind = Literal["integer", "float"]
"""How a column of texts reads as numbers."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of the CSV files of a specification, its table `[csv]`; those of input and output are alike.

    Attributes:
        delimiter: one character; empty is a comma that was not asked for, so that a file with another
            separator is refused rather than read as one column.
        encoding: a character encoding by a name that Python knows.
        decimal: what stands before the decimals of a number.
        thousands: what may stand between thousands; empty is nothing.
        date_format: of dates, in the directives of `strptime`; empty is any form that can only be read in one
            way, such as 1990-12-31, 31.12.1990 and 19901231.
        missing_tokens: what a missing cell may hold besides nothing.
        below_limit: what a number such as `<0.2` is read as, one of `BELOW_LIMIT`; empty is no
            number.
    """

    delimiter: str = ""
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str = ""
    date_format: str = ""
    missing_tokens: tuple[str, ...] = ()
    below_limit: str = ""

    @classmethod
    def from_mapping(cls, document: Mapping[str, Any], place: str = "csv") -> Self:
        """Read a dialect from a parsed TOML table with the keys of the attributes.

        Raises:
            SpecError: there is an unknown key, or an entry is impossible.
        """
        known = [one.name for one in fields(cls)]
        for key, value in document.items():
            if key not in known:
                raise SpecError(f"{place} has an unknown key {key!r}.", near(key, known))
            if key == "missing_tokens":
                if not isinstance(value, list | tuple) or not all(
                    isinstance(one, str) and one for one in value
                ):
                    raise SpecError(f"{place}: missing_tokens is not a list of texts.", 'Write ["?", "NA"].')
            elif not isinstance(value, str) or not (value or key in ("thousands", "date_format")):
                raise SpecError(f"{place}: {key} is not a text.", f'Write {key} = "{_EXAMPLES[key]}".')
        given: dict[str, Any] = {**document, "missing_tokens": tuple(document.get("missing_tokens", ()))}
        made = cls(**given)
        made._check(place)
        return made

    @property
    def separator(self) -> str:
        """What stands between the cells."""
        return self.delimiter or ","

    @property
    def is_utf8(self) -> bool:
        """Whether files are in UTF-8, with a byte order mark or without."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig", "ascii")

    def _check(self, place: str) -> None:
        if self.delimiter and (
            len(self.delimiter) > 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n\0'
        ):
            raise SpecError(
                f"{place}: the delimiter {self.delimiter!r} cannot be used.", 'Write such as ";".'
            )
        try:
            text_like = codecs.lookup(self.encoding)._is_text_encoding
        except (LookupError, ValueError):
            text_like = False
        if not text_like:
            raise SpecError(
                f"{place}: {self.encoding!r} is not a known encoding.", 'Write such as "cp1252" or "utf-16".'
            )
        if self.decimal not in (".", ","):
            raise SpecError(f"{place}: decimal is {self.decimal!r}.", 'Write "." or ",".')
        if len(self.thousands) > 1 or self.thousands == self.decimal or self.thousands.isalnum():
            raise SpecError(
                f"{place}: thousands cannot be {self.thousands!r} beside decimal {self.decimal!r}.",
                'Write such as " ", or leave it out.',
            )
        if self.below_limit not in ("", *BELOW_LIMIT):
            raise SpecError(f"{place}: below_limit is {self.below_limit!r}.", 'Write "half" or "limit".')
        if self.date_format and not names_one_day(self.date_format):
            raise SpecError(
                f"{place}: date_format {self.date_format!r} does not tell a day.", 'Write such as "%d/%m/%Y".'
            )

    def kinds(self, cells: pl.Series) -> set[Kind | None]:
        """How a column of texts reads as numbers.

        Args:
            cells: texts; missing and blank ones say nothing.

        Returns:
            Nothing if no cell says anything; None for texts: some cell is not a number, has leading zeros as
            codes have, or is a whole number beyond 64 bits.
        """
        texts = cells.unique().drop_nulls().str.strip_chars()
        texts = texts.filter(texts != "")
        if not len(texts):
            return set()
        limits = texts.str.contains(LIMIT_SIGN) if self.below_limit else pl.Series([False])
        texts = texts.str.replace(LIMIT_SIGN, "") if limits.any() else texts
        if texts.str.contains(r"^[+-]?0\d").any() or not texts.str.contains(self._number).all():
            return {None}
        whole = texts.str.contains(self._whole).all() and not limits.any()
        kind: Kind = "integer" if whole else "float"
        found = self.numbers(texts, kind)
        return {None} if found.null_count() or not found.is_finite().all() else {kind}

    def numbers(self, cells: pl.Series, kind: Kind) -> pl.Series:
        """A column of texts as numbers, null where a cell is blank or not a number."""
        if self.below_limit and (limits := cells.str.contains(LIMIT_SIGN).fill_null(value=False)).any():
            bare = replace(self, below_limit="").numbers(cells.str.replace(LIMIT_SIGN, ""), kind)
            part = 0.5 if self.below_limit == "half" else 1.0
            return bare * limits.replace_strict({True: part, False: 1.0}, return_dtype=pl.Float64)
        plain = cells.str.strip_chars()
        if self.thousands:
            plain = plain.str.replace_all(self.thousands, "", literal=True)
        if self.decimal != ".":
            plain = plain.str.replace(self.decimal, ".", literal=True)
        return plain.cast(pl.Int64 if kind == "integer" else pl.Float64, strict=False)

    @property
    def _digits(self) -> str:
        gap = re.escape(self.thousands)
        return rf"(\d{{1,3}}({gap}\d{{3}})+|\d+)" if gap else r"\d+"

    @property
    def _whole(self) -> str:
        return rf"^[+-]?{self._digits}$"

    @property
    def _number(self) -> str:
        point = re.escape(self.decimal)
        return rf"^[+-]?({self._digits}({point}\d*)?|{point}\d+)([eE][+-]?\d+)?$"


_EXAMPLES: Final = {
    "delimiter": ";",
    "encoding": "cp1252",
    "decimal": ",",
    "thousands": " ",
    "date_format": "%d/%m/%Y",
    "below_limit": "half",
}
