"""How a file of texts writes its cells: separators, encoding, numbers, dates, and what is missing.

What is not declared is not read: a comma in a number is an error until `decimal = ","` says what it is. The
keys are those of a data set in the catalog and of `[csv]` in a specification of the anonymizer.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Annotated, Any, Final

from commons.settings.marks import Inline
from commons.tabular.cells import ABOVE_LIMIT, BELOW_LIMIT, PREFIX, SUFFIX, above_in, halve, limit_in
from commons.tabular.eastern import ERA_YEAR, ERAS, YEARS, in_common_years, narrow_date, narrow_number
from commons.tabular.encodings import is_encoding

SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""The separators that are recognized, and how they are called."""

ISO: Final = "%Y-%m-%d"
CHOICES: Final = ("", *BELOW_LIMIT)
ABOVE_CHOICES: Final = ("", *ABOVE_LIMIT)
_SUFFIX: Final = re.compile(SUFFIX)
_PREFIX: Final = re.compile(PREFIX)
_BLANK: Final = "[ \u00a0\u202f]?"
"""What may stand between a number and what is before or behind it, as a regular expression."""
_EPOCH: Final = date(1970, 1, 1).toordinal()
_DIRECTIVES: Final = {
    "Y": "[0-9]{4}",
    "m": "[0-9]{1,2}",
    "d": "[0-9]{1,2}",
    "H": "(?:[01]?[0-9]|2[0-3])",
    "M": "[0-5]?[0-9]",
    "S": "[0-5]?[0-9]",
    "f": "[0-9]{1,6}",
    "EC": ERAS,
    "Ey": YEARS,
}
"""The parts of a date that do not depend on a language or a century, and what they look like.

`EC` and `Ey` are an era of Japan and a year in it.
"""


Fault = tuple[str, str, str]
"""A key that is wrong: its name, what is wrong with it as the end of a sentence, and what to write."""


@dataclass(frozen=True)
class Writing:
    """How numbers, dates and missing cells are written in texts.

    Attributes:
        decimal: what stands before the decimals of a number.
        thousands: what may stand between thousands; empty is nothing.
        date_format: of dates, in the directives of `strptime`; empty is 1990-12-31 and, to the anonymizer,
            any form that can only be read in one way. A time of day that it names is read and left out.
            `%EC%Ey` is an era of Japan, by its name or its letter, and a year in it.
        missing_tokens: what a missing cell may hold besides nothing.
        suffix: what stands behind each number, with a blank between or not, such as `%`; a number without it
            is one as well.
        below_limit: what a number such as `<0.2` is read as, one of `BELOW_LIMIT`; if empty, it
            is not a number.
        above_limit: what a number such as `>200` is read as, one of `ABOVE_LIMIT`; if empty, it is
            not a number.
        prefix: what stands before each number, as `suffix` behind it, such as the sign of a currency; the
            sign of the number may stand on either side of it.
    """

    decimal: str = "."
    thousands: str = ""
    date_format: str = ""
    missing_tokens: tuple[str, ...] = ()
    below_limit: str = ""
    suffix: str = ""
    above_limit: str = ""
    prefix: str = ""

    def faults(self) -> Iterator[Fault]:
        """The keys that are impossible."""
        if self.decimal not in (".", ","):
            yield "decimal", f"is {self.decimal!r}", 'Write "." or ",".'
        gap = self.thousands
        if len(gap) > 1 or gap == self.decimal or gap.isalnum() or (gap and gap in "+-\n"):
            wrong = f"cannot be {gap!r} beside decimal {self.decimal!r}"
            yield "thousands", wrong, 'For example: thousands = " "; or leave it out.'
        if self.date_format and not names_one_day(self.date_format):
            wrong = f"{self.date_format!r} does not identify a day: it needs %d, %m and %Y"
            yield "date_format", wrong, 'For example: date_format = "%d.%m.%Y".'
        if any(not token or token != token.strip() for token in self.missing_tokens):
            hint = "Remove it; an empty cell counts as missing anyway."
            yield "missing_tokens", "has one that is blank or has blanks around it", hint
        if self.suffix and not _SUFFIX.fullmatch(self.suffix):
            yield "suffix", f"cannot be {self.suffix!r}", 'For example: suffix = "%".'
        if self.prefix and not _PREFIX.fullmatch(self.prefix):
            yield "prefix", f"cannot be {self.prefix!r}", 'For example: prefix = "€".'
        if self.below_limit not in CHOICES:
            yield "below_limit", f"is {self.below_limit!r}", 'Write "half" or "limit".'
        if self.above_limit not in ABOVE_CHOICES:
            yield "above_limit", f"is {self.above_limit!r}", 'Write "limit".'

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written with a point, without thousands, and none as beyond a limit."""
        return self.decimal == "." and not (
            self.thousands or self.below_limit or self.above_limit or self.suffix or self.prefix
        )

    def plain_number(self, text: str) -> str | None:
        """A number as `[+-]digits[.digits]`, or None if it is not written like this.

        Digits, signs, points and commas of full width are those of ASCII.
        """
        text = narrow_number(text)
        found = self._number.fullmatch(text)
        if found is not None:
            return self._to_point(text)
        below = limit_in(text) if self.below_limit else None
        limit = above_in(text) if below is None and self.above_limit else below
        if limit is None or self._number.fullmatch(limit) is None:
            return None
        plain = self._to_point(limit)
        return halve(plain) if below is not None and self.below_limit == "half" else plain

    def plain_numbers(self, texts: Sequence[str]) -> list[str] | None:
        """Many numbers at once, None if one of them is not written like this."""
        joined = narrow_number("\n".join(texts))
        if self._numbers.fullmatch(joined) is None:
            return None
        found = self._to_point(joined).split("\n")
        return found if len(found) == len(texts) else None

    def day(self, text: str) -> int | None:
        """Days since 1970-01-01 of a date, or None if it is not one in this form."""
        text, form = narrow_date(text), narrow_date(self.date_format or ISO)
        if self._date.fullmatch(text) is None:
            return None
        if ERA_YEAR in form:
            text, form = in_common_years(text), form.replace(ERA_YEAR, "%Y")
        try:
            return datetime.strptime(text, form).toordinal() - _EPOCH
        except ValueError:
            return None

    @property
    def names_a_time(self) -> bool:
        """Whether the form of dates names a time of day, which is read and left out."""
        return any(letter in self.date_format for letter in ("%H", "%M", "%S", "%f"))

    def are_dates(self, texts: Sequence[str]) -> bool:
        """Whether all texts look like dates in this form; their days may not exist."""
        return all(map(self._date.fullmatch, texts))

    @property
    def places(self) -> tuple[int, ...] | None:
        """Where the digits of year, month and day stand in a date of full width; None if that varies."""
        if ERA_YEAR in self.date_format:
            return None
        at, where = 0, dict[str, range]()
        for letter, literal in _parts(self.date_format or ISO):
            width = (4 if letter == "Y" else 2) if letter else len(literal)
            where[letter] = range(at, at + width)
            at += width
        return (*where["Y"], *where["m"], *where["d"]) if "f" not in where else None

    @property
    def width(self) -> int:
        """The characters of a date of full width."""
        return len(date(2000, 10, 10).strftime((self.date_format or ISO).replace(ERA_YEAR, "%Y")))

    @property
    def ending(self) -> str:
        """The suffix with the blank before it, as a regular expression that needs neither."""
        return rf"(?:{_BLANK}{re.escape(self.suffix)})?" if self.suffix else ""

    @property
    def beginning(self) -> str:
        """The prefix between a sign, which is a group, and a blank, as a regular expression."""
        return rf"([+-]?){re.escape(self.prefix)}{_BLANK}"

    def _to_point(self, text: str) -> str:
        if self.prefix:
            text = self._beginning.sub(r"\1", text)
        if self.suffix:
            text = self._ending.sub("", text)
        plain = text.replace(self.thousands, "") if self.thousands else text
        return plain if self.decimal == "." else plain.replace(self.decimal, ".")

    @cached_property
    def _number(self) -> re.Pattern[str]:
        return re.compile(self._grammar)

    @cached_property
    def _numbers(self) -> re.Pattern[str]:
        # an atomic group, not `*+`, which Python before 3.11.5 matches wrongly where groups are repeated
        return re.compile(rf"(?>(?:{self._grammar}\n)*){self._grammar}")

    @property
    def _grammar(self) -> str:
        gap = re.escape(self.thousands)
        whole = rf"(?>[0-9]{{1,3}}(?:{gap}[0-9]{{3}})++|[0-9]{{1,2500}}+)" if gap else "[0-9]{1,2500}+"
        sign, before = "[+-]?", re.escape(self.prefix) + _BLANK
        if self.prefix:
            sign = rf"(?:[+-]?(?:{before})?|{before}[+-])"
        return rf"{sign}{whole}(?:{re.escape(self.decimal)}[0-9]{{1,60}}+)?+{self.ending}"

    @cached_property
    def _beginning(self) -> re.Pattern[str]:
        return re.compile(f"^{self.beginning}", re.MULTILINE)

    @cached_property
    def _ending(self) -> re.Pattern[str]:
        return re.compile(f"{self.ending}$", re.MULTILINE)

    @cached_property
    def _date(self) -> re.Pattern[str]:
        form = narrow_date(self.date_format)
        if not form:
            return re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
        parts = _parts(form)
        pieces = []
        for index, (letter, literal) in enumerate(parts):
            beside = [*parts[max(0, index - 1) : index], *parts[index + 1 : index + 2]]
            piece = _DIRECTIVES[letter] if letter else re.escape(literal)
            if letter in ("EC", "Ey"):
                pieces.append(piece)
                continue
            pieces.append(piece.replace("{1,2}", "{2}") if any(other for other, _ in beside) else piece)
        return re.compile("".join(pieces))


@dataclass(frozen=True)
class Dialect:
    """The form of a source of texts.

    Attributes:
        delimiter: one character; empty is a comma that was not asked for, so that a file with another
            separator is refused rather than read as one column.
        encoding: a character encoding by a name that Python knows.
        writing: of its cells.
    """

    delimiter: str = ""
    encoding: str = "utf-8"
    writing: Annotated[Writing, Inline()] = field(default_factory=Writing)

    @property
    def separator(self) -> str:
        """What stands between the cells."""
        return self.delimiter or ","

    @property
    def is_utf8(self) -> bool:
        """Whether files are in UTF-8, with a byte order mark or without."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig", "ascii")

    @property
    def codec(self) -> str:
        """The encoding to open files with."""
        return "utf-8-sig" if self.is_utf8 else self.encoding

    def faults(self) -> Iterator[Fault]:
        """The keys that are impossible, those of the writing included."""
        if len(self.delimiter) > 1 or not self.delimiter.isascii() or self.delimiter in {*'"\r\n\0'}:
            yield "delimiter", f"{self.delimiter!r} cannot be used", 'For example: delimiter = ";".'
        if not is_encoding(self.encoding):
            hint = 'For example: encoding = "cp1252", or "utf-16".'
            yield "encoding", f"{self.encoding!r} is not a known encoding", hint
        yield from self.writing.faults()

    def entries(self) -> dict[str, Any]:
        """The keys that say it, with their values; those that a plain one has are left out."""
        pairs = {"delimiter": self.delimiter, "encoding": self.encoding, **asdict(self.writing)}
        plain = {"delimiter": "", "encoding": "utf-8", **asdict(Writing())}
        found = {key: value for key, value in pairs.items() if value != plain[key]}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}


WRITINGS: Final = (
    *(Writing(), Writing(","), Writing(",", "."), Writing(",", " "), Writing(".", ","), Writing(".", "'")),
    *(Writing(".", " "), Writing(",", "\u00a0"), Writing(",", "\u202f"), Writing(".", "\u2019")),
    Writing(",", "'"),
)
"""Ways to write numbers that are recognized, the commonest first."""


PLAIN: Final = Dialect()
"""UTF-8, separated by commas, numbers with a point."""


def names_one_day(form: str) -> bool:
    """Whether the directives of a format tell one day from another."""
    form = form.replace(ERA_YEAR, "%Y")
    days = date(1987, 11, 23), date(2012, 6, 5)
    try:
        return all(datetime.strptime(one.strftime(form), form).date() == one for one in days)
    except (ValueError, re.error):
        return False


def has_digits_only(form: str) -> bool:
    """Whether a format has day, month and year once each, in digits, and nothing that is not known.

    It depends on no language and no century then, and `Writing.day` reads it.
    """
    try:
        letters = [letter for letter, _ in _parts(form) if letter]
    except ValueError:
        return False
    has_era = {"EC", "Ey"} <= {*letters} and ERA_YEAR in form and "Y" not in letters
    has_year = has_era or ("Y" in letters and {"EC", "Ey"}.isdisjoint(letters))
    has_day = has_year and {"m", "d"} <= {*letters}
    return has_day and len({*letters}) == len(letters) and form == form.strip()


def _parts(form: str) -> list[tuple[str, str]]:
    """A format in pieces: directive or literal.

    Raises:
        ValueError: it has an unknown directive.
    """
    found = []
    for piece in re.findall(r"%E.|%.|%$|[^%]+", form, re.DOTALL):
        letter = piece[1:] if piece.startswith("%") else ""
        if piece.startswith("%") and letter not in _DIRECTIVES:
            raise ValueError
        found.append((letter, piece if not letter else ""))
    return found
