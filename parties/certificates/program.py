"""Which program made a result: release, versions of the wire, Python, and a digest of the code itself."""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import commons
import parties
import smc
from parties.plugins import Plugin
from parties.ports.terms import NEWEST
from parties.ports.wire import WIRE
from parties.release import release

_DOMAIN: Final = b"duetto code v1\0"
_PACKAGES: Final = {"parties": parties, "smc": smc, "commons": commons}


@functools.cache
def program(plugins: tuple[Plugin, ...] = ()) -> dict[str, Any]:
    """The running program; to be called when it starts, before an upgrade can change the files.

    Args:
        plugins: what the daemon has loaded besides; the digest of the code covers them.
    """
    return {
        "duetto": release(),
        "wire": NEWEST,
        "suite": WIRE,
        "python": platform.python_version(),
        "code": code_digest(plugins),
        "plugins": [plugin.document() for plugin in plugins],
    }


def code_digest(plugins: Sequence[Plugin] = ()) -> str:
    """SHA-256 over the paths and contents of the Python files that are installed, hexadecimal."""
    digest = hashlib.sha256(_DOMAIN)
    for package, module in _PACKAGES.items():
        folder = Path(str(module.__file__)).parent
        for path in sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).as_posix()):
            name = f"{package}/{path.relative_to(folder).as_posix()}".encode()
            digest.update(len(name).to_bytes(4, "big") + name + hashlib.sha256(path.read_bytes()).digest())
    for plugin in plugins:
        name = f"plugin {plugin.name}".encode()
        digest.update(len(name).to_bytes(4, "big") + name + bytes.fromhex(plugin.code))
    return digest.hexdigest()
