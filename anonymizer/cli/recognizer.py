"""`duetto recognizer`: train the recognizer of direct identifiers on annotated documents, and measure it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.output import check_distinct_paths, check_writable, emit, json_option
from anonymizer.documents.direct.disguises import DISGUISES, disguise_identifiers
from anonymizer.documents.texts.text import LANGUAGES, Language

if TYPE_CHECKING:
    from anonymizer.documents.direct.evaluation import Score

FILE = click.Path(path_type=Path)


@click.group("recognizer")
def recognizer() -> None:
    """Train the recognizer of direct identifiers in English documents, and measure the first pass.

    DOCUMENTS is a CSV file with the columns doc_id and text, MENTIONS one with the columns doc_id, start,
    end, entity_type and identifier_type.
    """


_SPLIT = click.option("--split", help="Only documents with this word in a column named split.")


@recognizer.command("train")
@click.argument("documents", type=FILE)
@click.argument("mentions", type=FILE)
@click.option("-o", "--output", "output_path", type=FILE, required=True, help="The model.")
@_SPLIT
@json_option
def train_command(
    documents: Path, mentions: Path, output_path: Path, split: str | None, as_json: bool
) -> None:
    """Train a model on annotated DOCUMENTS and write it, with a JSON file beside it that says its digest.

    A model holds words of the documents that it was trained on: treat it as confidential as they are.
    """
    from anonymizer.documents.direct import model
    from anonymizer.documents.direct.annotated import read_annotated
    from anonymizer.documents.direct.crf import train
    from anonymizer.documents.languages.english import English

    sidecar = model.beside(output_path)
    check_distinct_paths(documents, mentions, output_path, sidecar)
    check_writable(output_path, sidecar)
    given = read_annotated(documents, mentions, split)
    tagger = English()
    content = train(given, [tagger.words(one.document.text) for one in given])
    facts = {"documents": len(given), "mentions": sum(len(one.mentions) for one in given)}
    model.write(content, output_path, facts)
    emit(
        {"model": str(output_path), "sidecar": str(sidecar), "bytes": len(content), **facts},
        [
            f"{output_path}: a model of {len(content):,} bytes from {len(given):,} documents",
            f"{sidecar}: its digest; keep both together",
        ],
        as_json=as_json,
    )


@recognizer.command("evaluate")
@click.argument("documents", type=FILE)
@click.argument("mentions", type=FILE)
@click.option("--model", "model_path", type=FILE, help="A trained model, instead of the one of duetto.")
@click.option("--sha256", help="The expected SHA-256 of a model from elsewhere.")
@click.option("--threshold", type=click.FloatRange(0, 1, min_open=True), help="Mask from this probability.")
@click.option("--language", type=click.Choice(LANGUAGES), default="en", show_default=True)
@click.option(
    "--disguise", type=click.Choice(tuple(DISGUISES)), help="Disguise the direct identifiers first."
)
@_SPLIT
@json_option
def evaluate_command(
    documents: Path,
    mentions: Path,
    model_path: Path | None,
    sha256: str | None,
    threshold: float | None,
    language: Language,
    disguise: str | None,
    split: str | None,
    as_json: bool,
) -> None:
    """Measure the first pass, all standard recognizers together and without names, on annotated DOCUMENTS."""
    from anonymizer.documents.direct import model
    from anonymizer.documents.direct.annotated import read_annotated
    from anonymizer.documents.direct.crf import THRESHOLD, Trained
    from anonymizer.documents.direct.evaluation import Score
    from anonymizer.documents.direct.registry import standard
    from anonymizer.documents.first_pass import Reading
    from anonymizer.documents.languages.detect import tagger_of

    if sha256 is not None and model_path is None:
        raise click.UsageError("--sha256 is of a model; give --model as well.")
    if model_path is not None and language != "en":
        raise click.UsageError("Models are of English; leave out --model or --language.")
    given = read_annotated(documents, mentions, split)
    used = THRESHOLD if threshold is None else threshold
    by = standard(language, used)[0]
    if model_path is not None:
        own = Trained.of(model.model(model_path, sha256), used)
        by = tuple(own if one.name == own.name else one for one in by)
    tagger, forms = tagger_of("", language), dict[str, Score]()
    for one in given if disguise is None else (disguise_identifiers(one, disguise) for one in given):
        words = tagger.words(one.document.text)
        masked = Reading.of(one.document, words, language).mask(by, used)
        forms.setdefault(one.form, Score()).add(one, words, masked)
    score = Score()
    for part in forms.values():
        score += part
    data: dict[str, Any] = {"documents": len(given), "threshold": used, **score.to_json()}
    lines = _lines(score, len(given), used)
    if set(forms) != {""}:
        data["forms"] = {form: part.to_json() for form, part in forms.items()}
        lines += ["", "kinds of text             DIRECT   QUASI  token precision"]
        lines += [
            f"  {form:22} {part.recall('DIRECT'):7.3f} {part.recall('QUASI'):7.3f} {part.precision:7.3f}"
            for form, part in forms.items()
        ]
    emit(data, lines, as_json=as_json)


def _lines(score: Score, documents: int, threshold: float) -> list[str]:
    lines = [f"{documents:,} documents, threshold {threshold:g}", "", "spans masked whole"]
    for identifier in sorted({key[0] for key in score.spans}):
        lines.append(f"  {identifier:17} {score.recall(identifier):6.3f}")
        lines += [
            f"    {kind:15} {score.whole[one, kind] / total:6.3f}  {score.whole[one, kind]:,} of {total:,}"
            for (one, kind), total in sorted(score.spans.items())
            if one == identifier
        ]
    precision = f"{score.precision:.3f}" if score.words else "nothing is masked"
    return [*lines, f"token precision     {precision}  {score.right:,} of {score.words:,} masked words"]


COMMANDS = (recognizer,)
