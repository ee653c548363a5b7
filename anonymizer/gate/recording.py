"""The gate and the ledger of a table: it is asked before a release, and written before that gets its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anonymizer.errors import GateError
from anonymizer.gate.finding import Finding
from anonymizer.releases.composition import PrivacyLoss, loss_of
from anonymizer.releases.ledger import History, OpenLedger, SourceTable
from anonymizer.releases.manifest import Manifest
from anonymizer.releases.release import Release


@dataclass(frozen=True)
class Recording:
    """A release that is to be recorded.

    Attributes:
        ledger: that is held until the files have their names.
        source: what the release is made of.
        history: what was released of it before.
    """

    ledger: OpenLedger
    source: SourceTable
    history: History = field(repr=False)

    @classmethod
    def of(cls, ledger: OpenLedger, source: SourceTable) -> Recording:
        """With the history of the table."""
        return cls(ledger, source, ledger.history(source))

    def check(self, declared: PrivacyLoss | None) -> None:
        """Refuse by the parameters alone, before anything is drawn.

        Args:
            declared: what a specification says that it spends, or less; None if only a run tells.

        Raises:
            GateError: that is beyond what all releases of the table may spend.
        """
        why = "" if declared is None else self.history.beyond(declared)
        if why:
            raise GateError([_budget(why).to_json()])

    def findings(self, release: Release) -> Iterator[Finding]:
        """What is found of a release beside those before."""
        why = self.history.beyond(loss_of(release.guarantees))
        if why:
            yield _budget(why)

    def together(self, release: Release) -> dict[str, Any]:
        """What this release and those before come to, for the manifest; plain JSON values."""
        own = loss_of(release.guarantees)
        total = self.history.spent if own is None else self.history.with_another(own)
        return {
            "releases": len(self.history.counted) + 1,
            "without_epsilon": self.history.unbounded + (own is None),
            "epsilon": total.epsilon,
            "delta": total.delta,
            "neighbours": total.neighbours,
        }

    def record(self, manifest: Manifest, path: Path) -> None:
        """Write the release into the ledger.

        Args:
            manifest: with the digests of the files.
            path: where the main table will lie.

        Raises:
            LedgerError: it cannot be written.
        """
        self.ledger.record(self.source, manifest, path)


def _budget(why: str) -> Finding:
    return Finding(
        "budget",
        None,
        why,
        "Lower epsilon, or release nothing more. `duetto anonymize releases DATA --limit-epsilon` raises the "
        "limit, which is a decision about the people in the table.",
    )
