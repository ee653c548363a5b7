"""Reports as one HTML file each: no scripts, nothing loaded from elsewhere, every text escaped."""

from __future__ import annotations

import datetime as dt
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from anonymizer.errors import UnreachableError
from anonymizer.measures.contract.story import number, percent
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
from anonymizer.report.plots import marginal_plot, risk_plot, search_plot
from anonymizer.search.search import SearchResult
from anonymizer.utility.marginals import Marginal

Facts = Sequence[tuple[str, str]]
"""Names and values, in the order in which a page lists them."""

MIN_ROWS: Final = 5
"""No label of fewer rows than this is in a report."""
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
    """

    title: str
    original_name: str
    release_name: str
    facts: Facts
    steps: Sequence[Mapping[str, Any]]
    cautions: Sequence[str]
    methods: Mapping[str, type[Method]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchStory:
    """What the page of a search tells beside its trials.

    Attributes:
        title: of the page.
        original_name: how the table is called.
        facts: what was done.
        risk: what the risk of a trial is, in words.
        utility: what its utility is, in words.
    """

    title: str
    original_name: str
    facts: Facts
    risk: str
    utility: str


def release_page(story: ReleaseStory, assessment: Assessment) -> str:
    """The report on a release, as HTML."""
    parts = worst_records(assessment)
    simulated = assessment.of(AttackSimulator) is not None
    counted = "original records" if simulated else "released rows"
    headed = [AttackSimulator.name if simulated else Prosecutor.name, *_HEADED]
    cards = [card for word in headed if word in assessment.stories for card in assessment.stories[word].cards]
    return rendered(
        "release.html",
        title=story.title,
        original_name=story.original_name,
        release_name=story.release_name,
        facts=story.facts,
        steps=[_step(step, {**METHODS, **story.methods}) for step in story.steps],
        cautions=story.cautions,
        assessment=assessment,
        cards=cards,
        parts=[(heading, list(assessment.sections(kind))) for kind, heading in _PARTS.items()],
        skipped=[(MEASURES[word].title, one.why) for word, one in assessment.skipped.items()],
        counted=counted,
        risk_svg=Markup(risk_plot(parts, records=counted)) if parts else "",  # noqa: S704 - own drawing
        marginal_svgs=[
            (name, Markup(marginal_plot(name, one)))  # noqa: S704 - own drawing
            for name, one in _drawn(assessment).items()
        ],
    )


def _drawn(assessment: Assessment) -> Mapping[str, Marginal]:
    """The distributions that may be drawn, with labels: of columns with a role, without rare values."""
    roles = assessment.roles
    shown = (*roles.quasi_identifiers, *roles.sensitive)
    marginals = assessment.of(Marginals) or {}
    return {name: marginals[name].without_rare(MIN_ROWS) for name in shown if name in marginals}


def search_page(story: SearchStory, result: SearchResult) -> str:
    """The report on a search, as HTML."""
    best, problem = None, ""
    try:
        best = result.best
    except UnreachableError as error:
        problem = str(error)
    return rendered(
        "search.html",
        title=story.title,
        original_name=story.original_name,
        facts=story.facts,
        risk=story.risk,
        utility=story.utility,
        result=result,
        best=best,
        problem=problem,
        names=list(result.trials[0].point) if result.trials else [],
        trials=list(zip(result.trials, result.front.tolist(), strict=True)),
        svg=Markup(search_plot(result)),  # noqa: S704 - own drawing
    )


def installed() -> str:
    """The version of the installed distribution."""
    try:
        return version("duetto")
    except PackageNotFoundError:
        return "from source"


def rendered(template: str, **values: Any) -> str:
    """A page from a template beside this file, every text escaped."""
    space = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    space.filters |= {"number": number, "percent": percent, "whole": lambda value: f"{value:,}"}
    today = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    page = space.get_template(template).render(version=installed(), date=today, **values)
    return page.lstrip()


def _step(step: Mapping[str, Any], methods: Mapping[str, type[Method]]) -> Mapping[str, Any]:
    """A step as the page shows it; `meaning` is the first line of its method's description."""
    meaning = (inspect.getdoc(methods[step["method"]]) or "").split("\n")[0].replace("`", "")
    shown = [(key, _cut(value)) for key, value in step.items() if key not in ("method", "name")]
    return {"method": step["method"], "meaning": meaning, "parameters": shown}


def _cut(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"
