"""The three attacks as measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation, percent
from anonymizer.risk.attacks.inference import inference
from anonymizer.risk.attacks.linkability import linkability
from anonymizer.risk.attacks.outcome import Attack, Rate
from anonymizer.risk.attacks.singling_out import singling_out

_ATTEMPTS = 2000
_NO_CONTROL = (
    "The attacks ran without a control group: what is common knowledge counts as a leak. Give rows that were "
    "not released as control."
)


def story_of(attacks: Iterable[Attack], text: str, values: Mapping[str, Any]) -> Presentation:
    """How outcomes of attacks are reported.

    Args:
        attacks: at least one.
        text: what the attack is.
        values: for machines; of one attack `outcome`.
    """
    found = list(attacks)
    cautions = [
        f"The attack {one.name} {one.objection}, and so says nothing of the release: this is not a proof of "
        "safety."
        for one in found
        if not one.conclusive
    ]
    if any(one.control is None for one in found):
        cautions.append(_NO_CONTROL)
    return Presentation(
        values=values,
        lines=[(one.name, _line(one)) for one in found],
        cautions=cautions,
        text=text,
        grids=[
            Grid(
                "Risk: what succeeds beyond the control group, of people who are not in the release; "
                "the interval says how sure that is. An inconclusive attack says nothing about the release.",
                ("Attack", "Risk", "Interval", "Succeeded", "Control group", "Guessing"),
                [
                    (
                        one.name + ("" if one.conclusive else " (inconclusive)"),
                        percent(one.risk),
                        f"{percent(one.interval[0])} – {percent(one.interval[1])}",
                        percent(one.main.value),
                        percent(one.control.value if one.control else None),
                        percent(one.naive.value),
                    )
                    for one in found
                ],
            )
        ],
    )


def outcome(one: Attack) -> dict[str, Any]:
    """An outcome for machines."""
    return {
        "name": one.name,
        "risk": one.risk,
        "interval": list(one.interval),
        "level": one.level,
        "main": _rate(one.main),
        "control": one.control and _rate(one.control),
        "naive": _rate(one.naive),
        "conclusive": one.conclusive,
        "objection": one.objection,
    }


def _rate(rate: Rate) -> Mapping[str, float]:
    return {"rate": rate.value, "successes": rate.successes, "attempts": rate.attempts}


def _line(one: Attack) -> str:
    low, high = one.interval
    end = "" if one.conclusive else f"; inconclusive, it {one.objection}"
    return f"{one.risk:.2%}, from {low:.2%} to {high:.2%}{end}"


class SinglingOut(Measure[Attack]):
    """Is there a description, read off the release, that fits exactly one person?"""

    name = "singling-out"
    title = "Singling out"
    kind = "attack"
    counts_rows = True
    passes = 60.0  # columns are sorted, and attempts thinned out
    fixed_cost = 1e5 * _ATTEMPTS

    @override
    def measure(self, case: Case) -> Attack:
        original, control = case.groups
        return singling_out(original, case.release, control, random_state=case.seed)

    @override
    def describe(self, found: Attack) -> Presentation:
        """One outcome."""
        text = "Is there a description, read off the release, that fits exactly one person?"
        return story_of([found], text, outcome(found))


class Linkability(Measure[Attack]):
    """Does the release tell which two halves of what is known belong to one person?"""

    name = "linkability"
    title = "Linkability"
    kind = "attack"
    counts_rows = True
    needs = (Need.PAIR,)
    passes = 3.0 * _ATTEMPTS  # every attempt against every row, three times

    @override
    def measure(self, case: Case) -> Attack:
        original, control = case.groups
        return linkability(original, case.release, control, random_state=case.seed)

    @override
    def describe(self, found: Attack) -> Presentation:
        """One outcome."""
        text = "Does the release tell which two halves of what is known belong to one person?"
        return story_of([found], text, outcome(found))


class Inference(Measure[Mapping[str, Attack]]):
    """Does the release tell what the attacker does not know of a target?"""

    name = "inference"
    title = "Attribute inference"
    kind = "attack"
    counts_rows = True
    needs = (Need.SENSITIVE, Need.PAIR)
    passes = 2.0 * _ATTEMPTS  # every attempt against every row, in both groups

    @override
    def measure(self, case: Case) -> Mapping[str, Attack]:
        """As `inference`, of each sensitive column."""
        original, control = case.groups
        return {
            column: inference(original, case.release, control, secret=column, random_state=case.seed)
            for column in case.release.roles.sensitive
            if column in original.names
        }

    @override
    def describe(self, found: Mapping[str, Attack]) -> Presentation:
        """An outcome for each column."""
        text = "Does the release tell what the attacker does not know of a target?"
        values = {column: outcome(one) for column, one in found.items()}
        return story_of(found.values(), text, values)
