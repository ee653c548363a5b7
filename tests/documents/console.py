"""Blocks of a terminal in a page: the commands that are typed, and the outputs that are shown below them."""

from __future__ import annotations

import re
from dataclasses import dataclass

PROMPT = re.compile(r"^(\w*)\$ (.*)$")
ELLIPSIS = "..."


@dataclass(frozen=True)
class Typed:
    """A command of a block.

    Attributes:
        party: whose prompt it has; empty for none.
        line: the command.
        shown: the lines below it.
    """

    party: str
    line: str
    shown: tuple[str, ...]


def typed(text: str) -> list[Typed]:
    """The commands of a block: lines after a prompt, or all lines if it has none."""
    lines = text.replace("\\\n", " ").splitlines()
    if not any(map(PROMPT.match, lines)):
        return [Typed("", line, ()) for line in lines if line.strip() and not line.startswith("#")]
    found: list[Typed] = []
    for line in lines:
        if prompt := PROMPT.match(line):
            found.append(Typed(prompt[1], prompt[2], ()))
        else:
            found[-1] = Typed(found[-1].party, found[-1].line, (*found[-1].shown, line))
    return found


def is_shown(shown: tuple[str, ...], output: str) -> bool:
    """Whether a page shows this output: a line `...` stands for any lines, `...` in a line for anything."""
    pattern = ""
    for line in shown:
        if line == ELLIPSIS:
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split(ELLIPSIS)) + r" *\n"
    return re.fullmatch(pattern, output if output.endswith("\n") else output + "\n") is not None
