"""`duetto anonymize undo` and `redo`: a step of a specification becomes comments, and comes back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from anonymizer.cli.output import emit, json_option

if TYPE_CHECKING:
    from anonymizer.pipelines.undoing import Edited

FILE = click.Path(path_type=Path)


class _Editing(Protocol):
    def __call__(self, text: str, folder: Path, place: str, step: str | None = None) -> Edited: ...


@click.command("undo")
@click.argument("spec", type=FILE)
@click.option("--step", help="The name of the step; else the last one.")
@json_option
def undo(spec: Path, step: str | None, as_json: bool) -> None:
    """Turn the last step of SPEC into comments; nothing else in the file is touched.

    A step without a name is called by its number and method, such as 2-sampling.
    """
    from anonymizer.pipelines.undoing import undo as edit

    _edit(spec, step, edit, "is a comment now, lines", "bring it back: duetto anonymize redo", as_json)


@click.command("redo")
@click.argument("spec", type=FILE)
@click.option("--step", help="The name that the step had; else what was undone last.")
@json_option
def redo(spec: Path, step: str | None, as_json: bool) -> None:
    """Bring a step of SPEC back that `undo` has turned into comments, where it stood."""
    from anonymizer.pipelines.undoing import redo as edit

    _edit(spec, step, edit, "is back, lines", "take it out again: duetto anonymize undo", as_json)


def _edit(spec: Path, step: str | None, edit: _Editing, done: str, then: str, as_json: bool) -> None:
    """Change the file, whole or not at all, and say how to change it back."""
    import shlex

    from anonymizer.errors import FileError
    from anonymizer.tables import files
    from commons.settings.toml import text_of

    # what a link names is changed, not the link
    path = spec.resolve()
    files.regular(path)
    text, mode = text_of(path, FileError), path.stat().st_mode
    found = edit(text, path.parent, spec.name, step)
    files.write_text(found.text, path)
    path.chmod(mode & 0o7777)
    back = f"{then} {shlex.quote(str(spec))} --step {shlex.quote(found.step)}"
    lines = [f"{spec}: step {found.step} {done} {found.first} to {found.last}", back]
    lines += [f"step {old} is called {new} now" for old, new in found.renamed]
    values = {
        "specification": str(spec),
        "step": found.step,
        "first_line": found.first,
        "last_line": found.last,
        "renamed": [{"from": old, "to": new} for old, new in found.renamed],
        "back": back.split(": ", 1)[1],
    }
    emit(values, lines, as_json=as_json)
