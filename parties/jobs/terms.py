"""What a job comes to for this party, in the words that a person decides by."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Any, Final

from parties.errors import BudgetError
from parties.jobs.checks.admission import Admission
from parties.jobs.checks.local_data import LocalData, count_persons
from parties.jobs.checks.task import Task
from parties.ledger.accounting import describe_loss, show_number
from parties.policy.verdict import Verdict
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.precision import PRECISION, SPLIT, is_vague
from smc.analyses.studies.study import Preview
from smc.forms import Role

_NEGLIGIBLE: Final = Fraction(1, 1 << 40)
"""A delta that comes from the drawing of noise alone."""

_UNSTATED: Final = ("before", "after", "total", "left", "delta")


def terms_document(
    admission: Admission, task: Task, local: LocalData, verdict: Verdict, preview: Preview
) -> dict[str, Any]:
    """What a person has to know of a job, as plain JSON values.

    Args:
        admission: the local checks.
        task: the job.
        local: the local data.
        verdict: of the local policy.
        preview: what the local rows tell of a run.

    Returns:
        `does`, what the programs do; `learns`, by role what that side learns, in short lines; `hides`, what
        nobody learns; `figures`, each with its `name`, the `query`, `term` and `group` that it is made of
        (None for what it has not), the `half_width` of its 95 % interval or None, its `unit`, and whether
        it is `vague`; `advice`, and `split`, by query the share of the loss that it advises; `persons`, how
        many local ones are in the rows; `loss` in words, empty without any; `budget` with epsilons as
        decimals, empty texts where none can be stated.
    """
    brief = task.study.brief(task.spec.recipients)
    loss = task.facts.loss
    rows = preview.details.get(PRECISION, ())
    figures = [_figure(row) for row in rows] or [_name_row(name) for name in brief.figures]
    return {
        "does": brief.does,
        "learns": {Role.ALICE.value: list(brief.alice), Role.BOB.value: list(brief.bob)},
        "hides": brief.hides,
        "figures": figures,
        "advice": list(preview.advice) or _advice(figures),
        "split": dict(preview.details.get(SPLIT, {})),
        "persons": count_persons(local.columns),
        "loss": describe_loss(_state(loss)) if loss else "",
        "budget": _budget(admission, task, verdict) if loss else dict.fromkeys(_UNSTATED, ""),
    }


def _state(loss: Loss) -> Loss:
    """A loss without the delta of the drawing of noise, of which contract and ledger speak."""
    return replace(loss, delta=Fraction(0)) if loss.delta <= _NEGLIGIBLE else loss


def _advice(figures: list[dict[str, Any]]) -> list[str]:
    if not any(figure["vague"] for figure in figures):
        return []
    return ["Such figures say almost nothing: ask for fewer of them, spend more epsilon, or use more rows."]


def _figure(row: dict[str, Any]) -> dict[str, Any]:
    place = {key: row[key] for key in ("query", "group", "term")}
    name = ", ".join(str(part) for part in place.values() if part is not None)
    width = {key: row[key] for key in ("half_width", "unit")}
    return {**place, "name": name, **width, "vague": is_vague(row)}


def _name_row(name: str) -> dict[str, Any]:
    place = {"query": name, "group": None, "term": None}
    return {**place, "name": name, "half_width": None, "unit": "", "vague": False}


def _budget(admission: Admission, task: Task, verdict: Verdict) -> dict[str, str]:
    """The losses on the job's people towards the peer before and after it, and what may be lost in all."""
    spent, delta = admission.spending(task), verdict.budget.delta
    try:
        before, after = spent.epsilon_at(delta), (spent + task.facts.loss).epsilon_at(delta)
    except BudgetError:
        return dict.fromkeys(_UNSTATED, "")
    total = verdict.budget.epsilon if verdict.allowed else None
    return {
        "before": show_number(before),
        "after": show_number(after),
        "total": "" if total is None else show_number(total),
        "left": "" if total is None else show_number(max(total - after, Fraction(0)), ROUND_FLOOR),
        "delta": show_number(delta),
    }
