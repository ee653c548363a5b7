"""Checks of what an analysis and its study say: that it has the form that a daemon and people read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Set
from typing import Any, Final

from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import Outcome, Table
from smc.analyses.studies.study import Analysis, Estimate, Leakage, Preview, Study
from smc.forms import ComparisonType, Role
from smc.testing.demands import demand

_WORD: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")


def check_name(analysis: Analysis) -> None:
    """Job files and policies have to be able to name the analysis."""
    name: Any = analysis.name
    demand(
        isinstance(name, str) and bool(name) and _WORD.issuperset(name),
        "The name of the analysis is not a word of lower-case letters, digits, '-', '_' and '.'.",
        'Call it something like "sum-of-products".',
    )


def check_study(study: Any) -> None:
    """`parse` has to give something with all parts of a study."""
    demand(
        isinstance(study, Study),
        f"parse returns a {type(study).__name__}, which lacks a part of a study.",
        "Return an object with all of smc.analyses.studies.study.Study.",
    )


def check_columns(study: Study) -> None:
    """Columns by role, as names."""
    columns: Any = study.columns
    demand(
        isinstance(columns, Mapping)
        and set(columns) == set(Role)
        and all(isinstance(names, tuple) and _are_texts(names) for names in columns.values()),
        "columns does not give a tuple of names for each role.",
        'Return {Role.ALICE: ("x",), Role.BOB: ("y",)}, with () for a role that brings none.',
    )


def check_facts(analysis: Analysis, study: Study, facts: Any) -> None:
    """Facts have the types that policies read, and go with each other."""
    demand(isinstance(facts, Facts), f"facts returns a {type(facts).__name__}.", "Return Facts.")
    flags = ("pairs_by_position", "matches", "row_results")
    wrong = [name for name in flags if not isinstance(getattr(facts, name), bool)]
    wrong += [] if isinstance(facts.comparison_type, ComparisonType | None) else ["comparison_type"]
    for name in ("sorts_by", "keeps_missing"):
        names = getattr(facts, name)
        wrong += [] if isinstance(names, Set) and _are_texts(names) else [name]
    kinds = {"loss": Loss, "exact": ExactFigures | None, "bounds": RowBounds, "asked": Asked}
    wrong += [name for name, kind in kinds.items() if not isinstance(getattr(facts, name), kind)]
    demand(
        not wrong,
        f"Facts of another type than they have to be: {', '.join(wrong)}.",
        "See smc.analyses.studies.facts.Facts.",
    )
    known = {name for names in study.columns.values() for name in names}
    strangers = sorted((facts.sorts_by | facts.keeps_missing) - known)
    demand(
        not strangers,
        f"sorts_by or keeps_missing names columns that the job does not have: {strangers}.",
        "Name columns as the job does.",
    )
    demand(
        facts.matches or not analysis.always_matches,
        "always_matches is true, and by its facts this job does not match rows.",
        "Set always_matches only where every job matches rows.",
    )


def check_leakage(leakage: Any) -> None:
    """Sentences for people, in tuples."""
    demand(isinstance(leakage, Leakage), f"leakage returns a {type(leakage).__name__}.", "Return Leakage.")
    demand(
        all(
            isinstance(stated, tuple) and _are_texts(stated) and all(one.strip() for one in stated)
            for stated in (leakage.alice, leakage.bob, leakage.public)
        ),
        "The leakage statement is not made of tuples of sentences.",
        'Write Leakage(("the sum",), (), ("the number of rows",)).',
    )


def check_preview(preview: Any) -> None:
    """What the local rows show."""
    demand(isinstance(preview, Preview), f"preview returns a {type(preview).__name__}.", "Return a Preview.")


def check_estimate(estimate: Any) -> None:
    """Numbers from 0 on."""
    demand(
        isinstance(estimate, Estimate), f"cost returns a {type(estimate).__name__}.", "Return an Estimate."
    )
    counts = (estimate.rounds, estimate.alice_bytes, estimate.bob_bytes)
    demand(
        all(isinstance(count, int) and count >= 0 for count in counts)
        and (estimate.memory is None or (isinstance(estimate.memory, int) and estimate.memory >= 0))
        and 0 <= estimate.seconds < math.inf
        and isinstance(estimate.route, str),
        "The estimate has a number below 0, or something that is not a number.",
        "Give whole rounds and bytes, seconds from 0 on, and a route as text.",
    )


def check_outcome(outcome: Any) -> None:
    """A daemon stores results as JSON, after they were paid for."""
    demand(isinstance(outcome, Outcome), f"run returns a {type(outcome).__name__}.", "Return an Outcome.")
    demand(
        all(isinstance(table, Table) and isinstance(table.name, str) for table in outcome.tables),
        "A table of the outcome is not a Table with a name.",
        "Make it with smc.analyses.studies.outcome.Table.",
    )
    names = [table.name for table in outcome.tables]
    demand(len(set(names)) == len(names), "Two tables have one name.", "Give each a name of its own.")
    for table in outcome.tables:
        demand(
            len({len(cells) for cells in table.columns.values()}) <= 1,
            f"The columns of the table {table.name} have different lengths.",
            "Give every column a cell for each row; None where there is nothing.",
        )
        for name, cells in table.columns.items():
            strange = next((type(cell).__name__ for cell in cells if not _is_cell(cell)), "")
            demand(
                not strange,
                f"A cell of {name} in the table {table.name} is a {strange} that results cannot hold.",
                "Give Python's own int, float, str or None; no NumPy numbers, NaN or infinity.",
            )
    demand(_are_texts(outcome.notes), "A note of the outcome is not a text.", "Write notes as sentences.")
    try:
        json.dumps(dict(outcome.details), allow_nan=False)
    except (TypeError, ValueError) as problem:
        demand(False, f"The details of the outcome cannot be stored: {problem}.", "Give plain JSON values.")


def _is_cell(cell: object) -> bool:
    return cell is None or type(cell) in (bool, int, str) or (type(cell) is float and math.isfinite(cell))


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)
