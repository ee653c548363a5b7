"""The exceptions of the anonymizer, one tree.

    AnonymizerError
      RoleError         a role names a column that is not there, or two roles claim one
      HierarchyError    a hierarchy is malformed, or does not cover a value
      TableError        the table does not hold what a method needs
      SpecError         the text of a specification
      UnreachableError  no release fulfils what was asked
      FileError         a file that cannot be read or written

Each carries what happened, naming column and value where that helps, and a `mend`: what to do about it. The
values named are those of the steward's own table, on the steward's own machine.
"""

from __future__ import annotations

from typing import ClassVar


class AnonymizerError(Exception):
    """Root of all errors that users can cause.

    Args:
        what: what happened and where, one sentence.
        mend: what the reader can do about it, one sentence; may be empty.
    """

    code: ClassVar[str] = "anonymizer"

    def __init__(self, what: str, mend: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.what} {self.mend}".strip()


class RoleError(AnonymizerError):
    """A role names a column that is not there, or two roles claim one column; correct the roles."""

    code = "roles"


class HierarchyError(AnonymizerError):
    """A hierarchy is malformed or does not cover a value; correct or extend it."""

    code = "hierarchy"


class TableError(AnonymizerError):
    """The table does not hold what a method needs; prepare it or choose another method."""

    code = "table"


class SpecError(AnonymizerError):
    """The text of a specification is wrong; correct the named place."""

    code = "spec"


class UnreachableError(AnonymizerError):
    """No release fulfils what was asked; ask for less or give more rows."""

    code = "unreachable"


class FileError(AnonymizerError):
    """A file cannot be read or written; check its path and what may be done with it."""

    code = "file"
