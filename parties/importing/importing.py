"""The model in a file, by what its first bytes say the file is; with other names and a salt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from parties.errors import DataError
from parties.importing import lightgbm, onnx, pmml, xgboost
from parties.importing.fields import MAX_BYTES
from smc.analyses.predictors.form import Predictor
from smc.analyses.predictors.text import read_json
from smc.errors import UsageError
from smc.numeric.random import Randomness

_SALT_BYTES = 32


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
    found = import_model(_bytes(path))
    if features:
        found = renamed(found, features)
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


def renamed(model: Predictor, features: Sequence[str]) -> Predictor:
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


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror or type(error).__name__}).", "Give the path of a file."
        ) from None
    if len(data) > MAX_BYTES:
        raise DataError(f"{path} is larger than {MAX_BYTES >> 20} MB.", "Train a smaller model.")
    return data
