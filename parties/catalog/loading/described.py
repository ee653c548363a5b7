"""What the catalog declares, and what was read, as plain JSON values."""

from __future__ import annotations

from typing import Any

from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.declarations.declaration import Catalog, DatasetDeclaration
from parties.catalog.loading.loaded import Loaded


def dataset_documents(catalog: Catalog) -> list[dict[str, Any]]:
    """The declared data sets, with the number of their columns."""
    return [
        {
            "name": one.name,
            "kind": one.kind,
            "columns": len(one.columns),
            "key": [*one.key],
            "person": [*one.person],
            "population": one.population,
        }
        for one in catalog.datasets.values()
    ]


def dataset_document(dataset: DatasetDeclaration) -> dict[str, Any]:
    """What is declared of a data set, column by column."""
    return {
        "name": dataset.name,
        "kind": dataset.kind,
        "key": [*dataset.key],
        "person": [*dataset.person],
        "population": dataset.population,
        "columns": [_describe(column) for column in dataset.columns.values()],
    }


def count_document(loaded: Loaded) -> dict[str, Any]:
    """What was read: rows, persons, and rows left out, dropped and filled in."""
    return {
        "rows": loaded.rows,
        "persons": loaded.people,
        "left_out": loaded.left_out,
        "dropped": {column: count for column, count in loaded.dropped.items() if count},
        "imputed": {column: count for column, count in loaded.imputed.items() if count},
    }


def _describe(column: ColumnDeclaration) -> dict[str, Any]:
    schema = column.schema
    return {
        "name": column.name,
        "type": column.type,
        "scale": schema.scale,
        "lower": schema.lower,
        "upper": schema.upper,
        "categories": list(schema.categories),
        "modulus": schema.modulus,
        "unit": schema.unit,
        "missing": column.missing if column.missing != "impute" else f"impute {column.imputed}",
        "constant": column.constant or "",
        "confirmed": column.is_confirmed,
    }
