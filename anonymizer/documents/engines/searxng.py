"""SearXNG, which asks the engines of the web."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlencode

from anonymizer.documents.engines.engine import RESULTS, EngineError, Hit
from anonymizer.documents.engines.http import Server
from anonymizer.documents.engines.received import member, plain, printable_name

_SYNTAX: Final = re.compile(r"[^\w.,'’・-]+|(?<!\w)[.,'’-]+|[.,'’-]+(?!\w)")
"""What may be an operator to SearXNG or to an engine behind it, such as "!" and a hyphen before a word."""


class SearXNG:
    """The web, by a server of SearXNG that answers in JSON (`formats: [html, json]` in its settings).

    A hit has the title and the extract that the engines show, not the whole page; so a risk that stands only
    further down in a page is not seen.

    Args:
        server: where it is.
        language: of the search, such as "en" or "ja"; "all" for any.
    """

    leaks: Final = True

    def __init__(self, server: Server, language: str = "all") -> None:
        self._server = server
        self._language = language
        self.name = f"the web by SearXNG at {server.shown} in language {language}"

    @property
    def digest(self) -> str:
        """Its name: nobody knows all that it searches."""
        return self.name

    def search(self, keywords: tuple[str, ...], limit: int = RESULTS) -> tuple[Hit, ...]:
        """The first pages that the engines find, best first, from the first page of results.

        Args:
            keywords: each is searched as a phrase.
            limit: at most so many hits.

        Raises:
            EngineError: there is no answer that can be used, or no engine behind the server answered it.
        """
        phrases = [f'"{phrase}"' for keyword in keywords if (phrase := _phrase(keyword))]
        if not phrases:
            return ()
        query = {"q": " ".join(phrases), "format": "json", "language": self._language, "pageno": "1"}
        answer = self._server.ask("/search", urlencode(query).encode(), "application/x-www-form-urlencoded")
        results = member(answer, "results", list, self._server.shown)
        if not results and isinstance(answer, dict) and answer.get("unresponsive_engines"):
            raise EngineError(
                f"The engines behind {self._server.shown} do not answer, so that nothing was searched.",
                "Look into its statistics which of them are blocked, and switch on others.",
            )
        return tuple(self._hit(one) for one in results[:limit])

    def _hit(self, given: Any) -> Hit:
        shown = self._server.shown
        address, title = (
            printable_name(member(given, "url", str, shown)),
            plain(member(given, "title", str, shown)),
        )
        extract = plain(member(given, "content", str, shown)) if given.get("content") is not None else ""
        return Hit(address, f"{title}\n{extract}")


def _phrase(keyword: str) -> str:
    return " ".join(_SYNTAX.sub(" ", keyword).split())
