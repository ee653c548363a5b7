"""How the runs of a covert job are audited, as jobs and policies agree on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

COVERT: Final = "covert"
"""The level of a job whose runs can be audited; see docs/covert.md."""

AUDITED: Final = "the columns of the party that it audits"
"""What an auditor sees, for those who are neither party."""


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

    def words(self, whose: str = "your columns of this job") -> str:
        """The level for people, in two sentences.

        Args:
            whose: what the auditor sees of the party that reads this.
        """
        rate = self.rate
        some = f"{rate.numerator} in {rate.denominator:,} runs are, and each that breaks off"
        return (
            f"Covert: this run can be audited by {self.auditor}; {'every run is' if rate == 1 else some}. "
            f"The auditor then sees {whose}."
        )

    @classmethod
    def of(cls, document: Mapping[str, str]) -> AuditTerms:
        """Those of a contract that is known to be well-formed, as of `document`."""
        return cls(document["auditor"], document["key"], Fraction(document["rate"]))

    def document(self) -> dict[str, str]:
        """As in a job file."""
        return {"auditor": self.auditor, "key": self.key, "rate": str(self.rate)}
