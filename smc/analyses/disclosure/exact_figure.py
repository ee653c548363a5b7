"""How a release takes figures without noise of which a part may be withheld, or that have tests of their own.

They are given the opener, so they belong to this package: no analysis can bring one of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, Generic, TypeVar

from typing_extensions import override

from smc.analyses.disclosure.figures import Count, Sum
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.scope import Kind
from smc.errors import DisclosureRefused
from smc.forms import Role

T_co = TypeVar("T_co", covariant=True)

_ROOM: Final = __name__.rpartition(".")[0]


class ExactFigure(ABC, Generic[T_co]):
    """A figure without noise about groups of persons."""

    @override
    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.rpartition(".")[0] != _ROOM:
            raise TypeError(f"{cls.__module__}.{cls.__qualname__} opens figures by itself outside of {_ROOM}")

    @property
    def kinds(self) -> frozenset[Kind]:
        """What it shows, which the facts of its job have to say."""
        return frozenset({Kind.GROUPS})

    @property
    def weighed(self) -> Sequence[Sum]:
        """Sums in it that nobody may dominate, by the limits of both."""
        return ()

    def needs(self, limits: Limits) -> Sequence[tuple[Count, int]]:
        """Numbers of persons, and what each has to reach.

        Args:
            limits: the stricter of both policies'.
        """
        del limits
        return ()

    @abstractmethod
    def open(self, opener: Opener, limits: Agreed, recipients: AbstractSet[Role]) -> T_co:
        """Test what is about this figure alone, and open what may be.

        Args:
            opener: all opening goes through it.
            limits: of the run.
            recipients: who gets it, of those of the job.

        Raises:
            DisclosureRefused: limits or earlier figures stand against it, at both sides; nothing was
                opened.
            ProtocolViolation: the peer sent something else than the protocol says.
        """


def defect(what: str) -> DisclosureRefused:
    """What a release raises where an analysis does not do what it demands."""
    return DisclosureRefused(
        f"The analysis {what}; nothing more was opened.",
        "Report it as a defect of the analysis.",
        code="release",
    )
