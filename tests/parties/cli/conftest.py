"""Two parties whose daemons are processes, and commands in the process of a test."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from parties.cli.main import main
from scripts.processes import ended, paired, started


@pytest.fixture(scope="package")
def homes(tmp_path_factory) -> dict[str, Path]:
    """Two paired parties; each test leaves them as they were."""
    return paired(tmp_path_factory.mktemp("p"))


@pytest.fixture
def daemons(homes) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """The daemons of both, by name."""
    processes = {name: started(home) for name, home in homes.items()}
    yield processes
    for process in processes.values():
        ended(process)


@pytest.fixture
def called(capsys) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in this process: exit status, stdout, stderr."""

    def call(*words: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return call
