"""`duetto sanitize`: attack documents by searching, and sanitize what leads to persons."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from anonymizer.cli.measures import measuring
from anonymizer.cli.output import check_distinct_paths, check_writable, emit, json_option, warn
from anonymizer.cli.pages import check_asked, signing_options
from anonymizer.errors import GateError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anonymizer.documents.engines.engine import Engine
    from anonymizer.documents.released import ReleaseRun
    from anonymizer.documents.sanitization.treated import SanitizedFolder
    from anonymizer.documents.sanitizer import Names
    from anonymizer.documents.specification import SanitizeSpec
    from anonymizer.gate.gate import Passed
    from anonymizer.report.documents import FolderStory

PATH = click.Path(path_type=Path)
_LEAKING: Final = ("searxng", "elasticsearch")


@click.command("sanitize")
@click.argument("documents", type=PATH)
@click.option(
    "--web", "web_path", type=PATH, help="A folder of documents, the web that the attacker searches."
)
@click.option("-o", "--output", "output_path", type=PATH, required=True, help="The folder of the release.")
@click.option(
    "--names",
    "names_path",
    type=PATH,
    help="Whom a search must not find: a table with the columns document and name.",
)
@click.option(
    "--kind",
    default="",
    help="Of all texts, such as 'hospital letter': what is known of the first pass is said.",
)
@click.option("--spec", "spec_path", type=PATH, help="The specification, a TOML file.")
@click.option("--report", "report_path", type=PATH, help="Every change, an HTML file; it stays at home.")
@signing_options
@click.option(
    "--ask",
    "asked",
    multiple=True,
    type=click.Choice(_LEAKING),
    help="Ask the specification's engine of this kind. It is sent words of the confidential texts.",
)
@click.option("--keep-names", is_flag=True, help="Release files under their names, and not numbered.")
@click.option("--encoding", default="", help="Of texts that are not UTF-8, such as cp1252 or shift_jis.")
@click.option("--fresh", is_flag=True, help="Forget what an interrupted run has finished.")
@json_option
def sanitize(
    documents: Path,
    web_path: Path | None,
    output_path: Path,
    names_path: Path | None,
    kind: str,
    spec_path: Path | None,
    report_path: Path | None,
    summary_path: Path | None,
    made_by: str,
    asked: tuple[str, ...],
    keep_names: bool,
    encoding: str,
    fresh: bool,
    as_json: bool,
) -> None:
    """Release the texts of a folder DOCUMENTS so that a searcher does not find the persons in them.

    Searches for each document with its most informative words, as an attacker would, and generalizes or
    deletes only the words that lead to a person, until no search does. Reads txt, md, html, docx and pdf, in
    English, Japanese, German and French. All documents are released, or none.

    The web is a folder. An engine over HTTP is asked only if the specification has one and --ask names its
    kind: it is sent words of the confidential texts.
    """
    check_distinct_paths(documents, output_path, names_path, spec_path, report_path, summary_path)
    check_writable(report_path, summary_path)
    told = {
        path: what
        for path, what in ((report_path, "every change; keep it at home"), (summary_path, "to sign"))
        if path
    }
    check_asked(bool(made_by), told=bool(told))

    from anonymizer.documents.direct.persons import read_persons
    from anonymizer.documents.engines.choice import engine_of
    from anonymizer.documents.folders import folder
    from anonymizer.documents.folders.gate import outside
    from anonymizer.documents.folders.progress import Kept, work_folder
    from anonymizer.documents.released import ReleaseRun
    from anonymizer.documents.words.labels import labels_from
    from anonymizer.gate.staging import staging
    from anonymizer.report.documents import FolderStory, attacker_sentence, figures_for
    from anonymizer.tables import files

    spec, web = _read_spec(spec_path, web_path, names_path, kind)
    inputs = [one for one in (documents, _folder(web), spec.corpus) if one is not None]
    outside(output_path, inputs, list(told))
    with staging() as tried:  # before long work
        tried.folder(output_path)
    kept = Kept(work_folder(output_path))
    if fresh:
        kept.clear()
    read = folder.read(documents, encoding=encoding)
    names = {} if spec.names is None else read_persons(spec.names)
    corpus = () if spec.corpus is None else folder.read(spec.corpus, encoding=encoding).documents
    labels = {} if spec.labels is None else labels_from(files.table(spec.labels))

    def texts(path: Path) -> Iterable[tuple[str, str]]:
        return ((one.name, one.text) for one in folder.read(path, encoding=encoding).documents)

    with measuring(as_json=as_json) as on_progress:
        if on_progress is not None:
            on_progress(0, len(read.sources), "the web")
        engine = engine_of(web, _place(spec_path, "web"), texts, allowed=asked)
        releasing = ReleaseRun(read.sources, spec, engine, names, corpus, labels, keep_names=keep_names)
        treated = releasing.treat(kept, on_progress)
        attackers = releasing.named_first(treated, on_progress)
        cautions, on_sheet = _cautions(releasing, spec, treated, engine, names, read.skipped, output_path)
        story = FolderStory(
            output=output_path.name,
            spec=spec,
            treated=treated,
            web=engine.name,
            released=releasing.names,
            cautions=cautions,
            on_sheet=on_sheet,
            attackers=attackers,
            made_by=made_by,
        )
        passed = _write_release(releasing, story, output_path, inputs, report_path, summary_path)
    kept.clear()
    values = _values(spec, treated, releasing.names, engine.name)
    values |= {"output": str(output_path), "leaks": engine.leaks}
    values |= {"report": report_path and str(report_path), "summary": summary_path and str(summary_path)}
    figures = figures_for(spec, treated)
    values["figures"] = [one.to_values() for one in figures]
    values["attackers"] = [one.to_values() for one in attackers]
    values["warnings"] = list(dict.fromkeys((*story.promise, *cautions, *passed.warnings)))
    lines = [
        *(one.sentence() for one in figures),
        *_lines(values, treated, releasing.names),
        *(f"{path}: {what}" for path, what in told.items()),
        *map(attacker_sentence, attackers),
    ]
    emit(values, lines, as_json=as_json)
    warn(tuple(values["warnings"]), as_json=as_json)


def _read_spec(
    spec_path: Path | None, web_path: Path | None, names_path: Path | None, kind: str
) -> tuple[SanitizeSpec, Mapping[str, Any]]:
    """The specification with what the options say instead, and its web."""
    from dataclasses import replace

    from anonymizer.documents.specification import SanitizeSpec, checked_kind, read_sanitization

    spec = SanitizeSpec() if spec_path is None else read_sanitization(spec_path)
    document = dict(spec.document)
    if web_path is not None:
        document["web"] = {"kind": "folder", "path": str(web_path)}
        spec = replace(spec, web=document["web"])
    if names_path is not None:
        document["names"] = {"table": str(names_path)}
        spec = replace(spec, names=names_path)
    if kind:
        document["kind"] = kind
        spec = replace(spec, kind=checked_kind(kind, "--kind"))
    spec = replace(spec, document=document)
    if spec.web is None:
        raise click.UsageError(
            "There is nothing to search: give --web a folder, or write [web] in the specification."
        )
    return spec, spec.web


def _cautions(
    releasing: ReleaseRun,
    spec: SanitizeSpec,
    treated: Sequence[SanitizedFolder],
    engine: Engine,
    names: Names,
    skipped: Sequence[str],
    output: Path,
) -> tuple[Sequence[str], Sequence[str]]:
    """The warnings by the names of documents, and for the sheet, which names no original."""
    from anonymizer.report.documents import document_cautions

    stated = releasing.persons_in_wording(treated, output.name)
    own, released = (
        (
            *document_cautions(spec, treated, engine.name, engine.leaks, names, called),
            *releasing.dropped(called),
        )
        for called in (None, releasing.names)
    )
    unread = [f"Not read: {len(skipped):,} links and hidden files; see the report."] if skipped else []
    return (*own, *skipped, *stated), (*released, *unread, *stated)


def _write_release(
    releasing: ReleaseRun,
    story: FolderStory,
    output: Path,
    inputs: Sequence[Path],
    report: Path | None,
    summary: Path | None,
) -> Passed:
    """Write a release; if the gate refuses it, its report alone, by which the findings are understood."""
    from anonymizer.gate.staging import staging

    asked = {report: story.report, summary: story.summary}
    pages = {path: page for path, page in asked.items() if path is not None}
    try:
        return releasing.write(story.treated, output, inputs, pages)
    except GateError as problem:
        if report is not None:
            page = story.report_refusal(problem.findings)
            with staging() as staged:
                staged.place(report, private=True).write_text(page, encoding="utf-8")
                staged.publish()
        raise


def _place(spec_path: Path | None, section: str) -> str:
    return section if spec_path is None else f"{spec_path.name}, {section}"


def _folder(web: Mapping[str, Any]) -> Path | None:
    path = web.get("path")
    return Path(path) if isinstance(path, str) else None


def _values(
    spec: SanitizeSpec,
    treated: Sequence[SanitizedFolder],
    names: Mapping[str, str],
    web: str,
) -> dict[str, Any]:
    return {
        "digest": spec.digest,
        "web": web,
        "documents": [{**one.figures(), "released": names[one.name]} for one in treated],
    }


def _lines(
    values: Mapping[str, Any], treated: Sequence[SanitizedFolder], names: Mapping[str, str]
) -> list[str]:
    before = sum(bool(one.found_before) for one in treated)
    after = sum(bool(one.sanitized.left) for one in treated)
    lines = [
        f"{one.name} -> {names[one.name]}: {_count(len(one.edits_by('direct')), 'direct identifier')}, "
        f"{_count(len(one.edits_by('attack')), 'place')} that led to the person, {one.searches:,} searches"
        for one in treated
    ]
    lines.append(f"found by searching: {before} of {len(treated)} documents before, {after} after")
    lines.append(f"{values['output']}: the release and its manifest")
    return lines


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


COMMANDS = (sanitize,)
