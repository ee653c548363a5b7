"""Every log of both houses after kills and failures at every call, and after cuts after every byte."""

from __future__ import annotations

import errno
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from anonymizer.errors import AnonymizerError
from commons.logs import files
from smc.errors import DuettoError
from tests.commons.logs.users import START, USERS, Disk, begin


@pytest.fixture(params=USERS)
def name(request):
    return request.param


@pytest.fixture
def kind(name):
    return USERS[name]


def pieces(kind, folder):
    path = folder / kind.file
    return {found.read_bytes() for found in path.parent.glob(f"{path.name}.torn-*")}


def full():
    raise OSError(errno.ENOSPC, "No space left on device")


def goes_on(kind, folder, user, before, piece):
    """Another record can be written; what was there stays, and the piece of one is kept or was none."""
    user.write(3)
    found = kind(folder).numbers()
    assert found[-1] == 3
    assert found[:-1] in ([*before], [*before, 2])
    if piece and kind.chained:
        is_whole = piece.count(b"{") == piece.count(b"}")
        assert (found == [1, 2, 3]) == is_whole
        assert is_whole or piece in pieces(kind, folder)


def test_killed_at_every_call(tmp_path, name, kind):
    program = [sys.executable, "-m", "tests.commons.logs.users", name, str(tmp_path)]
    subprocess.run(program, check=True, timeout=120, cwd=Path(__file__).parents[3])
    homes = sorted(tmp_path.iterdir())
    assert len(homes) > 4 * len(START)
    for home in homes:
        before = [] if home.name.startswith("nothing") else [1]
        piece = (home / "piece").read_bytes()
        user = kind(home)
        found = user.numbers()
        written = (home / "written").exists()
        assert found[: len(before)] == before
        assert found[-1:] == [3] or not written
        if found[-1:] != [3]:
            goes_on(kind, home, user, before, piece)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for a while"])
@pytest.mark.parametrize("start", START)
def test_every_call_fails(tmp_path, monkeypatch, kind, start, lasting):
    for number in range(1, 100):
        folder = tmp_path / str(number)
        before, piece = begin(kind, folder, start)
        disk, user = Disk(number, full, lasting=lasting), None
        with monkeypatch.context() as patched:
            patched.setattr(files, "os", disk)
            with suppress(AnonymizerError, DuettoError):
                user = kind(folder)
                user.write(3)
        if disk.calls < number:
            assert kind(folder).numbers()[-1] == 3
            break
        user = user or kind(folder)
        found = user.numbers()
        assert found[: len(before)] == before
        if found[-1:] == [3]:
            assert lasting or kind.stays  # it could not be taken back, and counts
        else:
            goes_on(kind, folder, user, before, piece)
    assert number > 4


def test_cut_after_every_byte(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("os.fsync", lambda descriptor: None)  # nobody pulls the plug here
    folder = tmp_path / "log"
    begin(kind, folder, "one")
    path = folder / kind.file
    first = len(path.read_bytes())
    kind(folder).write(2)
    data = path.read_bytes()
    for end in range(first, len(data)):
        for aside in path.parent.glob("*.torn-*"):
            aside.unlink()
        path.write_bytes(data[:end])
        user = kind(folder)
        assert user.numbers() in ([1], [1, 2])
        goes_on(kind, folder, user, [1], data[first:end])


def test_a_piece_is_kept_beside_the_one_of_an_earlier_crash(tmp_path):
    log = tmp_path / "log"
    for piece in (b'{"a', b'{"b', b'{"a'):
        files.set_aside(log, piece, 5)
    assert [(found.name, found.read_bytes()) for found in files.pieces(log)] == [
        ("log.torn-5", b'{"a'),
        ("log.torn-5-1", b'{"b'),
    ]
