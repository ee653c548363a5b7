"""A sanitization as a TOML file: one can review it and run it again. Every section may be left out.

title = "Accident reports 2025"
language = "en"             # "ja", "de", "fr", or "auto": of each document the one that it seems to be in
kind = "hospital letter"    # of all texts, if it is one that was measured; reports say what is known of it

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

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Self

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
from anonymizer.schema.documents import document_of, listed, only, section
from commons.errors import near

Choice = Language | Literal["auto"]


_WEB_PATHS: Final = ("path", "cache", "key_file", "authorities")
"""Entries of the section that are paths."""

_SECTIONS: Final = (
    "title", "language", "kind", "names", "attack", "web", "corpus", "labels", "direct", "generalize", "keep",
    "hide", "accept",
)  # fmt: skip
_REMOVED: Final = "[...]"
_MAX_KEYWORDS: Final = 5
_MAX_WORDS: Final = 1000
_MAX_RESULTS: Final = 1000


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

    keywords: int = 3
    words: int = 30
    results: int = 10
    threshold: int = 4
    informative: int = 20

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any], place: str) -> Self:
        """Read the section.

        Raises:
            SpecError: a key is unknown, or a number out of range.
        """
        only(given, tuple(cls.__slots__), place)
        found = cls(**{key: _number(given, key, place) for key in given})
        most = {
            "keywords": _MAX_KEYWORDS,
            "words": _MAX_WORDS,
            "results": _MAX_RESULTS,
            "threshold": found.informative,
        }
        for key, limit in most.items():
            if not 1 <= getattr(found, key) <= limit:
                raise SpecError(
                    f"{place}: {key} = {getattr(found, key)} is out of range.", f"Choose 1 to {limit:,}."
                )
        return found


@dataclass(frozen=True, slots=True)
class Direct:
    """The first pass for direct identifiers.

    Attributes:
        recognizers: that look for them, of `RECOGNIZERS`; none leaves the pass out.
        threshold: from which probability the trained one is believed, above 0 to 1.
        kinds: that are replaced.
        years: whether the years of dates are left.
    """

    recognizers: tuple[str, ...] = STANDARD
    threshold: float = THRESHOLD
    kinds: tuple[str, ...] = KINDS
    years: bool = False

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any], place: str) -> Self:
        """Read the section.

        Raises:
            SpecError: a key, a recognizer or a kind is unknown, or the threshold out of range.
        """
        only(given, tuple(cls.__slots__), place)
        years = given.get("years", False)
        if not isinstance(years, bool):
            raise SpecError(f"{place}: years = {years!r} is neither true nor false.", "Write true or false.")
        threshold = given.get("threshold", cls().threshold)
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            raise SpecError(f"{place}: threshold = {threshold!r} is out of range.", "Choose above 0 to 1.")
        return cls(
            _chosen(given, "recognizers", tuple(RECOGNIZERS), cls().recognizers, place),
            float(threshold),
            _chosen(given, "kinds", KINDS, KINDS, place),
            years,
        )


@dataclass(frozen=True, slots=True)
class SanitizeSpec:
    """A specification, checked for form.

    Attributes:
        title: for people.
        language: of the documents.
        kind: of text, of `kinds_of_text`; "" where nobody has said it. It decides what reports say is known.
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
    """

    title: str = ""
    language: Choice = "auto"
    kind: str = ""
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

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of all that decides what is done, files that it names apart."""
        return digest_of(
            {
                "language": self.language,
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
    only(document, _SECTIONS, place)
    title, language = document.get("title", ""), document.get("language", "auto")
    if not isinstance(title, str):
        raise SpecError(f"{place}: title is not a text.", "Put it in quotes.")
    if language not in (*LANGUAGES, "auto"):
        raise SpecError(
            f"{place}: {language!r} is not a language that can be read.",
            near(str(language), (*LANGUAGES, "auto")),
        )
    kind = checked_kind(document.get("kind", ""), place)
    attack = AttackOptions.from_mapping(section(document, "attack", place), f"{place}, attack")
    labels = _section(document, "labels", ("table", "keywords"), place)
    general = _section(document, "generalize", ("methods", "wordnet"), place)
    web = dict(section(document, "web", place)) if "web" in document else None
    for key in _WEB_PATHS:
        if web is not None and isinstance(web.get(key), str) and web[key].strip():
            web[key] = str(_path(web, key, folder, f"{place}, web"))
    decisions = [
        _decision(one, "keep", f"{place}, keep {at}")
        for at, one in enumerate(listed(document, "keep", place), 1)
    ]
    decisions += [
        _decision(one, "hide", f"{place}, hide {at}")
        for at, one in enumerate(listed(document, "hide", place), 1)
    ]
    return SanitizeSpec(
        title=title,
        language=language,
        kind=kind,
        names=_path(_section(document, "names", ("table",), place), "table", folder, f"{place}, names"),
        attack=attack,
        web=web,
        corpus=_path(_section(document, "corpus", ("path",), place), "path", folder, f"{place}, corpus"),
        labels=_path(labels, "table", folder, f"{place}, labels"),
        interest=_interest(labels, attack.keywords, f"{place}, labels"),
        direct=Direct.from_mapping(section(document, "direct", place), f"{place}, direct"),
        methods=_chosen(general, "methods", METHODS, METHODS, f"{place}, generalize"),
        wordnet=_path(general, "wordnet", folder, f"{place}, generalize"),
        decisions=tuple(decisions),
        accept=tuple(
            Acceptance.from_mapping(one, f"{place}, accept {at}")
            for at, one in enumerate(listed(document, "accept", place), 1)
        ),
    )


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


def _section(document: Mapping[str, Any], key: str, known: tuple[str, ...], place: str) -> Mapping[str, Any]:
    found = section(document, key, place)
    only(found, known, f"{place}, {key}")
    return found


def _interest(given: Mapping[str, Any], other: int, place: str) -> Interest:
    sizes = section(given, "keywords", place)
    if ("table" in given) != bool(sizes):
        raise SpecError(
            f"{place} needs both table and keywords.",
            'Write table = "labels.csv" and such as keywords = { fatal = 5, light = 1 }.',
        )
    try:
        return Interest({label: _number(sizes, label, place) for label in sizes}, other)
    except TableError as problem:
        raise SpecError(f"{place}: {problem.what}", problem.hint) from None


def _number(given: Mapping[str, Any], key: str, place: str) -> int:
    value = given[key]
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(f"{place}: {key} = {value!r} is not a whole number.", "Write such as 3.")
    return value


def _path(given: Mapping[str, Any], key: str, folder: Path, place: str) -> Path | None:
    value = given.get(key)
    if value is not None and (not isinstance(value, str) or not value.isprintable()):
        raise SpecError(f"{place}: {key} is not a path.", "Write one in quotes, without control characters.")
    return None if value is None else folder / value


def _chosen(
    given: Mapping[str, Any], key: str, known: tuple[str, ...], default: tuple[str, ...], place: str
) -> tuple[str, ...]:
    if key not in given:
        return default
    words = given[key]
    if not isinstance(words, list) or not all(isinstance(one, str) for one in words):
        raise SpecError(f"{place}: {key} is not a list of words.", f'Write such as ["{known[0]}"].')
    for one in words:
        if one not in known:
            raise SpecError(f"{place}: {one!r} is not one of {key}.", near(one, known))
    return tuple(dict.fromkeys(words))


def _decision(given: Any, kind: str, place: str) -> Decision:
    if not isinstance(given, Mapping):
        raise SpecError(f"{place} is not a table.", f"Write document, start, end and why below [[{kind}]].")
    only(given, ("document", "start", "end", "word", "why", *(("text",) if kind == "hide" else ())), place)
    where = ("word",) if "word" in given else ("start", "end")
    if "word" in given and ("start" in given or "end" in given):
        raise SpecError(f"{place} has a word as well as start or end.", "Keep the word, or start and end.")
    for key in ("document", *where, "why"):
        if key not in given:
            raise SpecError(f"{place} lacks {key}.", "Give document, why, and either start and end or word.")
    for key in ("document", "why", "text", "word"):
        if key in given and not isinstance(given[key], str):
            raise SpecError(f"{place}: {key} is not a text.", "Put it in quotes.")
        if key in given and key != "text" and not given[key].strip():
            what = "has no reason" if key == "why" else f"has an empty {key}"
            raise SpecError(f"{place} {what}.", "Say why, in a sentence." if key == "why" else "Fill it in.")
    text = None if kind == "keep" else given.get("text", _REMOVED)
    if "word" in given:
        return Decision(given["document"], None, given["why"], text, given["word"])
    start, end = _number(given, "start", place), _number(given, "end", place)
    if not 0 <= start < end:
        raise SpecError(
            f"{place}: from character {start} to {end} there are no characters.",
            "Copy start and end from the report.",
        )
    return Decision(given["document"], (start, end), given["why"], text)
