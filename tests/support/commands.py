"""Commands of `duetto` in the process of a test: a program of its own imports everything anew each time."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout

import pytest

from parties.cli.main import main
from scripts import processes


def tried(*words: object) -> subprocess.CompletedProcess[str]:
    """As `scripts.processes.tried`, without a process."""
    texts = [str(word) for word in words]
    printed, said = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(printed), redirect_stderr(said), pytest.raises(SystemExit) as left:
        main(texts)
    out, err = (stream.buffer.getvalue().decode() for stream in (printed, said))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(texts, int(left.value.code or 0), out, err)


def here() -> Iterator[None]:
    """The body of a fixture under which what `scripts.processes` asks of commands is done in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "tried", tried)
        yield
