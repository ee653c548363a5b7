"""The daemon knows an analysis by what it states of a job (`Facts`), never by its name or its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from smc.analyses.clustering.parameters import Layout
from smc.analyses.matching.analysis import METHODS
from smc.analyses.registry import ANALYSES
from tests.architecture.source import modules, nodes, within

WORDS = frozenset({*ANALYSES, *METHODS, "layout", *(layout.value for layout in Layout)}) - {"exact"}
"""Names of analyses and methods, and how a job file says what decides about rows. `exact` is a fact."""

AUTHORS = ("parties.bench", "parties.dashboard.pages.statistics", "parties.cli.main", "parties.cli.matching")
"""Write job files, as people do, and hand them to the daemon as text; or name the command that does."""


def spellings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and word of every such text."""
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in WORDS:
            yield node.lineno, node.value


def test_the_daemon_spells_no_name_of_an_analysis() -> None:
    wrong = [
        f"{m.name}:{line} spells {word!r}; add what it wants to know to smc.analyses.studies.study.Facts"
        for m in modules("parties")
        if not any(within(m.name, author) for author in AUTHORS)
        for line, word in spellings(m.tree)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "code",
    [
        'paired = task.analysis.name == "comparison"',
        'least = 5 if view.analysis in ("matching", "clustering") else 0',
        'PAIRED = ("vertical", "arbitrary")',
        'by = given.get("layout")',
        'match name:\n    case "statistics":\n        pass',
    ],
)
def test_a_spelling_is_found(code: str) -> None:
    assert list(spellings(ast.parse(code)))
