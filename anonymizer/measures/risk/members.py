"""Whether a release tells who it was made of: against a hold-out of records that it was not made of."""

from __future__ import annotations

from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.measures.contract.measure import Need
from anonymizer.measures.contract.story import Presentation, Tile, number, percent
from anonymizer.measures.risk.distances import searching
from anonymizer.measures.risk.points import OfPoints, Points
from anonymizer.risk.distance.closest_record import (
    FALSE_ALARM,
    ClosestRecord,
    Membership,
    closest_record,
    membership,
)
from anonymizer.risk.distance.space import Float


class ClosestRecordMeasure(OfPoints[ClosestRecord]):
    """Are released rows nearer to the original than to rows held out?"""

    name = "closest-record"
    title = "Distance to the closest record"
    kind = "risk"
    needs = (Need.CONTROL,)

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Nearest neighbours against two tables."""
        return 2 * searching(rows, columns)

    @override
    def between(self, placed: Points, seed: int | None) -> ClosestRecord:
        return closest_record(placed.original, placed.release, _control(placed), seed)

    @override
    def describe_distance(self, one: ClosestRecord) -> Presentation:
        """The part that is nearer to the original, with its interval; 1/2 is the control."""
        low, high = one.interval()
        return Presentation(
            values={
                "closer": one.closer.value,
                "interval": [low, high],
                "control": 0.5,
                "rows": one.closer.attempts,
                "fifth_percentile": one.fifth,
                "fifth_percentile_held_out": one.fifth_held_out,
            },
            lines=[
                ("closest record", f"{one.closer.value:.2%} nearer to the original, {low:.2%} to {high:.2%}")
            ],
            cautions=[
                f"Released rows lie nearer to the original than to rows held out ({one.closer.value:.1%}; "
                "one half is chance): the release holds something of single records."
            ]
            if low > 0.5
            else [],
            text="Of each released row it is asked whether the nearest record is one that the release was "
            "made of, or one of as many held out. One half is what a release gives that knows nothing of "
            "single records.",
            facts=[
                ("Nearer to the original", f"{percent(one.closer.value)}, 95 % interval {percent(low)} – "
                 f"{percent(high)}; 50 % is chance"),
                ("5th percentile of the distances to the original", number(one.fifth)),
                ("... to the rows held out", number(one.fifth_held_out)),
            ],
        )  # fmt: skip


class MembershipMeasure(OfPoints[Membership]):
    """Does the distance to the nearest released row tell who is in the original?"""

    name = "membership"
    title = "Membership inference"
    kind = "risk"
    needs = (Need.CONTROL,)

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Nearest neighbours against two tables."""
        return 2 * searching(rows, columns)

    @override
    def between(self, placed: Points, seed: int | None) -> Membership:
        return membership(placed.original, placed.release, _control(placed))

    @override
    def describe_distance(self, one: Membership) -> Presentation:
        """The area under the curve with its interval, and the hits at a low false alarm."""
        low, high = one.interval
        hit_low, hit_high = one.hits.interval(0.95)
        return Presentation(
            values={
                "area": one.area,
                "interval": [low, high],
                "control": 0.5,
                "advantage": one.advantage,
                "hits": one.hits.value,
                "hits_interval": [hit_low, hit_high],
                "false_alarm": FALSE_ALARM,
            },
            lines=[("membership", f"area {one.area:.4f}, {low:.4f} to {high:.4f}; 0.5 is guessing")],
            cautions=[
                f"Membership can be inferred: the area under the curve is {one.area:.3f}; guessing has 0.5."
            ]
            if low > 0.5
            else [],
            cards=[Tile(number(one.area), "membership inference: area under the curve, 0.5 is guessing")],
            text="An attacker has somebody's record and says that the person is in the original if a "
            "released row lies near. Control are rows held out, of people who are not in it.",
            facts=[
                ("Area under the ROC curve", f"{one.area:.4f}, 95 % interval {low:.4f} – {high:.4f}"),
                ("Members found at 1 % false alarms", f"{percent(one.hits.value)}, 95 % interval "
                 f"{percent(hit_low)} – {percent(hit_high)}; 1 % is guessing"),
                ("Largest advantage, threshold chosen afterwards", number(one.advantage)),
            ],
        )  # fmt: skip


def _control(placed: Points) -> Float:
    if placed.control is None:
        raise TableError("No records are held out.", "Give rows that the release was not made of.")
    return placed.control
