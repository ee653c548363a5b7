"""The certificates of a time stamp in the order that DER asks for.

Services that run on OpenSSL put the signer's certificate first and its issuers behind, and `rfc3161-client`
refuses a set in another order than DER's. The set is not signed, and means the same in any order; nothing
else of an answer is touched, and its length stays.

Reference: RFC 5652, section 5.1 (certificates of signed data); X.690, section 11.6 (order of a SET OF).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_SEQUENCE: Final = (0, 16)
_FIRST_TAGGED: Final = (2, 0)
"""Class and tag of `[0]`: the content of a token, and the certificates of signed data."""

_PATH: Final = ((1, _SEQUENCE), (1, _FIRST_TAGGED), (0, _SEQUENCE))
"""From an answer to its signed data: the token behind the status, its content, and that of the tag."""


def in_order(answer: bytes) -> bytes:
    """The same answer with its certificates in order; as it is if they are, or if it has none.

    Args:
        answer: of the service, DER.

    Raises:
        ValueError: it is not DER.
    """
    start, end = _inner(answer, 0, len(answer), _SEQUENCE)
    for place, kind in _PATH:
        found = [*_elements(answer, start, end)]
        if place >= len(found):
            return answer
        start, end = _inner(answer, *found[place], kind)
    for first, last in _elements(answer, start, end):
        if _kind(answer, first, last)[0] == _FIRST_TAGGED:
            inside, stop = _inner(answer, first, last, _FIRST_TAGGED)
            members = sorted(answer[one:two] for one, two in _elements(answer, inside, stop))
            return answer[:inside] + b"".join(members) + answer[stop:]
    return answer


def _elements(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the elements between two places begin and end."""
    while start < end:
        _, _, stop = _kind(data, start, end)
        yield start, stop
        start = stop


def _inner(data: bytes, start: int, end: int, kind: tuple[int, int]) -> tuple[int, int]:
    """Where the content of an element begins and ends."""
    found, inside, stop = _kind(data, start, end)
    if found != kind:
        raise ValueError("an element of another kind")
    return inside, stop


def _kind(data: bytes, start: int, end: int) -> tuple[tuple[int, int], int, int]:
    """Class and tag of an element, where its content begins, and where it ends."""
    from asn1crypto import parser

    kind, _, tag, header, content, trailer = parser.parse(data[start:end])
    inside = start + len(header)
    if trailer:
        raise ValueError("of indefinite length, which DER has not")
    return (kind, tag), inside, inside + len(content)
