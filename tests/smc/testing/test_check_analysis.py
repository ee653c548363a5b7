"""The checks that authors of analyses run on their own: they pass what is right and find what is not."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smc.analyses.disclosure.figures import Groups
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.outcome import Outcome, Table
from smc.analyses.studies.study import Preview
from smc.errors import DuettoError
from smc.forms import Role
from smc.testing import Case, ConformanceError, check_analysis

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "analysis_plugin"
NUMBER = Schema("integer", 0, 0, 100)


def column(*values: int) -> Column:
    return Column(np.array(values, dtype=np.int64), NUMBER)


CASE = Case({}, {"x": column(1, 2, 3, 4)}, {"y": column(10, 20, 30, 40)}, {"x": column(0, 99, 3, 7)})


@pytest.fixture
def products(monkeypatch):
    """The module of the example."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import duetto_products

    yield duetto_products
    del sys.modules["duetto_products"]


def made(products, **changes):
    """The example's analysis with another study, of which some parts are changed."""
    study = type("Changed", (products.ProductsStudy,), changes)

    class Changed(products.Products):
        def parse(self, parameters):
            super().parse(parameters)
            return study()

    return Changed()


def test_the_example_passes(products):
    assert len(check_analysis(products.PRODUCTS, CASE)) == 9
    for recipients in ({Role.ALICE}, {Role.BOB}):
        check_analysis(products.PRODUCTS, replace(CASE, recipients=frozenset(recipients)))


def test_an_ignored_parameter_is_found(products):
    class Lax(products.Products):
        def parse(self, parameters):
            return products.ProductsStudy()

    with pytest.raises(ConformanceError, match="unknown parameter"):
        check_analysis(Lax(), CASE)


def test_a_wrong_estimate_is_found(products):
    right = products.ProductsStudy.cost
    wrong = made(products, cost=lambda *given: replace(right(*given), alice_bytes=1))
    with pytest.raises(ConformanceError, match="cost states"):
        check_analysis(wrong, CASE)


def test_a_silent_leakage_statement_is_found(products):
    from smc.analyses.studies.study import Leakage

    with pytest.raises(ConformanceError, match="learns nothing"):
        check_analysis(made(products, leakage=lambda self, recipients: Leakage((), ())), CASE)


def test_a_preview_that_refuses_what_runs_is_found(products):
    refusing = made(products, preview=lambda *given: Preview(refusal=DuettoError("No.", "Never.")))
    with pytest.raises(ConformanceError, match="preview refuses"):
        check_analysis(refusing, CASE)


def test_a_figure_that_counts_too_many_persons_is_found(products, monkeypatch):
    """No release can know the right number of persons; a case with few rows shows a wrong one."""
    monkeypatch.setattr(products, "Groups", lambda persons, sums: Groups([1 << 30], sums))
    blind = made(products, preview=lambda *given: Preview())
    with pytest.raises(ConformanceError, match="Exact figures come out"):
        check_analysis(blind, CASE)


def test_a_result_past_the_gate_is_found(products):
    from smc.testing.analyses import GateClosedError

    run = products.ProductsStudy.run

    def caught(*given):
        try:
            return run(*given)
        except GateClosedError:
            return Outcome((Table("products", {"sum": [0]}),))

    with pytest.raises(DuettoError, match="without saying what its result is about"):
        check_analysis(made(products, run=caught), CASE)


def test_another_result_than_the_references_is_found(products):
    reference = products.ProductsStudy.reference

    def wrong(self, alice, bob, recipients):
        return reference(self, {"x": column(1, 1, 1, 1)}, bob, recipients)

    with pytest.raises(ConformanceError, match="other tables"):
        check_analysis(made(products, reference=wrong), CASE)
