"""The local ledger held against what the peers have signed of it; offline, without daemon or network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parties.ledger.entries import Entry, LedgerError, require, unpack
from parties.ledger.export import Countersignatures, Keys
from parties.ledger.heads import Statement

_KEY = "If it was paired anew, give its earlier key with --peer-key."


def problems(
    party: str,
    entries: Sequence[Entry],
    signed: Countersignatures,
    said: Mapping[str, Statement],
    keys: Keys,
) -> list[str]:
    """What is wrong with a ledger whose chain is whole.

    Args:
        party: whose ledger it is.
        entries: all entries.
        signed: what the peers have signed of single jobs.
        said: the peers' newest words about both ledgers, see `parties.ledger.heads`.
        keys: the peers' signing keys.
    """
    found = []
    foreign = [entry.sequence for entry in entries if entry.peer == party]
    if foreign:
        found.append(
            f"Entry {foreign[0]} names {party!r} as the other party: this is the ledger of somebody else. "
            "Bring back the newest copy of the local one."
        )
    for peer, word in sorted(said.items()):
        if not any(word.is_by(peer, party, key) for key in keys.get(peer, ())):
            found.append(f"What heads.json keeps as the word of {peer!r} is not signed with its key. {_KEY}")
        elif any(word.seen):
            try:
                require(entries, *unpack(word.seen))
            except LedgerError as error:
                found.append(f"By the signed word of {peer!r}: {error.what} {error.hint}")
    if signed.invalid:
        found.append(
            f"Entry {signed.invalid[0]} is not signed with the key that is known of "
            f"{entries[signed.invalid[0]].peer!r}, or is about entries that are missing. {_KEY}"
        )
    return found
