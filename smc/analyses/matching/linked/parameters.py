"""The `[parameters]` of exact figures about the pairs of a tolerant matching.

[parameters]
method = "tolerant"
output = "size" | "statistics"       # beside what smc.analyses.matching.tolerant.parameters reads
[[parameters.values]]                # of statistics, as of smc.analyses.matching.aggregates.parameters
side = "alice"
column = "amount"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.matching.aggregates.parameters import SIZE, STATISTICS, FigureParameters
from smc.analyses.matching.tolerant import parameters as tolerant
from smc.analyses.matching.tolerant.parameters import GREEDY, TolerantParameters
from smc.analyses.studies.parameters import read_parameters, reject_unknown, take
from smc.errors import UsageError
from smc.forms import Role

OUTPUTS: Final = (SIZE, STATISTICS)


@dataclass(frozen=True, slots=True)
class LinkedParameters:
    """What is computed about which pairs.

    Attributes:
        matching: how rows are paired, one to one.
        figures: the size, or sums; exact.
    """

    matching: TolerantParameters
    figures: FigureParameters

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns that a side brings: those that are compared or block, then values."""
        return tuple(dict.fromkeys((*self.matching.columns, *self.figures.value_columns(role))))


def parse(parameters: Mapping[str, Any]) -> LinkedParameters:
    """Read `[parameters]` without `method`.

    Raises:
        UsageError: a key is unknown, missing or impossible, or there would have to be noise.
    """
    output = take(parameters, "output", str, "parameters")
    if output not in OUTPUTS:
        raise UsageError(f"parameters.output cannot be {output!r}.", f"Choose one of {', '.join(OUTPUTS)}.")
    given = {key: value for key, value in parameters.items() if key != "epsilon"}
    reject_unknown(given, {*tolerant.KEYS, "values"} - {"show"}, "parameters")
    others = {key: value for key, value in given.items() if key not in ("output", "values")}
    matching = tolerant.parse(others)
    if matching.one_to_one != GREEDY:
        raise UsageError(
            f"parameters.one_to_one = {matching.one_to_one!r} does not go with the output {output!r}: pairs "
            "that overlap would count a row several times, or have to be opened to be chosen.",
            f'Write one_to_one = "{GREEDY}", or leave it out.',
        )
    if matching.histogram is not None:
        raise UsageError(
            f"parameters.histogram does not go with the output {output!r}.",
            "State the threshold, for instance the one that a job with pairs has chosen.",
        )
    if "epsilon" in parameters:
        raise UsageError(_noise(matching), "Leave epsilon out for exact figures, or match by exact keys.")
    figures: dict[str, Any] = {key: given[key] for key in ("output", "values") if key in given}
    return LinkedParameters(matching, read_parameters(FigureParameters, figures))


def moved_pairs(parameters: TolerantParameters) -> int:
    """How many pairs one row more or less ends and begins in a greedy pairing of one round, at most.

    In buckets: of `bucket` B and P passes a row meets P B rows of the other side, and pushes a row out of
    each full bucket that it comes into, which had met as many: 2 P B + P + 1 pairs can end and as many begin.

    By ranks: a row of the side that claims makes one claim, and pushes a row past the last of the R ranks in
    each of P passes, whose claim can move: claims end at P rows and begin at P + 1. A row of the other side
    meets P R claiming rows, and so do those that it pushes out, under the same keys: claims end at P R rows
    and begin at as many. Each row at which claims end or begin can lose a pair and get another. This is with
    the same side claiming; where both have as many rows, one more turns that round, and all pairs can change.
    """
    passes = len(parameters.blocking)
    if parameters.ranks:
        return 2 * max(2 * passes + 1, 2 * passes * parameters.ranks)
    return 2 * (2 * passes * parameters.bucket + passes + 1)


def _noise(parameters: TolerantParameters) -> str:
    moved = f"one row can begin and end up to {moved_pairs(parameters)} pairs with the passes of this job"
    if parameters.ranks:
        moved += ", and all of them where it changes which side claims"
    if parameters.rounds > 1:
        moved = "one row can move a chain of pairs through all rows with more than one round"
    return (
        f"parameters.epsilon does not go with tolerant matches: {moved}, so that no useful noise hides a "
        "row; over exact keys it moves one."
    )
