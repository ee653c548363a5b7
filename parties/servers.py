"""Addresses of servers that the configuration names."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from commons.settings.marks import UnfitError


def check_url(url: str, example: str) -> None:
    """Check an address: https, or http to this machine; no account in it, and no fragment.

    Args:
        url: the address.
        example: one that would be right, for the hint.

    Raises:
        UnfitError: it is another.
    """
    hint = f"Write it as {example}; http is for localhost alone."
    try:
        found = urlsplit(url)
        port = found.port
    except ValueError:
        raise UnfitError("url", "is not valid", hint) from None
    if (
        found.scheme not in {"https", "http"}
        or not found.hostname
        or found.username is not None
        or found.fragment
        or port == 0
        or not url.isascii()
        or not url.isprintable()
        or " " in url
    ):
        raise UnfitError("url", "is not valid", hint)
    if found.scheme == "http" and not is_loopback(found.hostname):
        raise UnfitError("url", f"has no TLS, and {found.hostname} is another machine", hint)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
