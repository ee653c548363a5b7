"""The unit of systemd: systemd itself finds nothing wrong with it, whatever the paths."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from dataclasses import replace

import pytest

from parties.config import Address, Config
from parties.daemon.service import say_ready, unit

systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")


def config_in(folder, owner=None):
    folder.mkdir(exist_ok=True)
    (folder / "duetto.toml").write_text("")
    if owner is not None:
        os.chown(folder, owner, owner)
    listen = Address("127.0.0.1", 7443)
    return Config(folder / "duetto.toml", "north", listen, folder, folder / "p", folder / "c")


@systemd
@pytest.mark.parametrize("is_system", [False, True])
@pytest.mark.parametrize("name", ["home", "a b", "per%cent %h", "#;,:=", "ä"])
def test_systemd_takes_it(tmp_path, name, is_system):
    config = config_in(tmp_path / name)
    program = tmp_path / name / "duetto"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = tmp_path / "duetto-north.service"
    file.write_text(unit(config, program, is_system=is_system))
    words = ["systemd-analyze", "verify", "--man=no", *([] if is_system else ["--user"]), str(file)]
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=env)
    said = [line for line in done.stderr.splitlines() if "duetto-north" in line]
    assert not said
    assert done.returncode == 0, done.stderr


@systemd
def test_systemd_finds_little_that_is_exposed(tmp_path):
    program = tmp_path / "duetto"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = tmp_path / "duetto-north.service"
    file.write_text(unit(config_in(tmp_path / "home"), program, is_system=True))
    words = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout[-300:]


@pytest.mark.parametrize(
    "line",
    [
        *(
            "PrivateUsers=yes",
            "ProtectProc=invisible",
            "ProcSubset=pid",
            "RemoveIPC=yes",
            "AmbientCapabilities=",
        ),
        *("MemoryDenyWriteExecute=yes", "SystemCallFilter=~@privileged @resources", "OOMScoreAdjust=-100"),
        *("SystemCallErrorNumber=EPERM", "TasksMax=1024", "MemoryMax=75%"),
    ],
)
def test_a_unit_of_the_system_is_hardened(tmp_path, line):
    assert line in unit(config_in(tmp_path / "home"), tmp_path / "duetto", is_system=True).splitlines()


def test_it_runs_as_the_owner_of_the_home_and_may_write_only_there(tmp_path):
    config = config_in(tmp_path / "home")
    text = unit(config, tmp_path / "duetto", is_system=True)
    assert f'ReadWritePaths="{config.home}"' in text
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=", "LimitCORE=0"):
        assert line in text.splitlines()
    assert "User=" in text
    assert "User=" not in unit(config, tmp_path / "duetto", is_system=False)


@pytest.mark.parametrize("odd", ["x\nExecStartPre=/bin/evil", 'x" "y', "$HOME", "x\\n", "it's"])
def test_a_path_cannot_mean_anything_else(tmp_path, odd):
    config = replace(config_in(tmp_path / "home"), path=tmp_path / odd)
    with pytest.raises(ValueError, match="read as another"):
        unit(config, tmp_path / "duetto", is_system=False)


def test_readiness_is_said_to_nobody_but_a_socket(tmp_path, monkeypatch):
    for address in ("", "relative", str(tmp_path / "missing")):
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        say_ready()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0duetto-test-notify-" + str(os.getpid()))
        manager.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@duetto-test-notify-{os.getpid()}")
        say_ready()
        assert manager.recv(100) == b"READY=1"
