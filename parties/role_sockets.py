"""Control sockets of roles: where they lie, and whose group reaches them."""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from commons.settings.marks import Length, UnfitError
from parties.errors import ConfigError
from parties.person_roles import PersonRole

PATH_BYTES: Final = 100
"""The longest path of a socket, in bytes, that every operating system takes."""

_OWNER: Final = 0o600
_GROUP: Final = 0o660


@dataclass(frozen=True, slots=True)
class RoleSocket:
    """A socket over which the daemon takes what one role may do, and nothing else.

    Attributes:
        role: which.
        path: of the socket; its folder is there, and nobody but this account or root may write it.
        group: of the operating system, whose members reach it; empty for this account alone.
    """

    role: PersonRole
    path: Path
    group: Annotated[str, Length(0, 32)] = ""

    def __post_init__(self) -> None:
        if len(str(self.path).encode()) > PATH_BYTES:
            raise UnfitError("path", f"is longer than {PATH_BYTES} bytes", "Choose a shorter one.")

    def check_place(self) -> None:
        """Check that the socket can be made there, and that nobody could put another one in its place.

        Raises:
            ConfigError: it cannot, or somebody could.
        """
        folder = self.path.parent
        try:
            found = folder.stat()
        except OSError as problem:
            raise ConfigError(
                f"The folder {folder} of a role's socket cannot be used ({type(problem).__name__}).",
                "Make it, owned by the daemon's account; in a unit of systemd RuntimeDirectory does it.",
            ) from None
        if found.st_uid not in (0, os.geteuid()) or stat.S_IMODE(found.st_mode) & 0o022:
            raise ConfigError(
                f"Others may write the folder {folder}, and so put a socket of their own there.",
                f"Give it to the daemon's account, and run `chmod go-w {folder}`.",
            )
        if os.path.lexists(self.path) and not self.path.is_socket():
            raise ConfigError(
                f"{self.path} is not a socket, and in the way of one.", "Move it away, or name another path."
            )
        self._group_id()

    def open_to_group(self) -> None:
        """Let the group reach the socket, which is there. Raises as `check_place`."""
        os.chown(self.path, -1, self._group_id(), follow_symlinks=False)
        self.path.chmod(_GROUP if self.group else _OWNER)

    def _group_id(self) -> int:
        if not self.group:
            return -1
        try:
            number = grp.getgrnam(self.group).gr_gid
        except KeyError:
            raise ConfigError(
                f"There is no group {self.group!r} on this machine.",
                "Make it with `groupadd`, or correct it.",
            ) from None
        if os.geteuid() and number not in os.getgroups():
            raise ConfigError(
                f"The account of the daemon is not in the group {self.group!r}.",
                "Put it there with `usermod -aG`, and start the daemon anew.",
            )
        return number


def check_sockets(sockets: Sequence[RoleSocket]) -> None:
    """Check that no two sockets lie at one path.

    Raises:
        UnfitError: two do.
    """
    paths = [one.path for one in sockets]
    for path in paths:
        if paths.count(path) > 1:
            raise UnfitError("sockets", f"names {str(path)!r} twice", "Give each role a path of its own.")
