"""How a sanitization is reported: as warnings, and on a page that shows every change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from anonymizer.documents.attacks.naming import STAGES, NamedFirst, Stage
from anonymizer.documents.direct.figures import LANGUAGE_NAMES, FirstPassFigure, figure_of, kinds_of_text
from anonymizer.documents.languages.detect import tells
from anonymizer.documents.sanitization.treated import SanitizedFolder, parts
from anonymizer.documents.specification import Direct, SanitizeSpec
from anonymizer.documents.texts.text import LANGUAGES, Language
from anonymizer.errors import list_names
from anonymizer.report.rendering import render

_SHOWN: Final = 20
_NAMED: Final[dict[Stage, str]] = {
    "original": "originals",
    "first pass": "texts after the first pass",
    "released": "release",
}
_CAUSES: Final = {"direct": "direct identifier", "attack": "led to the person", "person": "by a person"}


def document_cautions(
    spec: SanitizeSpec,
    treated: Sequence[SanitizedFolder],
    web: str,
    leaks: bool,
    named: Collection[str],
    dropped: Sequence[str] = (),
) -> tuple[str, ...]:
    """What must not be overlooked, a sentence each.

    Args:
        spec: of the sanitization.
        treated: the documents.
        web: what the attacker searched.
        leaks: whether words were sent to another machine.
        named: documents whose persons are known by name.
        dropped: what no format can release, and what was not read.
    """
    found = [
        f"Nobody was found in {web} by {spec.attack.words} words. Who searches elsewhere, or knows the "
        "case, may find the person all the same: nothing more is promised."
    ]
    if leaks:
        found.append(f"Words of the confidential texts were sent to {web}, which may keep them.")
    unnamed = [one.name for one in treated if one.name not in named]
    if unnamed:
        found.append(
            f"No name is known for {list_names(unnamed, 'documents')}: a search counts as successful from "
            f"{spec.attack.threshold} shared words on. Calibrate this number on documents whose persons are "
            "known."
        )
    found += [
        f"The web holds {one.name} itself ({', '.join(one.own)}), which was set aside: whoever finds it "
        "needs no search."
        for one in treated
        if one.own
    ]
    untold = [one for one in treated if not tells(one.sanitized.document.text, one.language)]
    for language in dict.fromkeys(one.language for one in untold):
        those = [one.name for one in untold if one.language == language]
        found.append(
            f"Nothing in the text of {list_names(those, 'documents')} tells its language: it was read as "
            f"{LANGUAGE_NAMES[language]}, as was said or as the other documents are. In another language "
            "names are not found."
        )
    kept = [one for one in spec.decisions if one.keeps]
    if kept:
        found.append(f"A person kept {len(kept)} places as they are; their reasons are in the manifest.")
    left = [one.name for one in treated if one.sanitized.left]
    if left:
        found.append(
            "Searches by words that a person kept still lead to the person of "
            f"{list_names(left, 'documents')}."
        )
    if not spec.direct.recognizers:
        found.append(
            "No first pass was made: names, dates and codes are replaced only if a search used them."
        )
    spared = [one.name for one in treated if not spec.interest.size(one.label)]
    if spared:
        found.append(
            f"Not attacked, since their label has no keywords: {list_names(spared, 'documents')}. Nothing is "
            "known of how well they protect."
        )
    found += dropped
    return tuple(found)


def documents_page(
    spec: SanitizeSpec,
    treated: Sequence[SanitizedFolder],
    web: str,
    released: Mapping[str, str],
    cautions: Sequence[str],
    attackers: Sequence[NamedFirst] = (),
) -> str:
    """The report on a folder of documents, an HTML page; it holds their texts.

    Args:
        spec: of the sanitization.
        treated: the documents.
        web: what the attacker searched.
        released: the names that documents leave under, by their own.
        cautions: from `document_cautions`.
        attackers: how many documents they name rightly, before and after.
    """
    attack = spec.attack
    facts = [
        ("Specification", spec.title or "without a title"),
        ("Digest (SHA-256)", spec.digest),
        ("The attacker's web", web),
        ("Words", f"the {attack.words} most informative in groups of {attack.keywords}, all combinations"),
        ("Results of a search", f"the first {attack.results}"),
        ("First pass", ", ".join(spec.direct.recognizers) or "none"),
        ("Generalization", ", ".join(spec.methods) or "none; words are deleted"),
    ]
    return render(
        "documents.html",
        title=spec.title or "Report on sanitized documents",
        known=[one.sentence() for one in figures_for(spec, treated)],
        documents=list(treated),
        released=released,
        before=_documents([bool(one.found_before) for one in treated]),
        after=_documents([bool(one.sanitized.left) for one in treated]),
        searches=f"{sum(one.searches for one in treated):,}",
        changes=sum(len(one.sanitized.edits) for one in treated),
        characters=sum(len(one.sanitized.document.text) for one in treated),
        cautions=list(cautions),
        causes=_CAUSES,
        attackers=[(one, [_rate(one, stage) for stage in STAGES]) for one in attackers],
        stages=STAGES,
        parts=parts,
        shown=_SHOWN,
        facts=facts,
    )


@dataclass(frozen=True, slots=True)
class KnownOfTexts:
    """What is known of how well the first pass finds identifiers in some documents.

    Attributes:
        language: that they are in.
        documents: how many.
        kind: of text, as it was said; "" if it was not.
        figure: what was measured of it; None where nothing was.
        why: nothing is known, a sentence; "" where something is.
    """

    language: Language
    documents: int
    kind: str
    figure: FirstPassFigure | None
    why: str

    def sentence(self) -> str:
        """For people."""
        of = (
            f"{self.documents:,} {LANGUAGE_NAMES[self.language]} document{'' if self.documents == 1 else 's'}"
        )
        if self.figure is not None:
            return f"What is known of {of}: {self.figure.sentence()}"
        return (
            f"No figure is known of how many names and other identifiers the first pass overlooks in {of}: "
            f"{self.why}"
        )

    def to_values(self) -> dict[str, Any]:
        """As plain values; `figure` is None where nothing is known."""
        return {
            "language": self.language,
            "documents": self.documents,
            "kind": self.kind,
            "figure": self.figure and self.figure.to_values(),
            "why": self.why,
        }


def figures_for(spec: SanitizeSpec, treated: Sequence[SanitizedFolder]) -> tuple[KnownOfTexts, ...]:
    """What is known of the documents, for each language; the first line of reports.

    Args:
        spec: of the sanitization, which says what kind of text they are.
        treated: the documents.
    """
    counts = Counter(one.language for one in treated)
    return tuple(_known(spec, language, counts[language]) for language in LANGUAGES if counts[language])


def _known(spec: SanitizeSpec, language: Language, count: int) -> KnownOfTexts:
    figure = figure_of(language, spec.kind)
    why = ""
    if not spec.kind:
        kinds = ", ".join(kinds_of_text(language))
        why = (
            f"their kind is not said. Name it (--kind) if it is one of those that were measured ({kinds}), "
            "or measure texts of yours by duetto recognizer evaluate."
        )
    elif figure is None:
        why = (
            f"texts of the kind {spec.kind!r} were not measured in {LANGUAGE_NAMES[language]}. Measure some "
            "of yours by duetto recognizer evaluate."
        )
    elif spec.direct != Direct():
        why = "the first pass was measured as it is without [direct], which this specification changes."
    return KnownOfTexts(language, count, spec.kind, None if why else figure, why)


def attacker_sentence(one: NamedFirst) -> str:
    """What an attacker who names one document of the web achieves, in the originals and in what leaves."""
    way = "searches" if one.attacker == "search" else "compares whole texts"
    right = (
        "the right text of the web" if one.reference == "known names" else "the text nearest to the original"
    )
    said = [f"{_rate(one, stage)} in the {name}" for stage, name in _NAMED.items()]
    return f"an attacker who {way} names {right} first for {', '.join(said)}"


def _rate(one: NamedFirst, stage: Stage) -> str:
    low, high = one.interval(stage)
    return f"{one.first[stage]:,} of {one.documents:,} [{low:.2f}, {high:.2f}]"


def _documents(which: Sequence[bool]) -> str:
    return f"{sum(which):,} of {len(which):,}"
