"""`duetto up`: from nothing by a page of the browser, beside a daemon that runs, where a port is taken."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import pytest

from parties.config import load
from parties.pki.lock import running_pid
from parties.pki.passphrase import DESCRIPTOR_VARIABLE, NEW_VARIABLE, handing_on
from scripts.processes import COMMAND, ended, free_port, introduced, paired, started

pytest.importorskip("starlette")
KEY = ("--key", "2048")


@contextmanager
def up(home, *more):
    """The command, and the link that it prints."""
    process = subprocess.Popen(
        [*COMMAND, "up", "--config", str(home), "--json", *KEY, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_the_daemon_gets_the_passphrase_that_the_command_was_told(tmp_path):
    """By a descriptor here; at a terminal the command asks in place of the daemon, which has none."""
    home = tmp_path / "north"
    introduced(home)
    words = "five long words for this"
    with handing_on({NEW_VARIABLE: (words,)}) as handed:
        subprocess.run(
            [*COMMAND, "keys", "protect", "--config", str(home)],
            env={**os.environ, NEW_VARIABLE: str(handed[NEW_VARIABLE])},
            pass_fds=tuple(handed.values()),
            stdin=subprocess.DEVNULL,
            check=True,
            capture_output=True,
        )
    with handing_on({DESCRIPTOR_VARIABLE: (words,)}) as handed:
        process = subprocess.Popen(
            [*COMMAND, "up", "--config", str(home), "--json", *KEY],
            env={**os.environ, DESCRIPTOR_VARIABLE: str(handed[DESCRIPTOR_VARIABLE])},
            pass_fds=tuple(handed.values()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    line = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert json.loads(line)["daemon_started"] is True, said
    assert running_pid(load(home / "duetto.toml")) is None


class Pages:
    """A browser in what serves a link."""

    def __init__(self, link):
        found = urlsplit(link)
        self._port, self._host, self._cookie = found.port, found.netloc, ""
        status, _, headers = self.ask("GET", f"{found.path}?{found.query}")
        assert status == 303
        self._cookie = headers["set-cookie"].split(";")[0]

    def ask(self, method, path, fields=None):
        connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
        headers = {"Host": self._host, "Cookie": self._cookie, "Origin": f"http://{self._host}"}
        if fields is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, urlencode(fields) if fields is not None else None, headers)
        answer = connection.getresponse()
        found = answer.status, answer.read().decode(), answer.headers
        connection.close()
        return found

    def get(self, path="/"):
        while True:
            try:
                status, page, headers = self.ask("GET", path)
            except ConnectionResetError:  # by the server that makes way: browsers ask again on a connection
                continue
            assert status == 200, page
            if "refresh" not in headers:  # else it makes way for the dashboard
                return page

    def begin(self, name, address):
        key = re.search(r'name="form_key" value="([^"]+)"', self.get())[1]
        return self.ask("POST", "/begin", {"form_key": key, "name": name, "address": address})


def test_a_party_is_made_in_the_browser(tmp_path):
    home = tmp_path / "north"
    with up(home) as (process, said):
        assert (said["name"], said["daemon_started"]) == ("", False)
        pages = Pages(said["link"])
        page = pages.get()
        assert "There is no party on this machine yet" in page
        assert str(home) in page
        address = f"127.0.0.1:{free_port()}"
        for name, place, why in (
            ("North Hospital", address, "is not a valid party name"),
            ("", address, "is not a valid party name"),
            ("north", "no address", "is not a valid address"),
        ):
            status, page, _ = pages.begin(name, place)
            assert (status, why in page, f'value="{place}"' in page) == (200, True, True), page
        with socket.create_server(("127.0.0.1", 0)) as taken:
            _, page, _ = pages.begin("north", f"127.0.0.1:{taken.getsockname()[1]}")
            assert "Nothing can listen at port" in page
        assert not home.exists()
        assert pages.ask("POST", "/begin", {"name": "north", "address": address})[0] == 403
        assert pages.begin("north", address)[0] == 303
        assert "The first day" in pages.get()  # the same browser goes on, in the dashboard
        assert "north" in pages.get("/peers")
        config = load(home)
        assert (config.name, str(config.listen)) == ("north", address)
        assert running_pid(config) is not None
    assert running_pid(config) is None
    assert process.returncode == 130 or process.returncode == 0


def test_nothing_is_left_where_nobody_answered(tmp_path):
    home = tmp_path / "north"
    with up(home, "--name", "north") as (process, said):
        assert 'value="north"' in Pages(said["link"]).get()
    assert process.returncode == 130
    assert not home.exists()


def test_a_daemon_that_runs_goes_on(tmp_path):
    home = paired(tmp_path)["north"]
    daemon = started(home)
    try:
        for _ in range(2):  # also one after the other
            with up(home) as (_, said), up(home) as (_, other):
                assert (said["name"], said["daemon_started"]) == ("north", False)
                assert said["link"] != other["link"]
                assert "The first day" in Pages(said["link"]).get() + Pages(other["link"]).get()
        assert running_pid(load(home)) == daemon.pid
    finally:
        ended(daemon)


def test_a_port_that_is_taken_is_told(tmp_path):
    home = paired(tmp_path)["north"]
    listen = load(home).listen
    port = listen.port or free_port()
    text = (home / "duetto.toml").read_text().replace(str(listen), f"127.0.0.1:{port}", 1)
    (home / "duetto.toml").write_text(text)
    with socket.create_server(("127.0.0.1", port)):
        done = subprocess.run(
            [*COMMAND, "up", "--config", str(home), "--no-browser"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
    assert done.returncode == 69
    assert f"127.0.0.1:{port}" in done.stderr
    assert "does not start" in done.stderr
    assert running_pid(load(home)) is None


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    done = subprocess.run(
        [*COMMAND, "up", "--config", str(tmp_path / "duetto.toml")],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert (done.returncode, "No configuration" in done.stderr) == (78, True)


def test_name_and_address_that_are_given_ask_nothing(tmp_path):
    home = tmp_path / "north"
    with up(home, "--name", "north", "--address", f"127.0.0.1:{free_port()}") as (_, said):
        assert (said["name"], said["daemon_started"]) == ("north", True)
        assert "The first day" in Pages(said["link"]).get()
