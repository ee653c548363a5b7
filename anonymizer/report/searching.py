"""The report on a search for parameters, one page."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from anonymizer.errors import UnreachableError
from anonymizer.report.plots import search_plot
from anonymizer.report.rendering import Facts, render
from anonymizer.search.search import SearchResult


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


def search_page(story: SearchStory, result: SearchResult) -> str:
    """The report on a search, as HTML."""
    best, problem = None, ""
    try:
        best = result.best
    except UnreachableError as error:
        problem = str(error)
    return render(
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
