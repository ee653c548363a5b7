"""Code that has made a release and is not of this program: whose it is, and which bytes."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self

from typing_extensions import override

from anonymizer.releases.guarantee import strict

_HERE: Final = __name__.partition(".")[0]
_MADE_BY_INSTALLERS: Final = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})


@dataclass(frozen=True, slots=True)
class ForeignCode:
    """A program that is not of duetto.

    Attributes:
        name: of the distribution as it was installed; of the module where none was.
        version: of the distribution; "" where none was installed.
        sha256: of its files, see `digest_of_files`; of the file of the module where none was
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


def own_files(installed: Distribution) -> tuple[str, ...]:
    """The files of a distribution that everybody has who installs it, sorted: paths with slashes."""
    files = (PurePosixPath(str(one).replace("\\", "/")) for one in installed.files or ())
    return tuple(
        sorted(
            str(one)
            for one in files
            if ".." not in one.parts
            and "__pycache__" not in one.parts
            and not (one.parts[0].endswith(".dist-info") and one.name in _MADE_BY_INSTALLERS)
        )
    )


def digest_of_files(installed: Distribution) -> str:
    """SHA-256 of the files of a distribution as they lie on the disk, in hexadecimal.

    It is that of the lines `<SHA-256 of the file>  <path>`, sorted by path, as `sha256sum` prints them.
    Commands that the installer writes, compiled code and the installer's notes do not count.
    """
    whole = hashlib.sha256()
    for name in own_files(installed):
        place = Path(str(installed.locate_file(name)))
        content = place.read_bytes() if place.is_file() else b""
        whole.update(f"{hashlib.sha256(content).hexdigest()}  {name}\n".encode())
    return whole.hexdigest()


def code_of_distribution(installed: Distribution) -> ForeignCode:
    """A distribution as it is installed."""
    return ForeignCode(installed.metadata["Name"], installed.version, digest_of_files(installed))


def holds(installed: Distribution, place: Path) -> bool:
    """Whether a file is one of a distribution."""
    names = own_files(installed)
    return any(Path(str(installed.locate_file(name))).resolve() == place.resolve() for name in names)


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
