"""The `[parameters]` of a clustering job, checked and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any, Final

from typing_extensions import override

from commons.settings.bounds import Between
from commons.settings.marks import Given, Key, Length, Read, Repeated, UnfitError, Unread, Variants, Wrong
from commons.settings.reader import Tables
from smc.analyses.records.fixed_point import Scaling
from smc.analyses.records.key_parameters import KeyParameters
from smc.analyses.records.keying import ERROR
from smc.analyses.records.numbers import NUMBER, loss_term, number
from smc.analyses.studies.neighbours import Neighbours
from smc.analyses.studies.parameters import Name, table_of
from smc.errors import UsageError
from smc.forms import Role

MAX_CLUSTERS: Final = 64
MAX_COLUMNS: Final = 1000
MAX_ITERATIONS: Final = 300
MAX_EPSILON: Final = 100
PRECISIONS: Final = (4, 20)
MAX_ROWS_PER_PERSON: Final = 10_000

_CENTRES: Final[Mapping[str, Any]] = {"type": "array", "items": {"type": "array", "items": NUMBER}}
_LEAVE: Final = "Leave one of them out."
_TAKEN: Final = frozenset({"cluster", "size"})


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


Columns = Annotated[
    tuple[Name, ...],
    Length(1, MAX_COLUMNS),
    Repeated(),
    Wrong(f"is not a list of 1 to {MAX_COLUMNS} names", 'Write ["...", "..."].'),
]


def _parse_centres(value: Any, place: str) -> tuple[tuple[Fraction, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise UsageError(f"{place} is not a list of lists.", 'Write [["1.5", "20"], ["3", "41"]].')
    return tuple(tuple(number(one, place) for one in row) for row in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteringParameters:
    """Parsed parameters; which columns the parties bring depends on the layout.

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
        has_start: whether the job says where centres come from.
        has_labels: whether the job says whether recipients get the clusters of rows.
        has_bound: whether the job says how many rows one person has.

    Raises:
        UnfitError: they do not fit each other.
    """

    clusters: Annotated[int, Between(2, MAX_CLUSTERS)]
    layout: Layout = Layout.HORIZONTAL
    alice_columns: Annotated[Columns, Unread()]
    bob_columns: Annotated[Columns, Unread()] = ()
    precision: Annotated[int, Between(*PRECISIONS)] = 12
    scaling: Scaling = Scaling.RANGE
    iterations: Annotated[int, Between(1, MAX_ITERATIONS)] = 20
    tolerance: Annotated[Fraction | None, Read(number, NUMBER)] = None
    start: Start = Start.PLUS_PLUS
    centres: Annotated[tuple[tuple[Fraction, ...], ...], Read(_parse_centres, _CENTRES)] = ()
    labels: bool = True
    epsilon: Annotated[Fraction | None, Read(loss_term, NUMBER)] = None
    rows_per_person: Annotated[int, Between(1, MAX_ROWS_PER_PERSON)] = 1
    match: Annotated[KeyParameters | None, Unread()] = None
    has_start: Annotated[bool, Given("start")] = False
    has_labels: Annotated[bool, Given("labels")] = False
    has_bound: Annotated[bool, Given("rows_per_person")] = False

    def __post_init__(self) -> None:
        if self.epsilon is not None and self.epsilon > MAX_EPSILON:
            hint = "Lower it: so large an epsilon protects nobody."
            raise UnfitError("epsilon", f"is above {MAX_EPSILON}", hint)
        if self.centres and self.has_start:
            raise UnfitError("start", "goes with no centres: there are both start and centres", _LEAVE)
        if not self.has_start:
            drawn = Start.PLUS_PLUS if self.match is None else Start.RANDOM
            usual = Start.GIVEN if self.centres else drawn if self.epsilon is None else Start.UNIFORM
            object.__setattr__(self, "start", usual)
        if not self.has_labels:
            object.__setattr__(self, "labels", self.match is None)
        self._check_columns()
        self._check_start()
        if self.epsilon is not None:
            self._check_noise()
        elif self.has_bound:
            problem = "is only for jobs with epsilon"
            raise UnfitError("rows_per_person", problem, "Leave it out, or add epsilon.")
        if self.match is not None:
            self._check_match(self.match)

    def _check_columns(self) -> None:
        if taken := _TAKEN.intersection(self.names):
            problem = f"has a column {min(taken)!r}, which is also the name of a column of the result"
            key = "alice_columns" if self.layout is Layout.VERTICAL else "columns"
            raise UnfitError(key, problem, "Give it another name in the job.")
        if len(set(self.names)) < len(self.names):
            raise UsageError("parameters names a column twice.", "Give each column its own name in the job.")
        if self.centres and [len(row) for row in self.centres] != [len(self.names)] * self.clusters:
            raise UnfitError(
                "centres",
                f"are not {self.clusters} rows of {len(self.names)} numbers",
                "State each cluster's centre with a number for each column.",
            )

    def _check_start(self) -> None:
        if self.start is Start.GIVEN and not self.centres:
            problem = "asks for centres, but none are given"
            raise UnfitError("start", problem, "Add centres = [[...], ...].")
        if self.tolerance is not None and self.tolerance < 0:
            raise UnfitError("tolerance", "is negative", "Write 0 to stop when no centre moves.")

    def _check_noise(self) -> None:
        if self.tolerance is not None:
            raise UnfitError(
                "tolerance",
                "does not go with epsilon: when a run stops would depend on the data",
                "Leave it out: with epsilon, the number of iterations is fixed.",
            )
        if self.start not in (Start.UNIFORM, Start.GIVEN):
            raise UnfitError(
                "start",
                f"{self.start.value!r} does not go with epsilon: it uses rows without noise",
                'Use start = "uniform" or state centres.',
            )
        if self.labels and self.layout is not Layout.HORIZONTAL:
            raise UnfitError(
                "labels",
                "do not go with epsilon and this layout: nobody holds whole rows to label",
                "Set labels = false.",
            )

    def _check_match(self, match: KeyParameters) -> None:
        if self.labels:
            problem = "do not go with parameters.match: they would show which rows match"
            raise UnfitError("labels", problem, "Set labels = false.")
        if self.start is Start.PLUS_PLUS:
            raise UnfitError(
                "start",
                f"{self.start.value!r} does not go with parameters.match",
                'Use start = "random" or "uniform", or state centres.',
            )
        if self.epsilon is not None and match.duplicates != ERROR:
            raise UsageError(
                f"parameters.match.duplicates {match.duplicates!r} does not go with epsilon: a row that is "
                "taken away would give others of its key another partner.",
                f"Use {ERROR!r}.",
            )

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedColumns(ClusteringParameters):
    """Both parties bring the same columns.

    Attributes:
        alice_columns: the columns of both.
    """

    alice_columns: Annotated[Columns, Key("columns")]

    @override
    def __post_init__(self) -> None:
        object.__setattr__(self, "bob_columns", self.alice_columns)
        ClusteringParameters.__post_init__(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitColumns(ClusteringParameters):
    """Each party brings columns of its own.

    Attributes:
        alice_columns: Alice's.
        bob_columns: Bob's.
        match: by which keys rows are matched in secret.
    """

    alice_columns: Columns
    bob_columns: Columns
    match: KeyParameters | None = None


LAYOUTS: Final = Variants.by_word(
    "layout",
    {one.value: SplitColumns if one is Layout.VERTICAL else SharedColumns for one in Layout},
    Layout.HORIZONTAL.value,
)
"""What `[parameters]` may hold, by the layout."""


def parse(parameters: Mapping[str, Any]) -> ClusteringParameters:
    """Check the `[parameters]` of a job.

    Raises:
        UsageError: a key is unknown or missing, or a value impossible; names the place.
    """
    found: ClusteringParameters = Tables(LAYOUTS).of(table_of(parameters))
    return found
