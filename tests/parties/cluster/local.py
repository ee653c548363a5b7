"""A Dask cluster over TLS on the loopback address, each member a process, with certificates made for it."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from parties.config import Address, Dask
from tests.architecture.source import ROOT

SECONDS = 120
"""After which every member ends by itself, unless more is asked for."""


def authority(folder: Path, name: str, *members: str) -> None:
    """Write `ca.pem`, and for each member a certificate and a key by it."""
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    own = _certificate(name, key.public_key(), name, key, authority=True)
    (folder / "ca.pem").write_bytes(own.public_bytes(serialization.Encoding.PEM))
    for member in members:
        theirs = ec.generate_private_key(ec.SECP256R1())
        signed = _certificate(member, theirs.public_key(), name, key, authority=False)
        (folder / f"{member}.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        place = folder / f"{member}.key"
        place.touch(mode=0o600)
        place.write_bytes(
            theirs.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )


def _certificate(subject, public, issuer, key, *, authority):
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )


class LocalCluster:
    """A scheduler and workers of one thread each; a context."""

    def __init__(self, folder: Path, workers: int = 2, release: str = "", seconds: int = SECONDS) -> None:
        self.folder = folder
        if not (folder / "ca.pem").exists():
            authority(folder, "cluster", "member", "duetto")
        self._count, self._release, self._seconds = workers, release, seconds
        self.workers: list[subprocess.Popen] = []

    def __enter__(self) -> LocalCluster:
        self.scheduler = self._started("scheduler")
        self.url = self._address(self.scheduler)
        self.workers = [self._started("worker", self.url, self._release) for _ in range(self._count)]
        for worker in self.workers:
            self._address(worker)
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
            process.stdout.close()

    def dask(self, seconds: int = 60) -> Dask:
        """What the configuration of a party says of this cluster."""
        return Dask(
            Address.parse(self.url.removeprefix("tls://")),
            self.folder / "ca.pem",
            self.folder / "duetto.pem",
            self.folder / "duetto.key",
            seconds,
        )

    def _started(self, role: str, *given: str) -> subprocess.Popen:
        command = [
            sys.executable,
            "-m",
            "tests.parties.cluster.child",
            str(self.folder),
            str(self._seconds),
            role,
        ]
        log = (self.folder / "log").open("ab")
        with log:
            return subprocess.Popen(
                [*command, *given],
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=ROOT,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                text=True,
            )

    def _address(self, process: subprocess.Popen) -> str:
        line = process.stdout.readline().strip()
        assert line.startswith("tls://"), (self.folder / "log").read_text()[-2000:]
        return line
