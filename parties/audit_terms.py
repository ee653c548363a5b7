"""How the runs of a covert job are audited, as jobs and policies agree on it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

COVERT: Final = "covert"
"""The level of a job whose runs can be audited; see docs/covert.md."""


@dataclass(frozen=True, slots=True)
class AuditTerms:
    """How the runs of a covert job are audited.

    Attributes:
        auditor: the auditor's name.
        key: fingerprint of the auditor's keys, 64 hexadecimal digits.
        rate: the probability with which a run is audited that both sides brought to its end.
    """

    auditor: str
    key: str
    rate: Fraction

    def document(self) -> dict[str, str]:
        """As in a job file."""
        return {"auditor": self.auditor, "key": self.key, "rate": str(self.rate)}
