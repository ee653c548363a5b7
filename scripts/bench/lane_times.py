"""Measures how the time of one party falls with its lanes, as if the peer and the link took no time.

Both parties on one machine share its cores, and so nothing can be seen of lanes there. Here a run of both is
recorded first; then one party runs alone, and what the peer sent is played back to it as fast as it asks.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import numpy as np
from measuring import guarded, machine, numbers, print_table, tell

from parties.lanes.process import LaneWorkers
from smc.channel.channel import Channel
from smc.channel.message import Frame
from smc.channel.transport import Transport
from smc.errors import PeerLost
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.full_session import FullSession
from smc.protocols.session import Session

ENGINES = {"oblivious": False, "silent": True}
_HEAD = ("engine, lanes", "seconds", "least", "most", "of one lane")


class Recorder:
    """Passes frames on and keeps those that come.

    Args:
        inner: the real transport.
    """

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.frames: list[Frame] = []

    def send(self, frame: Frame) -> None:
        """Send a frame."""
        self._inner.send(frame)

    def receive(self) -> Frame:
        """The next frame, which is kept."""
        frame = self._inner.receive()
        self.frames.append(frame)
        return frame

    def close(self) -> None:
        """Close the real transport."""
        self._inner.close()


class Playback:
    """Gives frames that were kept, and sends nothing.

    Args:
        frames: in the order in which they came.
    """

    def __init__(self, frames: list[Frame]) -> None:
        self._frames = iter(frames)

    def send(self, frame: Frame) -> None:
        """Leave a frame unsent."""

    def receive(self) -> Frame:
        """The next frame."""
        found = next(self._frames, None)
        if found is None:
            raise PeerLost("The recording is at its end.", "Record as many runs as are played back.")
        return found

    def close(self) -> None:
        """Nothing is open."""


class Step:
    """A batch of comparisons at Alice, set up and then run once.

    Args:
        count: pairs.
        bits: of the numbers.
        engine: one of `ENGINES`.
    """

    def __init__(self, count: int, bits: int, engine: str) -> None:
        self._values = Randomness().words(count) >> np.uint64(64 - bits)
        self._bits = bits
        self._silent = ENGINES[engine]

    def set_up(self, session: Session) -> None:
        """Base transfers, the first reserve, lanes."""
        (session.oblivious.setup_silent if self._silent else session.oblivious.setup)()
        session.oblivious.setup_lanes()

    def run(self, session: Session) -> None:
        """The batch."""
        engine = session.oblivious
        compare = engine.greater_equal_x if session.role is Role.ALICE else engine.greater_equal_y
        compare(self._values, self._bits, silent=self._silent)

    def recorded(self, lanes: int) -> list[Frame]:
        """What Alice hears in a run of both parties with so many lanes."""
        heard: list[Recorder] = []

        def alice(session: Session) -> None:
            recorder = Recorder(session.channel._transport)
            session.channel = Channel(recorder)
            heard.append(recorder)
            both(session)

        def both(session: Session) -> None:
            self.set_up(session)
            self.run(session)

        run_pair(alice, both, lanes=lanes, timeout=600)
        return heard[0].frames

    def played(self, frames: list[Frame], lanes: int) -> float:
        """Seconds of the batch at Alice, who alone runs."""
        with ThreadPoolExecutor(1) as executor, closing(LaneWorkers(lanes)) as workers:
            session = FullSession(
                Role.ALICE, Channel(Playback(frames)), executor, lanes=lanes, open_lane=workers.open
            )
            with closing(session):
                self.set_up(session)
                began = time.perf_counter()
                self.run(session)
                return time.perf_counter() - began


def measured(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The seconds of all engines and numbers of lanes, which take turns."""
    recordings = {}
    for engine in ENGINES:
        step = Step(options.batch, options.bits, engine)
        for lanes in options.lanes:
            recordings[engine, lanes] = step, step.recorded(lanes)
            tell(f"{engine}, {lanes} lanes: recorded")
    seconds: dict[tuple[str, int], list[float]] = {key: [] for key in recordings}
    for number in range(options.repeat):
        for (engine, lanes), (step, frames) in recordings.items():
            seconds[engine, lanes].append(step.played(frames, lanes))
        tell(f"round {number + 1} of {options.repeat}")
    return [
        {"engine": engine, "lanes": lanes, "seconds": statistics.median(runs), "seconds_of_runs": runs}
        for (engine, lanes), runs in seconds.items()
    ]


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=1_000_000, help="comparisons")
    parser.add_argument("--bits", type=int, default=32, help="of the numbers, at most 64")
    parser.add_argument(
        "--lanes", type=numbers, default=[1, 2], help="with commas, the first to compare with"
    )
    parser.add_argument("--repeat", type=int, default=5, help="runs of each; their median is told")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(arguments)


def main() -> int:
    """Measure and print."""
    options = parse(sys.argv[1:])
    results = measured(options)
    if options.json:
        print(json.dumps({"machine": machine(), "results": results}, indent=1))
        return 0
    first = {each["engine"]: each["seconds"] for each in reversed(results)}
    print_table(
        f"{options.batch:,} comparisons of {options.bits} bits at one party, peer and link in no time",
        _HEAD,
        (
            (
                f"{each['engine']}, {each['lanes']}",
                each["seconds"],
                min(each["seconds_of_runs"]),
                max(each["seconds_of_runs"]),
                each["seconds"] / first[each["engine"]],
            )
            for each in results
        ),
    )
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
