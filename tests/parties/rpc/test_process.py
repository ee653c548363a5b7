"""gRPC's settings of a process: they turn TLS 1.2 off, and nothing connects to a peer without them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from parties.config import Address, Keepalive
from parties.errors import ConfigError
from parties.rpc import process, tls
from tests.parties.rpc.harness import NORTH, REPOSITORY, SOUTH, public

SERVER = """
import json, sys
given = json.loads(sys.argv[1])
from parties.rpc import process
if given["before"]:
    process.set_up()
import grpc
from concurrent.futures import ThreadPoolExecutor
server = grpc.server(ThreadPoolExecutor(1))
pair = given["tls_key"].encode(), given["certificate"].encode()
port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
server.start()
print(port, flush=True)
sys.stdin.read()
server.stop(None)
"""


@pytest.mark.parametrize("before", [True, False])
def test_set_up_is_what_turns_tls_1_2_off(before):
    given = {"before": before, "tls_key": SOUTH.tls_key.decode(), "certificate": SOUTH.certificate.decode()}
    environment = {k: v for k, v in os.environ.items() if k not in process.CIPHER_SUITES}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, json.dumps(given)],
        cwd=REPOSITORY,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        port = int(server.stdout.readline())
        assert tls.speaks_old_tls(Address("127.0.0.1", port)) is not before
        server.stdin.close()


@pytest.fixture
def unset(monkeypatch):
    for name in process.CIPHER_SUITES:
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("unset")
def test_nothing_connects_in_a_process_that_was_not_set_up():
    with pytest.raises(ConfigError, match="not set up for TLS"):
        tls.dial(NORTH, public(SOUTH), Address("127.0.0.1", 1), Keepalive())
    with pytest.raises(ConfigError, match="not set up for TLS"):
        tls.server_credentials(NORTH, SOUTH.certificate, lambda: None)


@pytest.mark.usefixtures("unset")
def test_it_is_too_late_after_grpc_was_imported(monkeypatch):
    with pytest.raises(ConfigError, match="imported before"):
        process.set_up()
    assert not process.CIPHER_SUITES.items() <= os.environ.items()
    monkeypatch.delitem(sys.modules, "grpc")
    process.set_up()
    process.check()
    for name in process.CIPHER_SUITES:
        monkeypatch.delenv(name)


def test_a_wish_for_logs_is_kept(monkeypatch):
    monkeypatch.setenv("GRPC_VERBOSITY", "DEBUG")
    process.set_up()
    assert os.environ["GRPC_VERBOSITY"] == "DEBUG"
