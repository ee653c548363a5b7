"""Engines by the words of a specification."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from anonymizer.documents.engines.cache import Cached
from anonymizer.documents.engines.credentials import from_file, from_variable
from anonymizer.documents.engines.elasticsearch import Elasticsearch
from anonymizer.documents.engines.engine import Engine
from anonymizer.documents.engines.http import Authorization, Manners, Server
from anonymizer.documents.engines.index import FolderIndex
from anonymizer.documents.engines.searxng import SearXNG
from anonymizer.errors import SpecError
from anonymizer.schema.documents import table_of
from commons.errors import near

_FOLDER: Final[dict[str, type]] = {"path": str}
_SERVER: Final[dict[str, type]] = {
    "url": str,
    "seconds": float,
    "attempts": int,
    "per_second": float,
    "size": int,
    "patience": float,
    "plain": bool,
    "authorities": str,
    "key_variable": str,
    "key_file": str,
    "cache": str,
    "cache_days": float,
}
_KEYS: Final[dict[str, dict[str, type]]] = {
    "folder": _FOLDER,
    "searxng": {**_SERVER, "language": str},
    "elasticsearch": {**_SERVER, "index": str, "field": str},
}
KINDS: Final = tuple(_KEYS)
LEAKING: Final = ("searxng", "elasticsearch")
"""Kinds that send the words of confidential texts to a server."""

_NEEDED: Final = {"folder": ("path",), "searxng": ("url",), "elasticsearch": ("url", "index", "field")}
_EXAMPLES: Final = {
    str: 'Put a text in quotes, such as {key} = "...".',
    int: "Write a whole number, such as {key} = 3.",
    float: "Write a number, such as {key} = 2.5.",
    bool: "Write {key} = true or {key} = false.",
}


def engine_of(
    given: Mapping[str, Any],
    place: str,
    texts: Callable[[Path], Iterable[tuple[str, str]]],
    *,
    allowed: Collection[str] = (),
    progress: Callable[[int], None] | None = None,
) -> Engine:
    """The engine that a table of a specification describes.

    The kind "folder" has a path, "searxng" an url and a language, "elasticsearch" an url, index, field. The
    last two may have `seconds`, `attempts`, `per_second`, `size` and `patience` (see `Manners`), `plain` and
    `authorities` (see `Server`), `key_variable` or `key_file`, and `cache` with `cache_days`: a folder for
    their answers; without it none are kept.

    Args:
        given: the table.
        place: how errors call it.
        texts: the names and texts of the documents in a folder.
        allowed: kinds of `LEAKING` that the user has named beside the specification; the others are refused,
            so that no word leaves the machine because of a file alone.
        progress: called with the number of documents that are in the index of a folder.

    Raises:
        SpecError: a key is unknown, missing or of the wrong type, or the kind is not allowed.
        FileError: a file or folder that it names cannot be read, or others can read what is confidential.
        EngineError: the index of a folder cannot be built.
    """
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in _KEYS:
        raise SpecError(f"{place}: {kind!r} is not a kind of engine.", near(str(kind), KINDS))
    _check_keys(given, kind, place)
    if kind == "folder":
        path = Path(given["path"])
        return FolderIndex(texts(path), f"the folder {path}", progress)
    if kind not in allowed:
        raise SpecError(
            f"{place}: an engine of the kind {kind!r} sends words of confidential texts to its server.",
            f"Allow it by its name, {kind}, if these words may be known there and to all whom it asks.",
        )
    server = _server(given, kind, place)
    engine: Engine = (
        SearXNG(server, given.get("language", "all"))
        if kind == "searxng"
        else Elasticsearch(server, given["index"], given["field"])
    )
    return Cached(engine, Path(given["cache"]), given.get("cache_days", 30)) if "cache" in given else engine


def _check_keys(given: Mapping[str, Any], kind: str, place: str) -> None:
    known = _KEYS[kind]
    table_of(given, place).only(("kind", *known))
    for key in _NEEDED[kind]:
        if key not in given:
            raise SpecError(f"{place} lacks {key}.", _EXAMPLES[known[key]].format(key=key))
    for key, value in given.items():
        wanted = known.get(key, str)
        fits = isinstance(value, (int, float) if wanted is float else wanted)
        if not fits or (wanted is not bool and isinstance(value, bool)):
            raise SpecError(f"{place}: {key} is of the wrong type.", _EXAMPLES[wanted].format(key=key))
        if wanted is str and not value.strip():
            raise SpecError(f"{place}: {key} is empty.", "Give it a text, or leave it out.")
    if not given.get("cache_days", 1) > 0 or ("cache_days" in given and "cache" not in given):
        raise SpecError(f"{place}: cache_days does not fit.", "Give more than 0 days, and a folder as cache.")


def _server(given: Mapping[str, Any], kind: str, place: str) -> Server:
    if "key_variable" in given and "key_file" in given:
        raise SpecError(f"{place} names two keys.", "Keep key_variable or key_file.")
    key = None
    if "key_variable" in given:
        key = from_variable(given["key_variable"])
    elif "key_file" in given:
        key = from_file(Path(given["key_file"]))
    scheme = "ApiKey" if kind == "elasticsearch" else "Bearer"
    asked = {
        name: given[name]
        for name in ("seconds", "attempts", "per_second", "size", "patience")
        if name in given
    }
    try:
        return Server(
            given["url"],
            Manners(**asked),
            Authorization(scheme, key) if key else None,
            plain=given.get("plain", False),
            authorities=Path(given["authorities"]) if "authorities" in given else None,
        )
    except SpecError as problem:
        raise SpecError(f"{place}: {problem.what}", problem.hint) from None
