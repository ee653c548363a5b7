"""How a sanitization is reported: as warnings, and on a page that shows every change."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from anonymizer.documents.attacks.naming import STAGES, NamedFirst, Stage
from anonymizer.documents.direct.figures import LANGUAGE_NAMES, FirstPassFigure, figure_of, kinds_of_text
from anonymizer.documents.folders.gate import MANIFEST
from anonymizer.documents.languages.detect import tells
from anonymizer.documents.sanitization.treated import SanitizedFolder, parts
from anonymizer.documents.specification import Direct, SanitizeSpec
from anonymizer.documents.texts.text import LANGUAGES, Language
from anonymizer.errors import list_names
from anonymizer.measures.contract.story import Tile
from anonymizer.releases.manifest import Manifest
from anonymizer.report.rendering import render
from anonymizer.report.sheet import Sheet, sheet
from anonymizer.report.signing import Signing, person
from anonymizer.report.specification import toml_text

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


@dataclass(frozen=True, slots=True)
class FolderStory:
    """What the pages about a folder of documents tell.

    Attributes:
        folder: the name of that of the originals.
        output: the name of that of the release.
        spec: of the sanitization.
        treated: the documents.
        web: what the attacker searched.
        released: the names that documents leave under, by their own.
        cautions: from `document_cautions` and the like.
        attackers: how many documents they name rightly, before and after.
        made_by: the name that was stated, or "".
    """

    folder: str
    output: str
    spec: SanitizeSpec
    treated: Sequence[SanitizedFolder]
    web: str
    released: Mapping[str, str]
    cautions: Sequence[str]
    attackers: Sequence[NamedFirst] = ()
    made_by: str = ""

    def report(self, manifest: Manifest | None) -> str:
        """The report, an HTML page; it holds the texts.

        Args:
            manifest: as it is written; None if the gate refuses the release, so that nobody can sign.
        """
        attack, treated = self.spec.attack, self.treated
        facts = [
            ("Specification", self.spec.title or "without a title"),
            ("Digest (SHA-256)", self.spec.digest),
            ("The attacker's web", self.web),
            (
                "Words",
                f"the {attack.words} most informative in groups of {attack.keywords}, all combinations",
            ),
            ("Results of a search", f"the first {attack.results}"),
            ("First pass", ", ".join(self.spec.direct.recognizers) or "none"),
            ("Generalization", ", ".join(self.spec.methods) or "none; words are deleted"),
        ]
        signing = None if manifest is None else self._signing(manifest)
        return render(
            "documents.html",
            title=self._title,
            sheet=None if manifest is None or signing is None else self._sheet(manifest, signing),
            signing=signing,
            judgment=self._judgment,
            known=self._known,
            documents=list(treated),
            released=self.released,
            before=self._before,
            after=self._after,
            searches=f"{sum(one.searches for one in treated):,}",
            changes=sum(len(one.sanitized.edits) for one in treated),
            characters=sum(len(one.sanitized.document.text) for one in treated),
            cautions=list(self.cautions),
            causes=_CAUSES,
            attackers=[(one, [_rate(one, stage) for stage in STAGES]) for one in self.attackers],
            stages=STAGES,
            parts=parts,
            shown=_SHOWN,
            facts=facts,
        )

    def summary(self, manifest: Manifest) -> str:
        """The sheet for the person who signs, an HTML page that prints on one page; it holds no text.

        Args:
            manifest: as it is written.
        """
        page = self._sheet(manifest, self._signing(manifest))
        return render("summary.html", title=self._title, original="documents", sheet=page)

    @property
    def _title(self) -> str:
        return self.spec.title or "Report on sanitized documents"

    @property
    def _known(self) -> list[str]:
        return [one.sentence() for one in figures_for(self.spec, self.treated)]

    @property
    def _before(self) -> str:
        return _documents([bool(one.found_before) for one in self.treated])

    @property
    def _after(self) -> str:
        return _documents([bool(one.sanitized.left) for one in self.treated])

    @property
    def _judgment(self) -> tuple[str, ...]:
        """What the attacker can do, and when this holds; no word of a text is in it."""
        attack = self.spec.attack
        return (
            f"Searches in {self.web} by up to {attack.keywords} words together, of the {attack.words} most "
            f"informative ones, lead to the persons of {self._after} documents as they are released; before "
            f"words were replaced for this, to those of {self._before}.",
            "This holds if the attacker searches there and nowhere else, and knows nothing of the case "
            "beside the text.",
            *(f"{said[:1].upper()}{said[1:]}." for said in map(attacker_sentence, self.attackers)),
        )

    def _signing(self, manifest: Manifest) -> Signing:
        text = toml_text(self.spec.document)
        made = Signing.of(manifest, person(self.made_by), self._judgment, text, ())
        # it has the digests of all documents, of which there can be thousands
        return replace(made, files={MANIFEST: hashlib.sha256(manifest.to_json().encode()).hexdigest()})

    def _sheet(self, manifest: Manifest, signing: Signing) -> Sheet:
        languages = Counter(LANGUAGE_NAMES[one.language] for one in self.treated)
        causes: Counter[str] = Counter(edit.cause for one in self.treated for edit in one.edits)
        return sheet(
            self._title,
            f"{self.folder} → {self.output}",
            replace(signing, judgment=(*self._judgment, *self._known)),
            {
                "Files": list(manifest.files),
                "Languages": [f"{name} ({count:,})" for name, count in languages.items()],
                "Replaced": [f"{name}: {causes[cause]:,}" for cause, name in _CAUSES.items()],
            },
            self._steps,
            [str(one) for one in manifest.guarantees],
            [
                Tile(f"{len(self.treated):,}", "documents released"),
                Tile(self._before, "found by searching, before", worst=True),
                Tile(self._after, "found by searching, after", worst=not self._after.startswith("0 ")),
                Tile(f"{causes.total():,}", "changes"),
            ],
            self.cautions,
        )

    @property
    def _steps(self) -> list[Mapping[str, Any]]:
        """What was done, as steps of a specification."""
        spec, kept = self.spec, sum(one.keeps for one in self.spec.decisions)
        steps: list[Mapping[str, Any]] = [
            {"method": "first pass", "recognizers": list(spec.direct.recognizers)},
            {"method": "search attack", **asdict(spec.attack)},
            {"method": "generalization", "methods": list(spec.methods)},
        ]
        if spec.decisions:
            steps.append(
                {"method": "decisions of a person", "kept": kept, "hidden": len(spec.decisions) - kept}
            )
        return steps


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
    return tuple(
        _known_of_texts(spec, language, counts[language]) for language in LANGUAGES if counts[language]
    )


def _known_of_texts(spec: SanitizeSpec, language: Language, count: int) -> KnownOfTexts:
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
