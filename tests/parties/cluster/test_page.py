"""docs/operations.md: its commands make certificates and a cluster that a party can use."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from parties.cluster.connecting import Members, connect
from parties.config import Address, Dask
from parties.errors import ClusterUnavailable
from scripts.processes import free_port
from tests.architecture.source import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def lines(command: str) -> list[str]:
    return re.findall(rf"^{command}.*$", PAGE, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="the command openssl is not installed")
def test_its_commands_make_a_cluster(tmp_path: Path) -> None:
    made = lines("openssl ")
    assert len(made) == 5
    for line in made:
        subprocess.run(shlex.split(line), cwd=tmp_path, check=True, capture_output=True, timeout=30)
    (tmp_path / "duetto.key").chmod(0o600)  # as the page says of dask_key
    port = free_port()
    dask = Dask(
        Address("localhost", port), *(tmp_path / name for name in ("ca.pem", "duetto.pem", "duetto.key"))
    )
    started = lines("dask (?:scheduler|worker) ")
    assert [line.split()[1] for line in started] == ["scheduler", "worker"]
    with ExitStack() as stack:
        for line in started:
            here = line.replace("scheduler.hospital.example:8786", f"localhost:{port}")
            words = shlex.split(here.replace("--port 8786", f"--port {port} --host localhost"))
            process = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=tmp_path,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait, 20)
            stack.callback(process.terminate)
        until = time.monotonic() + 60
        while True:
            try:
                client, members = connect(dask)
            except ClusterUnavailable:
                assert time.monotonic() < until
                time.sleep(0.2)
                continue
            client.close()
            if members == Members(workers=4, threads=4):
                break
            assert time.monotonic() < until
