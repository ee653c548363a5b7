"""All that a protocol run needs besides its inputs."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from smc.channel.channel import Channel
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.engine import ObliviousEngine
from smc.pieces import Report, report_nothing

if TYPE_CHECKING:
    from smc.network import Network


@dataclass(slots=True)
class Session:
    """One party's side of one run, with extended transfers alone. A session belongs to one thread.

    `smc.protocols.full_session.FullSession` adds silent transfers, lanes, pools and ciphers.

    Attributes:
        role: this side's role.
        channel: the conversation with the peer.
        executor: where heavy arithmetic runs.
        random: the source of randomness.
        report: called as work proceeds.
        network: the link to the peer as both parties have agreed, by which protocols are chosen; None for
            one without limits.
        lanes: into how many parts large batches of oblivious transfer are cut, as both parties have agreed;
            1 for no cutting.
    """

    role: Role
    channel: Channel
    executor: Executor
    random: Randomness = field(default_factory=Randomness, repr=False)
    report: Report = report_nothing
    network: Network | None = None
    lanes: int = 1
    _oblivious: ObliviousEngine | None = field(default=None, init=False, repr=False)

    @property
    def oblivious(self) -> ObliviousEngine:
        """Oblivious transfer with this peer, set up when first used; both parties must use it alike."""
        if self._oblivious is None:
            self._oblivious = ObliviousEngine(self.role, self.channel, self.random)
        return self._oblivious

    @property
    def has_data(self) -> bool:
        """Whether its run is one over data; one over shapes alone has none, see `smc.tracing`."""
        return True

    def takes_silent(self, count: int, bits: int) -> bool:
        """Whether so many comparisons of numbers of so many bits take silent transfers; these have none."""
        del count, bits
        return False

    def takes_silent_below(self, count: int) -> bool:
        """The same of comparisons of XOR-shared words with public bounds."""
        del count
        return False

    def verify(self) -> None:
        """Check what transfers are unchecked, on both sides, before anything is kept that rests on them.

        Raises:
            InconsistentTransfers: those of the peer are not right.
        """
        self.oblivious.verify()

    def close(self) -> None:
        """Free what the session holds outside itself."""
