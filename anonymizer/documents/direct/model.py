"""Model files: which ones are opened.

The reader of CRFsuite is a C library that trusts its file: a crafted one can make it read or write memory
that is not its own. So bytes are given to it only if their SHA-256 is one that somebody has vouched for: that
of the shipped model, which stands in this file; one that the steward names; or that of the JSON file which
`duetto recognizer train` writes beside its model. The last one shows that the two belong together and are
undamaged; who can write both can forge both, so of a model from elsewhere name the digest.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any, Final

from anonymizer.documents.direct.features import VERSION
from anonymizer.errors import FileError

SHIPPED: Final = "english.crfsuite"
SHIPPED_SHA256: Final = "40b0634e7d74d52125cf78babdd62e7ec1e73dd2412def4d2589e8ca246782fd"

_FORMAT: Final = 1
_MAX_BYTES: Final = 64 << 20
_MAGIC: Final = b"lCRF"


def beside(path: Path) -> Path:
    """The JSON file of a model."""
    return path.with_name(path.name + ".json")


def read_shipped_model() -> bytes:
    """The model that comes with the package, checked.

    Raises:
        FileError: it is not the one that was released.
    """
    content = resources.files(__package__).joinpath(SHIPPED).read_bytes()
    return _check_digest(content, SHIPPED_SHA256, f"The shipped model {SHIPPED}")


def model(path: Path, sha256: str | None = None) -> bytes:
    """A model file.

    Args:
        path: the file.
        sha256: its expected digest in hexadecimal; None for that of the JSON file beside it.

    Raises:
        FileError: it cannot be read, is too large, is not what the digest says, was trained with other
            features, or nobody vouches for it.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as problem:
        raise FileError(f"{path} cannot be read: {problem.strerror}.", "Check the path.") from None
    if len(content) > _MAX_BYTES:
        raise FileError(f"{path} is larger than {_MAX_BYTES >> 20} MiB.", "Give a model of CRFsuite.")
    return _check_digest(content, _read_description(path) if sha256 is None else sha256.lower(), str(path))


def describe_model(content: bytes, facts: dict[str, Any]) -> str:
    """The text of the JSON file for a model.

    Args:
        content: of the model.
        facts: more plain values about it.
    """
    head = {"format": _FORMAT, "features": VERSION, "sha256": hashlib.sha256(content).hexdigest()}
    return json.dumps({**head, **facts}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _read_description(path: Path) -> str:
    try:
        found = json.loads(beside(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(
            f"Nobody vouches for {path}: there is no {beside(path).name} beside it.",
            "Name its SHA-256 if you trust where it comes from; a crafted model can run code.",
        ) from None
    except (OSError, ValueError, RecursionError):
        raise FileError(
            f"{beside(path)} cannot be read.", "Train the model again, or name its SHA-256."
        ) from None
    digest = found.get("sha256") if isinstance(found, dict) else None
    if not isinstance(digest, str) or found.get("format") != _FORMAT:
        raise FileError(f"{beside(path)} does not describe a model.", "Train the model again.")
    if found.get("features") != VERSION:
        raise FileError(
            f"{path} was trained with version {found.get('features')} of the features, not with {VERSION}.",
            "Train the model again.",
        )
    return digest


def _check_digest(content: bytes, digest: str, name: str) -> bytes:
    if hashlib.sha256(content).hexdigest() != digest:
        raise FileError(f"{name} does not have the expected SHA-256.", "Get it again from where it was made.")
    if not content.startswith(_MAGIC):
        raise FileError(f"{name} is not a model of CRFsuite.", "Give a file of `duetto recognizer train`.")
    return content


def write(content: bytes, path: Path, facts: dict[str, Any]) -> None:
    """Write a model and its JSON file; an old model never stands beside a new digest.

    Args:
        content: of the model.
        path: where it goes.
        facts: plain values about it, for the JSON file.

    Raises:
        FileError: they cannot be written.
    """
    parts = ((path, content), (beside(path), describe_model(content, facts).encode()))
    made: list[tuple[Path, Path]] = []
    try:
        for place, part in parts:
            with tempfile.NamedTemporaryFile(
                dir=place.parent, prefix=f".{place.name}.", delete=False
            ) as file:
                made.append((Path(file.name), place))
                file.write(part)
        beside(path).unlink(missing_ok=True)
        for temporary, place in made:
            temporary.replace(place)
    except OSError as problem:
        raise FileError(f"{path} cannot be written: {problem.strerror}.", "Check the folder.") from None
    finally:
        for temporary, _ in made:
            temporary.unlink(missing_ok=True)
