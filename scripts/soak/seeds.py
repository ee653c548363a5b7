"""The seed of a soak: another one in each run, printed, so that what failed can be drawn again."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser

RANDOM = "random"


def add_seed(parser: ArgumentParser) -> None:
    """Add the option `--seed`."""
    parser.add_argument("--seed", default=RANDOM, help="Draw as a run did that printed this seed.")


def chosen(seed: str) -> str:
    """The seed that was given, or a new one; prints it on standard error."""
    taken = os.urandom(4).hex() if seed == RANDOM else seed
    print(f"seed: {taken}", file=sys.stderr, flush=True)
    return taken
