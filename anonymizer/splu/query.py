"""The language of questions: conditions joined by `and`, such as `diagnosis = flu and age < 40`.

    question  = condition { "and" condition }
    condition = column operator value | column "in" "(" value { "," value } ")"
    operator  = "=" | "!=" | "<" | "<=" | ">" | ">="

Names and values with other characters than letters, digits and `_ . + - / : * %`, or that are words of the
language, stand in single or double quotes. A concept of the paper (section 2) is such a conjunction.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import SpecError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.schema.columns import Column
from commons.errors import near

Bool = NDArray[np.bool_]

LONGEST: Final = 10_000
"""Characters of a question."""
_TOKEN: Final = re.compile(
    r"""\s*(?: "(?P<double>[^"]*)" | '(?P<single>[^']*)' | (?P<sign><=|>=|!=|[=<>(),]) |
    (?P<word>[\w.+\-/:*%]+) )""",
    re.VERBOSE,
)
_COMPARE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EXAMPLE: Final = "Write, for example, diagnosis = flu and age < 40."


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition.

    Attributes:
        column: that it is about.
        sign: "=", "!=", "<", "<=", ">", ">=" or "in".
        values: one, or several of "in", as written.
    """

    column: str
    sign: str
    values: tuple[str, ...]

    def holds(self, domain: NDArray[Any], declared: Column) -> Bool:
        """Of which values of a column it holds.

        Args:
            domain: the values, numbers or others, shape (v,).
            declared: what is declared of the column; its categories are values as well.

        Raises:
            SpecError: it compares what has no order, a number with a text, or names a value that is not
                there.
        """
        if np.issubdtype(domain.dtype, np.number):
            return self._any([_COMPARE[self._sign](domain, self._number(value)) for value in self.values])
        texts = [text_of(value) for value in domain.tolist()]
        known = list(dict.fromkeys([*(declared.categories or ()), *texts]))
        for value in self.values:
            if value not in known:
                raise SpecError(f"Column {self.column!r} has no value {value!r}.", near(value, known))
        if self._sign in ("=", "!="):
            cells = np.array(texts, dtype=object)
            return self._any([_COMPARE[self._sign](cells, value) for value in self.values])
        if not declared.ordered:
            raise SpecError(
                f"Column {self.column!r} has no order, so that {self.sign} means nothing.",
                "Use =, != or in, or declare ordered categories in [columns].",
            )
        places = np.array([known.index(text) for text in texts])
        return self._any([_COMPARE[self._sign](places, known.index(self.values[0]))])

    @property
    def _sign(self) -> str:
        return "=" if self.sign == "in" else self.sign

    @staticmethod
    def _any(found: list[Any]) -> Bool:
        return np.asarray(
            np.logical_or.reduce([np.asarray(one, dtype=np.bool_) for one in found]), dtype=np.bool_
        )

    def _number(self, value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = np.nan
        if not np.isfinite(number):
            raise SpecError(
                f"Column {self.column!r} holds numbers, and {value!r} is not a number.",
                "Write, for example, 40.",
            )
        return number


def parse(text: str) -> tuple[Condition, ...]:
    """Read a question.

    Raises:
        SpecError: it does not follow the grammar above; says where.
    """
    if len(text) > LONGEST:
        raise SpecError(f"The question has {len(text):,} characters.", f"Keep it below {LONGEST:,}.")
    tokens = _Tokens(text)
    found = [_condition(tokens)]
    while not tokens.at_end:
        if not tokens.word_is("and"):
            raise tokens.wrong("`and` or the end")
        tokens.take()
        found.append(_condition(tokens))
    return tuple(found)


def _condition(tokens: _Tokens) -> Condition:
    column = tokens.value("the name of a column")
    if tokens.word_is("in"):
        tokens.take()
        tokens.sign("(")
        values = [tokens.value("a value")]
        while tokens.peek == ("sign", ","):
            tokens.take()
            values.append(tokens.value("a value"))
        tokens.sign(")")
        return Condition(column, "in", tuple(values))
    kind, sign = tokens.peek
    if kind != "sign" or sign not in _COMPARE:
        raise tokens.wrong("one of = != < <= > >= in")
    tokens.take()
    return Condition(column, sign, (tokens.value("a value"),))


class _Tokens:
    """The words and signs of a question, and which is next."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        place, end = 0, len(text.rstrip())
        while place < end:
            match = _TOKEN.match(text, place)
            if match is None:
                rest = text[place:].strip()[:20]
                raise SpecError(f"The question has {rest!r}, which cannot be read.", "Put values in quotes.")
            kind = str(match.lastgroup)
            quoted = kind in ("double", "single")
            self._tokens.append(("quoted" if quoted else kind, match[kind]))
            place = match.end()
        self._next = 0

    @property
    def at_end(self) -> bool:
        return self._next == len(self._tokens)

    @property
    def peek(self) -> tuple[str, str]:
        return ("end", "") if self.at_end else self._tokens[self._next]

    def take(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1][1]

    def word_is(self, word: str) -> bool:
        kind, text = self.peek
        return kind == "word" and text.lower() == word

    def sign(self, sign: str) -> None:
        if self.peek != ("sign", sign):
            raise self.wrong(f"`{sign}`")
        self.take()

    def value(self, what: str) -> str:
        """A quoted text, or a word that the language does not use."""
        kind, text = self.peek
        if kind != "quoted" and (kind != "word" or text.lower() in ("and", "or", "not", "in")):
            raise self.wrong(what)
        return self.take()

    def wrong(self, expected: str) -> SpecError:
        kind, text = self.peek
        there = "ends" if kind == "end" else f"has {text!r}"
        only = " Conditions are joined by `and` only; for several values write in (a, b)."
        return SpecError(
            f"The question {there} where {expected} should be.",
            _EXAMPLE + (only if text.lower() in ("or", "not") else ""),
        )
