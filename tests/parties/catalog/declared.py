"""A data set of a CSV file for tests: declarations as a dictionary, rows as text."""

from __future__ import annotations

from pathlib import Path

import tomli_w

from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog

NUMBER = {"type": "integer", "lower": 0, "upper": 1000}
TEXT = {"type": "text"}


def dataset(folder: Path, rows: str, columns: dict[str, dict], **fields: object) -> DatasetDeclaration:
    """The data set `d` with these rows, columns and further fields."""
    (folder / "d.csv").write_text(rows, encoding="utf-8", newline="")
    declared = {"source": "d.csv", "columns": columns, **fields}
    (folder / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"d": declared}}))
    return load_catalog(folder / "catalog.toml").dataset("d")
