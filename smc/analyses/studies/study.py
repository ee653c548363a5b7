"""What a job is to a daemon: a study, which an analysis makes of the parameters of a job file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from smc.analyses.disclosure.limits import Limits
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Facts
from smc.analyses.studies.memory import USUAL_PACE, Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.errors import DuettoError, UsageError
from smc.forms import Role
from smc.protocols.against import Against

if TYPE_CHECKING:
    from smc.analyses.disclosure.release import Release
    from smc.protocols.session import Session


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

    @classmethod
    def to(
        cls,
        recipients: AbstractSet[Role],
        gets: tuple[str, ...],
        public: tuple[str, ...] = (),
        *,
        both: tuple[str, ...] = (),
    ) -> Leakage:
        """Of a run from which all recipients learn the same.

        Args:
            recipients: who gets the results.
            gets: what a recipient learns, one sentence each.
            public: what is public before the run.
            both: what both parties learn besides, whoever receives.
        """
        alice, bob = ((*gets, *both) if role in recipients else both for role in Role)
        return cls(alice, bob, public)


@dataclass(frozen=True, slots=True)
class Cheaper:
    """Another way to the same result, by far the cheaper one.

    Attributes:
        change: what to write into the job file, such as `engine = "auto"`.
        engine: the engine that the job would have then.
        seconds: the estimated wall time then.
    """

    change: str
    engine: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Longest:
    """What the longest run takes that data can lead to.

    Attributes:
        rounds: chain of dependent messages.
        alice_bytes: bytes from Alice to Bob.
        bob_bytes: bytes from Bob to Alice.
    """

    rounds: int
    alice_bytes: int
    bob_bytes: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will cost.

    Attributes:
        rounds: chain of dependent messages.
        alice_bytes: bytes from Alice to Bob.
        bob_bytes: bytes from Bob to Alice.
        seconds: estimated wall time, without that of the network of the job where it names one.
        route: how it will be done, for people.
        memory: bytes at the peak of one party over those of its idle daemon, see
            `smc.analyses.studies.memory`; None where no model has been measured.
        cheaper: how the same would take less than a hundredth of the time, or None.
        against: what it holds against a peer that deviates.
        most: where the data decide how long a run is, what the longest one takes; the figures above are then
            those of a usual one.
    """

    rounds: int
    alice_bytes: int
    bob_bytes: int
    seconds: float
    route: str
    memory: int | None
    cheaper: Cheaper | None = None
    against: Against = Against.SEMI_HONEST
    most: Longest | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What one side's rows show about a run before it, to their own party alone.

    Attributes:
        notes: remarks for people.
        details: the same as names to plain JSON values.
        refusal: why the run would refuse these rows, or None.
        advice: what would give more for the same loss, for people.
    """

    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    refusal: DuettoError | None = None
    advice: tuple[str, ...] = ()

    @classmethod
    def of(cls, look: Callable[[], Preview | None]) -> Preview:
        """What `look` finds, which are the checks that `run` makes before it sends.

        Args:
            look: raises what the run would refuse; what it returns are its remarks, None if it has none.
        """
        try:
            return look() or cls()
        except DuettoError as refusal:
            return cls(refusal=refusal)

    def require(self) -> None:
        """Go on only with rows that the run takes.

        Raises:
            DuettoError: the refusal, of its kind.
        """
        if self.refusal is not None:
            raise self.refusal


class Study(ABC):
    """A job as its analysis understands it, bound to its parameters; it lives as long as the job.

    A daemon knows nothing else of an analysis: it asks for no names, and reads no parameter by its spelling.
    What most studies say alike is said here. What a run costs is found by running it over shapes
    (`smc.analyses.studies.traced.estimate_cost`), by what the study says of its pace and memory.
    """

    __slots__ = ()

    gives: ClassVar[str] = "result"
    """What recipients get, in a word or two."""

    @property
    def route(self) -> str:
        """How a run is done, for people."""
        return "computed jointly by oblivious transfer"

    @property
    def pace(self) -> Pace:
        """How fast runs are on loopback, measured."""
        return USUAL_PACE

    @property
    def least_rows(self) -> int:
        """Rows that a side is estimated with at least: 1 where a run without any is another program."""
        return 0

    @property
    def depends_on_rounding(self) -> bool:
        """Whether what is sent follows from floating-point numbers that machines round in different ways.

        The wire's baseline is made again as on another machine for all that say no.
        """
        return False

    @property
    def takes_pool(self) -> bool:
        """Whether it looks for a pool, which was made in another run."""
        return False

    @property
    def longest(self) -> Study | None:
        """The same study, whose run over shapes is as long as any; None where data do not decide that."""
        return None

    @property
    @abstractmethod
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The names of the columns that each role must bring."""
        ...

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that the declared columns of both sides fit the parameters and each other.

        Raises:
            UsageError: they do not; says which column of which side, and how to fix it.
        """
        for role, schemas in zip(Role, (alice, bob), strict=True):
            self.check_side(schemas, role)

    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        """Check that the declared columns of one side fit the parameters.

        Args:
            schemas: the declarations.
            role: whose they are.

        Raises:
            UsageError: one is missing, or does not fit; says which.
        """
        for name in self.columns[role]:
            if name not in schemas:
                raise UsageError(f"{role.name.title()} declares no column {name!r}.", "Add it to the job.")

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Check that the parameters allow these recipients: somebody has to receive.

        Raises:
            UsageError: a recipient would get, or be kept from, what the parameters say.
        """
        if not recipients:
            raise UsageError(f"Nobody receives the {self.gives}.", "Name alice, bob or both as recipients.")

    @abstractmethod
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """What data and policies have to know of the job.

        Args:
            recipients: who gets the results; the same figure may tell one side of groups and the other, which
                chose the values in it, of single rows.
        """
        ...

    @abstractmethod
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Who learns what."""
        ...

    def brief(self, recipients: frozenset[Role]) -> Brief:
        """The job in short, for people who decide on it; unless a study says it better, its leakage."""
        leakage = self.leakage(recipients)
        return Brief(f"compute the {self.gives} together", leakage.alice, leakage.bob)

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """Look at the local rows before anything is sent: what `run` would remark of them, or refuse.

        Whatever a run refuses that one side can know, this refuses, with the same error; the peer counts as
        bringing as many rows. A daemon asks at `job check` and before it proposes or signs a job.

        Args:
            data: the local columns.
            role: this side's role.
            limits: those of disclosure, as far as they are known.
            peer: the declarations of the peer's columns, once they are known: then what the local rows and
                the bounds of its columns do not allow is refused, too.
        """

        def check() -> Preview | None:
            self.check_side({name: column.schema for name, column in data.items()}, role)
            return self.look(data, role, limits, peer)

        return Preview.of(check)

    @abstractmethod
    def look(
        self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None
    ) -> Preview | None:
        """Make the checks of `preview`, with its arguments, after `check_side` of the local columns.

        Returns:
            What is to be remarked of the rows; None if nothing is.

        Raises:
            DuettoError: what `run` would refuse.
        """
        ...

    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """The declarations of all columns, those that are not known as they may be: like a known one."""
        other = next(iter(schemas.values()), Schema("text"))
        names = (name for role in Role for name in self.columns[role])
        return {name: schemas.get(name, other) for name in names}

    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int | None:
        """Bytes at the peak of one party, see `Estimate`; None where that has not been measured.

        Args:
            schemas: the declarations of all columns.
            setting: sizes, limits and link.
        """
        del schemas, setting
        return None

    @abstractmethod
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side, by `smc.analyses.studies.runner.run_study`, which checks the recipients.

        Args:
            session: this side.
            data: the local columns.
            recipients: who gets the results.
            release: opens all results, and nothing else does.

        Raises:
            DuettoError: of the kind that the failure has.
        """
        ...

    @abstractmethod
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """What Alice and Bob would get from a trusted third party, in the clear and without noise."""
        ...


@runtime_checkable
class Priced(Protocol):
    """A study that knows what a run of it costs without a run over shapes."""

    def cost(
        self, schemas: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
    ) -> Estimate:
        """What a run costs, as `smc.analyses.studies.traced.estimate_cost`."""
        ...


@runtime_checkable
class Analysis(Protocol):
    """A kind of job: it turns the parameters of a job file into a study."""

    @property
    def name(self) -> str:
        """The name in job files."""
        ...

    @property
    def always_matches(self) -> bool:
        """Whether every job matches rows of both sides; of a single job `Study.facts` says it."""
        ...

    def parse(self, parameters: Mapping[str, Any]) -> Study:
        """The study that the `[parameters]` of a job file describe.

        Raises:
            UsageError: unknown, missing or impossible parameters, named with their place.
        """
        ...
