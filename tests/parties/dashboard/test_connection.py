"""Connections to a dashboard that really listens: of other accounts, idle, slow, and too many."""

from __future__ import annotations

import math
import os
import re
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import h11
import pytest

from parties.config import Address
from parties.dashboard.entrance import account, connection
from parties.dashboard.entrance.account import Tables, is_own
from parties.dashboard.entrance.connection import CONNECTIONS
from parties.dashboard.server import Dashboard, Options
from parties.errors import ConfigError
from parties.pki.home import make

SECONDS = 120
SOON = {h11.IDLE: 0.3, h11.SEND_BODY: 0.3}
NEVER = {h11.IDLE: 3600.0, h11.SEND_BODY: 3600.0}
HALF = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: ",
    "half a form": b"POST /leave HTTP/1.1\r\nHost: %b\r\nContent-Length: 10\r\n\r\nhalf",
    "another after a first": b"GET /static/style.css HTTP/1.1\r\nHost: %b\r\n\r\nGET / HT",
}
KNOCK = """
import encodings.idna, os, socket, sys  # all, before the files of Python are out of reach
if sys.argv[3:]:
    os.setgroups([])
    os.setuid(int(sys.argv[3]))
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20) as line:
    try:
        line.sendall(sys.argv[2].encode())
        sys.stdout.write(line.recv(12).decode())
    except ConnectionError:
        pass
"""


class Served:
    """A dashboard in a thread, and connections to it."""

    def __init__(self, home, lines, options=None):
        self.dashboard = Dashboard(home, options or Options())
        self.link = urlsplit(self.dashboard.link())
        self.head = f"GET {self.link.path}?{self.link.query} HTTP/1.1\r\nHost: {self.link.netloc}\r\n\r\n"
        self._lines = lines
        thread = threading.Thread(target=self.dashboard.serve)
        thread.start()
        lines.callback(thread.join)
        lines.callback(self.dashboard.stop)

    def connected(self, address="127.0.0.1"):
        line = socket.create_connection((address, self.link.port), SECONDS)
        self._lines.callback(line.close)
        return line

    def begun(self, piece):
        line = self.connected()
        line.sendall(piece.replace(b"%b", self.link.netloc.encode()))
        if piece == HALF["another after a first"]:
            line.recv(1)  # a connection whose first request is not answered yet is at work, and is not closed
        return line

    def entered(self):
        """What the first line of the answer to the link is."""
        return answered(self.connected(), self.head)


def answered(line, head):
    try:
        line.sendall(head.encode())
        return line.recv(12).decode()
    except ConnectionError:
        return ""


def ends(line):
    """Read until the other side closes."""
    try:
        while line.recv(1 << 16):
            pass
    except ConnectionError:
        pass
    return True


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home") / "north"
    make("north", folder, Address("127.0.0.1", 7443), Address("127.0.0.1", 7443), 2048)
    return folder


@pytest.fixture
def served(home):
    with ExitStack() as lines:
        yield lambda *options: Served(home, lines, *options)


@pytest.mark.attack
@pytest.mark.parametrize("piece", HALF.values(), ids=HALF)
def test_connections_that_ask_nothing_do_not_lock_it(served, monkeypatch, piece):
    """However many there are, and before any of their time is over."""
    monkeypatch.setattr(connection, "_SECONDS", NEVER)
    found = served()
    lines = [found.begun(piece) for _ in range(CONNECTIONS + 6)]
    assert found.entered() == "HTTP/1.1 303"
    assert sum(ends(line) for line in lines[:7]) == 7  # those that were there first


@pytest.mark.attack
@pytest.mark.parametrize("piece", HALF.values(), ids=HALF)
def test_what_does_not_come_in_time_is_not_waited_for(served, monkeypatch, piece):
    monkeypatch.setattr(connection, "_SECONDS", SOON)
    found = served()
    assert ends(found.begun(piece))
    assert found.entered() == "HTTP/1.1 303"


@pytest.mark.attack
@pytest.mark.parametrize("piece", HALF.values(), ids=HALF)
def test_a_byte_now_and_then_prolongs_nothing(served, monkeypatch, piece):
    monkeypatch.setattr(connection, "_SECONDS", SOON)
    line = served().begun(piece if piece else b"GET /")
    if b"Content-Length" in piece:
        line.sendall(b"x")
    line.settimeout(0.05)
    for _ in range(2_000):
        try:
            line.sendall(b"" if b"Content-Length" in piece else b"x")
            if not line.recv(1 << 16):
                return
        except TimeoutError:
            continue
        except ConnectionError:
            return
    pytest.fail("it is still open")


def test_forms_that_have_begun_go_last(served, monkeypatch):
    """A browser that sends a form is not thrown out by idle connections."""
    monkeypatch.setattr(connection, "_SECONDS", NEVER)
    found = served()
    entering = found.connected()
    entering.sendall(found.head.encode())
    cookie = re.search(rb"duetto=[^;]+", entering.recv(1 << 16))[0].decode()
    origin = f"http://{found.link.netloc}"
    head = f"POST /leave HTTP/1.1\r\nHost: {found.link.netloc}\r\nOrigin: {origin}\r\nCookie: {cookie}\r\n"
    kind = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\nExpect: 100-continue"
    form = found.connected()
    assert answered(form, f"{head}{kind}\r\n\r\n") == "HTTP/1.1 100"
    for _ in range(2 * CONNECTIONS):
        found.connected()
    form.sendall(b"form_key=x")
    rest = b"more"
    while rest and b"HTTP/1.1 403" not in rest:
        rest = form.recv(1 << 16)
    assert rest


def test_a_program_of_another_account_is_not_answered(served, monkeypatch):
    """It has the link, and whatever else it may have found."""
    found = served()
    monkeypatch.setattr(account.os, "geteuid", lambda: os.getuid() + 1)
    assert found.entered() == ""
    monkeypatch.undo()
    assert found.entered() == "HTTP/1.1 303"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a program as another account")
def test_nobody_is_another_account(served):
    found = served()

    def knocks(*account):
        words = [sys.executable, "-I", "-c", KNOCK, str(found.link.port), found.head, *account]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    assert knocks("65534") == ""
    assert knocks() == "HTTP/1.1 303"


def test_a_socket_asks_the_system_who_is_there(served, tmp_path, monkeypatch):
    found = served(Options(socket=tmp_path / "s"))

    def asks():
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(SECONDS)
            line.connect(str(tmp_path / "s"))
            return answered(line, found.head)

    monkeypatch.setattr(account.os, "geteuid", lambda: os.getuid() + 1)
    assert asks() == ""
    monkeypatch.undo()
    assert asks() == "HTTP/1.1 303"


def test_ends_that_the_system_does_not_list_are_nobodys(tmp_path):
    """Such as those that were closed, which Linux lists under the account 0."""
    (tmp_path / "tcp").write_text("head\n")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname(), SECONDS)
        taken, _ = listener.accept()
        with taken:
            assert is_own(taken)
            assert not is_own(taken, Tables(tmp_path))
            assert not is_own(taken, Tables(tmp_path / "none"))
            client.close()
            assert taken.recv(1) == b""
            assert not is_own(taken)


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_browsers_find_it_at_both_loopback_addresses(served, home):
    """They may try ::1 first; whoever had the port there would get the link."""
    found = served()
    assert answered(found.connected("::1"), found.head) == "HTTP/1.1 303"
    with (
        socket.create_server(("::1", 0), family=socket.AF_INET6) as other,
        pytest.raises(ConfigError, match="of ::1"),
    ):
        Dashboard(home, Options(port=other.getsockname()[1]))


def test_a_table_is_read_once_for_all_that_were_accepted_before(tmp_path):
    """It is long where there are many connections, and never older than one that is looked up in it."""
    tables, table = Tables(tmp_path), tmp_path / "tcp"
    table.write_text("first")
    accepted = monotonic()
    assert tables.of(socket.AF_INET, accepted) == "first"
    table.write_text("second")
    assert tables.of(socket.AF_INET, accepted) == "first"
    assert tables.of(socket.AF_INET, monotonic()) == "second"
    table.write_text("third")
    assert tables.of(socket.AF_INET, math.inf) == "third"


def test_many_at_once_take_few_readings(served, monkeypatch):
    monkeypatch.setattr(connection, "_SECONDS", NEVER)
    read, true = [], Path.read_text

    def counted(path, *words, **more):
        read.extend([path] if path.name == "tcp" else [])
        return true(path, *words, **more)

    found = served()
    held, going = threading.Event(), threading.Event()
    found.entered()
    loop = found.dashboard._server.servers[0].get_loop()
    loop.call_soon_threadsafe(lambda: (held.set(), going.wait(SECONDS)))  # so that all wait to be accepted
    assert held.wait(SECONDS)
    lines = [found.connected() for _ in range(50)]
    monkeypatch.setattr(Path, "read_text", counted)
    going.set()
    assert found.entered() == "HTTP/1.1 401"
    assert len(read) < len(lines) // 2
