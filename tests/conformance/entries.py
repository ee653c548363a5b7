"""For every kind of message, what a side has to do with one that was changed.

Whatever comes, it ends with an error of duetto's own kinds or goes on; it never crashes, hangs or ends with
another error. A message that is sent twice is always refused. What a change of its contents may do is said
here, of each kind, with the reason. A kind that is new needs an entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Demand(Enum):
    """What has to become of the receiver of a changed message."""

    REFUSED = "refused"
    """It ends with an error, whatever was changed."""

    CHECKED = "checked"
    """The same before anything is opened, but for one bit: a side that guesses which secret bit it touches
    passes, once in two to sixteen times, and has then learned nothing but that."""

    HARMLESS = "harmless"
    """It ends with an error, or has what it has in an honest run."""

    UNPROTECTED = "unprotected"
    """It ends with an error, or has some result: the protocol's level is private or less, and results are
    another function of its data, which it has to expect of a peer that deviates."""


@dataclass(frozen=True)
class Entry:
    """What is demanded of the receivers of a kind of message.

    Attributes:
        demand: where a bit, a word or all was changed.
        reason: why it is that, for people.
    """

    demand: Demand
    reason: str


def _all(demand: Demand, reason: str, *kinds: str) -> dict[str, Entry]:
    return dict.fromkeys(kinds, Entry(demand, reason))


ENTRIES: Final = {
    **_all(
        Demand.REFUSED,
        "compared with what the receiver knows: a commitment, its own plan, its own half, a digest",
        "coin-commitment",
        "coins",
        "lane-count",
        "oprf-commitment",
        "oprf-opening",
        "plan-digest",
        "pool-state",
        "pool-taken",
        "silent-answer",
        "tree-digest",
        "vole-answer",
    ),
    **_all(
        Demand.REFUSED,
        "one byte or word of a stated range, or text of a stated form; another one refuses or ends the run",
        "agreement",
        "public-text",
        "row-counts",
    ),
    **_all(
        Demand.HARMLESS,
        "random names of pools: one that the receiver does not keep is no pool in common",
        "pool-names",
        "pool-offer",
    ),
    **_all(
        Demand.HARMLESS,
        "a proof holds or ends the session; a mask is for the next batch, and harmless where there is none",
        "transfer-mask",
        "transfer-proof",
    ),
    **_all(
        Demand.UNPROTECTED,
        "what the sender declares of its own columns, which is its own to say",
        "declarations",
        "revealed",
    ),
    **_all(
        Demand.UNPROTECTED,
        "shares: another one stands for another number",
        "opened-bits",
        "opened-shares",
        "order-bits",
        "plain-to-shared",
        "shared-to-plain",
    ),
    **_all(
        Demand.CHECKED,
        "trees and matrices of transfers, whose columns have to be consistent",
        "level-sums",
        "silent-refill",
        "transfer-choice-columns",
        "transfer-columns",
        "vole-rows",
        "vole-sums",
    ),
    **_all(
        Demand.UNPROTECTED,
        "keys of a check: other ones fail the sender's own",
        "silent-challenge",
        "vole-challenge",
    ),
    **_all(
        Demand.UNPROTECTED,
        "base transfers: other keys than the receiver can have",
        "base-answer",
        "base-key-offer",
        "base-offer",
    ),
    **_all(
        Demand.UNPROTECTED,
        "choices and offers of transfers, which are the sender's to choose",
        "silent-choices",
        "transfer-flips",
    ),
    **_all(
        Demand.HARMLESS,
        "says no more than that it comes",
        "vole-ready",
    ),
    **_all(
        Demand.UNPROTECTED,
        "what transfers carry, under pads: other offers are another function of the choices",
        "carried-values",
        "correlated-corrections",
        "digit-offers",
        "digit-shifts",
        "expansion-key",
        "masked-tables",
        "masked-words",
        "overlap-corrections",
        "pair-offers",
        "seeded-corrections",
        "switch-corrections",
        "table-key",
        "transfer-corrections",
        "transfer-salt",
        "triple-openings",
        "vector-corrections",
    ),
    **_all(
        Demand.UNPROTECTED,
        "functions of keys and stores: other values are other keys",
        "intersection-masks",
        "intersection-matches",
        "oprf-request",
        "oprf-store",
        "store-piece",
        "store-seed",
    ),
    **_all(
        Demand.UNPROTECTED,
        "lattice ciphertexts: they stand for other numbers, and the answer does not depend on them",
        "lattice-columns",
        "lattice-query",
        "lattice-seed",
        "lattice-zeros",
        "slot-query",
        "slot-zeros",
    ),
    **_all(
        Demand.UNPROTECTED,
        "answers to lattice ciphertexts: another one is another share",
        "lattice-inner",
        "lattice-response",
        "slot-response",
    ),
    **_all(
        Demand.UNPROTECTED,
        "ciphertexts and points: any other of the group stands for another number",
        "bit-to-encrypted",
        "bunn-ostrovsky-bits",
        "bunn-ostrovsky-crossing",
        "bunn-ostrovsky-equalities",
        "bunn-ostrovsky-products",
        "bunn-ostrovsky-state",
        "dgk-bits",
        "dgk-blinded",
        "encrypted-masked",
        "encrypted-quotients",
        "encrypted-to-encrypted",
        "encrypted-to-plain",
        "encrypted-to-shared",
        "gentry-answers",
        "gentry-bits",
        "gentry-masked",
        "packed-masked",
        "packed-to-shared",
        "plain-to-encrypted",
        "public-numbers",
        "public-point",
        "shared-to-encrypted",
        "tree-points",
        "tree-tests",
        "veugen-bits",
        "veugen-tests",
    ),
}

_COMMIT = "tests/parties/ledger/test_commit.py"
_FLIPPED = "test_a_flipped_bit_in_any_part_of_the_messages_is_refused"
_COVERT = "tests/parties/evidence/test_covert_jobs.py"
_BENT = "test_a_changed_statement_about_the_record_ends_the_run"
ELSEWHERE: Final = {
    **dict.fromkeys(("ledger-announced", "ledger-written"), (_COMMIT, _FLIPPED)),
    **dict.fromkeys(("evidence-recorded", "evidence-closed"), (_COVERT, _BENT)),
}
"""Kinds that no run without homes sends, and the file and the test that change them."""
