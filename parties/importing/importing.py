"""The model in a file, by what its first bytes say the file is; with other names and a salt."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

from parties.bounded_files import read_bounded
from parties.errors import DataError, StorageError
from parties.importing import lightgbm, onnx, pmml, xgboost
from parties.importing.fields import MAX_BYTES
from smc.analyses.predictors.form import Forest, Predictor
from smc.analyses.predictors.text import commitment, pieces, read_json, text_of
from smc.errors import UsageError
from smc.numeric.random import Randomness

_SALT_BYTES = 32
_ROUNDING = 1e-6


def import_file(path: Path, random: Randomness, features: Sequence[str] = ()) -> Predictor:
    """The model in a file, with a salt.

    Args:
        path: of the file.
        random: what the salt is drawn from.
        features: other names of its features, in their order; none to keep those of the file.

    Raises:
        DataError: the file cannot be read, is none of a known program, or holds what cannot be computed on.
        DomainError: the model is too large, or not one.
        UsageError: there are more or fewer features than names.
    """
    too_large = DataError(f"{path} is larger than {MAX_BYTES >> 20} MB.", "Train a smaller model.")
    found = import_model(read_bounded(path, MAX_BYTES, too_large))
    if features:
        found = rename(found, features)
    return replace(found, salt=random.bytes(_SALT_BYTES).hex())


def import_model(data: bytes) -> Predictor:
    """The model in the bytes of a file, without a salt. Raises as `import_file`."""
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"<":
        return pmml.read(pmml.parse(data))
    if start != b"{":
        return onnx.read(data)
    document = read_json(data, MAX_BYTES)
    return (
        xgboost.read(document)
        if isinstance(document, Mapping) and "learner" in document
        else lightgbm.read(document)
    )


def rename(model: Predictor, features: Sequence[str]) -> Predictor:
    """A model whose features have other names.

    Raises:
        UsageError: there are more or fewer features than names.
    """
    if len(features) != len(model.features):
        raise UsageError(
            f"The model has {len(model.features)} features, and {len(features)} names were given.",
            "Name each feature once, in the order in which the model was trained on them.",
        )
    return replace(model, features=tuple(features))


def write_dataset(model: Predictor, path: Path) -> None:
    """Write a model as a data set: a CSV file of numbered pieces, which only its owner can read.

    Raises:
        StorageError: there is a file of that name, or it cannot be written.
    """
    rows = [("number", "model"), *enumerate(pieces(text_of(model)), 1)]
    try:
        with open(path, "x", encoding="utf-8", newline="", opener=_for_its_owner) as file:
            csv.writer(file).writerows(rows)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror or type(error).__name__}).",
            "Make room or rights, or choose another name for the output.",
        ) from None


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def parameters_of(model: Predictor) -> dict[str, Any]:
    """What the `[parameters]` of a scoring say of a model; the ranges of its features are left to fill in."""
    found: dict[str, Any] = {
        "model": "alice",
        "commitment": commitment(model),
        "link": model.link.value,
        "classes": [*model.classes],
        "maximum_rows": 100,
    }
    if not model.classes:
        found["output"] = "score"
    labels: dict[int, list[str]] = {}
    if isinstance(model.body, Forest):
        most = sum(
            max(max(map(abs, leaf.values)) for leaf in tree.leaves) for tree in model.body.trees
        ) + max(map(abs, model.base))
        # The next power of two tells little of the leaves.
        largest = 1 << max(0, ceil(most * (1 - _ROUNDING)) - 1).bit_length()
        found |= {"kind": "trees", "trees": len(model.body.trees), "depth": model.body.depth}
        found |= {"largest": largest}
    else:
        terms = model.body.terms
        found |= {"kind": "linear"} | ({"squares": True} if any(term.square for term in terms) else {})
        for term in terms:
            if term.label:
                labels.setdefault(term.feature, []).append(term.label)
    found["features"] = [
        {"name": name, "labels": labels[place]}
        if place in labels
        else {"name": name, "lower": "0", "upper": "100", "digits": 0}
        for place, name in enumerate(model.features)
    ]
    return found
