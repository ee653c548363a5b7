"""Credentials of servers: from an environment variable or a file, and never shown."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from typing_extensions import override

from anonymizer.errors import FileError, SpecError

_LONGEST: Final = 4096
_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")


class Secret:
    """A key that is sent to a server and otherwise stays here: not in a repr, message or specification."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    @override
    def __repr__(self) -> str:
        return "Secret(...)"

    def reveal(self) -> str:
        """The key itself, for the header of a request alone."""
        return self._text


def from_variable(name: str) -> Secret:
    """The key in an environment variable.

    Raises:
        SpecError: there is none of the name, or it does not hold a key.
    """
    if name not in os.environ:
        raise SpecError(f"The environment has no variable {name}.", f"Set it: export {name}=...")
    return _check_key(os.environ[name], f"The environment variable {name}")


def from_file(path: Path) -> Secret:
    """The key in a file that only its owner can read.

    Raises:
        FileError: it cannot be read, or others can read it too.
        SpecError: it does not hold a key.
    """
    try:
        with path.open("rb") as opened:
            if os.fstat(opened.fileno()).st_mode & 0o077:
                raise FileError(f"Others can read the key in {path}.", f"Close it: chmod 600 {path}")
            text = opened.read(_LONGEST + 1)
    except OSError as problem:
        raise FileError(f"{path} cannot be read: {type(problem).__name__}.", "Check the path.") from None
    return _check_key(text.decode("latin-1"), str(path))


def _check_key(text: str, place: str) -> Secret:
    key = text.strip()
    if not _VISIBLE.fullmatch(key) or len(key) > _LONGEST:
        raise SpecError(
            f"{place} does not hold a key.",
            f"Write it in one line of at most {_LONGEST} visible characters of ASCII, without blanks.",
        )
    return Secret(key)
