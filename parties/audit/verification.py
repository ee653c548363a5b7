"""Whether the audit log has what the ledger knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from parties.audit.files import AuditLog
from parties.audit.lines import DECIDED
from parties.ledger.entries import DECISIONS, Entry


def missing_decisions(found: AuditLog, entries: Sequence[Entry]) -> list[str]:
    """Decisions of the ledger, made since the log begins, that the log lacks; a sentence for each.

    The first line of a log says how many entries the ledger had. Where older files were moved away, decisions
    are held against the log from the second after its first line on.

    Args:
        found: the log.
        entries: all entries of the ledger.
    """
    decisions = [entry for entry in entries if entry.event in DECISIONS]
    if not found.lines:
        return [f"The log is empty, and the ledger has {len(decisions)} decisions."] if decisions else []
    names = ("decision", "digest", "actor", "rule")
    said = Counter(
        tuple(str(line.about.get(name, "")) for name in names)
        for line in found.lines
        if line.event == DECIDED
    )
    first, wrong = found.lines[0], []
    for entry in decisions:
        known = first.about.get("ledger")
        if entry.sequence >= known if isinstance(known, int) else entry.time > first.time:
            key = (entry.event, entry.job, entry.actor, entry.rule)
            if not said[key]:
                wrong.append(
                    f"Entry {entry.sequence} of the ledger, {entry.event} at {entry.time}, is not in the log."
                )
            said[key] -= 1
    return wrong
