"""A process that does one kind of work for this one: how it is started, and how it is ended at any time."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from parties.workers.pipe import Pipe
from smc.pieces import check_cancelled

_CLOSE_SECONDS: Final = 5.0
_DATA: Final = 0
_LEASH: Final = 1


class Worker:
    """A process that waits for work at its pipe.

    Its standard input is its end of the pipe. Its standard output is a leash: the end of another pipe, which
    this process holds, and into which nobody ever writes. When it is let go, on purpose or since this process
    has died, the kernel ends the worker (`end_with_parent`).

    Args:
        module: what it runs, as `python -m` does; it calls `end_with_parent` first.

    Raises:
        OSError: the system lets no more processes start.
    """

    def __init__(self, module: str) -> None:
        own, given = socket.socketpair()
        held, self._leash = os.pipe()
        try:
            self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - this program, no shell
                (sys.executable, "-P", "-m", module),
                stdin=given.fileno(),
                stdout=held,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C at a terminal is for the daemon
            )
        except BaseException:
            own.close()
            os.close(self._leash)
            raise
        finally:
            given.close()
            os.close(held)
        self.pipe = Pipe(own, self._ask)
        self.question: Callable[[], None] = check_cancelled
        self._lock = threading.Lock()

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether its process has not ended."""
        return self._process.poll() is None

    def why(self) -> str:
        """How it has ended, for people."""
        try:
            code = self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its pipe"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def close(self) -> None:
        """End it, whatever it does; from any thread, also twice."""
        with self._lock:
            self.pipe.close()
            self._process.kill()
            if self._leash >= 0:
                os.close(self._leash)
                self._leash = -1
            # One that waits for a broken disk dies when the kernel lets it; nobody waits for that here.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_CLOSE_SECONDS)

    def _ask(self) -> None:
        self.question()


# On the side of the worker


def end_with_parent() -> Pipe:
    """Let the kernel end this worker when its leash is let go, also in the middle of foreign code.

    Returns:
        The pipe to whoever has started it.
    """
    data = os.dup(_DATA)
    os.set_inheritable(data, False)
    fcntl.fcntl(_LEASH, fcntl.F_SETOWN, os.getpid())
    # The default action of SIGIO ends the process, and only the end of the leash can raise it.
    fcntl.fcntl(_LEASH, fcntl.F_SETFL, fcntl.fcntl(_LEASH, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        if not os.read(_LEASH, 1):  # let go before this was set up
            os.kill(os.getpid(), signal.SIGKILL)
    return Pipe(socket.socket(fileno=data))


def limit_resources(memory: int, seconds: float) -> None:
    """Bound what this worker may take from now on.

    Args:
        memory: bytes of its own data.
        seconds: after which the kernel ends it.

    Raises:
        OSError: the system does not let it.
    """
    for kind, size in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CORE, 0)):
        most = resource.getrlimit(kind)[1]
        own = size if most == resource.RLIM_INFINITY else min(size, most)
        resource.setrlimit(kind, (own, most))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with suppress(
        OSError
    ):  # where there is no such file; of a machine without memory this process goes first
        Path("/proc/self/oom_score_adj").write_text("1000")


def memory_used() -> int:
    """Bytes that this worker has in memory now; where the system does not say, those that it had at most."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
