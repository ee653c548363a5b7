"""What both sides declare of the columns: checked before a job, and agreed on at its start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.records.fixed_point import DeclaredRange
from smc.analyses.records.key_parameters import check_keys
from smc.analyses.studies.columns import Schema
from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.protocols.exchange import bounds
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session

_COMPARED: Final = ("kind", "scale", "lower", "upper", "unit")


def check_sides(
    parameters: ClusteringParameters, alice: Mapping[str, Schema], bob: Mapping[str, Schema]
) -> dict[str, DeclaredRange]:
    """The declarations of all columns.

    Raises:
        UsageError: a column is missing, is not a bounded number or a key, or is
            declared differently by both.
        DomainError: bounds are too wide.
    """
    declared: dict[str, DeclaredRange] = {}
    for role, schemas in zip(Role, (alice, bob), strict=True):
        for name in parameters.columns(role):
            if name not in schemas:
                raise UsageError(
                    f"{role.value.capitalize()} has no column {name!r}.", "Add it to that side of the job."
                )
        declared |= {name: DeclaredRange.of(name, schemas[name]) for name in parameters.values(role)}
        if parameters.match is not None:
            check_keys(parameters.match, schemas, role)
    if parameters.layout is not Layout.VERTICAL:
        for name in parameters.names:
            for what in _COMPARED:
                if getattr(alice[name], what) != getattr(bob[name], what):
                    raise UsageError(
                        f"Alice and Bob declare {what} of column {name!r} differently.",
                        "Declare the columns alike.",
                    )
    return declared


def agree(
    session: Session, parameters: ClusteringParameters, own: Mapping[str, DeclaredRange], rows: int
) -> tuple[tuple[int, int], dict[str, DeclaredRange]]:
    """Tell the local rows, in a vertical layout the local declarations too, and learn the peer's.

    Args:
        session: this side of the run.
        parameters: of the job.
        own: the local columns.
        rows: the local rows.

    Returns:
        Alice's and Bob's rows, and the declarations of all columns.

    Raises:
        ProtocolViolation: the peer's declarations cannot be.
    """
    (peer,) = exchange_counts(session, [rows])
    declared = dict(own)
    if parameters.layout is Layout.VERTICAL:
        theirs = parameters.values(session.role.other)
        local = [
            bounds.Declared(own[name].lower, own[name].upper, own[name].scale)
            for name in parameters.values(session.role)
        ]
        heard = bounds.exchange_declarations(session, local, len(theirs))
        for name, each in zip(theirs, heard, strict=True):
            declared[name] = DeclaredRange(each.scale, each.lower, each.upper)
            if not declared[name].plausible:
                raise ProtocolViolation("The peer's declaration of a column is impossible.")
    return (rows, peer) if session.role is Role.ALICE else (peer, rows), declared
