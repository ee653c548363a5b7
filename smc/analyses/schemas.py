"""What may stand in the `[parameters]` of a job, as JSON Schema, by analysis: for editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commons.settings.reader import Tables
from commons.settings.shapes import Document
from smc.analyses.clustering.parameters import LAYOUTS
from smc.analyses.clustering.study import CLUSTERING
from smc.analyses.derived.columns import DERIVED
from smc.analyses.derived.study import KEY
from smc.analyses.matching.aggregates.parameters import AggregateParameters, FigureParameters
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.matching.exact.study import ExactParameters
from smc.analyses.matching.linked.parameters import OUTPUTS
from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.matching.vectors.parameters import VectorParameters
from smc.analyses.plan.study import PLAN
from smc.analyses.registry import ANALYSES
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.queries.parameters import parameters_schema
from smc.analyses.studies.declared_analysis import DeclaredAnalysis


def parameter_schemas() -> Mapping[str, Document]:
    """The schemas of the analyses of this program; those of other programs may hold anything."""
    declared = {name: one.schema for name, one in ANALYSES.items() if isinstance(one, DeclaredAnalysis)}
    return declared | {
        CLUSTERING.name: _allow_derived(Tables(LAYOUTS).schema),
        MATCHING.name: {"anyOf": [*_matching()]},
        PLAN.name: _allow_derived(PLAN.schema),
        STATISTICS.name: _allow_derived(parameters_schema()),
    }


def _matching() -> tuple[Document, ...]:
    tolerant, figures = Tables(TolerantParameters).schema, Tables(FigureParameters).schema["properties"]
    linked = {"output": {"enum": [*OUTPUTS]}, "values": figures["values"]}
    return (
        _with(Tables(ExactParameters).schema, method={"const": "exact"}),
        _with(_allow_derived(Tables(AggregateParameters).schema), method={"const": "exact"}),
        _with(tolerant, method={"const": "tolerant"}),
        _with(_allow_derived(tolerant), method={"const": "tolerant"}, **linked),
        _with(Tables(VectorParameters).schema, method={"const": "vectors"}),
    )


def _allow_derived(schema: Document) -> Document:
    """The same where columns may be derived."""
    table = {"type": "object", "additionalProperties": Tables(DERIVED).schema}
    if "anyOf" in schema:
        return {"anyOf": [_with(one, **{KEY: table}) for one in schema["anyOf"]]}
    return _with(schema, **{KEY: table})


def _with(schema: Document, **properties: Any) -> Document:
    return {**schema, "properties": {**schema["properties"], **properties}}
