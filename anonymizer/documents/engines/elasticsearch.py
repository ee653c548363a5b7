"""Elasticsearch (and OpenSearch, whose searches read the same): an index of an institution's own."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from anonymizer.documents.engines.engine import RESULTS, EngineError, Hit
from anonymizer.documents.engines.http import Server
from anonymizer.documents.engines.received import member, plain, printable_name
from anonymizer.errors import SpecError

_INDEX: Final = re.compile(r"(?!\.+$)[a-z0-9.][a-z0-9._-]{0,254}")


class Elasticsearch:
    """One index and one field of it.

    Args:
        server: where it is.
        index: its name, or an alias.
        field: that holds the texts; parts with dots are objects in objects.

    Raises:
        SpecError: the names are not valid.
    """

    leaks: Final = True

    def __init__(self, server: Server, index: str, field: str) -> None:
        if not _INDEX.fullmatch(index):
            raise SpecError(
                f"{index!r} is not a valid name of an index.",
                "Give one index or alias, in small letters, digits and . _ - alone.",
            )
        if not field or "*" in field or not field.isprintable():
            raise SpecError(f"{field!r} is not a valid name of a field.", "Give one field that holds texts.")
        self._server, self._index, self._field = server, index, field
        self.name = f"the field {field} of the index {index} at {server.shown}"

    @property
    def digest(self) -> str:
        """Its name: nobody knows all that it searches."""
        return self.name

    def search(self, keywords: tuple[str, ...], limit: int = RESULTS) -> tuple[Hit, ...]:
        """The first documents that hold all keywords, best first.

        Args:
            keywords: each is searched as a phrase; how words compare is what the index's analyzer says.
            limit: at most so many hits.

        Raises:
            EngineError: there is no answer that can be used, or parts of the index were left out of it.
        """
        words = [word for word in keywords if any(map(str.isalnum, word))]
        if not words:
            return ()
        # A keyword that the analyzer drops, such as a stop word, must not empty the search.
        phrases = [
            {"match_phrase": {self._field: {"query": word, "zero_terms_query": "all"}}} for word in words
        ]
        query = {
            "size": limit,
            "_source": [self._field],
            "track_total_hits": False,
            "query": {"bool": {"must": phrases}},
        }
        answer = self._server.ask(
            f"/{self._index}/_search", json.dumps(query).encode("ascii"), "application/json"
        )
        shown = self._server.shown
        failed = member(member(answer, "_shards", dict, shown), "failed", int, shown)
        if member(answer, "timed_out", bool, shown) or failed:
            raise EngineError(
                f"{shown} searched a part of the index {self._index} alone.",
                "Look into its log, and search again when all shards answer.",
            )
        hits = member(member(answer, "hits", dict, shown), "hits", list, shown)
        return tuple(self._hit(one) for one in hits[:limit])

    def _hit(self, given: Any) -> Hit:
        shown = self._server.shown
        name = printable_name(member(given, "_id", str, shown))
        texts = _texts(given.get("_source"), self._field.split("."))
        if not texts:
            raise EngineError(
                f"{shown} finds the document {name}, but shows no text of its field {self._field}.",
                "Name the field whose texts are stored, and let _source be kept in the index.",
            )
        return Hit(f"{self._index}/{name}", "\n".join(map(plain, texts)))


def _texts(given: Any, path: list[str]) -> list[str]:
    """All texts at a path into objects, whose steps may hold lists, and whose names may hold the dots."""
    if isinstance(given, list):
        return [text for one in given for text in _texts(one, path)]
    if not path:
        return [given] if isinstance(given, str) else []
    if not isinstance(given, dict):
        return []
    return [
        text
        for taken in range(1, len(path) + 1)
        if (key := ".".join(path[:taken])) in given
        for text in _texts(given[key], path[taken:])
    ]
