"""Where the program `duetto` begins: an interrupt ends it quietly also while its modules are imported."""

from __future__ import annotations

import signal

from parties.cli.interrupts import leave


def main() -> None:
    """Run the command, see `parties.cli.main`, and end the process."""
    signal.signal(signal.SIGINT, leave)
    from parties.cli.main import main as run

    run()
