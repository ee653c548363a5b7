"""Two joined parties with their control sockets, for tests of clients and commands.

Homes are made by commands in the process of the tests: see `tests.support.commands`.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from parties.cli import audit, data, jobs, matching, policy
from parties.client import Party
from tests.parties.jobs.joined import Pair, job_file
from tests.parties.served import control
from tests.support import commands

KEY_BITS = 2048
"""Of the Paillier keys that estimates count with."""

_here = pytest.fixture(scope="session", autouse=True)(commands.here)


@pytest.fixture
def served():
    with tempfile.TemporaryDirectory(prefix="duetto-") as folder:
        pair = Pair(Path(folder))
        with ExitStack() as sockets:
            for name, manager in [*pair.network.managers.items()]:
                sockets.enter_context(control(manager, pair.folder / name))
            yield pair
        pair.close()


@pytest.fixture
def party(served):
    with Party(served.folder / "north") as opened:
        yield opened


@pytest.fixture
def command(served, monkeypatch):
    paired = SimpleNamespace(identity=SimpleNamespace(paillier=SimpleNamespace(bits=KEY_BITS)))
    monkeypatch.setattr("parties.cli.jobs.own_pairing", lambda _: paired)  # these homes have no keys

    def run(*words, name="north", code=0):
        commands = (*audit.COMMANDS, *data.COMMANDS, *jobs.COMMANDS, *matching.COMMANDS, *policy.COMMANDS)
        group = {one.name: one for one in commands}[words[0]]
        arguments = [*words[1:], "--config", str(served.folder / name / "duetto.toml")]
        done = CliRunner().invoke(group, [str(word) for word in arguments])
        assert code is None or done.exit_code == code, done.output
        return done

    return run


@pytest.fixture
def file(served):
    path = served.folder / "job.toml"
    path.write_text(job_file("1/2"))
    return path
