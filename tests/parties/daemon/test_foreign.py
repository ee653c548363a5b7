"""What libraries write to standard error comes into the log, bounded, and after the daemon has ended too."""

from __future__ import annotations

import io
import logging
import signal
import subprocess
import sys

import pytest

from parties.daemon.foreign import LINES, Passing, pass_on
from scripts.processes import paired, started

pytestmark = pytest.mark.attack

FATAL = b"F0000 00:00:1732471243.123456    1234 sync.cc:104] Check failed: prior > 0 (0 vs. 0)\n"


@pytest.fixture(autouse=True)
def _every_level(caplog):
    caplog.set_level(logging.INFO)


def test_the_last_words_of_a_library_outlive_the_process():
    dying = (
        "import os; from parties.daemon import foreign; foreign.capture();"
        f"os.write(2, {FATAL!r} + b'\\x1b[2Jfree(): invalid pointer\\n'); os.abort()"
    )
    done = subprocess.run([sys.executable, "-c", dying], capture_output=True, check=False)
    first, second, *trace = done.stderr.decode().splitlines()
    assert done.returncode == -signal.SIGABRT
    assert first.endswith("CRITICAL libraries: sync.cc:104] Check failed: prior > 0 (0 vs. 0)")
    assert second.endswith(r"ERROR libraries: \x1b[2Jfree(): invalid pointer")
    assert trace[0].endswith("ERROR libraries: Fatal Python error: Aborted")


def test_a_daemon_that_is_ended_by_an_error_of_a_library_says_so(tmp_path):
    daemon = started(paired(tmp_path)["north"], log=subprocess.PIPE)
    daemon.send_signal(signal.SIGSEGV)
    _, log = daemon.communicate(timeout=60)
    assert daemon.returncode == -signal.SIGSEGV
    assert "ERROR libraries: Fatal Python error: Segmentation fault" in log


def test_a_flood_of_lines_is_counted_and_its_end_is_kept(caplog):
    now = [0.0]
    passing = Passing(clock=lambda: now[0])
    for number in range(1000):
        passing.take(f"E1124 10:00:00.1 7 ssl.cc:1] number {number}")
    assert len(caplog.messages) == LINES
    passing.take(FATAL.decode().rstrip())
    assert caplog.messages[-1].startswith("sync.cc:104]")
    now[0] = 61.0
    passing.take("W1124 10:00:00.1 7 tcp.cc:2] later")
    assert caplog.messages[-2:] == [
        f"{1000 - LINES} further lines of libraries were left out",
        "tcp.cc:2] later",
    ]
    caplog.clear()
    for number in range(100):
        passing.take(f"plain {number}")
    passing.end()
    assert len(caplog.messages) == (LINES - 1) + 1 + LINES
    assert caplog.messages[-1] == "plain 99"


def test_a_line_without_end_is_cut(caplog):
    pass_on(io.BytesIO(b"x" * 5000), Passing())
    assert [len(line) for line in caplog.messages] == [1024] * 4 + [904]
