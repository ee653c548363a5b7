"""Code that has made a release and is not of this program: whose it is, and which bytes."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from typing import Any, Final, Self

from typing_extensions import override

from anonymizer.releases.guarantee import strict
from commons.plugins import digest_of, installed_files

_HERE: Final = __name__.partition(".")[0]


@dataclass(frozen=True, slots=True)
class ForeignCode:
    """A program that is not of duetto.

    Attributes:
        name: of the distribution as it was installed; of the module where none was.
        version: of the distribution; "" where none was installed.
        sha256: of its files, see `commons.plugins.digest_of`; of the file of the module where none was
            installed, and "" if it has none, such as in a notebook.
    """

    name: str
    version: str
    sha256: str

    @override
    def __str__(self) -> str:
        return f"{self.name} {self.version or 'without a version'}"

    def to_mapping(self) -> dict[str, str]:
        """The same as plain values."""
        return {"name": self.name, "version": self.version, "sha256": self.sha256}

    @classmethod
    def from_mapping(cls, given: Any) -> Self:
        """Read what `to_mapping` has written.

        Raises:
            FileError: a key is unknown or missing, or a value is not a text.
        """
        strict(given, _TYPES, "code")
        return cls(**given)


_TYPES: Final[Mapping[str, Any]] = {"name": str, "version": str, "sha256": str}


def code_of_distribution(installed: Distribution) -> ForeignCode:
    """A distribution as it is installed."""
    return ForeignCode(installed.metadata["Name"], installed.version, digest_of(installed_files(installed)))


def holds(installed: Distribution, place: Path) -> bool:
    """Whether a file is one of a distribution."""
    return place.resolve() in {path.resolve() for path in installed_files(installed).values()}


def code_of(kind: type) -> ForeignCode | None:
    """The code that a class is of; None if it is of this program."""
    return _code_of_module(kind.__module__)


@cache
def _code_of_module(name: str) -> ForeignCode | None:
    top = name.partition(".")[0]
    if top == _HERE:
        return None
    file = getattr(sys.modules.get(name), "__file__", None)
    place = Path(file) if file else None
    if place is None or not place.is_file():
        return ForeignCode(name, "", "")
    for installed in _distributions(packages_distributions().get(top, ())):
        if holds(installed, place):
            return code_of_distribution(installed)
    return ForeignCode(name, "", hashlib.sha256(place.read_bytes()).hexdigest())


def _distributions(names: Iterable[str]) -> Iterable[Distribution]:
    for name in dict.fromkeys(names):
        try:
            yield distribution(name)
        except PackageNotFoundError:
            continue
