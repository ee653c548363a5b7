"""A unit of systemd for a party's daemon, and the word to systemd that the daemon is ready."""

from __future__ import annotations

import os
import pwd
import re
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

from parties.config import Config
from parties.pki.passphrase import CREDENTIAL, PIN_CREDENTIAL
from parties.pki.protection import is_protected
from parties.pki.token import read_place

_ODD: Final = re.compile(r"""[\x00-\x1f\x7f"'$\\]""")

_HARDENING: Final = """\
NoNewPrivileges=yes
PrivateUsers=yes
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths={home}
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
ProcSubset=pid
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
CapabilityBoundingSet=
AmbientCapabilities=
TasksMax=1024
MemoryMax=75%
OOMScoreAdjust=-100
# Only these may reach the daemon, and be reached; name all peers, and the databases of the catalog:
# IPAddressDeny=any
# IPAddressAllow=localhost 192.0.2.17 2001:db8::17
"""
"""Takes from the daemon what it has no use for. Most of it cannot be had in a service of a user."""

_UNIT: Final = """\
[Unit]
Description=duetto party {name}
Wants=network-online.target
After=network-online.target

[Service]
Type=notify
ExecStart={command} party start --config {config}
ExecReload=/bin/kill -HUP $MAINPID
{account}{credential}Restart=on-failure
RestartSec=10
RestartPreventExitStatus=65 77 78
TimeoutStopSec=60
LimitNOFILE=65536
LimitCORE=0
UMask=0077
{hardening}
[Install]
WantedBy={target}
"""


_CREDENTIAL: Final = """\
# {what}; to make it, once, as root:
# systemd-ask-password -n | \\
#     systemd-creds encrypt --name={credential} - /etc/credstore.encrypted/{file}
LoadCredentialEncrypted={credential}:/etc/credstore.encrypted/{file}
"""


def unit_name(config: Config) -> str:
    """The name of the unit's file."""
    return f"duetto-{config.name}.service"


def unit(config: Config, command: Path, *, is_system: bool) -> str:
    """The unit of a party's daemon.

    Args:
        config: the configuration.
        command: the program `duetto`.
        is_system: for the system's manager, under the account that owns the home and hardened; else for the
            manager of the user who runs this.

    Raises:
        ValueError: a path has a quote, a backslash, a dollar sign or a control character.
    """
    account = ""
    if is_system:
        owner = pwd.getpwuid(config.home.stat().st_uid).pw_name
        account = f"User={owner}\n"
    return _UNIT.format(
        name=config.name,
        command=_quote(command),
        config=_quote(config.path),
        account=account,
        credential=_credentials(config),
        hardening=_HARDENING.format(home=_quote(config.home)) if is_system else "NoNewPrivileges=yes\n",
        target="multi-user.target" if is_system else "default.target",
    )


def _credentials(config: Config) -> str:
    """The lines by which the unit gets the passphrase of the keys, and the PIN of the token."""
    folder, lines = config.home / "keys", ""
    if is_protected(folder):
        lines += _CREDENTIAL.format(
            what="The passphrase of the keys", credential=CREDENTIAL, file=f"duetto-{config.name}"
        )
    if read_place(folder) is not None:
        lines += _CREDENTIAL.format(
            what="The PIN of the token", credential=PIN_CREDENTIAL, file=f"duetto-pin-{config.name}"
        )
    return lines


def say_ready() -> None:
    """Tell systemd that the daemon serves, if systemd has started it."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address[:1] not in ("/", "@"):
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.connect("\0" + address[1:] if address[0] == "@" else address)
        told.send(b"READY=1")


def _quote(path: Path) -> str:
    """A path as one word of a unit, in which `%` would be replaced."""
    text = str(path)
    if _ODD.search(text):
        raise ValueError("a path that systemd would read as another")
    return '"' + text.replace("%", "%%") + '"'
