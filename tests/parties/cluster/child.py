"""A scheduler or a worker of a Dask cluster, as a process of its own that ends by itself.

python -m tests.parties.cluster.child FOLDER SECONDS scheduler
python -m tests.parties.cluster.child FOLDER SECONDS worker ADDRESS [RELEASE]

FOLDER has `ca.pem`, `member.pem` and `member.key`. The address is the first line that it prints. RELEASE is
what the worker says of its duetto, instead of the truth.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import distributed.versions
from distributed import Scheduler, Worker
from distributed.security import Security


def security(folder: Path) -> Security:
    files = {
        f"tls_{role}_{part}": str(folder / f"member.{end}")
        for role in ("scheduler", "worker")
        for part, end in (("cert", "pem"), ("key", "key"))
    }
    return Security(tls_ca_file=str(folder / "ca.pem"), require_encryption=True, **files)


async def serve(folder: Path, role: str, address: str = "", release: str = "") -> None:
    if release:
        true = distributed.versions.version
        distributed.versions.version = lambda name: release if name == "duetto" else true(name)
    secured = security(folder)
    member = (
        Scheduler(
            host="127.0.0.1",
            port=0,
            protocol="tls",
            security=secured,
            dashboard=False,
            dashboard_address=None,
        )
        if role == "scheduler"
        else Worker(
            address, host="127.0.0.1", nthreads=1, security=secured, dashboard=False, local_directory=folder
        )
    )
    async with member:
        print(member.address, flush=True)
        await member.finished()


if __name__ == "__main__":
    signal.alarm(int(sys.argv[2]))
    asyncio.run(serve(Path(sys.argv[1]), *sys.argv[3:]))
