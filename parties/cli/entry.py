"""Where the program `duetto` begins: an interrupt ends it quietly also while its modules are imported."""

from __future__ import annotations

import os
import signal
from typing import Final, NoReturn

_INTERRUPTED: Final = 130
"""As `parties.errors.INTERRUPTED`, which is not imported yet."""


def main() -> None:
    """Run the command, see `parties.cli.main`, and end the process."""
    signal.signal(signal.SIGINT, leave)
    from parties.cli.main import main as run

    run()


def leave(*_: object) -> NoReturn:
    """End the process: nothing has been done yet, and there is nobody to tell."""
    os._exit(_INTERRUPTED)


def listen() -> None:
    """From now on an interrupt is an exception, which commands clean up after; other handlers stay."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
