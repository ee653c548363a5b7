"""Whether audit log and ledger know of each other what they should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from commons.logs.witnesses import Witness, contradictions, find_contradicted
from parties.audit.files import AuditLog
from parties.audit.lines import DECIDED, ENTRIES, GAP, LINE, AuditLine
from parties.ledger.entries import DECISIONS, LOG_HEAD, Entry


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
        f"The ledger has {left} entries, and had {most} at {line.time}, by line {line.sequence} of the log."
    ]


def lost_decisions(found: AuditLog, entries: Sequence[Entry]) -> list[Entry]:
    """Decisions of the ledger that the log lacks, made since the log begins or its last gap was recorded.

    The first line of a log says how many entries the ledger had, and so does one about a gap. Where older
    files were moved away, decisions are held against the log from the second after its first line on.

    Args:
        found: the log.
        entries: all entries of the ledger.
    """
    decisions = [entry for entry in entries if entry.event in DECISIONS]
    if not found.lines:
        return decisions
    names = ("decision", "digest", "actor", "rule")
    gap = next((place for place, line in reversed([*enumerate(found.lines)]) if line.event == GAP), 0)
    said = Counter(
        tuple(str(line.about.get(name, "")) for name in names)
        for line in found.lines[gap:]
        if line.event == DECIDED
    )
    first, lost = found.lines[gap], []
    known = first.about.get(ENTRIES if first.event == GAP else "ledger")
    for entry in decisions:
        if entry.sequence >= known if isinstance(known, int) else entry.time > first.time:
            key = (entry.event, entry.job, entry.actor, entry.rule)
            if not said[key]:
                lost.append(entry)
            said[key] -= 1
    return lost


def missing_decisions(found: AuditLog, entries: Sequence[Entry]) -> list[str]:
    """What `lost_decisions` finds; a sentence for each, or one for a log that is empty."""
    lost = lost_decisions(found, entries)
    if lost and not found.lines:
        return [f"The log is empty, and the ledger has {len(lost)} decisions."]
    return [
        f"Entry {entry.sequence} of the ledger, {entry.event} at {entry.time}, is not in the log."
        for entry in lost
    ]


def log_witnesses(entries: Sequence[Entry]) -> list[Witness]:
    """What the ledger says of lines that the log had."""
    return [
        Witness((entry.log_line, entry.log_hash), entry.time, f"entry {entry.sequence} of the ledger")
        for entry in entries
        if entry.event == LOG_HEAD
    ]


def lost_lines(found: AuditLog, witnesses: Sequence[Witness]) -> list[Witness]:
    """Whose lines the log lacks or has otherwise, but for those before the last gap that is recorded."""
    return find_contradicted(found.lines, _since_gap(found, witnesses))


def missing_lines(found: AuditLog, witnesses: Sequence[Witness]) -> list[str]:
    """What `lost_lines` finds, in sentences; and whether the newest line that is witnessed is not here."""
    return contradictions(found.lines, _since_gap(found, witnesses), "Line", "audit log")


def _since_gap(found: AuditLog, witnesses: Sequence[Witness]) -> list[Witness]:
    known = max((line.time for line in found.lines if line.event == GAP), default="")
    return [one for one in witnesses if one.time > known]


def known_gaps(found: AuditLog) -> list[str]:
    """The gaps of a log that somebody has recorded in it; a sentence for each."""
    return [
        f"{_name_loss(line)} not in the log, as {line.about.get('actor')} (account {line.about.get('uid')}) "
        f"recorded at {line.time} in line {line.sequence}."
        for line in found.lines
        if line.event == GAP
    ]


def _name_loss(gap: AuditLine) -> str:
    """What is lost, up to the verb."""
    about = gap.about
    decisions = (
        f"{about.get('lost')} decisions of the ledger, from its entry {about.get('first')} to "
        f"{about.get('last')},"
    )
    if LINE not in about:
        return f"{decisions} are"
    line = f"Lines up to {about[LINE]}, as it was witnessed,"
    return f"{line} and {decisions} are" if about.get("lost") else f"{line} are"
