"""What a job is to a daemon: a study, which an analysis makes of the parameters of a job file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from smc.analyses.disclosure.limits import Limits
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Facts
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.errors import DuettoError
from smc.forms import Role

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
    """

    rounds: int
    alice_bytes: int
    bob_bytes: int
    seconds: float
    route: str
    memory: int | None
    cheaper: Cheaper | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What one side's rows show about a run before it, to their own party alone.

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
class Study(Protocol):
    """A job as its analysis understands it, bound to its parameters; it lives as long as the job.

    A daemon knows nothing else of an analysis: it asks for no names, and reads no parameter by its spelling.
    """

    @property
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The names of the columns that each role must bring."""
        ...

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that the declared columns of both sides fit the parameters and each other.

        Raises:
            UsageError: they do not; says which column of which side, and how to fix it.
        """
        ...

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Check that the parameters allow these recipients.

        Raises:
            UsageError: a recipient would get, or be kept from, what the parameters say.
        """
        ...

    def facts(self, recipients: frozenset[Role]) -> Facts:
        """What data and policies have to know of the job.

        Args:
            recipients: who gets the results; the same figure may tell one side of groups and the other, which
                chose the values in it, of single rows.
        """
        ...

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Who learns what."""
        ...

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
        ...

    def cost(
        self, schemas: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
    ) -> Estimate:
        """What a run costs in a fresh session, without what the gate sends.

        It is the cost of a run in which no limit stands against the result and nothing has to be withheld:
        what has to be is secret before the run. Withholding opens fewer numbers, and may test more of them.

        Args:
            schemas: the declarations of the local columns and those that are known of the peer's, which are
                taken to be like the local ones where they are not.
            recipients: who gets the results.
            setting: sizes, limits and link.
        """
        ...

    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side.

        Args:
            session: this side.
            data: the local columns.
            recipients: who gets the results.
            release: opens all results, and nothing else does.

        Raises:
            DuettoError: of the kind that the failure has.
        """
        ...

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """What Alice and Bob would get from a trusted third party, in the clear and without noise."""
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
