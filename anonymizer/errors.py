"""The exceptions of the anonymizer, one tree.

    AnonymizerError
      RoleError         a role names a column that is not there, or two roles claim one
      HierarchyError    a hierarchy is malformed, or does not cover a value
      TableError        the table does not hold what a method needs
      SpecError         the text of a specification
      UnreachableError  no release fulfils what was asked
      FileError         a file that cannot be read or written
      GateError         a release that would let something out that it should not
      LedgerError       the record of the releases of a table cannot be trusted or written
      PluginError       a method of somebody else's cannot be used
      ConformanceError  a method does not do what every method has to do
      WorkersError      other machines that were to do the work do not

Each carries what happened, naming column and value where that helps, and a `hint`: what to do about it. The
values named are those of the steward's own table, on the steward's own machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from commons.errors import HintedError

_NAMED: Final = 12
_FIRST: Final = 5
"""So many columns a sentence names, and so many of more than these."""


class AnonymizerError(HintedError):
    """Root of all errors that users can cause."""

    code = "anonymizer"


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


class GateError(AnonymizerError):
    """A release would let something out that it should not; nothing was written. Each finding has a hint.

    Args:
        findings: as plain values, with `rule`, `column`, `what` and `hint`.
        decisions: of documents, each word that is to be decided and how. They hold words of the originals:
            they are neither part of the message nor of `findings`.
        acceptable: the rules of these findings that a specification may accept.
    """

    code = "gate"

    def __init__(
        self,
        findings: Sequence[Mapping[str, str | None]],
        decisions: tuple[str, ...] = (),
        acceptable: Sequence[str] = (),
    ) -> None:
        listed = "\n".join(f"- [{one['rule']}] {one['what']} {one['hint']}".rstrip() for one in findings)
        count = "one finding" if len(findings) == 1 else f"{len(findings)} findings"
        super().__init__(
            f"Nothing was written: the gate has {count}.\n{listed}",
            f"Correct the specification; a finding of {list_names(acceptable, 'rules')} that is right can be "
            "accepted below [[accept]]."
            if acceptable
            else "Do what each finding says; none of them can be accepted.",
        )
        self.findings = tuple(findings)
        self.decisions = decisions


class LedgerError(AnonymizerError):
    """The record of the releases of a table cannot be trusted or written; nothing is released without it."""

    code = "ledger"


class PluginError(AnonymizerError):
    """A method of another program cannot be used; install the program, or write to its author."""

    code = "plugin"


class ConformanceError(AnonymizerError, AssertionError):
    """A method does not do what every method has to do; correct the method.

    Only `anonymizer.testing` raises it, which checks methods.
    """

    code = "conformance"


class WorkersError(AnonymizerError):
    """Other machines that were to do the work do not; start them, or work without."""

    code = "workers"


def list_names(names: Sequence[str], what: str = "columns") -> str:
    """Names for a sentence: all of a few, else how many of what there are, and the first ones."""
    if len(names) <= _NAMED:
        return ", ".join(names)
    return f"{len(names):,} {what} ({', '.join(names[:_FIRST])} and so on)"
