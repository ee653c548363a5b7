"""Whether the heads of ledger and audit log are stamped, and by whom: `[stamps]` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from commons.settings.bounds import Between
from commons.settings.marks import Length, UnfitError
from parties.servers import check_url


@dataclass(frozen=True, slots=True)
class StampSettings:
    """How often, and by which service. Without a service the ledger alone gets the audit log's head.

    Attributes:
        every: hours between two stamps, if the heads have changed.
        url: of a service of RFC 3161; https, or http to this machine; empty for none.
        ca: the certificates of the authorities by which the service's stamps are checked, PEM.
        seconds: how long the service may take.
    """

    every: Annotated[int, Between(1, 8760)] = 24
    url: Annotated[str, Length(0, 2000)] = ""
    ca: Path | None = None
    seconds: Annotated[int, Between(1, 300)] = 30

    def __post_init__(self) -> None:
        if self.url:
            check_url(self.url, "https://stamps.example/tsr")
        if self.url and self.ca is None:
            raise UnfitError(
                "ca",
                "is missing, and nothing else says whose stamps of the service are genuine",
                "Save the certificate of the service's authority as a PEM file, and name it.",
            )
        if self.ca is not None and not self.url:
            raise UnfitError("url", "is missing, and ca is of no use without", "Name the service, too.")

    @property
    def host(self) -> str:
        """The name of the service's host; empty for none."""
        return urlsplit(self.url).hostname or ""
