"""What several persons put into force together: persons.toml and policy.toml, where a rule asks for several.

A rule with `approval = { role, count }` would protect against one person no more than that person's file of
persons or policy does. So each next version of both needs the signatures of as many stewards as the greatest
count of the policy in force. That count is part of what is signed of a policy: whoever writes into the ledger
cannot change it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from commons.settings.toml import parse
from parties.errors import ConfigError
from parties.persons.declaration import digest_of
from parties.persons.roles import MAX_COUNT, Act

SHARED: Final = (Act.PERSONS, Act.POLICY)
"""The acts that need so many signatures."""

_DIGITS: Final = 64
_DIGEST: Final = re.compile(r"[0-9a-f]{64}([0-9a-f]{2})?", re.ASCII)


def greatest_count(policy: bytes) -> int:
    """The greatest number of persons whose approvals a rule asks for; 1 for a text that allows nothing."""
    try:
        found = parse(policy.decode("utf-8").removeprefix("\ufeff"), "policy", ConfigError).get("rules")
    except (UnicodeDecodeError, ConfigError):
        return 1
    rules = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
    asked = (rule.get("approval") for rule in rules)
    counts = (one.get("count") for one in asked if isinstance(one, Mapping))
    return max((count for count in counts if type(count) is int and 1 <= count <= MAX_COUNT), default=1)


def policy_digest(policy: bytes) -> str:
    """What is signed of a policy, hexadecimal: its digest, and behind it the count where that is above 1."""
    count = greatest_count(policy)
    return digest_of(policy).hex() + (f"{count:02x}" if count > 1 else "")


def read_count(digest: str) -> int:
    """The count in what `policy_digest` makes.

    Raises:
        ValueError: it does not make this.
    """
    if not _DIGEST.fullmatch(digest):
        raise ValueError("not a digest of a policy")
    count = int(digest[_DIGITS:] or "1", 16)
    if not 1 <= count <= MAX_COUNT or digest[_DIGITS:] == "01":
        raise ValueError("not a count")
    return count
