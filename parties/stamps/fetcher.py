"""The process that asks for one stamp; see `parties.stamps.fetching`, which starts and ends it.

It reads the task from its standard input, and writes the answer, or why there is none, to standard output.
"""

from __future__ import annotations

import json
import sys
from http.client import HTTPException
from typing import Final
from urllib.parse import urlsplit

from parties.errors import StampError
from parties.posting import bound_this_process, connection_words, post_body, status_words
from parties.stamps.tokens import MAX_ANSWER

ASKED: Final = "application/timestamp-query"
ANSWERED: Final = "application/timestamp-reply"
_HINT: Final = "Look at what the service publishes about its address."


def ask(address: str, request: bytes, seconds: float) -> bytes:
    """Send the request. Redirects are not followed, and of the answer `MAX_ANSWER` bytes are read at most.

    Raises:
        StampError: the answer is not one of a service of time stamps.
    """
    host = urlsplit(address).hostname
    try:
        with post_body(address, request, {"Content-Type": ASKED, "Accept": ANSWERED}, seconds) as answer:
            if answer.status != 200:
                raise StampError(f"{host} {status_words(answer.status)}", _HINT)
            if answer.headers.get_content_type() != ANSWERED:
                raise StampError(f"{host} answered with something else than a time stamp.", _HINT)
            data = answer.read(MAX_ANSWER + 1)
    except HTTPException as problem:
        raise StampError(f"{host} does not speak HTTP ({type(problem).__name__}).", _HINT) from None
    if len(data) > MAX_ANSWER:
        raise StampError(f"The answer of {host} is longer than {MAX_ANSWER} bytes.", _HINT)
    return data


def main() -> int:
    """Do the task on standard input; 0 if it is done."""
    task = json.load(sys.stdin.buffer)
    bound_this_process(task["seconds"])
    try:
        said = ask(task["url"], bytes.fromhex(task["request"]), task["seconds"])
    except StampError as error:
        sys.stdout.write(error.what)
    except OSError as problem:
        sys.stdout.write(connection_words(problem))
    else:
        sys.stdout.buffer.write(said)
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
