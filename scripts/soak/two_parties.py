"""Two real parties on loopback for soak tests: homes, daemons as processes, and a slow line between them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import tomli_w

from parties.client import Job, Party
from scripts.processes import COMMAND, NAMES, free_port, introduced, pair, started
from smc.errors import DuettoError

RULE = {
    "name": "soak",
    "analyses": ["statistics"],
    "peers": ["*"],
    "datasets": ["people"],
    "columns": ["age"],
    "recipients": ["both"],
    "epsilon_per_job": "1",
    "epsilon_total": "100",
    "delta_per_job": "0.000001",
    "delta_total": "0.01",
}
JOB = {
    "job": {
        "analysis": "statistics",
        "alice": "north",
        "bob": "south",
        "recipients": ["alice", "bob"],
    },
    "alice": {"dataset": "people", "columns": {"age": "age"}},
    "bob": {"dataset": "people", "columns": {"age": "age"}},
    "parameters": {"epsilon": "0.001", "maximum_rows": 100, "queries": [{"kind": "count", "column": "age"}]},
}


class Line:
    """Carries TCP connections to a port, each piece half a round trip later; it can be cut.

    Args:
        port: where it listens.
        target: where it leads.
        rtt_ms: what it adds to a round trip.
    """

    def __init__(self, port: int, target: int, rtt_ms: float) -> None:
        self._target = target
        self._delay = rtt_ms / 2000
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_cut = False
        server = asyncio.start_server(self._connect, "127.0.0.1", port)
        self._loop.run_until_complete(server)
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def cut(self, seconds: float) -> None:
        """End all connections, and take none for so long; returns at once."""
        self._loop.call_soon_threadsafe(self._cut, seconds)

    def _cut(self, seconds: float) -> None:
        self._is_cut = True
        for writer in self._writers:
            writer.transport.abort()
        self._loop.call_later(seconds, self._open)

    def _open(self) -> None:
        self._is_cut = False

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        self._writers |= {writer, back}
        await asyncio.gather(self._carry(reader, back), self._carry(there, writer))
        self._writers -= {writer, back}

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, piece = await queue.get()
                await asyncio.sleep(max(0.0, due - self._loop.time()))
                if not piece:
                    writer.close()
                    return
                writer.write(piece)
                await writer.drain()

        delivery = asyncio.create_task(deliver())
        with suppress(OSError):
            while piece := await reader.read(1 << 16):
                queue.put_nowait((self._loop.time() + self._delay, piece))
        queue.put_nowait((self._loop.time() + self._delay, b""))
        with suppress(OSError):
            await delivery


class TwoParties:
    """North and south in a folder.

    Args:
        folder: empty or not there yet.
        rtt_ms: round trip of the line between them.
        approval: what the policies of north and south say: `auto` or `person`.
        furnish: gives a home, by its number, data, catalog and policy; without it there is a column `age`.
        lines: whether connections can be cut.
        command: what runs the daemons.

    Attributes:
        homes: by name.
        lines: to each party, by name, if there are any.
        processes: the daemons that run, by name.
    """

    def __init__(
        self,
        folder: Path,
        rtt_ms: float = 0.0,
        approval: tuple[str, str] = ("auto", "auto"),
        furnish: Callable[[Path, int], None] | None = None,
        *,
        lines: bool = False,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._command = command
        self.homes = {name: folder / name for name in NAMES}
        self.lines: dict[str, Line] = {}
        self.processes: dict[str, subprocess.Popen[str]] = {}
        made = {}
        for number, (name, home) in enumerate(self.homes.items()):
            port, line = free_port(), free_port()
            where = f"127.0.0.1:{line if rtt_ms or lines else port}"
            if rtt_ms or lines:
                self.lines[name] = Line(line, port, rtt_ms)
            made[name] = introduced(home, "--address", where, "--listen", f"127.0.0.1:{port}")
            if furnish is not None:
                furnish(home, number)
                continue
            rows = "".join(f"{(number + 37 * row) % 101}\n" for row in range(30))
            (home / "people.csv").write_text(f"age\n{rows}")
            column = {"type": "integer", "lower": 0, "upper": 100}
            catalog = {
                "datasets": {
                    "people": {"source": "people.csv", "maximum_rows": 100, "columns": {"age": column}}
                }
            }
            (home / "catalog.toml").write_text(tomli_w.dumps(catalog))
            rule = {**RULE, "approval": approval[number]}
            (home / "policy.toml").write_text(tomli_w.dumps({"rules": [rule]}))
        pair(made)

    def start(self, name: str) -> None:
        """Start a daemon and wait until it says that it is ready."""
        with (self.homes[name] / "log").open("ab") as log:
            try:
                self.processes[name] = started(self.homes[name], log, self._command)
            except SystemExit as problem:
                raise SystemExit(f"{problem}\n{self.log(name)[-2000:]}") from None

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """End a daemon by a signal."""
        process = self.processes.pop(name, None)
        if process is not None:
            os.kill(process.pid, number)
            process.wait()

    def close(self) -> None:
        """End both daemons."""
        for name in NAMES:
            self.kill(name)

    def party(self, name: str) -> Party:
        """A connection to a daemon."""
        return Party(self.homes[name])

    def log(self, name: str) -> str:
        """The log of a daemon."""
        return (self.homes[name] / "log").read_text()

    def jobs(self, name: str) -> dict[str, Job]:
        """The jobs of a daemon by their names; asks again while it starts."""
        return self.asked(lambda: {job.id: job for job in self._listed(name)})

    def _listed(self, name: str) -> list[Job]:
        with self.party(name) as party:
            return party.jobs()

    @staticmethod
    def asked(question: Callable[[], dict[str, Job]]) -> dict[str, Job]:
        """The answer to a question, asked until there is one, for half a minute."""
        until = time.monotonic() + 30
        while True:
            try:
                return question()
            except DuettoError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def differing(self) -> list[str]:
        """What the two sides say differently of jobs that both should know."""
        north, south = (self.jobs(name) for name in NAMES)
        found = []
        for job_id in sorted({*north, *south}):
            states = [side[job_id].state.value if job_id in side else "not known" for side in (north, south)]
            # What ended before the peer took it is known to one side only.
            ended = "not known" in states and bool({"failed", "denied", "cancelled"} & {*states})
            if states[0] != states[1] and not ended:
                found.append(f"{job_id}: {states[0]} at north, {states[1]} at south")
        return found
