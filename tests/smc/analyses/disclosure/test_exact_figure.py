"""Figures that are given the opener belong to the package of the release."""

from __future__ import annotations

import pytest

from smc.analyses.disclosure import fits
from smc.analyses.disclosure.exact_figure import ExactFigure
from smc.analyses.disclosure.fits import MatchedPart
from tests.architecture.core import core


@pytest.mark.parametrize("kind", [ExactFigure, MatchedPart])
def test_no_analysis_can_open_figures_by_itself(kind):
    with pytest.raises(TypeError, match="opens figures by itself outside"):
        type("Own", (kind,), {"__module__": "smc.analyses.statistics.own"})
    with pytest.raises(TypeError, match="outside"):
        type("Own", (kind,), {"__module__": "smc.analyses.disclosures.own"})


def test_the_five_claims_open_no_such_figure():
    """What their programs reach by imports defines none."""
    kinds = {kind.__module__ for kind in ExactFigure.__subclasses__()}
    assert fits.__name__ in kinds
    assert kinds.isdisjoint(module.name for module in core())
