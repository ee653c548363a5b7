"""What a check of a party has found, and whether the party can run jobs by what was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

DAEMON: Final = "daemon"
"""The check whether the daemon runs and answers."""

DRAINING: Final = "draining"
"""The check that says that the daemon begins no job any more; there is none where it does."""


class Status(Enum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check.

    Attributes:
        subject: `self`, or the name of a peer.
        check: what was looked at.
        verdict: how it came out.
        what: what was found.
        hint: what to do about it; empty if all is well.
    """

    subject: str
    check: str
    verdict: Status
    what: str
    hint: str = ""

    def document(self) -> dict[str, str]:
        """As plain JSON values."""
        return {
            "subject": self.subject,
            "check": self.check,
            "verdict": self.verdict.value,
            "what": self.what,
            "hint": self.hint,
        }


def ill_of(findings: Iterable[Finding]) -> list[Finding]:
    """Those by which the party can run no job now.

    Besides what fails, that is a daemon that does not run or begins no job any more: no fault of the home, of
    which `duetto doctor` only warns.
    """
    return [
        found
        for found in findings
        if found.verdict is Status.FAIL
        or (found.check in (DAEMON, DRAINING) and found.verdict is not Status.OK)
    ]
