"""Plug-ins: what installed distributions offer by entry points, loaded by name, with the files that it is of.

Nothing is loaded because it is installed: somebody has to name the distribution. What is loaded has to lie
among the files that the distribution was installed with, since who uses it states which code ran.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from sys import modules
from typing import Any, Final, Generic, TypeVar

from commons.errors import HintedError

T = TypeVar("T")

_MADE_BY_INSTALLERS: Final = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})


@dataclass(frozen=True, slots=True)
class PluginKind:
    """What plug-ins offer, and the words in which one that cannot be used is refused.

    Attributes:
        group: of entry points; each is named as what it offers is.
        one: what an entry point offers, with its article, such as "a method".
        many: the same in the plural.
        place: where plug-ins are named, such as "[plugins]".
        unlike: what an object is that is not one, such as "not a method of the anonymizer".
        needs: what its author has to do then, a sentence.
        record: who has to say which code ran, such as "certificates have".
        error: raised of all that is wrong.
    """

    group: str
    one: str
    many: str
    place: str
    unlike: str
    needs: str
    record: str
    error: type[HintedError]

    @property
    def noun(self) -> str:
        """`one` without its article."""
        return self.one.partition(" ")[2]

    def offers(self, name: str) -> Offers:
        """Find a distribution that offers some; no code of it is loaded.

        Args:
            name: of the distribution, as it is called where it is installed.

        Raises:
            HintedError: of the type `error`: it is not installed, offers none, or was installed without its
                code, such as in editable form.
        """
        try:
            installed = distribution(name)
        except (PackageNotFoundError, ValueError):
            raise self.error(
                f"The plug-in {name!r} is not installed.",
                f"Install it for this Python (pip install {name}), or take it out of {self.place}.",
            ) from None
        points = [point for point in installed.entry_points if point.group == self.group]
        if not points:
            raise self.error(
                f"{name} offers no {self.many}.",
                f"Take it out of {self.place}; a plug-in has entry points in the group {self.group!r}.",
            )
        self.claim({}, name, (point.name for point in points))
        code = {listed: path for listed, path in installed_files(installed).items() if listed.endswith(".py")}
        if not code:
            raise self.error(
                f"{name} is installed without its code, such as in editable form.",
                f"Install it as a regular package: {self.record} to say which code ran.",
            )
        if gone := [listed for listed, path in code.items() if not path.is_file()]:
            raise self.error(
                f"{name} is installed without its file {gone[0]}.",
                f"Install it again: pip install --force-reinstall {name}.",
            )
        return Offers(self, name, installed, {point.name: point for point in points}, code)

    def claim(self, owners: MutableMapping[str, str], name: str, wanted: Iterable[str]) -> None:
        """Note that a distribution offers something, of which there can be one.

        Args:
            owners: who offers what so far; gets the new ones.
            name: of the distribution.
            wanted: what it offers.

        Raises:
            HintedError: of the type `error`: there is one of that name already.
        """
        for each in wanted:
            if each in owners:
                raise self.error(
                    f"{name} offers {self.one} {each!r}, which {owners[each]} has already.",
                    f"Take {name} out of {self.place}, or ask its author for another name.",
                )
            owners[each] = name


@dataclass(frozen=True, slots=True)
class Declared(Generic[T]):
    """What an entry point led to.

    Attributes:
        value: what is made of it.
        name: by which it calls itself.
        author: the class that it is of.
    """

    value: T
    name: Any
    author: type


@dataclass(frozen=True, slots=True)
class Offers:
    """A distribution that offers something.

    Attributes:
        kind: what it offers.
        name: by which it was asked for.
        installed: the distribution.
        points: the entry points by name.
        code: its Python files on the disk, by their names in the distribution, sorted.
    """

    kind: PluginKind
    name: str
    installed: Distribution
    points: Mapping[str, EntryPoint]
    code: Mapping[str, Path]

    def load(self, offered: str, read: Callable[[Any], Declared[T] | None]) -> T:
        """Load what an entry point names.

        Args:
            offered: the name of the entry point.
            read: makes something of the object; None if it is not of the kind.

        Raises:
            HintedError: of the type `kind.error`: it cannot be loaded, is not of the kind or has another name
                than its entry point; or its code is not among the files of the distribution.
        """
        kind, name, point = self.kind, self.name, self.points[offered]
        try:
            found = read(point.load())
        except (Exception, SystemExit) as problem:
            raise kind.error(
                f"The {kind.noun} {offered!r} of {name} cannot be loaded: "
                f"{type(problem).__name__}: {problem}",
                f"Install what it needs, write to its author, or take {name} out of {kind.place}.",
            ) from problem
        if found is None:
            raise kind.error(f"{point.value} of {name} is {kind.unlike}.", kind.needs)
        if found.name != offered:
            raise kind.error(
                f"The {kind.noun} that {name} offers as {offered!r} is named {found.name!r}.",
                "Its author has to give both the same name.",
            )
        places = {path.resolve() for path in self.code.values()}
        for module in (point.module, found.author.__module__):
            file = getattr(modules.get(module), "__file__", None)
            if file is None or Path(file).resolve() not in places:
                raise kind.error(
                    f"The code of the {kind.noun} {offered!r}, {module}, is not among the files that {name} "
                    "was installed with, such as in editable form.",
                    f"Install {name} as a regular package: {kind.record} to say which code ran.",
                )
        return found.value


def installed_files(installed: Distribution) -> Mapping[str, Path]:
    """The files of a distribution that everybody has who installs it, by name, sorted; one may be gone.

    Names are paths with slashes. Commands that the installer writes, compiled code and the installer's notes
    do not count.
    """
    # Newer Pythons, and older ones once a library has brought theirs, leave out of `files` what is gone.
    record = installed.read_text("RECORD")
    rows = [str(one) for one in installed.files or ()] if record is None else _first_cells(record)
    paths = (PurePosixPath(row.replace("\\", "/")) for row in rows)
    names = sorted(
        str(path)
        for path in paths
        if ".." not in path.parts
        and "__pycache__" not in path.parts
        and not (path.parts[0].endswith(".dist-info") and path.name in _MADE_BY_INSTALLERS)
    )
    return {name: Path(str(installed.locate_file(name))) for name in names}


def _first_cells(record: str) -> list[str]:
    return [row[0] for row in csv.reader(record.splitlines()) if row and row[0]]


def digest_of(files: Mapping[str, Path]) -> str:
    """SHA-256 of files as they lie on the disk, in hexadecimal; what is gone counts as empty.

    It is that of the lines `<SHA-256 of the file>  <name>`, in their order, as `sha256sum` prints them.
    """
    whole = hashlib.sha256()
    for name, path in files.items():
        content = path.read_bytes() if path.is_file() else b""
        whole.update(f"{hashlib.sha256(content).hexdigest()}  {name}\n".encode())
    return whole.hexdigest()
