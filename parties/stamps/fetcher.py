"""The process that asks for one stamp; see `parties.stamps.fetching`, which starts and ends it.

It reads the task from its standard input, and writes the answer, or why there is none, to standard output.
"""

from __future__ import annotations

import json
import resource
import signal
import ssl
import sys
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

from parties.errors import StampError
from parties.stamps.tokens import MAX_ANSWER

ASKED: Final = "application/timestamp-query"
ANSWERED: Final = "application/timestamp-reply"
_MEMORY: Final = 512 << 20
_HINT: Final = "Look at what the service publishes about its address."


def ask(address: str, request: bytes, seconds: float) -> bytes:
    """Send the request. Redirects are not followed, and of the answer `MAX_ANSWER` bytes are read at most.

    Raises:
        StampError: the answer is not one of a service of time stamps.
    """
    url = urlsplit(address)
    host, path = str(url.hostname), url.path or "/"
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = kind(host, url.port, timeout=seconds)
    headers = {"Content-Type": ASKED, "Accept": ANSWERED, "User-Agent": "duetto", "Connection": "close"}
    try:
        connection.request("POST", f"{path}?{url.query}" if url.query else path, request, headers)
        answer = connection.getresponse()
        if answer.status != 200:
            also = "; redirects are not followed" if 300 <= answer.status < 400 else ""
            raise StampError(f"{host} answered with status {answer.status}{also}.", _HINT)
        if answer.headers.get_content_type() != ANSWERED:
            raise StampError(f"{host} answered with something else than a time stamp.", _HINT)
        data = answer.read(MAX_ANSWER + 1)
    except HTTPException as problem:
        raise StampError(f"{host} does not speak HTTP ({type(problem).__name__}).", _HINT) from None
    finally:
        connection.close()
    if len(data) > MAX_ANSWER:
        raise StampError(f"The answer of {host} is longer than {MAX_ANSWER} bytes.", _HINT)
    return data


def main() -> int:
    """Do the task on standard input; 0 if it is done."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    task = json.load(sys.stdin.buffer)
    signal.alarm(task["seconds"] + 5)  # also where nobody is left to end it
    try:
        said = ask(task["url"], bytes.fromhex(task["request"]), task["seconds"])
    except StampError as error:
        sys.stdout.write(error.what)
    except ssl.SSLError as problem:
        sys.stdout.write(f"TLS fails: {problem.reason or type(problem).__name__}.")
    except OSError as problem:
        sys.stdout.write(f"No connection: {problem.strerror or problem or type(problem).__name__}.")
    else:
        sys.stdout.buffer.write(said)
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
