"""Who may do what: the one table of roles and acts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Final

from commons.settings.bounds import Between
from commons.settings.marks import UnfitError
from parties.person_roles import PersonRole


class Act(Enum):
    """What a person signs. The words stand in signatures and in ledgers, and never change."""

    SUBMIT = "submit"
    APPROVE = "approve"
    DENY = "deny"
    CANCEL = "cancel"
    FORGET = "forget"
    PRUNE = "prune"
    POLICY = "policy"
    PIN = "pin"
    POOLS = "pools"
    PERSONS = "persons"
    OPEN = "open"


_STEWARD: Final = frozenset({PersonRole.STEWARD})
_MAINTAINERS: Final = frozenset({PersonRole.STEWARD, PersonRole.OPERATOR})

ALLOWED: Final[Mapping[Act, frozenset[PersonRole]]] = {
    Act.SUBMIT: frozenset({PersonRole.ANALYST, PersonRole.STEWARD}),
    Act.APPROVE: _MAINTAINERS,
    Act.DENY: _STEWARD,
    Act.CANCEL: frozenset({PersonRole.ANALYST, PersonRole.STEWARD, PersonRole.OPERATOR}),
    Act.FORGET: _STEWARD,
    Act.PRUNE: _MAINTAINERS,
    Act.POLICY: _STEWARD,
    Act.PIN: _MAINTAINERS,
    Act.POOLS: _MAINTAINERS,
    Act.PERSONS: _MAINTAINERS,
    Act.OPEN: _MAINTAINERS,
}
"""The roles of which one lets a person do an act. For `APPROVE` the rule that allows the job names one of
them."""

CATALOG: Final = _MAINTAINERS
"""Who may change the catalog on pages; it is not signed."""

MEANING: Final[Mapping[Act, str]] = {
    Act.SUBMIT: "submit a job",
    Act.APPROVE: "approve a job",
    Act.DENY: "deny a job",
    Act.CANCEL: "cancel a job",
    Act.FORGET: "delete the result of a job",
    Act.PRUNE: "delete old results",
    Act.POLICY: "put policy.toml into force, budgets included",
    Act.PIN: "trust the keys of a peer",
    Act.POOLS: "let pools be filled in idle time",
    Act.PERSONS: "put persons.toml into force",
    Act.OPEN: "open a peer that a failed check has closed",
}
"""The acts in words, after `may`."""

VERBS: Final[Mapping[str, Act | None]] = {
    "Submit": Act.SUBMIT,
    "Check": None,
    "Estimate": None,
    "List": None,
    "Show": None,
    "Watch": None,
    "Result": None,
    "Certificate": None,
    "Cancel": Act.CANCEL,
    "Approve": Act.APPROVE,
    "Deny": Act.DENY,
    "Forget": Act.FORGET,
    "Prune": Act.PRUNE,
    "Status": None,
    "Reload": None,
    "OpenPeer": Act.OPEN,
    "Drain": None,
}
"""The verbs of the control service and the act that each takes; None for those that only read, which whoever
reaches the socket may call: the account that reaches it can read the files as well. `Reload` reads files of
which each has to be signed by itself, and `Drain` ends the daemon, which the account can do by a signal."""


SOCKETS: Final[Mapping[str, frozenset[PersonRole]]] = {
    **{verb: ALLOWED[act] for verb, act in VERBS.items() if act is not None},
    **dict.fromkeys(("List", "Show", "Watch", "Status", "Certificate"), frozenset(PersonRole)),
    "Result": frozenset({PersonRole.VIEWER, PersonRole.ANALYST, PersonRole.STEWARD}),
    **dict.fromkeys(("Check", "Estimate"), ALLOWED[Act.SUBMIT] | ALLOWED[Act.APPROVE]),
    **dict.fromkeys(("Reload", "Drain"), _MAINTAINERS),
}
"""The verbs of the control service that the socket of each role takes. What has to be signed is signed
besides. An operator's approvals are taken only where it is, since a rule asks for operators only there."""

MAX_COUNT: Final = 20
"""The most persons whose approvals a rule may ask for."""


@dataclass(frozen=True, slots=True)
class Needed:
    """Approvals that a rule of the policy asks for.

    Attributes:
        role: of those who approve, in persons.toml.
        count: how many different persons.
    """

    role: PersonRole = PersonRole.STEWARD
    count: Annotated[int, Between(1, MAX_COUNT)] = 1

    def __post_init__(self) -> None:
        if self.role not in ALLOWED[Act.APPROVE]:
            raise UnfitError(
                "role",
                f"is {self.role.value!r}, and such persons approve no jobs",
                f"Write the role of a {holders(Act.APPROVE)}.",
            )


def holders(act: Act) -> str:
    """The roles that may do an act, for people."""
    return " or ".join(role.value for role in PersonRole if role in ALLOWED[act])
