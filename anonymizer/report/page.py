"""The pages about a release: the report, and the sheet for the person who signs."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup

from anonymizer.errors import SpecError
from anonymizer.measures.contract.story import Tile
from anonymizer.measures.registry import MEASURES
from anonymizer.measures.risk.classes import Classes
from anonymizer.measures.risk.persons import Prosecutor
from anonymizer.measures.risk.simulator import AttackSimulator
from anonymizer.measures.utility.learning import LearningMeasure
from anonymizer.measures.utility.loss import InformationLoss
from anonymizer.measures.utility.marginals import Marginals
from anonymizer.methods.contract.method import Method
from anonymizer.methods.registry import METHODS
from anonymizer.report.assessment import Assessment, worst_records
from anonymizer.report.plots import marginal_plot, risk_plot
from anonymizer.report.rendering import Facts, render
from anonymizer.report.sheet import Sheet, sheet
from anonymizer.report.signing import Signing
from anonymizer.report.specification import MIN_ROWS
from anonymizer.utility.marginals import Marginal

_SHOWN: Final = 300
_HEADED: Final = (Classes.name, InformationLoss.name, LearningMeasure.name)
_PARTS: Final = {"risk": "Risk", "attack": "Attacks", "utility": "Utility and information loss"}


@dataclass(frozen=True, slots=True)
class ReleaseStory:
    """What the page of a release tells beside its figures.

    Attributes:
        title: of the page.
        original_name: how the original is called.
        release_name: how the release is called.
        facts: what was done.
        steps: of the specification, as written; empty if it is not known.
        cautions: sentences.
        methods: of other programs in the steps, by name.
        judgment: sentences, computed of what was measured.
        columns: names of columns by what becomes of them.
        promised: guarantees as sentences.
        signing: who made it, when and what for; None if nobody is to sign.
    """

    title: str
    original_name: str
    release_name: str
    facts: Facts
    steps: Sequence[Mapping[str, Any]]
    cautions: Sequence[str]
    methods: Mapping[str, type[Method]] = field(default_factory=dict)
    judgment: Sequence[str] = ()
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    promised: Sequence[str] = ()
    signing: Signing | None = None


def release_page(story: ReleaseStory, assessment: Assessment) -> str:
    """The report on a release, as HTML."""
    parts = worst_records(assessment)
    simulated = assessment.of(AttackSimulator) is not None
    counted = "original records" if simulated else "released rows"
    return render(
        "release.html",
        sheet=None if story.signing is None else _sheet(story, story.signing, assessment),
        signing=story.signing,
        judgment=story.judgment,
        title=story.title,
        original_name=story.original_name,
        release_name=story.release_name,
        facts=story.facts,
        steps=[_step(step, {**METHODS, **story.methods}) for step in story.steps],
        cautions=story.cautions,
        assessment=assessment,
        cards=_cards(assessment),
        parts=[(heading, list(assessment.sections(kind))) for kind, heading in _PARTS.items()],
        skipped=[(MEASURES[word].title, one.why) for word, one in assessment.skipped.items()],
        counted=counted,
        risk_svg=Markup(risk_plot(parts, records=counted)) if parts else "",  # noqa: S704 - own drawing
        marginal_svgs=[
            (name, Markup(marginal_plot(name, one)))  # noqa: S704 - own drawing
            for name, one in _marginals(assessment).items()
        ],
    )


def summary_page(story: ReleaseStory, assessment: Assessment) -> str:
    """The sheet for the person who signs, as HTML: it prints on one page of A4 or Letter.

    Raises:
        SpecError: the story says nothing for the person who signs.
    """
    if story.signing is None:
        raise SpecError("Nothing is known for the person who signs.", "Give the story a signing.")
    return render(
        "summary.html",
        title=story.title,
        original="table",
        sheet=_sheet(story, story.signing, assessment),
    )


def _sheet(story: ReleaseStory, signing: Signing, assessment: Assessment) -> Sheet:
    rows = Tile(*assessment.size)
    return sheet(
        story.title,
        f"{story.original_name} → {story.release_name}",
        signing,
        story.columns,
        story.steps,
        story.promised,
        [rows, *_cards(assessment)],
        story.cautions,
    )


def _cards(assessment: Assessment) -> list[Tile]:
    """The figures to see first."""
    simulated = assessment.of(AttackSimulator) is not None
    headed = [AttackSimulator.name if simulated else Prosecutor.name, *_HEADED]
    return [card for word in headed if word in assessment.stories for card in assessment.stories[word].cards]


def _marginals(assessment: Assessment) -> Mapping[str, Marginal]:
    """The distributions that may be drawn, with labels: of columns with a role, without rare values."""
    roles = assessment.roles
    shown = (*roles.quasi_identifiers, *roles.sensitive)
    marginals = assessment.of(Marginals) or {}
    return {name: marginals[name].without_rare(MIN_ROWS) for name in shown if name in marginals}


def _step(step: Mapping[str, Any], methods: Mapping[str, type[Method]]) -> Mapping[str, Any]:
    """A step as the page shows it; `meaning` is the first line of its method's description."""
    meaning = (inspect.getdoc(methods[step["method"]]) or "").split("\n")[0].replace("`", "")
    shown = [(key, _cut(value)) for key, value in step.items() if key not in ("method", "name")]
    return {"method": step["method"], "meaning": meaning, "parameters": shown}


def _cut(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"
