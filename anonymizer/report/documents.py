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
    called: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """What must not be overlooked beside what was found, a sentence each.

    Args:
        spec: of the sanitization.
        treated: the documents.
        web: what the attacker searched.
        leaks: whether words were sent to another machine.
        named: documents whose persons are known by name.
        called: what documents are called, by their own names, on a page that names nobody; None is by these.
    """
    own = {one.name: one.name for one in treated} if called is None else called
    left = [own[one.name] for one in treated if one.sanitized.left]
    spared = [own[one.name] for one in treated if not spec.interest.size(one.label)]
    found = []
    if leaks:
        found.append(f"Words of the confidential texts were sent to {web}, which may keep them.")
    unnamed = [own[one.name] for one in treated if one.name not in named]
    if unnamed:
        found.append(
            f"No name is known for {list_names(unnamed, 'documents')}: a search counts as successful from "
            f"{spec.attack.threshold} shared words on. Calibrate this number on documents whose persons are "
            "known."
        )
    found += [
        f"The web holds {own[one.name]} itself{_in_brackets(one.own) if called is None else ''}, which was "
        "set aside: whoever finds it needs no search."
        for one in treated
        if one.own
    ]
    untold = [one for one in treated if not tells(one.sanitized.document.text, one.language)]
    for language in dict.fromkeys(one.language for one in untold):
        those = [own[one.name] for one in untold if one.language == language]
        found.append(
            f"Nothing in the text of {list_names(those, 'documents')} tells its language: it was read as "
            f"{LANGUAGE_NAMES[language]}, as was said or as the other documents are. In another language "
            "names are not found."
        )
    kept = [one for one in spec.decisions if one.keeps]
    if kept:
        found.append(
            f"A person kept {_places(len(kept))} as written; the reasons are in the specification, and in "
            "the manifest of a release."
        )
    if left:
        found.append(
            "Searches by words that a person kept still lead to the person of "
            f"{list_names(left, 'documents')}."
        )
    if not spec.direct.recognizers:
        found.append(
            "No first pass was made: names, dates and codes are replaced only if a search used them."
        )
    if spared:
        found.append(
            f"Not attacked, since their label has no keywords: {list_names(spared, 'documents')}. Nothing is "
            "known of how well they protect."
        )
    return tuple(found)


def _in_brackets(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})"


def _places(number: int) -> str:
    return f"{number:,} place{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class FolderStory:
    """What the pages about a folder of documents tell.

    Attributes:
        output: the name of that of the release.
        spec: of the sanitization.
        treated: the documents.
        web: what the attacker searched.
        released: the names that documents leave under, by their own.
        cautions: from `document_cautions` and the like; `promise` stands before them.
        on_sheet: the same, where documents are called as they are released.
        attackers: how many documents they name rightly, before and after.
        made_by: the name that was stated, or "".
        findings: for which the gate refuses the release, as plain values; empty if it does not.
    """

    output: str
    spec: SanitizeSpec
    treated: Sequence[SanitizedFolder]
    web: str
    released: Mapping[str, str]
    cautions: Sequence[str]
    on_sheet: Sequence[str]
    attackers: Sequence[NamedFirst] = ()
    made_by: str = ""
    findings: Sequence[Mapping[str, str | None]] = ()

    @property
    def promise(self) -> tuple[str, ...]:
        """What is promised, and that nothing more is: one sentence, or none if searches find everybody."""
        clear = [
            one
            for one in self.treated
            if not self._is_found(one) and self.spec.interest.size(one.label)  # size 0 is not attacked
        ]
        if not clear:
            return ()
        words = f"{self.spec.attack.words} words"
        said = (
            f"Nobody was found in {self.web} by {words}"
            if len(clear) == len(self.treated)
            else f"Searches in {self.web} by {words} lead to none of the persons of {len(clear):,} of "
            f"{len(self.treated):,} documents"
        )
        return (
            f"{said}. Who searches elsewhere, or knows the case, may find the person all the same: nothing "
            "more is promised.",
        )

    def report(self, manifest: Manifest) -> str:
        """The report, an HTML page; it holds the texts.

        Args:
            manifest: as it is written.
        """
        return self._report(manifest)

    def report_refusal(self, findings: Sequence[Mapping[str, str | None]]) -> str:
        """The report of a release that the gate refuses: why, and every change; nobody can sign it.

        Args:
            findings: as `GateError` has them.
        """
        return replace(self, findings=findings)._report(None)

    def _report(self, manifest: Manifest | None) -> str:
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
            findings=self.findings,
            documents=list(treated),
            found=[one.name for one in treated if self._is_found(one)],
            released=self.released,
            before=self._before,
            after=self._after,
            searches=f"{sum(one.searches for one in treated):,}",
            changes=sum(len(one.sanitized.edits) for one in treated),
            characters=sum(len(one.sanitized.document.text) for one in treated),
            cautions=[*self.promise, *self.cautions],
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
    def _judgment_in_short(self) -> tuple[str, ...]:
        """The same for the sheet, and before it what is known of overlooked names."""
        known = [one.short() for one in figures_for(self.spec, self.treated)]
        return (*known, *self._searched, *map(_attacker_in_short, self.attackers))

    @property
    def _before(self) -> str:
        return _documents([bool(one.found_before) for one in self.treated])

    @property
    def _after(self) -> str:
        return _documents(list(map(self._is_found, self.treated)))

    def _is_found(self, one: SanitizedFolder) -> bool:
        """Whether a search leads to the person as the text leaves, by the gate's own searches, too."""
        again = any(each["rule"] == "search" and each["column"] == one.name for each in self.findings)
        return again or bool(one.sanitized.left)

    @property
    def _judgment(self) -> tuple[str, ...]:
        """What attackers can do, and when this holds; no word of a text is in it."""
        return (
            *self._searched,
            *(f"{said[:1].upper()}{said[1:]}." for said in map(attacker_sentence, self.attackers)),
        )

    @property
    def _searched(self) -> tuple[str, ...]:
        attack, would = self.spec.attack, "would be" if self.findings else "are"
        return (
            f"Searches in {self.web} by up to {attack.keywords} words together, of the {attack.words} most "
            f"informative ones, lead to the persons of {self._after} documents as they {would} released; "
            f"before words were replaced for this, to those of {self._before}.",
            "This holds if the attacker searches there and nowhere else, and knows nothing of the case "
            "beside the text.",
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
            # not the name of their folder, nor of files: the sheet names nobody
            f"{_documents_of(len(self.treated))} → {self.output}",
            replace(signing, judgment=self._judgment_in_short),
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
            [*self.promise, *self.on_sheet],
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
        why: nothing is known; "" where something is.
        way: to know something, a sentence; "" where something is known.
    """

    language: Language
    documents: int
    kind: str
    figure: FirstPassFigure | None
    why: str
    way: str = ""

    def sentence(self) -> str:
        """For people."""
        if self.figure is not None:
            return f"What is known of {self._of}: {self.figure.sentence()}"
        return f"{self.short()} {self.way}".rstrip()

    def short(self) -> str:
        """The same in two lines of a sheet."""
        if self.figure is None:
            return (
                "No figure is known of how many names and other identifiers the first pass overlooks in "
                f"{self._of}: {self.why}."
            )
        return (
            f"What is known of {self._of}: the first pass alone hides {self.figure.direct_whole:,} of "
            f"{self.figure.direct:,} direct identifiers in invented texts of this kind, and misses more in "
            "real ones."
        )

    @property
    def _of(self) -> str:
        return _documents_of(self.documents, LANGUAGE_NAMES[self.language])

    def to_values(self) -> dict[str, Any]:
        """As plain values; `figure` is None where nothing is known."""
        return {
            "language": self.language,
            "documents": self.documents,
            "kind": self.kind,
            "figure": self.figure and self.figure.to_values(),
            "why": f"{self.why}. {self.way}".rstrip() if self.why else "",
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
    why = way = ""
    if not spec.kind:
        why, kinds = "their kind is not said", ", ".join(kinds_of_text(language))
        way = (
            f"Name it (--kind) if it is one of those that were measured ({kinds}), or measure texts of yours "
            "by duetto recognizer evaluate."
        )
    elif figure is None:
        why = f"texts of the kind {spec.kind!r} were not measured in {LANGUAGE_NAMES[language]}"
        way = "Measure some of yours by duetto recognizer evaluate."
    elif spec.direct != Direct():
        why = "the first pass was measured as it is without [direct], which this specification changes"
    return KnownOfTexts(language, count, spec.kind, None if why else figure, why, way)


def attacker_sentence(one: NamedFirst) -> str:
    """What an attacker who names one document of the web achieves, in the originals and in what leaves."""
    said = [f"{_rate(one, stage)} in the {name}" for stage, name in _NAMED.items()]
    return f"an attacker who {_way(one)} names {_right(one)} first for {', '.join(said)}"


def _attacker_in_short(one: NamedFirst) -> str:
    return f"An attacker who {_way(one)} names {_right(one)} first for {_rate(one, 'released')} as released."


def _right(one: NamedFirst) -> str:
    return (
        "the right text of the web" if one.reference == "known names" else "the text nearest to the original"
    )


def _way(one: NamedFirst) -> str:
    return "searches" if one.attacker == "search" else "compares whole texts"


def _rate(one: NamedFirst, stage: Stage) -> str:
    low, high = one.interval(stage)
    return f"{one.first[stage]:,} of {one.documents:,} [{low:.2f}, {high:.2f}]"


def _documents_of(number: int, what: str = "") -> str:
    return f"{number:,} {what}{' ' if what else ''}document{'' if number == 1 else 's'}"


def _documents(which: Sequence[bool]) -> str:
    return f"{sum(which):,} of {len(which):,}"
