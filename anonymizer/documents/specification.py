"""A sanitization as a TOML file: one can review it and run it again. Every section may be left out.

title = "Accident reports 2025"
language = "en"             # "ja", "de", "fr", or "auto": of each document the one that it seems to be in
languages = { "list.md" = "en" }   # of single documents
kind = "hospital letter"    # of all texts, if it is one that was measured; reports say what is known of it

[purpose]                   # for the person who signs; all of it is in the manifest
purpose = "Study of accidents"
legal_basis = "Art. 89 GDPR"
responsible = "Dr. Eva Weber, data steward"
recipient = "Institute of Epidemiology, Ulm"

[names]
table = "names.csv"         # columns document and name: who must not be found (R_i of the thesis)

[attack]
keywords = 3                # |KW|
words = 30                  # in groups of |KW|
results = 10                # #List
threshold = 4               # without names: from so many shared informative words a search succeeds
informative = 20            # of so many

[web]
kind = "folder"             # what the attacker searches; --web names a folder
path = "news"

[corpus]
path = "reports"            # D**, counted together with the documents

[labels]
table = "labels.csv"        # columns document and label; labels of other documents are learned from these
keywords = { fatal = 5, light = 1 }

[direct]
recognizers = ["rules", "lexicon", "crf"]
threshold = 0.15            # of the trained recognizer; smaller finds more
years = true                # 31 May 1991 becomes 1991
kinds = ["PERSON", "CODE"]

[generalize]
methods = ["dates", "places", "numbers", "hypernyms"]
wordnet = "/usr/share/wordnet"

[[keep]]                    # a person's decisions, each with a reason
document = "case-1.txt"
start = 120
end = 127
why = "the court's seat, known of all cases"

[[hide]]
document = "case-2.txt"
word = "Notary"             # all places of a word, instead of start and end
text = "an official"        # "[...]" unless said
why = "she is the only notary there"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

from anonymizer.documents.direct.crf import THRESHOLD
from anonymizer.documents.direct.figures import kinds_of_text
from anonymizer.documents.direct.found import KINDS
from anonymizer.documents.direct.registry import RECOGNIZERS, STANDARD
from anonymizer.documents.generalization.standard import METHODS
from anonymizer.documents.texts.decisions import Decision
from anonymizer.documents.texts.text import LANGUAGES, Language
from anonymizer.documents.words.labels import Interest
from anonymizer.errors import SpecError, TableError
from anonymizer.pipelines.spec import digest_of
from anonymizer.releases.acceptance import Acceptance
from anonymizer.releases.purpose import Purpose
from anonymizer.schema.documents import document_of, table_of
from commons.errors import near
from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Key, Matching, Read, Repeated, UnfitError, Wrong
from commons.settings.reader import read_declared

Choice = Language | Literal["auto"]


_WEB_PATHS: Final = ("path", "cache", "key_file", "authorities")
"""Entries of the section that are paths."""

_REMOVED: Final = "[...]"
_MAX_KEYWORDS: Final = 5
_MAX_WORDS: Final = 1000
_MAX_RESULTS: Final = 1000


def checked_kind(kind: Any, place: str) -> str:
    """A kind of text that was measured, or "".

    Args:
        kind: as it is given.
        place: how errors call it.

    Raises:
        SpecError: it is another, of which nothing can be known.
    """
    if kind and kind not in kinds_of_text():
        raise SpecError(
            f"{place}: {kind!r} is not a kind of text that was measured.",
            f"Leave it out, or choose one of {', '.join(map(repr, kinds_of_text()))}.",
        )
    return str(kind)


def _language(given: Any, place: str) -> str:
    known = (*LANGUAGES, "auto")
    if given not in known:
        raise SpecError(f"{place}: {given!r} is not a language that can be read.", near(str(given), known))
    return str(given)


def _languages(given: Any, place: str) -> Mapping[str, str]:
    """The languages of single documents, by their names."""
    found = table_of(given, place).table
    for name, language in found.items():
        if language not in LANGUAGES:
            raise SpecError(
                f"{place}: {name!r} is in {language!r}, which cannot be read.", near(str(language), LANGUAGES)
            )
    return found


def _web(given: Any, place: str) -> Mapping[str, Any]:
    """The table `[web]` as it is, which `engine_of` reads where it is needed."""
    return table_of(given, place).table


def _path(given: str, folder: Path, place: str) -> Path:
    if not given.isprintable():
        raise SpecError(f"{place} is not a path.", "Write one in quotes, without control characters.")
    return folder / given


_FILLED: Final = re.compile(r".*\S.*", re.DOTALL)
Filled = Annotated[str, Matching(_FILLED, "is empty", "Fill it in.")]


@dataclass(frozen=True, slots=True)
class AttackOptions:
    """How documents are attacked (sections 6.1.2 and 6.2.3).

    Attributes:
        keywords: |KW|, 1 to 5; all 2^|KW| - 1 combinations are searched for.
        words: how many words are searched with, in groups of |KW|; the thesis has one group. 1 to 1,000.
        results: #List, how many documents of an answer are looked at, 1 to 1,000.
        threshold: without known names, from how many shared words a search succeeds, 1 or more.
        informative: of how many of the most informative words besides the keywords.
    """

    keywords: Annotated[int, Between(1, _MAX_KEYWORDS)] = 3
    words: Annotated[int, Between(1, _MAX_WORDS)] = 30
    results: Annotated[int, Between(1, _MAX_RESULTS)] = 10
    threshold: Annotated[int, Between(minimum=1)] = 4
    informative: int = 20

    def __post_init__(self) -> None:
        if self.threshold > self.informative:
            raise UnfitError("threshold", "= {} is out of range", f"Choose 1 to {self.informative}.")


@dataclass(frozen=True, slots=True)
class Direct:
    """The first pass for direct identifiers.

    Attributes:
        recognizers: that look for them, of `RECOGNIZERS`; none leaves the pass out.
        threshold: from which probability the trained one is believed, above 0 to 1.
        kinds: that are replaced.
        years: whether the years of dates are left.
    """

    recognizers: Annotated[tuple[str, ...], Repeated(), OneOf(tuple(RECOGNIZERS))] = STANDARD
    threshold: Annotated[float, Wrong("= {} is out of range", "Choose above 0 to 1.")] = THRESHOLD
    kinds: Annotated[tuple[str, ...], Repeated(), OneOf(KINDS)] = KINDS
    years: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise UnfitError("threshold", "= {} is out of range", "Choose above 0 to 1.")
        object.__setattr__(self, "threshold", float(self.threshold))
        for key in ("recognizers", "kinds"):
            object.__setattr__(self, key, tuple(dict.fromkeys(getattr(self, key))))


@dataclass(frozen=True, slots=True)
class KeepTable:
    """A person's decision to keep characters, or all places of a word.

    Attributes:
        document: its name.
        start: the first character, as the report counts.
        end: the first one behind.
        word: instead of start and end.
        why: the reason.
    """

    document: Filled
    why: Annotated[str, Matching(_FILLED, "has no reason", "Say why, in a sentence.")]
    start: Annotated[int | None, Between(minimum=0)] = None
    end: int | None = None
    word: str | None = None

    def __post_init__(self) -> None:
        if self.word is not None and not self.word.strip():
            raise UnfitError("it", "has an empty word", "Fill it in.")
        span = (self.start, self.end)
        if self.word is not None and span != (None, None):
            raise UnfitError("it", "has a word as well as start or end", "Keep the word, or start and end.")
        if self.word is None and (self.start is None or self.end is None):
            missing = "start" if self.start is None else "end"
            raise UnfitError(
                "it", f"lacks {missing}", "Give document, why, and either start and end or word."
            )
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise UnfitError(
                "it",
                f"is empty: from character {self.start} to {self.end} there are no characters",
                "Copy start and end from the report.",
            )

    def decision(self, text: str | None = None) -> Decision:
        """The decision, with what is written instead."""
        if self.start is None or self.end is None:
            return Decision(self.document, None, self.why, text, self.word or "")
        return Decision(self.document, (self.start, self.end), self.why, text)


@dataclass(frozen=True, slots=True)
class HideTable(KeepTable):
    """A person's decision to hide characters, or all places of a word.

    Attributes:
        text: what is written instead.
    """

    text: str = _REMOVED


@dataclass(frozen=True, slots=True)
class SanitizeFile:
    """The tables of a specification.

    Attributes:
        title: for people.
        language: of the documents; `auto` is of each the one that it seems to be in.
        languages: of single documents, by their names.
        kind: of text, if it is one that was measured.
        purpose: what the release is for.
        names: a table with the columns `document` and `name`: who must not be found.
        attack: how documents are attacked.
        web: what the attacker searches.
        corpus: a folder of documents that words are counted in besides.
        labels: a table with the columns `document` and `label`.
        keywords: |KW| by label, 0 to 5.
        direct: the first pass.
        methods: of generalization, of `METHODS`.
        wordnet: the folder of WordNet's files.
        keep: decisions to keep characters.
        hide: decisions to hide them.
        accept: findings of the gate that are accepted, each with a reason.
    """

    title: str = ""
    language: Annotated[str, Read(_language, {"enum": [*LANGUAGES, "auto"]})] = "auto"
    languages: Annotated[Mapping[str, str], Read(_languages, {"type": "object"})] = field(
        default_factory=dict
    )
    kind: Annotated[str, Read(checked_kind, {"type": "string"})] = ""
    purpose: Purpose = field(default_factory=Purpose)
    names: Annotated[Path | None, Key("names.table")] = None
    attack: AttackOptions = field(default_factory=AttackOptions)
    web: Annotated[Mapping[str, Any] | None, Read(_web, {"type": "object"})] = None
    corpus: Annotated[Path | None, Key("corpus.path")] = None
    labels: Annotated[Path | None, Key("labels.table")] = None
    keywords: Annotated[Mapping[str, int], Key("labels.keywords")] = field(default_factory=dict)
    direct: Direct = field(default_factory=Direct)
    methods: Annotated[tuple[str, ...], Key("generalize.methods"), Repeated(), OneOf(METHODS)] = METHODS
    wordnet: Annotated[Path | None, Key("generalize.wordnet")] = None
    keep: tuple[KeepTable, ...] = ()
    hide: tuple[HideTable, ...] = ()
    accept: tuple[Acceptance, ...] = ()

    def __post_init__(self) -> None:
        if (self.labels is not None) != bool(self.keywords):
            hint = 'Write table = "labels.csv" and such as keywords = { fatal = 5, light = 1 }.'
            raise UnfitError("it", "needs both table and keywords", hint, "labels")


@dataclass(frozen=True, slots=True)
class SanitizeSpec:
    """A specification, checked for form.

    Attributes:
        title: for people.
        language: of the documents.
        languages: of single documents, by their names.
        kind: of text, of `kinds_of_text`; "" where nobody has said it. It decides what reports say is known.
        purpose: what the release is for.
        names: the table of known names; None if there are no characters.
        attack: how documents are attacked.
        web: what the attacker searches, as `engine_of` takes it; None if the section is missing.
        corpus: the folder of further documents that words are counted in; None if there are no characters.
        labels: the table of labels of interest; None if there are no characters.
        interest: with how many keywords documents of each label are attacked.
        direct: the first pass.
        methods: of generalization, of `METHODS`.
        wordnet: the folder of WordNet's files; None leaves hypernyms out unless a known place has them.
        decisions: of the person who reviews.
        accept: findings of the gate that are accepted.
        document: all of it as plain values, as a report shows it; paths as they are written.
    """

    title: str = ""
    language: Choice = "auto"
    languages: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""
    purpose: Purpose = field(default_factory=Purpose)
    names: Path | None = None
    attack: AttackOptions = field(default_factory=AttackOptions)
    web: Mapping[str, Any] | None = field(default=None, repr=False)
    corpus: Path | None = None
    labels: Path | None = None
    interest: Interest = field(default_factory=lambda: Interest({}))
    direct: Direct = field(default_factory=Direct)
    methods: tuple[str, ...] = METHODS
    wordnet: Path | None = None
    decisions: tuple[Decision, ...] = ()
    accept: tuple[Acceptance, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def language_of(self, document: str) -> str | None:
        """The language that a document is said to be in, by its name; None if nobody has said."""
        said = self.languages.get(document, self.language)
        return None if said == "auto" else said

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of all that decides what is done, files that it names apart.

        A purpose decides nothing: to state another does not undo what an interrupted run has finished.
        """
        return digest_of(
            {
                "language": self.language,
                "languages": dict(self.languages),
                "attack": asdict(self.attack),
                "interest": dict(self.interest.sizes),
                "web": {key: value for key, value in (self.web or {}).items() if key not in _WEB_PATHS},
                "direct": asdict(self.direct),
                "methods": self.methods,
                "decisions": [asdict(one) for one in self.decisions],
                "accept": [one.to_mapping() for one in self.accept],
            }
        )


def read_sanitization(path: str | Path) -> SanitizeSpec:
    """Read a specification; paths in it are relative to its folder.

    Raises:
        FileError: it cannot be read.
        SpecError: it is not TOML, or has an unknown, missing or impossible entry.
    """
    place = Path(path)
    return parse_sanitization(document_of(place), place.parent, place.name)


def parse_sanitization(document: Mapping[str, Any], folder: Path, place: str = "spec") -> SanitizeSpec:
    """Check a parsed specification.

    Args:
        document: its plain values.
        folder: that paths are relative to.
        place: how errors call it.

    Raises:
        SpecError: as `read_sanitization`.
    """
    found = read_declared(SanitizeFile, table_of(document, place, folder=folder))
    web = None if found.web is None else dict(found.web)
    for key in _WEB_PATHS:
        if web is not None and isinstance(web.get(key), str) and web[key].strip():
            web[key] = str(_path(web[key], folder, f"{place}, web: {key}"))
    try:
        interest = Interest(found.keywords, found.attack.keywords)
    except TableError as problem:
        raise SpecError(f"{place}, labels: {problem.what}", problem.hint) from None
    decisions = [one.decision() for one in found.keep] + [one.decision(one.text) for one in found.hide]
    return SanitizeSpec(
        title=found.title,
        language=cast("Choice", found.language),
        languages=found.languages,
        kind=found.kind,
        purpose=found.purpose,
        names=found.names,
        attack=found.attack,
        web=web,
        corpus=found.corpus,
        labels=found.labels,
        interest=interest,
        direct=found.direct,
        methods=tuple(dict.fromkeys(found.methods)),
        wordnet=found.wordnet,
        decisions=tuple(decisions),
        accept=found.accept,
        document=document,
    )
