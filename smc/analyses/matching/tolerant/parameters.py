"""The `[parameters]` of a tolerant matching, checked and frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from smc.analyses.matching.tolerant.blocking import YEAR, KeyPart
from smc.analyses.matching.tolerant.encoding import MAX_WEIGHT, Field
from smc.analyses.matching.tolerant.histogram import FLOOR, Histogram
from smc.analyses.matching.tolerant.histogram import parse as parse_histogram
from smc.analyses.matching.tolerant.similarity import Rule
from smc.analyses.records.normalization import DATE, parse_steps
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.parameters import reject_unknown, take
from smc.errors import UsageError
from smc.secret.common_ones import PAD_BYTES

NONE: Final = "none"
GREEDY: Final = "greedy"
LARGEST: Final = "largest"
MODES: Final = (NONE, GREEDY, LARGEST)

REFUSE: Final = "refuse"
ACCEPT: Final = "accept"

DEFAULT_STEPS: Final = ("width", "transliterate", "lower", "strip-accents", "collapse-spaces")
"""The normalization of columns for which the job gives none; they leave dates as they are."""

MAX_FIELDS: Final = 64
MAX_PASSES: Final = 16
MAX_BITS: Final = 4096
MIN_BITS: Final = 64
MAX_ROUNDS: Final = 16
MAX_RANKS: Final = 8
MAX_Q: Final = 4
LONGEST_SALT: Final = 100
MIN_THRESHOLD: Final = Fraction(1, 20)

_PLACE: Final = "parameters"
PAIRS: Final = "pairs"
"""The output that shows which local rows were paired."""

KEYS: Final = (
    "fields", "bits", "threshold", "blocking", "bucket", "load", "overflow", "ranks", "one_to_one", "rounds",
    "salt", "show", "output", "histogram",
)  # fmt: skip
_FIELD_KEYS: Final = ("column", "weight", "q", "normalization")
_DECIMAL: Final = re.compile(r"0\.[0-9]{1,4}|1(\.0{1,4})?")


@dataclass(frozen=True, slots=True)
class TolerantParameters:
    """Parsed parameters.

    Attributes:
        fields: what is compared.
        bits: of a filter.
        threshold: least Dice coefficient of a match; with a histogram, where the choice begins.
        blocking: the key of each pass.
        bucket: most rows of one side in a bucket.
        load: mean rows of the larger side per bucket.
        accept_overflow: whether a run goes on where too many rows are left out of passes.
        ranks: rows of one side that take part under a key, where passes are joins in secret; 0 where rows
            meet in buckets.
        one_to_one: `none`, `greedy` or `largest`.
        rounds: of the greedy pairing.
        salt: makes hashes of this job its own.
        show: local columns that the result repeats beside the row numbers.
        histogram: how the threshold is chosen in the run; None where it is stated.
    """

    fields: tuple[Field, ...]
    bits: int
    threshold: Fraction
    blocking: tuple[tuple[KeyPart, ...], ...]
    bucket: int
    load: int
    accept_overflow: bool
    ranks: int
    one_to_one: str
    rounds: int
    salt: str
    show: tuple[str, ...]
    histogram: Histogram | None

    @property
    def rule(self) -> Rule:
        """When records are alike; those that meet by ranks do so one by one."""
        least = self.threshold if self.histogram is None else FLOOR
        return Rule(least, 1 if self.ranks else self.bucket)

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
                    f"{_PLACE}.blocking takes the year of {name!r}, which does not hold dates.",
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
    reject_unknown(parameters, KEYS, _PLACE)
    if take(parameters, "output", str, _PLACE, PAIRS) != PAIRS:
        raise UsageError(f"{_PLACE}.output is not {PAIRS!r}.", f'Write output = "{PAIRS}", or leave it out.')
    bucket = _number(parameters, "bucket", _PLACE, 2, PAD_BYTES, PAD_BYTES)
    mode = take(parameters, "one_to_one", str, _PLACE, GREEDY)
    if mode not in MODES:
        raise UsageError(f"{_PLACE}.one_to_one is not a known mode.", f"Choose one of {', '.join(MODES)}.")
    overflow = take(parameters, "overflow", str, _PLACE, REFUSE)
    if overflow not in (REFUSE, ACCEPT):
        raise UsageError(f"{_PLACE}.overflow is not a known word.", f"Write {REFUSE} or {ACCEPT}.")
    if "rounds" in parameters and mode != GREEDY:
        raise UsageError(
            f"{_PLACE}.rounds is only for the greedy mode.", 'Leave it out, or write one_to_one = "greedy".'
        )
    salt = take(parameters, "salt", str, _PLACE, "")
    if len(salt) > LONGEST_SALT:
        raise UsageError(f"{_PLACE}.salt has more than {LONGEST_SALT} characters.", "Shorten it.")
    threshold, blocking, ranks = _threshold(parameters), _blocking(parameters), _ranks(parameters, mode)
    histogram = None
    if "histogram" in parameters:
        place = f"{_PLACE}.histogram"
        histogram = parse_histogram(parameters["histogram"], place, threshold, len(blocking), ranks)
    return TolerantParameters(
        _fields(parameters),
        _number(parameters, "bits", _PLACE, MIN_BITS, MAX_BITS, 512),
        threshold,
        blocking,
        bucket,
        _number(parameters, "load", _PLACE, 1, bucket, max(1, 3 * bucket // 8)),
        overflow == ACCEPT,
        ranks,
        mode,
        _number(parameters, "rounds", _PLACE, 1, MAX_ROUNDS, 1),
        salt,
        _names(parameters, "show", _PLACE),
        histogram,
    )


def _ranks(parameters: Mapping[str, Any], mode: str) -> int:
    if "ranks" not in parameters:
        return 0
    if mode != GREEDY:
        raise UsageError(
            f"{_PLACE}.ranks goes with the greedy mode only.",
            f'Write one_to_one = "{GREEDY}", or use buckets.',
        )
    for name in ("bucket", "load", "rounds"):
        if name in parameters:
            raise UsageError(
                f"{_PLACE} has both ranks and {name}, which is for rows that meet in buckets.",
                f"Leave {name} out.",
            )
    return _number(parameters, "ranks", _PLACE, 1, MAX_RANKS, 1)


def _fields(parameters: Mapping[str, Any]) -> tuple[Field, ...]:
    tables = take(parameters, "fields", list, _PLACE)
    if not 1 <= len(tables) <= MAX_FIELDS:
        raise UsageError(
            f"{_PLACE}.fields must hold 1 to {MAX_FIELDS} fields.", "Write [[parameters.fields]] tables."
        )
    fields = tuple(_field(table, f"{_PLACE}.fields[{number}]") for number, table in enumerate(tables))
    if len({each.column for each in fields}) < len(fields):
        raise UsageError(
            f"{_PLACE}.fields names a column twice.", "Name it once; to make it count more, raise its weight."
        )
    return fields


def _field(table: Any, place: str) -> Field:
    if not isinstance(table, Mapping):
        raise UsageError(f"{place} is not a table.", 'Write { column = "..." }.')
    reject_unknown(table, _FIELD_KEYS, place)
    steps = list(DEFAULT_STEPS)
    return Field(
        take(table, "column", str, place),
        _number(table, "weight", place, 1, MAX_WEIGHT, 1),
        _number(table, "q", place, 1, MAX_Q, 2),
        parse_steps(table.get("normalization", steps), f"{place}.normalization"),
    )


def _blocking(parameters: Mapping[str, Any]) -> tuple[tuple[KeyPart, ...], ...]:
    passes = take(parameters, "blocking", list, _PLACE)
    if not 1 <= len(passes) <= MAX_PASSES:
        raise UsageError(
            f"{_PLACE}.blocking must hold 1 to {MAX_PASSES} passes.",
            'Write blocking = [["surname:soundex", "date_of_birth:year"], ["postcode:value"]].',
        )
    found = tuple(
        tuple(KeyPart.parse(part, place) for part in _texts(key, place))
        for number, key in enumerate(passes)
        for place in (f"{_PLACE}.blocking[{number}]",)
    )
    if not all(found) or len(set(found)) < len(found):
        raise UsageError(f"{_PLACE}.blocking has an empty pass, or the same pass twice.", "Remove that pass.")
    return found


def _threshold(parameters: Mapping[str, Any]) -> Fraction:
    text = take(parameters, "threshold", str, _PLACE)
    value = Fraction(text) if _DECIMAL.fullmatch(text) else Fraction(0)
    if not MIN_THRESHOLD <= value <= 1:
        raise UsageError(
            f"{_PLACE}.threshold is not a decimal from 0.05 to 1 with at most four digits after the point.",
            'Write the least Dice coefficient of a match, such as threshold = "0.6".',
        )
    return value


def _names(table: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    names = _texts(take(table, key, list, place, []), f"{place}.{key}")
    if len(set(names)) < len(names):
        raise UsageError(f"{place}.{key} has a name twice.", "Write each name once.")
    return names


def _texts(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise UsageError(f"{place} is not a list of texts.", 'Write ["...", "..."].')
    return tuple(value)


def _number(table: Mapping[str, Any], key: str, place: str, least: int, most: int, default: int) -> int:
    value = take(table, key, int, place, default)
    if not least <= value <= most:
        raise UsageError(f"{place}.{key} is out of range.", f"Use {least} to {most}.")
    return value
