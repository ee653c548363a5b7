"""What every analysis is to a daemon: parameters, leakage, cost, a joint run and a plain twin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.scope import Kind, Scope
from smc.analyses.loss import Loss
from smc.errors import DomainError, DuettoError, UsageError
from smc.forms import ComparisonType, Role
from smc.protocols.session import Session

DAYS: Final = "days since 1970-01-01"
"""The unit of columns that hold dates, as whole numbers."""


@dataclass(frozen=True, slots=True)
class Schema:
    """What both parties may know of a column: its declaration, never its content.

    Attributes:
        kind: `integer`, `decimal`, `category`, `text`, `share` or `ciphertext`.
        scale: digits after the point of a decimal; values are held multiplied by 10**scale.
        lower: least value, in held units (already multiplied by 10**scale).
        upper: greatest value, in held units.
        categories: the labels of a category column; values are held as indices into it.
        modulus: modulus of a share column, a positive integer in decimal, or `alice` or `bob` for the
            Paillier N of that party; empty for other kinds.
        unit: the unit of measurement, for people; `DAYS` makes a column of integers one of dates.
    """

    kind: str
    scale: int = 0
    lower: int | None = None
    upper: int | None = None
    categories: tuple[str, ...] = ()
    modulus: str = ""
    unit: str = ""

    @property
    def is_date(self) -> bool:
        """Whether the column holds dates, as days since 1970-01-01."""
        return self.kind == "integer" and self.unit == DAYS


@dataclass(frozen=True, slots=True)
class Column:
    """A column as one party holds it, with its schema.

    Attributes:
        values: integers in held units, an int64 array where they fit 63 bits; texts of a `text` column.
        schema: its declaration.
    """

    values: Sequence[int] | NDArray[np.int64] | Sequence[str] = field(repr=False)
    schema: Schema

    def __len__(self) -> int:
        return len(self.values)

    @property
    def integers(self) -> Sequence[int]:
        """The values as Python integers.

        Raises:
            UsageError: they are texts.
        """
        if isinstance(self.values, np.ndarray):
            found: list[int] = self.values.tolist()
            return found
        if self.schema.kind == "text":
            raise UsageError("A column of texts was taken for numbers.", "Declare the column as a number.")
        return cast(Sequence[int], self.values)

    @property
    def array(self) -> NDArray[np.int64]:
        """The values as an int64 array, shape (n,).

        Raises:
            UsageError: they are texts.
            DomainError: a value does not fit 63 bits.
        """
        if isinstance(self.values, np.ndarray):
            return self.values
        try:
            return np.array(self.integers, dtype=np.int64)
        except OverflowError:
            raise DomainError("A value does not fit 63 bits.", "Declare narrower bounds.") from None

    @property
    def texts(self) -> Sequence[str]:
        """The values of a column of kind `text`.

        Raises:
            UsageError: they are numbers.
        """
        if self.schema.kind != "text":
            raise UsageError("A column of numbers was taken for texts.", "Declare the column as text.")
        return cast(Sequence[str], self.values)


Data = Mapping[str, Column]
"""The local columns of a job under the names that the job gives them."""

PERSONS: Final = "@persons"
"""The name in `Data` of the numbers, from 0, that tell which rows are about the same person; own numbers of a
party, meaningless to the other. It is missing where the data set declares no person column: then each row is
a person of its own."""


@dataclass(frozen=True, slots=True)
class Leakage:
    """Who learns what from a run, for people and for tests.

    Attributes:
        alice: what Alice learns beyond her own input, one sentence each.
        bob: what Bob learns.
        public: what is public before the run, such as row counts and parameters.
    """

    alice: tuple[str, ...]
    bob: tuple[str, ...]
    public: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will cost.

    Attributes:
        rounds: chain of dependent messages.
        alice_bytes: bytes from Alice to Bob.
        bob_bytes: bytes from Bob to Alice.
        seconds: estimated wall time.
        route: how it will be done, for people.
        memory: bytes at the peak of one party over those of its idle daemon, see `smc.analyses.memory`; None
            where no model has been measured.
    """

    rounds: int
    alice_bytes: int
    bob_bytes: int
    seconds: float
    route: str
    memory: int | None


@dataclass(frozen=True, slots=True)
class Table:
    """A result table: columns of equal length, of integers, floats, strings or None.

    A column `row` counts, from 1, the local rows that the run got; a daemon turns it into rows of the source.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one party gets from a run; JSON-representable throughout.

    Attributes:
        tables: the results; empty for a party that is no recipient.
        notes: remarks for people: suppression, clamping, error bars explained.
        details: route, noise scale, guarantees: names to plain JSON values.
    """

    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the daemon has to know of a job, whatever its analysis is called.

    Nothing has a default: an analysis that leaves a fact out cannot state any.

    Attributes:
        pairs_by_position: rows of both sides belong together by their position, so none may be left out.
        matches: rows of both sides are matched, so limits on the sizes of sets hold.
        row_results: somebody learns something about single rows: matched keys or pairs, labels, outcomes of
            comparisons, exact sums of its own values over rows that it is not to know. Shares and ciphertexts
            that nobody opens are no such results.
        comparison_type: what is compared in which form, or None where nothing of a stated form is.
        exact: figures about several persons are released without noise: sums, sizes, centres.
        sorts_by: the columns, by their names in the job, by whose values exact tables sort rows into cells.
            Which cells have rows at all is shown, so these must not name persons.
        loss: the total privacy loss of the run; nothing if it releases nothing under differential privacy.
    """

    pairs_by_position: bool
    matches: bool
    row_results: bool
    comparison_type: ComparisonType | None
    exact: bool
    sorts_by: frozenset[str]
    loss: Loss

    @property
    def scope(self) -> Scope:
        """What a run may open by these facts."""
        kinds = ((Kind.GROUPS, self.exact), (Kind.ROWS, self.row_results), (Kind.NOISY, bool(self.loss)))
        return Scope(frozenset(kind for kind, holds in kinds if holds), self.matches)


@dataclass(frozen=True, slots=True)
class Preview:
    """What one side's rows tell of a run before it, to their own party alone.

    Attributes:
        notes: remarks for people.
        details: the same as names to plain JSON values.
        refusal: why the run would refuse these rows, or None.
    """

    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    refusal: DuettoError | None = None

    @classmethod
    def of(cls, look: Callable[[], None]) -> Preview:
        """A preview that refuses what `look` refuses: the checks that `run` makes before it sends.

        Args:
            look: raises if the run would.
        """
        try:
            look()
        except DuettoError as refusal:
            return cls(refusal=refusal)
        return cls()

    def require(self) -> None:
        """Go on only with rows that the run takes.

        Raises:
            DuettoError: the refusal, of its kind.
        """
        if self.refusal is not None:
            raise self.refusal


@runtime_checkable
class Analysis(Protocol):
    """An analysis. Parameters are parsed once, on each side, into a frozen value that `run` trusts."""

    @property
    def name(self) -> str:
        """The name in job files."""
        ...

    @property
    def always_matches(self) -> bool:
        """Whether every job matches rows of both sides; of a single job `facts` says it."""
        ...

    def parse(self, parameters: Mapping[str, Any]) -> Any:
        """Check the `[parameters]` of a job file.

        Raises:
            UsageError: unknown, missing or impossible parameters, named with their place.
        """
        ...

    def columns(self, parameters: Any, role: Role) -> tuple[str, ...]:
        """The names of the columns that `role` must bring."""
        ...

    def check_schema(self, parameters: Any, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that the declared columns of both sides fit the parameters and each other.

        Raises:
            UsageError: they do not; says which column of which side and how to fix it.
        """
        ...

    def check_recipients(self, parameters: Any, recipients: frozenset[Role]) -> None:
        """Check that the parameters allow these recipients.

        Raises:
            UsageError: a recipient would get, or be kept from, what the parameters say.
        """
        ...

    def facts(self, parameters: Any, recipients: frozenset[Role]) -> Facts:
        """What data and policies have to know of a job.

        Args:
            parameters: as parsed.
            recipients: who gets the results; the same figure may tell one side of groups and the other, which
                chose the values in it, of single rows.
        """
        ...

    def leakage(self, parameters: Any, recipients: frozenset[Role]) -> Leakage:
        """Who learns what."""
        ...

    def check_rows(
        self,
        parameters: Any,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """Look at the local rows before anything is sent: what `run` would remark of them, or refuse.

        Whatever a run refuses that one side can know, this refuses, with the same error; the peer counts as
        bringing as many rows. A daemon asks at `job check` and before it proposes or signs a job.

        Args:
            parameters: as parsed.
            data: the local columns.
            role: this side's role.
            limits: those of disclosure, as far as they are known.
            peer: the declarations of the peer's columns, once they are known: then what own rows and the
                bounds of its columns do not allow is refused, too.
        """
        ...

    def estimate(
        self,
        parameters: Any,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """What a run over `rows` rows a side costs in a fresh session, without what the gate sends.

        It is the cost of a run in which no limit stands against the result and nothing has to be withheld:
        what has to be is secret before the run. Withholding opens fewer numbers, and may test more of them.

        Args:
            parameters: as parsed.
            schemas: the declarations of the local columns and those that are known of the peer's, which are
                taken to be like the local ones where they are not.
            recipients: who gets the results.
            rows: rows of each side.
            key_bits: size of the Paillier keys.
            limits: those of disclosure, as far as they are known.
        """
        ...

    def run(
        self,
        session: Session,
        parameters: Any,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side.

        Args:
            session: this side.
            parameters: as parsed.
            data: the local columns.
            recipients: who gets the results.
            release: opens all results, and nothing else does.

        Raises:
            DuettoError: of the kind that the failure has.
        """
        ...

    def run_plain(
        self, parameters: Any, alice: Data, bob: Data, recipients: frozenset[Role]
    ) -> tuple[Outcome, Outcome]:
        """The plain twin: what Alice and Bob would get from a trusted third party (without noise)."""
        ...
