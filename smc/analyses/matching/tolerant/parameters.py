"""The `[parameters]` of a tolerant matching, checked and frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Final

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Given, Length, Parse, Read, Repeated, UnfitError, Wrong
from commons.settings.reader import fields_of
from smc.analyses.matching.tolerant.blocking import YEAR, KeyPart
from smc.analyses.matching.tolerant.encoding import DEFAULT_STEPS, Field
from smc.analyses.matching.tolerant.histogram import FLOOR, Histogram
from smc.analyses.matching.tolerant.score import Score
from smc.analyses.records.normalization import DATE
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.parameters import read_parameters
from smc.errors import UsageError
from smc.secret.products.common_ones import PAD_BYTES

NONE: Final = "none"
GREEDY: Final = "greedy"
LARGEST: Final = "largest"
MODES: Final = (NONE, GREEDY, LARGEST)

REFUSE: Final = "refuse"
ACCEPT: Final = "accept"

MAX_FIELDS: Final = 64
MAX_PASSES: Final = 16
MAX_BITS: Final = 4096
"""Of a filter."""
MAX_SCORE: Final = 1000
MAX_ROUNDS: Final = 16
MAX_RANKS: Final = 8
LONGEST_SALT: Final = 100
MIN_THRESHOLD: Final = Fraction(1, 20)

PAIRS: Final = "pairs"
"""The output that shows which local rows were paired."""

_DECIMAL: Final = re.compile(r"0\.[0-9]{1,4}|1(\.0{1,4})?")
_GRAMMAR: Final = 'Write blocking = [["surname:soundex", "date_of_birth:year"], ["postcode:value"]].'


def _parse_threshold(text: str) -> Fraction:
    value = Fraction(text) if _DECIMAL.fullmatch(text) else Fraction(0)
    if not MIN_THRESHOLD <= value <= 1:
        raise UsageError(
            f"{text[:20]!r} is not a decimal from 0.05 to 1 with at most four digits after the point.",
            'Write the least Dice coefficient of a match, such as threshold = "0.6".',
        )
    return value


def _parse_blocking(value: Any, place: str) -> tuple[tuple[KeyPart, ...], ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_PASSES:
        raise UsageError(f"{place} must hold 1 to {MAX_PASSES} passes.", _GRAMMAR)
    found = []
    for number, key in enumerate(value):
        where = f"{place}[{number}]"
        if not isinstance(key, list) or not all(isinstance(text, str) for text in key):
            raise UsageError(f"{where} is not a list of texts.", 'Write ["...", "..."].')
        found.append(tuple(KeyPart.parse(part, where) for part in key))
    if not all(found) or len(set(found)) < len(found):
        raise UsageError(f"{place} has an empty pass, or the same pass twice.", "Remove that pass.")
    return tuple(found)


_PASSES: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    "minItems": 1,
    "maxItems": MAX_PASSES,
}


@dataclass(frozen=True, slots=True)
class TolerantParameters:
    """Parsed parameters.

    Attributes:
        fields: what is compared.
        threshold: least Dice coefficient of a match; 0 where fields have local terms.
        least_score: least score of a match in units, where they have; 0 for a Dice coefficient. With a
            histogram, the choice begins there.
        blocking: the key of each pass.
        bucket: most rows of one side in a bucket.
        load: mean rows of the larger side per bucket; 0 in the making is three eighths of a bucket.
        overflow: whether a run goes on where too many rows are left out of passes, or not.
        ranks: rows of one side that take part under a key, where passes are joins in secret; 0 where rows
            meet in buckets.
        one_to_one: `none`, `greedy` or `largest`.
        rounds: of the greedy pairing.
        salt: makes hashes of this job its own.
        show: local columns that the result repeats beside the row numbers.
        histogram: how the threshold is chosen in the run; None where it is stated.
        output: always `PAIRS`; figures about pairs have parameters of their own.
        has_least_score: whether the job says so.
        has_bucket: likewise.
        has_rounds: likewise.

    Raises:
        UnfitError: they do not fit each other.
    """

    fields: Annotated[
        tuple[Field, ...],
        Length(1, MAX_FIELDS),
        Wrong(f"must hold 1 to {MAX_FIELDS} fields", "Write [[parameters.fields]] tables."),
    ]
    blocking: Annotated[tuple[tuple[KeyPart, ...], ...], Read(_parse_blocking, _PASSES)]
    threshold: Annotated[
        Fraction, Parse(_parse_threshold, {"type": "string", "pattern": _DECIMAL.pattern})
    ] = Fraction(0)
    least_score: Annotated[int, Between(-MAX_SCORE, MAX_SCORE)] = 0
    bucket: Annotated[int, Between(2, PAD_BYTES)] = PAD_BYTES
    load: Annotated[int, Between(1, PAD_BYTES)] = 0
    overflow: Annotated[str, OneOf((REFUSE, ACCEPT))] = REFUSE
    ranks: Annotated[int, Between(1, MAX_RANKS)] = 0
    one_to_one: Annotated[str, OneOf(MODES)] = GREEDY
    rounds: Annotated[int, Between(1, MAX_ROUNDS)] = 1
    salt: Annotated[str, Length(maximum=LONGEST_SALT)] = ""
    show: Annotated[tuple[str, ...], Repeated()] = ()
    histogram: Histogram | None = None
    output: Annotated[str, OneOf((PAIRS,))] = PAIRS
    has_least_score: Annotated[bool, Given("least_score")] = False
    has_bucket: Annotated[bool, Given("bucket")] = False
    has_rounds: Annotated[bool, Given("rounds")] = False

    def __post_init__(self) -> None:
        if self.has_rounds and self.one_to_one != GREEDY:
            hint = 'Leave it out, or write one_to_one = "greedy".'
            raise UnfitError("rounds", "is only for the greedy mode", hint)
        self._check_score()
        if len({each.column for each in self.fields}) < len(self.fields):
            hint = "Name it once; to make it count more, raise its weight."
            raise UnfitError("fields", "names a column twice", hint)
        if len(set(self.show)) < len(self.show):
            raise UnfitError("show", "has a name twice", "Write each name once.")
        if self.ranks:
            self._check_ranks()
        if self.load > self.bucket:
            raise UnfitError("load", "is out of range", f"Use 1 to {self.bucket}.")
        object.__setattr__(self, "load", self.load or max(1, 3 * self.bucket // 8))
        if self.histogram is not None and any(one.rarity for one in self.fields):
            problem = "goes with no rarity of fields: a row that is replaced changes the terms of many others"
            raise UnfitError("histogram", problem, "Leave rarity out, or state the least score alone.")
        if self.histogram is not None and not self.histogram.sensitivity:
            chosen = self.histogram.of(len(self.blocking), self.ranks)
            object.__setattr__(self, "histogram", chosen)

    def _check_score(self) -> None:
        if bool(self.threshold) is self.has_least_score:
            problem = "is missing" if not self.threshold else "does not go with least_score"
            hint = (
                "Write one of the two: a Dice coefficient, or the least score where fields have local terms."
            )
            raise UnfitError("threshold", problem, hint)
        if self.threshold and any(any(one.terms) for one in self.fields):
            hint = "Write least_score instead, or leave gram, empty and rarity out."
            raise UnfitError("threshold", "does not go with local terms of fields", hint)
        if sum(one.bits for one in self.fields) > MAX_BITS:
            raise UnfitError("fields", f"have more than {MAX_BITS} bits together", "Lower the bits of some.")

    def _check_ranks(self) -> None:
        if self.one_to_one != GREEDY:
            hint = f'Write one_to_one = "{GREEDY}", or use buckets.'
            raise UnfitError("ranks", "goes with the greedy mode only", hint)
        for name, is_given in (("bucket", self.has_bucket), ("load", self.load), ("rounds", self.has_rounds)):
            if is_given:
                problem = f"goes with no {name}, which is for rows that meet in buckets"
                raise UnfitError("ranks", problem, f"Leave {name} out.")

    @property
    def accept_overflow(self) -> bool:
        """Whether a run goes on where too many rows are left out of passes."""
        return self.overflow == ACCEPT

    @property
    def score(self) -> Score:
        """How records are scored; those that meet by ranks do so one by one."""
        least = self.least_score + (0 if self.histogram is None else FLOOR)
        return Score(self.fields, self.threshold or None, least, 1 if self.ranks else self.bucket)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are compared or block, each once."""
        parts = (part.column for key in self.blocking for part in key)
        return tuple(dict.fromkeys((*(each.column for each in self.fields), *parts)))

    @property
    def dated(self) -> tuple[str, ...]:
        """The columns of which a key takes the year, each once."""
        parts = (part.column for key in self.blocking for part in key if part.function == YEAR)
        return tuple(dict.fromkeys(parts))

    def ordering(self, key: Sequence[KeyPart]) -> str | None:
        """The column by which rows of a key are ranked: the first that is compared and not in the key."""
        taken = {part.column for part in key}
        return next((each.column for each in self.fields if each.column not in taken), None)

    def steps(self, column: str) -> tuple[str, ...]:
        """The normalization of a column's texts, for comparing and blocking alike."""
        default = (DATE,) if column in self.dated else DEFAULT_STEPS
        return next((each.normalization for each in self.fields if each.column == column), default)

    def check_dates(self, schemas: Mapping[str, Schema]) -> None:
        """Check that keys take the year of dates only.

        Args:
            schemas: of one side, with all of `columns`.

        Raises:
            UsageError: they do not; names the column.
        """
        for name in self.dated:
            texts = schemas[name].kind in ("text", "category") and DATE in self.steps(name)
            if not (schemas[name].is_date or texts):
                raise UsageError(
                    f"parameters.blocking takes the year of {name!r}, which does not hold dates.",
                    "Declare the column as a date in the catalog; for a field of texts, "
                    f'write normalization = ["{DATE}"].',
                )

    def buckets(self, rows: Sequence[int]) -> int:
        """How many buckets a pass has, for public numbers of rows of the two sides."""
        return max(1, -(-max(rows) // self.load))


def parse(parameters: Mapping[str, Any]) -> TolerantParameters:
    """Check the parameters of a job.

    Raises:
        UsageError: a key is unknown or missing, or a value impossible; names the place.
    """
    return read_parameters(TolerantParameters, parameters)


KEYS: Final = tuple(key for each in fields_of(TolerantParameters) for key in each.keys)
"""The keys of `[parameters]` that are read here."""
