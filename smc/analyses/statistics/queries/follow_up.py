"""What a query asks about survival: when an event comes to rows that are followed for some time.

[[queries]]
kind = "survival"
time = "days"                         # how long a row was followed, at least 0
event = "outcome"                     # how it ended: a category, or a whole number of 0 and 1
events = ["died"]                     # of a category the labels that are the event
competing = ["moved"]                 # optional: labels after which it cannot come; others end the follow-up
by = "arm"                            # optional: a category column, or two of them, whose groups are compared
strata = ["stage"]                    # optional, of the test: groups are compared within each label
every = 30                            # curves are shown at 30, 60, ...
until = 1800                          # ... up to here
step = 10                             # optional: times count as the end of their step
test = "log-rank"                     # optional: are the groups' survivals equal?
restricted_mean = 1080                # optional: the mean time until the event, of the first 1080
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Annotated, Any, Final

from commons.settings.bounds import OneOf
from commons.settings.marks import Length, Read, Single, UnfitError
from smc.analyses.records.numbers import NUMBER, positive
from smc.analyses.studies.parameters import Name, read_parameters

KIND: Final = "survival"
LOG_RANK: Final = "log-rank"
MAX_POINTS: Final = 1000
"""Points of a curve."""

MAX_GROUP_COLUMNS: Final = 2
"""Columns that make groups, and that make strata."""

Positive = Annotated[Fraction, Read(positive, NUMBER)]
Labels = Annotated[tuple[Name, ...], Length(maximum=100)]
Columns = Annotated[tuple[Name, ...], Single(), Length(maximum=MAX_GROUP_COLUMNS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """What a query asks.

    Attributes:
        time: the column that says how long a row was followed.
        event: the column that says how that ended.
        events: labels of it that are the event; none where it is a column of 0 and 1.
        competing: labels after which the event cannot come any more. All other labels, and 0, say that the
            row was followed until its time and no longer.
        by: the category columns whose groups are compared; none for all rows together.
        strata: the category columns within whose labels the groups are compared.
        every: how far the points are apart at which curves are shown, in the real unit of the times.
        until: the last of them; what comes later counts as followed until then.
        step: times count as the end of their step, which divides `every`; None if not stated.
        test: how the groups are compared; empty where they are not.
        restricted_mean: up to when the time is averaged, at one of the points; None where it is not asked.
    """

    time: Name
    event: Name
    events: Labels = ()
    competing: Labels = ()
    by: Columns = ()
    strata: Columns = ()
    every: Positive
    until: Positive
    step: Annotated[Fraction | None, Read(positive, NUMBER)] = None
    test: Annotated[str, OneOf((LOG_RANK,))] = ""
    restricted_mean: Annotated[Fraction | None, Read(positive, NUMBER)] = None

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise UnfitError("time", "and the other columns are not all different", "Name each once.")
        if set(self.events) & set(self.competing):
            raise UnfitError("competing", "names a label of events", "Name each label once.")
        if self.competing and not self.events:
            raise UnfitError(
                "competing", "stands without events", "Name the labels that are the event in events."
            )
        points = self.until / self.every
        if points.denominator != 1 or points > MAX_POINTS:
            raise UnfitError(
                "until",
                f"is not a multiple of every, or above {MAX_POINTS} times it",
                "Write, for example, every = 30 and until = 1800.",
            )
        if self.step is not None and (self.every / self.step).denominator != 1:
            raise UnfitError("step", "does not divide every", "Write, for example, step = 10, every = 30.")
        mean = self.restricted_mean
        if mean is not None and (mean > self.until or (mean / self.every).denominator != 1):
            raise UnfitError(
                "restricted_mean", "is not one of the points of the curve", "Write a multiple of every."
            )
        if self.test and not self.by:
            raise UnfitError("test", "has no groups to compare", 'Write by = "...".')
        if self.strata and not self.test:
            raise UnfitError(
                "strata", "are for the test alone", 'Write test = "log-rank", or name the columns in by.'
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """Times, events, groups, strata."""
        return (self.time, self.event, *self.by, *self.strata)


def follow_up_keys() -> frozenset[str]:
    """The keys of such a query beside those of all."""
    return frozenset(field.name for field in fields(FollowUp))


def parse_follow_up(table: Mapping[str, Any], place: str) -> FollowUp:
    """Read a query whose keys have been checked.

    Raises:
        UsageError: a value is impossible; names the place.
    """
    return read_parameters(FollowUp, {key: table[key] for key in follow_up_keys() & table.keys()}, place)
