"""Strangers at the port for peers: who shows no certificate neither ends the daemon nor keeps peers out.

The daemon is a process of its own, since what is tried is to end it. Until certificates stood fast, 400
connections that come and go ended it within ten waves, in each of 16 tries.
"""

from __future__ import annotations

import resource
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from parties.config import Address
from smc.channel.vectors import ExpectedByteRows
from smc.forms import Role
from tests.parties.rpc.harness import NORTH, SOUTH, child, dialling, public, task
from tests.parties.rpc.parcel import SIZE, Parcel, parcel

CALLERS = 8


@pytest.fixture(scope="module", autouse=True)
def many_files():
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def strangers(address: Address, number: int, hosts: int = 1) -> list[socket.socket]:
    """Connections that say nothing, from so many addresses of this machine, eight at the same time."""

    def some(first: int) -> list[socket.socket]:
        made = []
        for one in range(first, number, CALLERS):
            plain = socket.socket()
            made.append(plain)
            plain.bind((f"127.0.1.{1 + one % hosts}", 0))
            with suppress(OSError):
                plain.connect((address.host, address.port))
        return made

    with ThreadPoolExecutor(CALLERS) as callers:
        return [plain for made in callers.map(some, range(CALLERS)) for plain in made]


def closed(idle: list[socket.socket]) -> None:
    """Wait until the server has closed them all."""
    for plain in idle:
        plain.settimeout(60)
        with plain, suppress(ConnectionError):
            assert plain.recv(1) == b""


def swap(session):
    session.channel.send(parcel(bytes(range(SIZE))))
    assert session.channel.recv(Parcel, ExpectedByteRows(1, SIZE)).tobytes() == bytes(range(SIZE))


@pytest.mark.parametrize("changes", [0, 20], ids=["", "while certificates change"])
def test_strangers_that_come_and_go_do_not_end_the_daemon(changes):
    with (
        child("echo", changes=changes) as (daemon, address),
        dialling(NORTH, public(SOUTH), address) as directory,
    ):
        for _ in range(10):
            for plain in strangers(address, 400):
                plain.close()
            assert daemon.poll() is None
        if changes:
            assert daemon.stdout.readline() == "changed\n"
        directory.run_session("south", task(Role.ALICE, swap))
        assert daemon.poll() is None


@pytest.mark.slow
def test_1500_idle_strangers_past_the_timeout_in_five_rounds_while_jobs_run():
    with child("echo") as (daemon, address), dialling(NORTH, public(SOUTH), address) as directory:
        for _ in range(5):
            idle = strangers(address, 1500, hosts=60)
            for _ in range(3):
                directory.run_session("south", task(Role.ALICE, swap))
            closed(idle)
            directory.run_session("south", task(Role.ALICE, swap))
            assert daemon.poll() is None
