"""The `[parameters]` of a clustering job, checked and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Final

from smc.analyses.records.fixed_point import Scaling
from smc.analyses.records.key_parameters import KeyParameters, parse_keys
from smc.analyses.records.keys import ERROR
from smc.analyses.records.numbers import loss_term, number
from smc.analyses.studies.neighbours import Neighbours
from smc.analyses.studies.parameters import reject_unknown, take
from smc.errors import UsageError
from smc.forms import Role

MAX_CLUSTERS: Final = 64
MAX_COLUMNS: Final = 1000
MAX_ITERATIONS: Final = 300
MAX_EPSILON: Final = 100
PRECISIONS: Final = (4, 20)
MAX_ROWS_PER_PERSON: Final = 10_000

_SHARED_KEYS: Final = {
    *("clusters", "layout", "precision", "scaling", "iterations", "tolerance", "start", "centres", "labels"),
    *("epsilon", "rows_per_person"),
}
_COLUMN_KEYS: Final = ("columns",)
_SPLIT_KEYS: Final = ("alice_columns", "bob_columns")
_MATCH_KEYS: Final = ("keys", "normalization", "duplicates")
_TAKEN: Final = frozenset({"cluster", "size"})
_PLACE: Final = "parameters"
_MATCH: Final = "parameters.match"


class Layout(Enum):
    """How the table lies between the parties."""

    HORIZONTAL = "horizontal"
    """Each holds rows of its own, over the same columns."""
    VERTICAL = "vertical"
    """Each has columns of its own about the same rows: in the same order, or matched in secret by keys."""
    ARBITRARY = "arbitrary"
    """Both hold the same rows and columns; a value is the sum of both cells, a missing one counting 0."""


class Start(Enum):
    """Where the first centres come from."""

    PLUS_PLUS = "kmeans++"
    """Rows, each with a chance that grows with the square of its distance from those chosen before."""
    RANDOM = "random"
    """Rows, one from each of k runs of consecutive ones."""
    UNIFORM = "uniform"
    """Points that are uniform within the declared bounds, whatever the data."""
    GIVEN = "centres"
    """Those that the job states."""


@dataclass(frozen=True, slots=True)
class ClusteringParameters:
    """Parsed parameters.

    Attributes:
        clusters: k.
        layout: how the table lies.
        alice_columns: Alice's columns; of layouts other than vertical the same as Bob's.
        bob_columns: Bob's columns.
        precision: bits of a value of the widest column.
        scaling: what distances are measured in.
        iterations: the most that are made, or exactly as many where no tolerance is stated.
        tolerance: movement of all centres together at which to stop, in parts of the widest column's range;
            None for a fixed number of iterations.
        start: where the first centres come from.
        centres: those stated, in real units, a row of k each; empty unless stated.
        labels: whether recipients get the clusters of rows.
        epsilon: the privacy loss, or None for exact centres.
        rows_per_person: under epsilon, the most rows that one person has.
        match: of a vertical layout, the keys by which rows are matched in secret; None where both bring the
            same rows in the same order.
    """

    clusters: int
    layout: Layout
    alice_columns: tuple[str, ...]
    bob_columns: tuple[str, ...]
    precision: int = 12
    scaling: Scaling = Scaling.RANGE
    iterations: int = 20
    tolerance: Fraction | None = None
    start: Start = Start.PLUS_PLUS
    centres: tuple[tuple[Fraction, ...], ...] = ()
    labels: bool = True
    epsilon: Fraction | None = None
    rows_per_person: int = 1
    match: KeyParameters | None = None

    @property
    def neighbours(self) -> Neighbours:
        """What the guarantee of a job with epsilon is about: replaced rows, as their numbers are public.

        Keys are distinct in such a job, so a row takes part in one match at most.
        """
        return Neighbours(self.rows_per_person, rows_public=True)

    @property
    def names(self) -> tuple[str, ...]:
        """All columns; of a vertical layout Alice's come first."""
        if self.layout is Layout.VERTICAL:
            return self.alice_columns + self.bob_columns
        return self.alice_columns

    def values(self, role: Role) -> tuple[str, ...]:
        """The columns of a party that distances are computed of."""
        return self.alice_columns if role is Role.ALICE else self.bob_columns

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns that a party brings, keys first."""
        keys = self.match.columns if self.match is not None else ()
        return keys + tuple(name for name in self.values(role) if name not in keys)


def parse(parameters: Mapping[str, Any]) -> ClusteringParameters:
    """Check the `[parameters]` of a job.

    Raises:
        UsageError: a key is unknown or missing, or a value impossible; names the place.
    """
    layout = _choice(Layout, parameters, "layout", Layout.HORIZONTAL)
    lists = _SPLIT_KEYS if layout is Layout.VERTICAL else _COLUMN_KEYS
    known = {*_SHARED_KEYS, *lists, *(["match"] if layout is Layout.VERTICAL else [])}
    reject_unknown(parameters, known, f"{_PLACE} ({layout.value})")
    match = _match(parameters)
    columns = [_names(parameters, key) for key in lists]
    epsilon = loss_term(parameters["epsilon"], f"{_PLACE}.epsilon") if "epsilon" in parameters else None
    if epsilon is not None and epsilon > MAX_EPSILON:
        raise UsageError(
            f"{_PLACE}.epsilon is above {MAX_EPSILON}.", "Lower it: so large an epsilon protects nobody."
        )
    given = "centres" in parameters
    if given and "start" in parameters:
        raise UsageError(f"{_PLACE} has both start and centres.", "Leave one of them out.")
    drawn = Start.PLUS_PLUS if match is None else Start.RANDOM
    usual = Start.GIVEN if given else drawn if epsilon is None else Start.UNIFORM
    parsed = ClusteringParameters(
        clusters=_within(parameters, "clusters", 2, MAX_CLUSTERS),
        layout=layout,
        alice_columns=columns[0],
        bob_columns=columns[-1],
        precision=_within(parameters, "precision", *PRECISIONS, default=12),
        scaling=_choice(Scaling, parameters, "scaling", Scaling.RANGE),
        iterations=_within(parameters, "iterations", 1, MAX_ITERATIONS, default=20),
        tolerance=number(parameters["tolerance"], f"{_PLACE}.tolerance")
        if "tolerance" in parameters
        else None,
        start=_choice(Start, parameters, "start", usual),
        centres=_centres(parameters) if given else (),
        labels=take(parameters, "labels", bool, _PLACE, match is None),
        epsilon=epsilon,
        rows_per_person=_within(parameters, "rows_per_person", 1, MAX_ROWS_PER_PERSON, default=1),
        match=match,
    )
    _check_together(parsed, parameters)
    _check_match(parsed)
    return parsed


def _match(parameters: Mapping[str, Any]) -> KeyParameters | None:
    if "match" not in parameters:
        return None
    table: dict[str, Any] = take(parameters, "match", dict, _PLACE)
    reject_unknown(table, _MATCH_KEYS, _MATCH)
    return parse_keys(table, _MATCH)


def _check_match(parsed: ClusteringParameters) -> None:
    if parsed.match is None:
        return
    if parsed.labels:
        raise UsageError(
            f"{_PLACE}.labels do not go with {_MATCH}: they would show which rows match.",
            "Set labels = false.",
        )
    if parsed.start is Start.PLUS_PLUS:
        raise UsageError(
            f"{_PLACE}.start {parsed.start.value!r} does not go with {_MATCH}.",
            'Use start = "random" or "uniform", or state centres.',
        )
    if parsed.epsilon is not None and parsed.match.duplicates != ERROR:
        raise UsageError(
            f"{_MATCH}.duplicates {parsed.match.duplicates!r} does not go with epsilon: a row that is taken "
            "away would give others of its key another partner.",
            f"Use {ERROR!r}.",
        )


def _check_together(parsed: ClusteringParameters, parameters: Mapping[str, Any]) -> None:
    if parsed.start is Start.GIVEN and not parsed.centres:
        raise UsageError(
            f"{_PLACE}.start asks for centres, but none are given.", "Add centres = [[...], ...]."
        )
    if parsed.tolerance is not None and parsed.tolerance < 0:
        raise UsageError(f"{_PLACE}.tolerance is negative.", "Write 0 to stop when no centre moves.")
    shape = [len(centre) for centre in parsed.centres]
    if parsed.centres and shape != [len(parsed.names)] * parsed.clusters:
        raise UsageError(
            f"{_PLACE}.centres are not {parsed.clusters} rows of {len(parsed.names)} numbers.",
            "State each cluster's centre with a number for each column.",
        )
    if len(set(parsed.names)) < len(parsed.names):
        raise UsageError(f"{_PLACE} names a column twice.", "Give each column its own name in the job.")
    if parsed.epsilon is None:
        if "rows_per_person" in parameters:
            raise UsageError(
                f"{_PLACE}.rows_per_person is only for jobs with epsilon.", "Leave it out, or add epsilon."
            )
        return
    if parsed.tolerance is not None:
        raise UsageError(
            f"{_PLACE}.tolerance does not go with epsilon: when a run stops would depend on the data.",
            "Leave it out: with epsilon, the number of iterations is fixed.",
        )
    if parsed.start not in (Start.UNIFORM, Start.GIVEN):
        raise UsageError(
            f"{_PLACE}.start {parsed.start.value!r} does not go with epsilon: it uses rows without noise.",
            'Use start = "uniform" or state centres.',
        )
    if parsed.labels and parsed.layout is not Layout.HORIZONTAL:
        raise UsageError(
            f"{_PLACE}.labels do not go with epsilon and this layout: nobody holds whole rows to label.",
            "Set labels = false.",
        )


def _choice(kind: type[Any], parameters: Mapping[str, Any], key: str, default: Any) -> Any:
    word = take(parameters, key, str, _PLACE, default.value)
    try:
        return kind(word)
    except ValueError:
        known = ", ".join(repr(member.value) for member in kind)
        raise UsageError(f"{_PLACE}.{key} cannot be {word!r}.", f"Choose one of {known}.") from None


def _within(
    parameters: Mapping[str, Any], key: str, least: int, most: int, *, default: int | None = None
) -> int:
    value = take(parameters, key, int, _PLACE, default)
    if not least <= value <= most:
        raise UsageError(f"{_PLACE}.{key} is out of range.", f"Use {least} to {most}.")
    return value


def _names(parameters: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = take(parameters, key, list, _PLACE)
    if not 1 <= len(names) <= MAX_COLUMNS or not all(isinstance(name, str) and name for name in names):
        raise UsageError(
            f"{_PLACE}.{key} is not a list of 1 to {MAX_COLUMNS} names.", 'Write ["...", "..."].'
        )
    taken = _TAKEN.intersection(names)
    if taken:
        raise UsageError(
            f"{_PLACE}.{key} has a column {min(taken)!r}, which is also the name of a column of the result.",
            "Give it another name in the job.",
        )
    return tuple(names)


def _centres(parameters: Mapping[str, Any]) -> tuple[tuple[Fraction, ...], ...]:
    rows = take(parameters, "centres", list, _PLACE)
    if not all(isinstance(row, list) for row in rows):
        raise UsageError(f"{_PLACE}.centres is not a list of lists.", 'Write [["1.5", "20"], ["3", "41"]].')
    return tuple(tuple(number(value, f"{_PLACE}.centres") for value in row) for row in rows)
