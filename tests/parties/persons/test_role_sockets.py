"""Every verb over the socket of every role; and who reaches such a socket."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from parties.cli.main import duetto
from parties.client import Party
from parties.config import load
from parties.contracts.state import State
from parties.errors import ConfigError, PolicyError
from parties.jobs.control import Reloaded, make_control_server
from parties.person_roles import PersonRole
from parties.persons.roles import ALLOWED, SOCKETS, VERBS, Act
from parties.role_sockets import RoleSocket
from scripts.processes import ended, paired, started
from tests.parties.jobs.joined import job_file, wait_final, wait_state
from tests.parties.persons.made import KEYS, OF_ROLE, begin
from tests.parties.persons.test_matrix import SERVICE, outcome, request
from tests.parties.served import drain_of

SIGNS = {**dict.fromkeys(Act, PersonRole.STEWARD)}
"""Whose signature comes with a request, so that nothing but the socket bounds it."""


@pytest.fixture
def folder():
    """A folder with a short name, since paths of sockets are short."""
    with tempfile.TemporaryDirectory(prefix="duetto-") as made:
        yield Path(made)


@pytest.fixture
def sockets(pair, folder):
    """South's sockets of all roles, and a job of north that waits there."""
    servers = []
    for role in PersonRole:
        server = make_control_server(pair.south, Reloaded, drain_of(pair.south), role=role)
        server.add_insecure_port(f"unix:{folder}/{role.value}.sock")
        server.start()
        servers.append(server)
    yield folder
    for server in servers:
        server.stop(0).wait()


def submitted(pair):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    wait_state(pair.south, job_id, State.WAITING_OWN)
    return job_id


def test_every_verb_has_its_roles():
    assert set(SOCKETS) == {method.name for method in SERVICE.methods}
    assert all(SOCKETS.values())
    for verb, act in VERBS.items():
        assert act is None or SOCKETS[verb] == ALLOWED[act], verb


@pytest.mark.parametrize("verb", sorted(VERBS))
@pytest.mark.parametrize("is_signed", [True, False], ids=["persons", "names"])
def test_a_verb_over_the_socket_of_every_role(pair, sockets, verb, is_signed):
    pair.allow("south", approval="person")
    if is_signed:
        begin(pair.south.gate, pair.folder / "south", pair.network.identities["north"])
    job_id = submitted(pair)
    wanted = SIGNS.get(VERBS[verb]) if is_signed else None
    for role in sorted(PersonRole, key=lambda role: (role in SOCKETS[verb], role is PersonRole.STEWARD)):
        before = len(pair.south.ledger.entries())
        with Party(sockets / f"{role.value}.sock") as party:
            error = outcome(party, verb, request(verb, pair, job_id, wanted))
        code = getattr(error, "stable_code", "")
        is_unsigned_operator = verb == "Approve" and role is PersonRole.OPERATOR and not is_signed
        if role in SOCKETS[verb] and not is_unsigned_operator:
            assert code not in ("role", "person"), (role, error)
        else:
            assert (type(error), code, bool(error.hint)) == (PolicyError, "role", True), (role, error)
            assert len(pair.south.ledger.entries()) == before


def test_a_person_signs_over_a_role_s_socket_without_the_home(pair, sockets, tmp_path):
    """As somebody with another account of the machine does: the socket and a key file are all there is."""
    pair.allow("south", approval="person")
    begin(pair.south.gate, pair.folder / "south", pair.network.identities["north"])
    job_id = submitted(pair)
    key_file = tmp_path / "weber.key"
    how = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    key_file.write_bytes(KEYS["weber"]._key.private_bytes(*how))
    key_file.chmod(0o600)
    words = ("--key", str(key_file), "--yes", "--config")
    refused = CliRunner().invoke(duetto, ["job", "approve", job_id, *words, f"{sockets}/analyst.sock"])
    assert refused.exit_code == 77
    assert "socket of the role analyst" in refused.output
    done = CliRunner().invoke(duetto, ["job", "approve", job_id, *words, f"{sockets}/steward.sock"])
    assert done.exit_code == 0, done.output
    assert wait_final(pair.south, job_id).state is State.FINISHED
    listed = CliRunner().invoke(duetto, ["job", "list", "--config", f"{sockets}/viewer.sock"])
    assert job_id[:8] in listed.output
    hidden = CliRunner().invoke(duetto, ["job", "result", job_id, "--config", f"{sockets}/auditor.sock"])
    assert (hidden.exit_code, "does not take 'Result'" in hidden.output) == (77, True)


CONNECT = """
import os, socket, sys
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(65534)
socket.socket(socket.AF_UNIX).connect(sys.argv[1])
"""
"""Of somebody who is nobody but a member of a group."""


def test_the_daemon_opens_sockets_to_groups(tmp_path, folder):
    home = paired(tmp_path)["north"]
    folder.chmod(0o755)
    text = (home / "duetto.toml").read_text()
    group = "" if os.geteuid() else 'group = "nogroup"\n'
    lines = f'[[sockets]]\nrole = "viewer"\npath = "{folder}/viewer.sock"\n{group}'
    lines += f'[[sockets]]\nrole = "analyst"\npath = "{folder}/analyst.sock"\n'
    (home / "duetto.toml").write_text(f"{text}\n{lines}")
    daemon = started(home)
    try:
        for name, wanted in (("viewer", 0o660 if group else 0o600), ("analyst", 0o600)):
            found = (folder / f"{name}.sock").stat()
            assert stat.S_IMODE(found.st_mode) == wanted
        with Party(folder / "viewer.sock") as party:
            assert (party.name, party.jobs()) == ("north", [])
        if group:
            number = str((folder / "viewer.sock").stat().st_gid)
            reached = {
                name: subprocess.run(
                    [sys.executable, "-c", CONNECT, str(folder / f"{name}.sock"), number],
                    capture_output=True,
                    check=False,
                ).returncode
                == 0
                for name in ("viewer", "analyst")
            }
            assert reached == {"viewer": True, "analyst": False}
        daemon.terminate()
        daemon.communicate(timeout=60)
        assert list(folder.iterdir()) == []
    finally:
        ended(daemon)


def test_a_folder_that_others_may_write_is_refused(folder):
    one = RoleSocket(PersonRole.VIEWER, folder / "viewer.sock")
    one.check_place()
    folder.chmod(0o770)
    with pytest.raises(ConfigError, match="socket of their own"):
        one.check_place()
    folder.chmod(0o700)
    one.path.write_text("")
    with pytest.raises(ConfigError, match="is not a socket"):
        one.check_place()
    with pytest.raises(ConfigError, match="cannot be used"):
        RoleSocket(PersonRole.VIEWER, folder / "nowhere" / "viewer.sock").check_place()
    with pytest.raises(ConfigError, match="There is no group"):
        RoleSocket(PersonRole.VIEWER, folder / "other.sock", "no-such-group").check_place()


def test_two_sockets_at_one_path_are_refused(tmp_path):
    home = paired(tmp_path)["north"]
    text = (home / "duetto.toml").read_text()
    one = '\n[[sockets]]\nrole = "viewer"\npath = "/run/duetto/one.sock"\n'
    (home / "duetto.toml").write_text(text + one + one.replace("viewer", "analyst"))
    with pytest.raises(ConfigError, match="twice"):
        load(home)
    (home / "duetto.toml").write_text(text + one.replace("one", "o" * 100))
    with pytest.raises(ConfigError, match="longer than 100 bytes"):
        load(home)


def test_everybody_is_of_some_role():
    assert set(OF_ROLE) == set(PersonRole)
