"""The exit status of commands, after `sysexits.h`."""

from __future__ import annotations

from typing import Final

OK: Final = 0
USAGE: Final = 2
BAD_DATA: Final = 65
UNAVAILABLE: Final = 69
INTERNAL: Final = 70
DISK: Final = 74
RETRY: Final = 75
REFUSED: Final = 77
CONFIG: Final = 78
INTERRUPTED: Final = 130
UNREAD: Final = 141
"""As a shell reports of programs that write to a pipe which nobody reads."""
