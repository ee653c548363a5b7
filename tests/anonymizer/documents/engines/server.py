"""A search server on loopback that speaks as SearXNG and Elasticsearch do, and misbehaves on demand."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

DRIP = 0.05
LONGEST = 5.0
"""Seconds after which any misbehaviour stops by itself."""


class SearchServer:
    """Serves `documents` (names to texts) until the end of the block.

    Attributes:
        faults: what the next requests meet, first one first: a status, (status, headers), a body as bytes, or
            a word of `_Handler.misbehave`; with none left, requests are answered.
        asked: the requests so far, each as (path, headers, body, time).
    """

    def __init__(self, documents, faults=(), tls=None):
        self.documents, self.faults, self.asked = dict(documents), list(faults), []
        self.web = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"of": self}))
        self.web.daemon_threads = True
        self.web.block_on_close = False
        self.web.handle_error = lambda *_: None
        if tls is not None:
            self.web.socket = tls.wrap_socket(self.web.socket, server_side=True)
        self.thread = threading.Thread(target=self.web.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.web.server_port}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.web.shutdown()
        self.thread.join(LONGEST)
        self.web.server_close()

    def found(self, phrases):
        phrases = [phrase.casefold() for phrase in phrases]
        return [name for name, text in self.documents.items() if all(p in text.casefold() for p in phrases)]


class _Handler(BaseHTTPRequestHandler):
    of: SearchServer
    protocol_version = "HTTP/1.1"
    timeout = LONGEST

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.of.asked.append((self.path, dict(self.headers), body, time.monotonic()))
        fault = self.of.faults.pop(0) if self.of.faults else None
        if isinstance(fault, str):
            self.close_connection = True
            self.misbehave(fault)
        elif isinstance(fault, bytes):
            self.answer(200, fault)
        elif isinstance(fault, int):
            self.answer(fault, b"a page for people")
        elif fault is not None:
            self.answer(fault[0], b"{}", fault[1])
        elif self.path == "/search":
            self.searxng(parse_qs(body.decode("ascii")))
        else:
            self.elasticsearch(json.loads(body))

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def searxng(self, form):
        """https://docs.searxng.org/dev/search_api.html, as its versions of 2024 and 2025 answer."""
        if form["format"] != ["json"]:
            self.answer(403, b"")
            return
        query = form["q"][0]
        results = [
            {
                "url": f"https://example.org/{name}",
                "title": f"<b>{name}</b>",
                "content": self.of.documents[name],
                "engine": "one",
                "parsed_url": ["https", "example.org", f"/{name}", "", "", ""],
                "score": 1.0,
                "category": "general",
            }
            for name in self.of.found(query.strip('"').split('" "'))
        ]
        whole = {
            "query": query,
            "number_of_results": 0,
            "results": results,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [],
        }
        self.answer(200, json.dumps(whole).encode(), {"Content-Type": "application/json"})

    def elasticsearch(self, query):
        """`_search` of version 8, for bool/must of match_phrase."""
        phrases = [
            next(iter(one["match_phrase"].values()))["query"] for one in query["query"]["bool"]["must"]
        ]
        index = self.path.split("/")[1]
        hits = [
            {"_index": index, "_id": name, "_score": 1.0, "_source": {"body": self.of.documents[name]}}
            for name in self.of.found(phrases)[: query["size"]]
        ]
        whole = {
            "took": 1,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {"max_score": 1.0, "hits": hits},
        }
        self.answer(200, json.dumps(whole).encode(), {"Content-Type": "application/json"})

    def misbehave(self, how):
        end = time.monotonic() + LONGEST

        def drip(parts):
            for part in parts:
                if time.monotonic() > end:
                    return
                self.wfile.write(part)
                self.wfile.flush()
                time.sleep(DRIP)

        def forever(part):
            while True:
                yield part

        head = b"HTTP/1.1 200 OK\r\n"
        if how == "hang":
            time.sleep(LONGEST)
        elif how == "close":
            pass
        elif how == "noise":
            self.wfile.write(b"\x00\xff not HTTP at all\r\n\r\n")
        elif how == "truncated":
            self.wfile.write(head + b'Content-Length: 5000\r\n\r\n{"results": [')
        elif how == "cut chunk":
            self.wfile.write(head + b'Transfer-Encoding: chunked\r\n\r\nff\r\n{"results": [')
        elif how == "drip headers":
            self.wfile.write(head)
            drip(b"X-%d: a\r\n" % n for n in range(10_000))
        elif how == "drip one header":
            self.wfile.write(head + b"X: ")
            drip(forever(b"a"))
        elif how == "drip body":
            self.wfile.write(head + b"Content-Length: 100000\r\n\r\n")
            drip(forever(b" "))
        elif how == "continue":
            drip(forever(b"HTTP/1.1 100 Continue\r\n\r\n"))
        elif how == "endless":
            self.wfile.write(head + b"\r\n")
            while time.monotonic() < end:
                self.wfile.write(b" " * 65_536)
        elif how == "endless chunk":
            self.wfile.write(head + b"Transfer-Encoding: chunked\r\n\r\n")
            while time.monotonic() < end:
                self.wfile.write(b"0" * 65_536)
        else:
            raise ValueError(how)
