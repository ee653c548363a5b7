"""`duetto anonymize init`: a first specification for an unknown table."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from anonymizer.cli.output import check_distinct_paths, check_writable, emit, json_option, warn

FILE = click.Path(path_type=Path)


@click.command("init")
@click.argument("data", type=FILE)
@click.option(
    "-o", "--output", "output_path", type=FILE, help="The specification, a TOML file; else it is printed."
)
@click.option("--delimiter", default="", help="What separates cells, if it is not found.")
@click.option("--encoding", default="", help="The character encoding, if it is not found.")
@json_option
def init(data: Path, output_path: Path | None, delimiter: str, encoding: str, as_json: bool) -> None:
    """Propose a specification for DATA: roles, hierarchies and a first step, with comments.

    It is tried on the table: the release that it makes passes the gate. Where no column can become coarser it
    has no step, and releases nothing. Whether the roles are right only you can know.
    """
    check_distinct_paths(data, output_path)
    check_writable(output_path)

    from anonymizer.errors import FileError
    from anonymizer.proposals.dialects import guess_table_dialect
    from anonymizer.proposals.proposal import propose
    from anonymizer.proposals.writing import write_specification
    from anonymizer.tables import files
    from anonymizer.tables.dialect import read_dialect

    if output_path is not None and output_path.exists():
        raise FileError(
            f"{output_path} is there already.", "Give another name, so that nothing written is lost."
        )
    given = {"delimiter": delimiter, "encoding": encoding}
    read_dialect({key: value for key, value in given.items() if value}, "init")
    dialect, table, doubt = guess_table_dialect(data, delimiter, encoding)
    proposal = propose(table, dialect, doubt)
    text = write_specification(proposal, f"Release of {data.name}")
    if output_path is not None:
        files.write_text(text, output_path)
    document = proposal.document
    values = {
        "data": str(data),
        "output": output_path and str(output_path),
        "specification": text,
        "rows": proposal.rows,
        "roles": document["roles"],
        "warnings": list(proposal.warnings),
        "columns": [
            {
                "name": one.profile.name,
                "role": one.role or None,
                "why": one.why,
                "look": one.profile.look,
                "values": len(one.profile.counts),
                "missing": one.profile.missing,
                "distinction": one.profile.distinction,
                "separation": one.profile.separation,
            }
            for one in proposal.columns
        ],
        "together": [
            {"with": name, "distinction": distinction, "separation": apart_}
            for name, distinction, apart_ in proposal.figures
        ],
    }
    warn(proposal.warnings, as_json=as_json)
    if output_path is None:
        emit(values, [text.rstrip("\n")], as_json=as_json)
        return
    release = "release.csv" if data.name != "release.csv" else "anonymized.csv"
    lines = [f"{output_path}: the specification; read and correct it"]
    if proposal.method:
        lines.append(
            f"then: duetto anonymize {quote(str(data))} --spec {quote(str(output_path))} "
            f"-o {release} --report report.html"
        )
    emit(values, lines, as_json=as_json)
