"""A few pages, and engines that ask a server for them."""

from __future__ import annotations

import pytest

from anonymizer.documents.engines.elasticsearch import Elasticsearch
from anonymizer.documents.engines.http import Manners, Server
from anonymizer.documents.engines.searxng import SearXNG

WEB = {
    "a": "A plane accident at <em>Larnaca</em> &amp; Nicosia",
    "b": "Larnaca is a town by the sea",
    "c": "東京都の中学校の事故",
}
QUICK = Manners(seconds=5, attempts=1, per_second=1000)


def engine(kind, web, manners=QUICK, **named):
    server = Server(web.url, manners, **named)
    return SearXNG(server) if kind == "searxng" else Elasticsearch(server, "news", "body")


KINDS = pytest.mark.parametrize("kind", ["searxng", "elasticsearch"])
