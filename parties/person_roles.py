"""The roles of persons; what each may do is in `parties.persons.roles`."""

from __future__ import annotations

from enum import Enum


class PersonRole(Enum):
    """What a person is trusted with at home."""

    VIEWER = "viewer"
    ANALYST = "analyst"
    STEWARD = "steward"
    OPERATOR = "operator"
    AUDITOR = "auditor"
