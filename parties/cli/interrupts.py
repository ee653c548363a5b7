"""What an interrupt does before a command begins, and from then on."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

from commons.exits import INTERRUPTED


def leave(*_: object) -> NoReturn:
    """End the process: nothing has been done yet, and there is nobody to tell."""
    os._exit(INTERRUPTED)


def listen() -> None:
    """From now on an interrupt is an exception, which commands clean up after; other handlers stay."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
