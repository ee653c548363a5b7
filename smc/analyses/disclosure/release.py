"""The one way out of a run: it asks what a figure is about, tests the limits of both policies, and opens it.

    sets          public   are both sides' sets large and alike enough?       nothing else is sent if not
    intersection  secret   how many matches there are
    open          secret   do all limits that apply to the figure hold?       one bit, opened to both
                  gate     the ledgers
                  opened   the figure, to the recipients
    close                  a run that opened nothing here, or left a limit untested, has no result

A release knows from the facts of the job what may be opened, and refuses figures of other kinds. Analyses
read no limits and call no other opener; tests/architecture demands it. What an analysis says of its figures,
the facts and the numbers of persons, is taken from it: see `smc.analyses.disclosure.figures`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from typing import Any, Final, ParamSpec, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import Auditor, Bit, Figures, Unaudited
from smc.analyses.disclosure.exact_figure import ExactFigure, defect
from smc.analyses.disclosure.figures import About, Count, Groups, Noisy, Rows, Shares, Size, Sum
from smc.analyses.disclosure.limits import Agreed
from smc.analyses.disclosure.noisy_groups import withhold
from smc.analyses.disclosure.opener import Gate, Opener, open_gate
from smc.analyses.disclosure.scope import Kind, Scope
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.linear_ints import LinearInts
from smc.secret.sharing.bounds import Bounds

MAX_STEPS: Final = 1000
"""More single bits on the way of a run are refused."""

_OF_ONE_FIGURE: Final = 3
"""Numbers that count as one figure: of matches their size, and a sum of each side's."""

_KINDS: Final[dict[type[Any], Kind]] = {
    Groups: Kind.GROUPS,
    Size: Kind.GROUPS,
    Rows: Kind.ROWS,
    Noisy: Kind.NOISY,
}

_UNAUDITED: Final = Unaudited()
_HOLD: Final = Bit("whether the limits hold")

P = ParamSpec("P")
T = TypeVar("T")


class Release:
    """Opens the results of one run, to its recipients and to nobody else.

    Args:
        session: this party's side of the run.
        scope: what the run may open, by the facts that both policies have judged.
        recipients: who gets the results of the job.
        limits: what this party's policy asks, and the stricter of both.
        gate: passed once, before the first opening.
        auditor: is told of whatever is opened to the peer, before it is.

    Raises:
        DisclosureRefused: the job has several figures without noise about the same rows, and the policies
            limit groups or sums; nothing was sent.
    """

    def __init__(
        self,
        session: Session,
        scope: Scope,
        recipients: AbstractSet[Role],
        limits: Agreed,
        gate: Gate = open_gate,
        auditor: Auditor = _UNAUDITED,
    ) -> None:
        self._scope = scope
        self._recipients = recipients
        self._agreed = limits
        self._limits = limits.both
        self._opener = Opener(session, gate, auditor)
        self._begin()

    def _begin(self) -> None:
        """Nothing has been stated or opened."""
        self._sets = False
        self._sizes: Callable[[], Sequence[Count]] | None = None
        self._needs: list[tuple[Count, int]] = []
        self._sums: list[Sum] = []
        self._apart: list[LinearInts] = []
        self._steps = 0
        self._admitted = False
        self._numbers = 0
        self._joined = False
        self._check_figures()

    @property
    def counts_groups(self) -> bool:
        """Whether the number of persons behind a figure matters."""
        return self._limits.counts_groups

    @property
    def counts_matches(self) -> bool:
        """Whether the size of an intersection matters."""
        return self._limits.counts_matches

    @property
    def weighs(self) -> bool:
        """Whether the part that one person has in an exact sum matters."""
        return self._limits.weighs

    @property
    def counts_clusters(self) -> bool:
        """Whether it matters which rows a cluster is made of."""
        return self._limits.counts_clusters

    @property
    def indistinct(self) -> int:
        """How many persons the last digit of an exact figure must not tell apart; 0 where none are."""
        return self._limits.minimum_group if self._limits.minimum_group > 1 else 0

    @property
    def weight_factor(self) -> int:
        """By what exact sums are multiplied where it does; their bounds have to leave that much room."""
        return self._limits.weight_factor

    def sets(self, own: int, peer: int) -> None:
        """Check the sizes of two sets that are to be matched, before anything else is sent.

        Args:
            own: rows of this side.
            peer: rows of the peer.

        Raises:
            DisclosureRefused: a set is too small, or too large beside the other; at both sides.
        """
        if not self._scope.matches:
            raise defect("matches rows, which the facts of its job do not say")
        self._sets = True
        self._check_sets(own, peer)

    def intersection(self, sizes: Callable[[], Sequence[Count]]) -> None:
        """Say how large the intersection is; it is tested with the other limits, before anything is opened.

        Args:
            sizes: gives numbers of matches that each have to reach the least intersection; with noise, the
                noisy one. It is called only where the policies ask for a least intersection.
        """
        self._sizes = sizes
        if self.counts_matches:
            self._needs += [(size, self._limits.minimum_intersection) for size in sizes()]

    def persons(self, *counts: Count) -> None:
        """Say about how many persons all exact figures of the run are at most."""
        self._needs += [(count, self._limits.minimum_group) for count in counts]

    def test(self) -> None:
        """Test all limits that have been stated so far; both learn whether all hold, one bit.

        Raises:
            DisclosureRefused: one does not, at both sides; nothing else was opened.
        """
        holds = [*self._reach(), *self._test_dominance(), *self._test_crowds()]
        self._needs, self._sums, self._apart = [], [], []
        if holds and not self._opener.hold(holds, _HOLD):
            raise _refusal()

    def admit(self, about: About) -> None:
        """Test what a figure is about and pass the gate, without opening anything.

        Raises:
            DisclosureRefused: a limit stands against it; or the analysis did not do what a release demands.
        """
        if not isinstance(about, Shares):
            self._claim(_KINDS[type(about)])
        self._claim_matches()
        if isinstance(about, Groups):
            if not about.persons and self.counts_groups:
                raise defect("opens figures about persons without their number")
            self.persons(*about.persons)
            self._sums += about.sums
            self._apart += about.apart
        elif isinstance(about, Noisy):
            self.persons(*about.persons)
        self.test()
        # What a protocol opens after this it checks itself; `run_study` checks what is left at the end.
        self._opener.commit_loss()
        self._admitted = True

    @overload
    def open(
        self, values: LinearInts, recipients: AbstractSet[Role], about: About
    ) -> NDArray[np.int64] | None: ...

    @overload
    def open(
        self, values: SecretBits, recipients: AbstractSet[Role], about: About
    ) -> NDArray[np.bool_] | None: ...

    def open(
        self, values: LinearInts | SecretBits, recipients: AbstractSet[Role], about: About
    ) -> NDArray[np.int64] | NDArray[np.bool_] | None:
        """Open a figure.

        Args:
            values: held integers or bits.
            recipients: who gets them, of those of the job.
            about: what they are about.

        Returns:
            The values in their shape; None for a party that is not a recipient.

        Raises:
            DisclosureRefused: a limit stands against it, at both sides; nothing else was opened.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        self._address(recipients)
        if isinstance(about, Shares):
            raise defect("opens what it calls shared")
        if isinstance(about, Size) and not self._is_tested_size(values):
            raise defect("opens a size that was not tested")
        if isinstance(about, Groups):
            self._count(int(np.prod(values.shape)))
        self.admit(about)
        if isinstance(values, SecretBits):
            return self._opener.bits(values, recipients, Figures())
        if isinstance(about, Noisy) and about.counts is not None and self.counts_groups:
            least = self._limits.minimum_group * about.rows_per_person
            words = withhold(values.session, values.shares, about.counts, least)
            values = LinearInts.from_shares(values.session, words, values.bounds.hull(Bounds(0, 0)))
        opened = self._opener.ints(values, recipients, Figures())
        # A run without data has no rows of which something could be told.
        return None if isinstance(about, Rows) and not values.session.has_data else opened

    def exact(self, figure: ExactFigure[T], recipients: AbstractSet[Role]) -> T:
        """Open a figure without noise as far as the limits allow it.

        Args:
            figure: of this package, such as tables, curves, clusters or a model.
            recipients: who gets it, of those of the job.

        Returns:
            What the figure's own `open` says.

        Raises:
            DisclosureRefused: a limit stands against it, at both sides; nothing else was opened.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        self._address(recipients)
        for kind in figure.kinds:
            self._claim(kind)
        self._count(_OF_ONE_FIGURE)
        self._needs += figure.needs(self._limits)
        self._sums += figure.weighed
        self.test()
        found = figure.open(self._opener, self._agreed, recipients)
        self._admitted = True
        return found

    def step(self, bit: SecretBits) -> bool:
        """Open one bit to both that steers the run and that its leakage statement names.

        It is a figure about all rows: the limits that have been stated so far are tested before.
        """
        self._claim(Kind.GROUPS)
        self._steps += 1
        if self._steps > MAX_STEPS or bit.shape != (1,):
            raise defect("opens more than single bits on its way")
        self.test()
        return bool(self._opener.pattern(bit, Bit("how the run goes on"))[0])

    def protocol(self, about: Rows | Shares, program: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a protocol that gives its outputs by itself, after what they are about has been admitted."""
        self.admit(about)
        return program(*args, **kwargs)

    def _join(self, scopes: Sequence[Scope]) -> None:
        """Leave all openings to parts of the job, by `smc.analyses.disclosure.together`.

        Args:
            scopes: what each part may open.

        Raises:
            DisclosureRefused: the facts of the job do not say so.
        """
        figures, kinds = (
            sum(each.figures for each in scopes),
            {kind for each in scopes for kind in each.kinds},
        )
        matches = any(each.matches for each in scopes)
        mine = self._scope
        if not mine.together or figures > mine.figures or not kinds <= mine.kinds or matches > mine.matches:
            raise defect("has parts that open what the facts of its job do not say")
        self._joined = True

    def _of_part(self, scope: Scope, opener: Opener) -> Release:
        """The release of a part of the job, which opens by an opener of its own."""
        made = copy(self)
        made._scope, made._opener = scope, opener
        made._begin()
        return made

    def close(self) -> None:
        """End the run.

        Raises:
            DisclosureRefused: the analysis opened nothing here, or left a limit untested: it has no result.
        """
        if self._joined:
            return
        if not self._admitted:
            raise defect("ended without saying what its result is about")
        self._claim_matches()
        if self._needs or self._sums or self._apart:
            raise defect("left a limit untested")

    def _check_figures(self) -> None:
        self._limits.check_single_figure(self._scope.apart)

    def _check_sets(self, own: int, peer: int) -> None:
        self._limits.check_sets(own, peer)

    def _claim(self, kind: Kind) -> None:
        if kind not in self._scope.kinds:
            raise defect(f"opens {kind.value}, which the facts of its job do not say")
        if self._scope.together:
            raise defect("opens figures one by one that are to be settled together")
        self._claim_matches()

    def _count(self, numbers: int) -> None:
        """Take a figure without noise, or some numbers of one, from those that the facts state."""
        self._numbers += numbers
        if self._limits.allow_one_figure and self._numbers > _OF_ONE_FIGURE * self._scope.figures:
            raise defect("opens more figures than the facts of its job state")

    def _claim_matches(self) -> None:
        if self._scope.matches and not (self._sets and self._sizes is not None):
            raise defect("matches rows without stating the sizes of the sets and of the intersection")

    def _address(self, recipients: AbstractSet[Role]) -> None:
        if not recipients <= self._recipients:
            raise defect("opens a figure to a party that is not a recipient of the job")

    def _is_tested_size(self, values: LinearInts | SecretBits) -> bool:
        return self._sizes is not None and any(values is size for size in self._sizes())

    def _reach(self) -> list[SecretBits]:
        """For each secret number whether it reaches the largest of the numbers that it has to.

        Raises:
            DisclosureRefused: a public one does not.
        """
        least: dict[int, int] = {}
        for count, minimum in self._needs:
            least[id(count)] = max(minimum, least.get(id(count), 0))
        counts = {id(count): count for count, _ in self._needs}
        found = []
        for key, count in counts.items():
            if isinstance(count, LinearInts):
                if least[key] > 0:
                    found.append(count >= least[key])
            else:
                self._check_public(count, least[key])
        return found

    def _check_public(self, count: int, least: int) -> None:
        """Check a public number of persons or matches.

        Raises:
            DisclosureRefused: it is less than it has to be.
        """
        if count < least:
            raise DisclosureRefused(
                f"The policies ask for {least} persons or matches at least; there are {count} rows.",
                "Use more rows.",
            )

    def _test_crowds(self) -> list[SecretBits]:
        """For each number of persons that a sum distinguishes whether it is 0 or a group."""
        least = self._limits.minimum_group
        if least < 2:
            return []
        return [~((count < least) ^ (count < 1)) for count in self._apart]

    def _test_dominance(self) -> list[SecretBits]:
        """For each sum whether nobody dominates it."""
        if not self.weighs:
            return []
        part, whole = self._limits.dominance.numerator, self._limits.dominance.denominator
        return [each.total * part >= each.contributions.maximum()[1] * whole for each in self._sums]


def _refusal() -> DisclosureRefused:
    return DisclosureRefused(
        "A limit of the policies stands against the result: there are fewer matches or persons than they ask "
        "for, or one person dominates a sum.",
        "Use sets that have more in common; neither party learnt more than this.",
    )
