"""Servers that are asked over HTTP, politely and in bounded time and memory."""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import urllib3
from typing_extensions import override
from urllib3.exceptions import HTTPError, NameResolutionError, ProxyError, SSLError

from anonymizer.documents.engines.credentials import Secret
from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.engines.transport import Answer, TimeOutError, TooLargeError, Transport
from anonymizer.errors import FileError, SpecError

_PASSING: Final = frozenset({429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How a server is asked.

    Attributes:
        seconds: that one request may take in all, from the look-up of the name to the last byte; over 0.
        attempts: how often a request is sent before it counts as failed; 1 or more.
        per_second: how many requests are sent in a second at most; over 0.
        size: bytes that an answer may have; 1 or more.
        patience: seconds that are waited before another attempt at most; 0 or more.
    """

    seconds: float = 20.0
    attempts: int = 3
    per_second: float = 1.0
    size: int = 4 * 2**20
    patience: float = 60.0

    def __post_init__(self) -> None:
        if not (0 < self.seconds <= 3600 and 0 < self.per_second <= 1000 and 0 <= self.patience <= 3600):
            raise SpecError(
                f"A server cannot be asked {self.per_second:g} times a second, within {self.seconds:g} s "
                f"and with a patience of {self.patience:g} s.",
                "Give positive numbers, of at most 3,600 s and 1,000 requests a second.",
            )
        if not (1 <= self.attempts <= 100 and 1 <= self.size <= 2**30):
            raise SpecError(
                f"{self.attempts} attempts for answers of {self.size:,} bytes cannot be made.",
                "Give 1 to 100 attempts, and 1 byte to 1 GiB.",
            )


class Server:
    """A server that answers in JSON.

    Only one request is under way at a time. Certificates are always checked. Redirections are not followed,
    since they would carry the words to whom nobody named. Requests are sent as POST, so that words do not
    stand in addresses, which proxies and servers write down. The proxies of the environment (HTTPS_PROXY,
    NO_PROXY and so on) are used, and named in `reveal`; to this machine none is.

    Args:
        url: its address, with "https", or "http" to this machine.
        manners: how it is asked.
        authorization: what the header "Authorization" says; None for none. See `Authorization`.
        plain: whether "http" to another machine is allowed, so that everybody on the way can read the words.
        authorities: a file of certificates to trust instead of the system's.
        clock: monotonic seconds.
        sleep: waits so many seconds.

    Raises:
        SpecError: the address is not one, holds credentials, or is not encrypted although nobody declared it.
        FileError: the authorities cannot be read.
    """

    def __init__(
        self,
        url: str,
        manners: Manners | None = None,
        authorization: Authorization | None = None,
        *,
        plain: bool = False,
        authorities: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        scheme, host, loopback, self._base = _address(url, plain=plain)
        self.manners = manners or Manners()
        self._authorization = authorization
        self._clock, self._sleep = clock, sleep
        self._lock, self._next = threading.Lock(), 0.0
        try:
            self._transport = Transport(
                scheme, host, loopback=loopback, authorities=str(authorities) if authorities else None
            )
        except (HTTPError, ValueError):
            raise SpecError(
                f"The environment names a proxy for {self._base} that cannot be used.",
                "Correct HTTPS_PROXY or HTTP_PROXY; it is the address of a proxy for http.",
            ) from None
        except OSError as problem:  # an ssl.SSLError is one
            raise FileError(
                f"The certificates in {authorities} cannot be read: {type(problem).__name__}.",
                "Name a file of certificates in PEM.",
            ) from None
        proxy = self._transport.proxy
        self.shown = f"{self._base} by the proxy {proxy.hostname}" if proxy else self._base

    @override
    def __repr__(self) -> str:
        return f"Server({self.shown!r})"

    def ask(self, path: str, body: bytes, kind: str) -> Any:
        """What the server answers, as plain values of JSON that nobody has checked yet.

        Args:
            path: below its address, beginning with "/".
            body: what is sent.
            kind: its type, such as "application/json".

        Raises:
            EngineError: there is no answer, not in time, not of status 200, too large, or not in JSON.
        """
        failures = 0
        while True:
            with self._lock:
                self._sleep(max(self._next - self._clock(), 0.0))
                self._next = self._clock() + 1 / self.manners.per_second
                answer = self._send(path, body, kind)
            if isinstance(answer, Answer) and answer.status not in _PASSING:
                return self._read(answer)
            wait = self._wait(answer, failures)
            failures += 1
            if failures >= self.manners.attempts or wait > self.manners.patience:
                raise self._failure(answer, wait)
            self._sleep(wait)

    def _send(self, path: str, body: bytes, kind: str) -> Answer | EngineError:
        headers = {"Content-Type": kind, "User-Agent": "duetto"}
        if self._authorization:
            headers["Authorization"] = self._authorization.header()
        manners = self.manners
        try:
            return self._transport.post(self._base + path, body, headers, manners.seconds, manners.size)
        except TimeOutError:
            return EngineError(
                f"{self.shown} did not answer whole within {manners.seconds:g} s.",
                "Check that it runs, or give it more seconds.",
            )
        except TooLargeError:
            raise EngineError(
                f"{self.shown} answers with more than {manners.size:,} bytes.",
                "Check that a search engine stands there, or allow a larger size.",
            ) from None
        except SSLError:
            raise EngineError(
                f"The certificate of {self.shown} cannot be trusted.",
                "Correct its certificate, or name the file of its authority.",
            ) from None
        except ProxyError:
            return EngineError(
                f"The proxy before {self.shown} does not let requests through.",
                "Correct HTTPS_PROXY, HTTP_PROXY or NO_PROXY in the environment.",
            )
        except NameResolutionError:
            return EngineError(f"{self.shown} is not known by the look-up of names.", "Check its address.")
        except (HTTPError, OSError):  # what these say may hold the words; only their kind is passed on
            return EngineError(
                f"{self.shown} cannot be reached, or broke off amid its answer.",
                "Check its address, and that it runs and can be reached from here.",
            )

    def _wait(self, answer: Answer | EngineError, failures: int) -> float:
        """Seconds before another attempt: as the server asks, or twice as long each time."""
        if isinstance(answer, Answer) and "retry-after" in answer.headers:
            try:
                return float(urllib3.Retry().parse_retry_after(answer.headers["retry-after"]))
            except OverflowError:
                return math.inf
            except (HTTPError, ValueError):
                pass
        return min(2.0**failures, self.manners.patience)

    def _failure(self, answer: Answer | EngineError, wait: float) -> EngineError:
        if isinstance(answer, EngineError):
            return answer
        if answer.status == 429:
            what = f"{self.shown} was asked too often (status 429)"
            hint = "Ask it fewer times in a second, or later."
        else:
            what = f"{self.shown} failed (status {answer.status})"
            hint = "Look into its log, or try later."
        if wait > self.manners.patience:
            return EngineError(f"{what}, and asks to wait {wait:,.0f} s.", f"{hint} Or allow more patience.")
        return EngineError(f"{what}, {self.manners.attempts} times.", hint)

    def _read(self, answer: Answer) -> Any:
        status = answer.status
        if 300 <= status < 400:
            to = re.match(
                r"(?:https?:)?//([A-Za-z0-9.-]{1,253})(?![^:/?#])", answer.headers.get("location", "")
            )
            where = f"to {to[1]}" if to else "elsewhere"
            raise EngineError(
                f"{self.shown} redirects {where}, which is not followed.",
                "Give the address of the server itself, if the words may be sent there.",
            )
        if status in {401, 403}:
            raise EngineError(
                f"{self.shown} does not allow the search (status {status}).",
                "Give its key; a SearXNG must also have json below search: formats: in its settings.yml.",
            )
        if status != 200:
            raise EngineError(
                f"{self.shown} answers with status {status}.",
                "Check its address, its kind, and the index that is named.",
            )
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise EngineError(
                f"{self.shown} compresses its answer, which nobody asked for.", "Switch that off there."
            )
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            raise EngineError(
                f"{self.shown} does not answer in JSON.",
                "Check its address; a page for people, such as for a login, may stand before it.",
            ) from None


class Authorization:
    """The header "Authorization" of requests.

    Args:
        scheme: its first word, such as "ApiKey" or "Bearer".
        key: the credential.
    """

    __slots__ = ("_key", "_scheme")

    def __init__(self, scheme: str, key: Secret) -> None:
        self._scheme, self._key = scheme, key

    def header(self) -> str:
        """What is sent."""
        return f"{self._scheme} {self._key.reveal()}"


def _address(url: str, *, plain: bool) -> tuple[str, str, bool, str]:
    """The scheme and host of an address, whether it is this machine, and the address as it is used."""
    hint = 'Write, for example, "https://search.example.org".'
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise SpecError("The address of the server is not valid.", hint) from None
    if "@" in parts.netloc:
        raise SpecError(
            f"The address of the server {host} holds credentials.",
            "Leave them out, and name the environment variable or the file that holds the key.",
        )
    if parts.scheme not in {"http", "https"} or not re.fullmatch(r"[A-Za-z0-9.:_-]+", host):
        raise SpecError("The address of the server is not one of the web.", hint)
    if parts.query or parts.fragment or not re.fullmatch(r"[!-~]*", parts.path):
        raise SpecError(f"The address of the server {host} goes beyond a path.", hint)
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if parts.scheme == "http" and not (loopback or plain):
        raise SpecError(
            f"Words would be sent to {host} without encryption.",
            "Use https, or declare plain = true if the way to it is safe by other means.",
        )
    named = f"[{host}]" if ":" in host else host
    at = f"{parts.scheme}://{named}" + (f":{port}" if port else "") + parts.path.rstrip("/")
    return parts.scheme, host, loopback, at
