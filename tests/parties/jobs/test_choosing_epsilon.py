"""docs/choosing-epsilon.md: its figures are those of the estimates and of the ledger's sums, made anew."""

from __future__ import annotations

import math
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from parties.ledger.accounting import DELTA_TOTAL, Spent
from smc.analyses.studies.loss import Loss

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / "choosing-epsilon.md").read_text(encoding="utf-8")
CATALOG, JOB = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
EPSILONS = ("1/10", "1/2", "1", "2", "5")
QUERIES = ("patients", "mean age", "mean stay", "by diagnosis")


def check(name: str, found: str) -> None:
    """What stands between the marks of that name is what the program says now."""
    assert re.search(rf"<!-- {name} -->(.*?)<!-- end -->", TEXT, re.DOTALL)[1].strip() == found


@pytest.fixture
def estimate(institutions):
    for name in ("north", "south"):
        home = institutions.folder / name
        (home / "catalog.toml").write_text(CATALOG)
        shutil.copy(DOCS / "examples" / "patients.csv", home)

    def widths(text: str) -> dict[str, str]:
        details = institutions.north.estimate(text, rows=0, rtt_ms=0, mbit=0)["preview"]["details"]
        return {row["query"]: f"± {row['half_width']:.3g} {row['unit']}" for row in details["precision"]}

    return widths


def test_half_widths(estimate):
    columns = [estimate(JOB.replace('"1"', f'"{epsilon}"')) for epsilon in EPSILONS]
    rows = [
        "| query | " + " | ".join(f"epsilon {epsilon}" for epsilon in EPSILONS) + " |",
        "|---|" + "--:|" * len(EPSILONS),
        *(f"| {query} | " + " | ".join(column[query] for column in columns) + " |" for query in QUERIES),
    ]
    check("half widths", "\n".join(rows))


def only_mean_age(text: str) -> str:
    head, *queries = text.split("[[parameters.queries]]")
    (mean,) = [query for query in queries if "mean age" in query]
    head = re.sub(r"columns = \{ .* \}", 'columns = { age = "age" }', head)
    return f"{head}[[parameters.queries]]{mean}"


def test_fewer_queries_and_narrower_bounds(estimate):
    alone = only_mean_age(JOB)
    check("alone", estimate(alone)["mean age"])
    narrow = estimate(f"{alone}lower = 18\nupper = 95\n")
    check("narrower", narrow["mean age"])


def test_beliefs():
    """Bayes: odds grow by at most e to the epsilon."""
    rows = ["| epsilon | from 50 % to at most | from 10 % to at most |", "|--:|--:|--:|"]
    for epsilon in (*EPSILONS, "10"):
        grown = math.exp(Fraction(epsilon))
        most = [f"{odds * grown / (1 + odds * grown):.3%}" for odds in (1, 1 / 9)]
        rows.append(f"| {epsilon} | {' | '.join(most)} |")
    check("beliefs", "\n".join(rows))


def test_composition():
    rows = [
        "| jobs | epsilon of each | plain sum | total in the ledger, at delta 2^-30 |",
        "|--:|--:|--:|--:|",
    ]
    for jobs, epsilon in ((10, "1/10"), (12, "1/4"), (100, "1/10"), (500, "1/20")):
        each = Loss(Fraction(epsilon), Fraction(1, 2**40))
        total = sum([each] * jobs, Spent()).epsilon_at(DELTA_TOTAL)
        rows.append(f"| {jobs} | {epsilon} | {jobs * Fraction(epsilon)} | {float(total):.3g} |")
    check("composition", "\n".join(rows))
