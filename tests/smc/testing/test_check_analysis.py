"""The checks that authors of analyses run on their own: they pass what is right and find what is not."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from smc.analyses.disclosure.figures import Groups, Noisy
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import Outcome, Table
from smc.analyses.studies.study import Estimate, Leakage, Preview
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DuettoError
from smc.forms import Role
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from smc.testing import Case, ConformanceError, check_analysis

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "analysis_plugin"
NUMBER = Schema("integer", 0, 0, 100)


def column(*values: int) -> Column:
    return Column(np.array(values, dtype=np.int64), NUMBER)


CASE = Case({}, {"x": column(1, 25, 30, 44)}, {"y": column(10, 20, 31, 40)}, {"x": column(0, 99, 3, 7)})


@pytest.fixture
def signs(monkeypatch):
    """The module of the example."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import duetto_signs

    yield duetto_signs
    del sys.modules["duetto_signs"]


def made(signs, **changes):
    """The example's analysis with another study, of which some parts are changed."""
    return replace(signs.SIGNS, study=type("Changed", (signs.SignsStudy,), changes))


class Other:
    """An analysis of the example's studies that is written by hand."""

    name = "signs"
    always_matches = False


def test_the_example_passes(signs):
    assert len(check_analysis(signs.SIGNS, CASE)) == 11
    for recipients in ({Role.ALICE}, {Role.BOB}):
        check_analysis(signs.SIGNS, replace(CASE, recipients=frozenset(recipients)))


def test_an_ignored_parameter_is_found(signs):
    class Lax(Other):
        def parse(self, parameters):
            return signs.SignsStudy()

    with pytest.raises(ConformanceError, match="unknown parameter"):
        check_analysis(Lax(), CASE)


def test_a_wrong_estimate_is_found(signs):
    wrong = made(
        signs,
        cost=lambda *given: replace(estimate_cost(signs.SignsStudy(), *given[1:]), alice_bytes=1),
    )
    with pytest.raises(ConformanceError, match="cost states"):
        check_analysis(wrong, CASE)


def test_a_silent_leakage_statement_is_found(signs):
    with pytest.raises(ConformanceError, match="learns nothing"):
        check_analysis(made(signs, leakage=lambda self, recipients: Leakage((), ())), CASE)


def test_a_preview_that_refuses_what_runs_is_found(signs):
    refusing = made(signs, preview=lambda *given: Preview(refusal=DuettoError("No.", "Never.")))
    with pytest.raises(ConformanceError, match="preview refuses"):
        check_analysis(refusing, CASE)


def test_a_figure_that_counts_too_many_persons_is_found(signs, monkeypatch):
    """No release can know the right number of persons; a case with few rows shows a wrong one."""
    monkeypatch.setattr(signs, "Groups", lambda persons, apart: Groups([1 << 30]))
    blind = made(signs, look=lambda *given: None)
    with pytest.raises(ConformanceError, match="Exact figures come out"):
        check_analysis(blind, CASE)


def test_a_result_past_the_gate_is_found(signs):
    from smc.testing.analyses import GateClosedError

    run = signs.SignsStudy.run

    def caught(*given):
        try:
            return run(*given)
        except GateClosedError:
            return Outcome((Table("signs", {"above": [0], "below": [0]}),))

    with pytest.raises(DuettoError, match="without saying what its result is about"):
        check_analysis(made(signs, run=caught), CASE)


def test_another_result_than_the_references_is_found(signs):
    reference = signs.SignsStudy.reference

    def wrong(self, alice, bob, recipients):
        return reference(self, {"x": column(1, 1, 1, 1)}, bob, recipients)

    with pytest.raises(ConformanceError, match="other tables"):
        check_analysis(made(signs, reference=wrong), CASE)


def stating(signs, **facts):
    """The example with other facts."""
    right = signs.SignsStudy.facts
    return made(signs, facts=lambda self, recipients: replace(right(self, recipients), **facts))


def test_rows_that_are_paired_in_secret_are_found(signs):
    """The fact that makes a daemon refuse data with missing cells: without it sums of other rows come out."""
    with pytest.raises(ConformanceError, match="paired by their position"):
        check_analysis(stating(signs, pairs_by_position=False, row_results=False), CASE)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pairs_by_position": "no"},
        {"loss": None},
        {"comparison_type": "PN-NP-PN"},
        {"sorts_by": ["x"]},
        {"sorts_by": frozenset({"another"})},
    ],
    ids="-".join,
)
def test_facts_of_a_wrong_kind_are_found(signs, wrong):
    with pytest.raises(ConformanceError, match=next(iter(wrong))):
        check_analysis(stating(signs, **wrong), CASE)


@pytest.mark.parametrize("facts", [{"exact": None}, {"matches": True}], ids="-".join)
def test_facts_that_are_not_those_of_the_run_are_found(signs, facts):
    with pytest.raises(DuettoError, match=r"The analysis (opens figures|matches rows)"):
        check_analysis(stating(signs, **facts), CASE)


def test_a_loss_without_noise_is_found(signs, monkeypatch):
    """An exact sum called noisy would pass every limit of policies on exact figures."""
    monkeypatch.setattr("smc.testing.analyses._RUNS", 2)
    run = signs.SignsStudy.run

    class AsNoisy:
        def __init__(self, release):
            self.release = release

        def open(self, values, recipients, about):
            return self.release.open(values, recipients, Noisy())

    right = signs.SignsStudy.facts
    wrong = made(
        signs,
        run=lambda self, session, data, recipients, release: run(
            self, session, data, recipients, AsNoisy(release)
        ),
        look=lambda *given: None,
        facts=lambda *given: replace(right(*given), exact=None, row_results=False, loss=Loss(Fraction(1))),
    )
    with pytest.raises(ConformanceError, match="they have no noise"):
        check_analysis(wrong, CASE)


def test_a_value_that_is_opened_past_the_release_is_found(signs):
    run = signs.SignsStudy.run

    def shown(self, session, data, recipients, release):
        own = data["x"].array if session.role is Role.ALICE else None
        SecretInts.from_plain(session, own, Role.ALICE, Bounds(0, 100), (4,)).reveal()
        return run(self, session, data, recipients, release)

    with pytest.raises(ConformanceError, match="past its release"):
        check_analysis(made(signs, run=shown), CASE)


def test_a_preview_that_takes_what_a_run_refuses_is_found(signs):
    with pytest.raises(ConformanceError, match="preview takes rows that a run refuses"):
        check_analysis(made(signs, look=lambda *given: None), CASE)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("facts", None, "facts returns"),
        ("leakage", None, "leakage returns"),
        ("leakage", Leakage("the sum", "the sum"), "tuples of sentences"),  # type: ignore[arg-type]
        ("leakage", Leakage(("",), ("",)), "tuples of sentences"),
        ("preview", None, "preview returns"),
        ("cost", None, "cost returns"),
        ("cost", Estimate(1, 1, 1, -1.0, "", None), "below 0"),
    ],
)
def test_parts_that_return_something_else_are_found(signs, part, value, said):
    with pytest.raises(ConformanceError, match=said):
        check_analysis(made(signs, **{part: lambda *given: value}), CASE)


def test_columns_of_one_role_are_found(signs):
    with pytest.raises(ConformanceError, match="for each role"):
        check_analysis(made(signs, columns={Role.ALICE: ("x",)}), CASE)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"sum": [np.int64(3)]}, "int64"),
        ({"sum": [float("nan")]}, "float"),
        ({"sum": [object()]}, "object"),
        ({"sum": [1, 2], "of": [1]}, "different lengths"),
    ],
)
def test_results_that_a_daemon_cannot_store_are_found(signs, cells, said):
    """Better here than there, where they have been paid for."""
    run = signs.SignsStudy.run

    def odd(*given):
        run(*given)
        return Outcome((Table("signs", cells),))

    with pytest.raises(ConformanceError, match=said):
        check_analysis(made(signs, run=odd), replace(CASE, compare=False))


@pytest.mark.parametrize("name", [3, "", "Sum of signs", "sum\x1b[31m"])
def test_names_that_nobody_can_write_are_found(signs, name):
    with pytest.raises(ConformanceError, match="name of the analysis"):
        check_analysis(replace(signs.SIGNS, name=name), CASE)


def test_an_analysis_that_always_matches_and_does_not_is_found(signs):
    with pytest.raises(ConformanceError, match="always_matches"):
        check_analysis(replace(signs.SIGNS, always_matches=True), CASE)


@pytest.mark.parametrize("parsed", [None, {"x": 1}])
def test_something_else_than_a_study_is_found(signs, parsed):
    wrong = type("Odd", (Other,), {"parse": lambda self, parameters: parsed})
    with pytest.raises(ConformanceError, match="lacks a part of a study"):
        check_analysis(wrong(), CASE)


def test_another_error_at_an_unknown_parameter_is_found(signs):
    class Hasty(Other):
        def parse(self, parameters):
            return signs.SignsStudy() if not parameters else {}["no-such-parameter"]

    with pytest.raises(ConformanceError, match="raises KeyError"):
        check_analysis(Hasty(), CASE)


NUMBERS = {"v": column(*range(5, 17))}
KEYS = {"id": Column([f"k{n}" for n in range(12)], Schema("text"))}
QUERY = {"kind": "mean", "column": "v", "lower": 0, "upper": 100}
OWN: dict[str, tuple[str, dict[str, object], dict[str, Column]]] = {
    "size": ("matching", {"method": "exact", "keys": ["id"], "output": "size"}, KEYS),
    "noisy size": (
        "matching",
        {"method": "exact", "keys": ["id"], "output": "size", "epsilon": "1"},
        KEYS,
    ),
    "keys": ("matching", {"method": "exact", "keys": ["id"]}, KEYS),
    "count": ("statistics", {"noise": "none", "queries": [{"kind": "count", "column": "v"}]}, NUMBERS),
    "noisy mean": ("statistics", {"epsilon": "1", "maximum_rows": 20, "queries": [QUERY]}, NUMBERS),
}


@pytest.mark.parametrize("name", OWN)
def test_analyses_of_duetto_pass(name):
    analysis, parameters, data = OWN[name]
    case = Case(parameters, data, data, compare=name in {"keys", "size", "count"})
    assert check_analysis(ANALYSES[analysis], case)
