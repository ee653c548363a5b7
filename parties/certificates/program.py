"""Which program made a result: release, versions of the wire, Python, and a digest of the code itself."""

from __future__ import annotations

import functools
import hashlib
import platform
from pathlib import Path
from typing import Any, Final

import parties
import smc
from parties.ports.terms import NEWEST
from parties.ports.wire import WIRE
from parties.release import release

_DOMAIN: Final = b"duetto code v1\0"
_PACKAGES: Final = {"parties": parties, "smc": smc}


@functools.cache
def program() -> dict[str, Any]:
    """The running program; to be called when it starts, before an upgrade can change the files."""
    return {
        "duetto": release(),
        "wire": NEWEST,
        "suite": WIRE,
        "python": platform.python_version(),
        "code": code_digest(),
    }


def code_digest() -> str:
    """SHA-256 over the paths and contents of the Python files that are installed, hexadecimal."""
    digest = hashlib.sha256(_DOMAIN)
    for package, module in _PACKAGES.items():
        folder = Path(str(module.__file__)).parent
        for path in sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).as_posix()):
            name = f"{package}/{path.relative_to(folder).as_posix()}".encode()
            digest.update(len(name).to_bytes(4, "big") + name + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
