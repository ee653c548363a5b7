"""Measures a session between two parties on loopback: round trips, throughput, bytes on the wire per frame.

The seconds are those of sessions over TLS and gRPC in one process, by the clock and of the processor for both
sides together; the bytes are counted in runs of their own by a TCP proxy in between, with TLS, HTTP/2 and
whatever the session says besides its frames.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from parties.rpc import process

process.set_up()

import numpy as np  # noqa: E402

from parties.config import Limits  # noqa: E402
from smc.channel.message import FRAME_BYTES, Message  # noqa: E402
from smc.channel.vectors import ByteRows, ExpectedByteRows  # noqa: E402
from smc.forms import Role  # noqa: E402
from smc.protocols.session import Session  # noqa: E402
from tests.parties.rpc.harness import JOB, NORTH, SOUTH, Ending, dialling, listening, public, task  # noqa: E402
from tests.parties.rpc.proxy import proxied  # noqa: E402

LIMITS = Limits(sessions=1, message_seconds=120, job_seconds=600)
SMALL = 64


@dataclass(frozen=True)
class Load(Message, kind="bench-session-load"):
    """Bytes without meaning."""

    body: ByteRows


class Program:
    """What both sides do: `trips` small messages there and back, then `large` frames in one direction."""

    def __init__(self, trips: int, large: int) -> None:
        self.trips = trips
        self.large = large
        self.seconds = self.processor_seconds = 0.0

    def __call__(self, session: Session) -> None:
        """Run one side."""
        channel, dials = session.channel, session.role is Role.ALICE
        started, worked = time.perf_counter(), time.process_time()
        for _ in range(self.trips):
            if dials:
                channel.send(load(SMALL))
                channel.recv(Load, ExpectedByteRows(1, SMALL))
            else:
                channel.recv(Load, ExpectedByteRows(1, SMALL))
                channel.send(load(SMALL))
        for _ in range(self.large):
            if dials:
                channel.send(load(FRAME_BYTES))
            else:
                channel.recv(Load, ExpectedByteRows(1, FRAME_BYTES))
        if self.large:  # all have come
            if dials:
                channel.recv(Load, ExpectedByteRows(1, 1))
            else:
                channel.send(load(1))
        if dials:
            self.seconds = time.perf_counter() - started
            self.processor_seconds = time.process_time() - worked


def load(size: int) -> Load:
    """A message of that size."""
    return Load(ByteRows(np.zeros((1, size), np.uint8)))


def run(program: Program, *, counted: bool) -> int:
    """Run a program in one session; returns the bytes that went over TCP, or 0 if they are not counted."""
    moved = 0

    def count(data: bytes, forward: bool) -> bytes:
        del forward
        nonlocal moved
        moved += len(data)
        return data

    with listening(SOUTH, public(NORTH), limits=LIMITS) as south, proxied(south.server.address) as proxy:
        proxy.spoil = count
        address = proxy.address if counted else south.server.address
        south.jobs.tasks[JOB] = task(Role.BOB, program, ended := Ending())
        with dialling(NORTH, public(SOUTH), address, LIMITS) as directory:
            directory.run_session("south", task(Role.ALICE, program))
        if error := ended.wait():
            raise error
    return moved


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trips", type=int, default=1000, help="round trips of 64 bytes")
    parser.add_argument("--large", type=int, default=128, help="frames of 1 MiB in one direction")
    parser.add_argument(
        "--repeat", type=int, default=5, help="sessions of each kind, of which the median is taken"
    )
    asked = parser.parse_args()
    idle = run(Program(0, 0), counted=True)
    found = {}
    for name, program in (("small", Program(asked.trips, 0)), ("large", Program(0, asked.large))):
        seconds, worked = [], []
        for _ in range(asked.repeat):
            run(program, counted=False)
            seconds.append(program.seconds)
            worked.append(program.processor_seconds)
        frames = 2 * program.trips or program.large
        body = frames * (SMALL if program.trips else FRAME_BYTES)
        found[name] = {
            "seconds": round(statistics.median(seconds), 4),
            "processor_seconds": round(statistics.median(worked), 4),
            "overhead_bytes_per_frame": round((run(program, counted=True) - idle - body) / frames, 1),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
