"""Whether audit log and ledger know of each other what they should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from parties.audit.files import AuditLog
from parties.audit.lines import DECIDED, ENTRIES
from parties.ledger.entries import DECISIONS, Entry


def missing_entries(found: AuditLog, entries: Sequence[Entry]) -> list[str]:
    """What the ledger has lost, by the entries that lines of the log say it had; a sentence.

    A ledger only grows. What a crash has left in the log alone was not counted yet.

    Args:
        found: the log.
        entries: all entries of the ledger.
    """
    counts = [(line.about.get(ENTRIES), line) for line in found.lines]
    most, line = max(
        ((count, line) for count, line in counts if isinstance(count, int)),
        key=lambda one: one[0],
        default=(0, None),
    )
    if line is None or len(entries) >= most:
        return []
    left = len(entries)
    return [
        f"The ledger has {left} entries, and had {most} at {line.time}, by line {line.number} of the log."
    ]


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
