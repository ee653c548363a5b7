"""The pipeline of a folder: preprocessing, attack, sanitization (Algorithm 4)."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from anonymizer.documents.attacks.attack import Attacked, Attacker
from anonymizer.documents.attacks.risk import KnownNames, RiskEvaluation, SharedWords
from anonymizer.documents.attacks.simulation import SimulatedAttacks
from anonymizer.documents.direct.persons import name_parts
from anonymizer.documents.engines.engine import Engine
from anonymizer.documents.languages.detect import (
    UntoldLanguageError,
    check_language,
    check_readable,
    detect,
    tagger_of,
)
from anonymizer.documents.languages.tagger import Tagger
from anonymizer.documents.sanitization.gone import folder_terms, hidden_everywhere, own_terms
from anonymizer.documents.sanitization.sanitizing import Replacement, Success, sanitize, searchable, touches
from anonymizer.documents.sanitization.treated import SanitizedFolder
from anonymizer.documents.specification import SanitizeSpec
from anonymizer.documents.texts.decisions import places
from anonymizer.documents.texts.edits import Edit, apply_edits, join_edits
from anonymizer.documents.texts.text import Document, Language, Span, Word
from anonymizer.documents.words.labels import Labeller
from anonymizer.documents.words.preprocessing import Preprocessing
from anonymizer.errors import TableError, list_names

FirstPass = Callable[[Document, tuple[Word, ...], Language], tuple[Edit, ...]]
Names = Mapping[str, tuple[str, ...]]
"""Of each document whose persons are known."""

OnProgress = Callable[[int, int, str], None]
"""Called with documents done, documents in all, and what comes next."""


_NONE: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class _Read:
    """A document before it is attacked."""

    document: Document
    tagger: Tagger
    edits: tuple[Edit, ...]
    words: tuple[Word, ...] = field(default=(), repr=False)


class Sanitizer:
    """Attacks and sanitizes documents of one folder, whose words are counted together.

    Attributes:
        decisions: of the person who reviews, by document and in their order.
        shared: names and codes that must not stand in any document.

    Args:
        documents: all of the folder.
        spec: how.
        engine: what the attacker searches.
        names: whom a search must not find; documents without are judged by shared words.
        first_pass: finds what is replaced before any attack.
        replacement: of risk words.
        corpus: further documents that words are counted in (D**).
        labels: of interest, of documents of the folder or the corpus; those of the others are learned.

    Raises:
        TableError: a document is in a language that is not read, a decision of the specification is about a
            document or characters that are not there, or labels cannot be learned. Names the document.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        spec: SanitizeSpec,
        engine: Engine,
        names: Names,
        first_pass: FirstPass,
        replacement: Replacement,
        corpus: Sequence[Document] = (),
        labels: Mapping[str, str] = _NONE,
    ) -> None:
        self._spec, self._names, self._replacement = spec, names, replacement
        self._attacker = Attacker(engine, spec.attack.results)
        self.decisions = places(spec.decisions, documents)
        _check_named("names", names, documents)
        _check_named("labels", labels, [*documents, *corpus])
        # placeholders are numbered in an order that has nothing to do with names, the same in a later run
        order = sorted(documents, key=lambda one: hashlib.sha256(one.text.encode()).digest())
        _check_named("languages", spec.languages, documents)
        self._languages = _languages(documents, spec)
        found = [self._found(one, first_pass) for one in order]
        self.shared = folder_terms(
            ((one.document.text, one.edits, one.tagger.language) for one in found),
            (name for those in names.values() for name in those),
        )
        read = {one.document.name: self._prepared(one) for one in found}
        self._read = {one.name: read[one.name] for one in documents}
        others = [self._of_corpus(one) for one in corpus]
        self._preprocessing = self._counted(others)
        self._labels = self._labelled(labels, others)

    def treated(self, name: str) -> SanitizedFolder:
        """A document, attacked and sanitized.

        Args:
            name: of one of the documents.

        Raises:
            EngineError: a search failed, so that nothing is known of its risk.
            UnreachableError: attacks go on to succeed.
        """
        read = self._read[name]
        attack = self._simulation(read)
        language = read.tagger.language
        done = sanitize(
            read.document,
            read.edits,
            read.tagger.words,
            attack,
            self._replacement,
            self._kept(name),
            language,
            lambda edits: self._hidden_everywhere(read, edits),
        )
        return SanitizedFolder(done, language, attack.searches, tuple(attack.own), self._labels.get(name))

    def terms(self, one: SanitizedFolder) -> frozenset[str]:
        """What must not stand in a document besides `shared`: what was hidden, and names of its persons."""
        own = own_terms(one.sanitized.document.text, one.edits, one.language)
        return name_parts(self._names.get(one.name, ())) | own.keys()

    def kept(self, name: str) -> frozenset[str]:
        """Texts that a person keeps in a document."""
        text = self._read[name].document.text
        return frozenset(text[start:end] for start, end in self._kept(name))

    def first_edits(self, name: str) -> tuple[Edit, ...]:
        """The edits of a document before it is attacked."""
        return self._read[name].edits

    def attacks(self, name: str, text: str) -> tuple[Attacked, ...]:
        """The searches for a document by the words of a text.

        Raises:
            EngineError: a search failed.
        """
        return tuple(self._simulation(self._read[name]).attacks(self.words(name, text)))

    def words(self, name: str, text: str) -> tuple[Word, ...]:
        """The words of a text, read in the language of a document."""
        return self._read[name].tagger.words(text)

    def found_again(self, name: str, text: str, edits: Sequence[Edit]) -> tuple[Success, ...]:
        """Attacks that succeed on a text as it was read back.

        Args:
            name: of the document.
            text: of the file that is to leave; blanks may differ from those of the edited text.
            edits: that were made.

        Raises:
            EngineError: a search failed.
        """
        read = self._read[name]
        placeholders = {re.escape(edit.text) for edit in edits if edit.hides and edit.text}
        hidden = [one.span() for one in re.finditer("|".join(sorted(placeholders)) or r"(?!)", text)]
        words = (word for word in read.tagger.words(text) if not touches(hidden, word.span))
        return self._simulation(read)(tuple(words))

    def _simulation(self, read: _Read) -> SimulatedAttacks:
        """The attacks on a document."""
        name, options = read.document.name, self._spec.attack
        preprocessing = self._preprocessing[read.tagger.language]
        evaluation: RiskEvaluation
        if name in self._names:
            evaluation = KnownNames({name: self._names[name]})
        else:
            top = preprocessing.prepared(read.words).top
            evaluation = SharedWords({name: top}, options.threshold, options.informative)
        size = self._spec.interest.size(self._labels.get(name))
        groups = -(-options.words // size) if size else 0
        return SimulatedAttacks(
            read.document, preprocessing, self._attacker, evaluation, size=size, groups=groups
        )

    def _kept(self, name: str) -> list[Span]:
        return [one.span for one in self.decisions[name] if one.decision.keeps]

    def _hidden_everywhere(self, read: _Read, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        name = read.document.name
        parts = name_parts(self._names.get(name, ()))
        return hidden_everywhere(
            read.document, edits, read.tagger.language, parts, self._kept(name), self.shared
        )

    def _found(self, document: Document, first_pass: FirstPass) -> _Read:
        """A document with what a person and the first pass want of it alone."""
        tagger = tagger_of(document.text, self._languages[document.name])
        words = tagger.words(document.text)
        decided = self.decisions[document.name]
        kept = self._kept(document.name)
        by_person = [
            Edit(*one.span, one.decision.text, "person", "decided")
            for one in decided
            if one.decision.text is not None
        ]
        direct = [
            edit
            for edit in first_pass(document, words, tagger.language)
            if not any(edit.overlaps(span) for span in kept)
        ]
        return _Read(document, tagger, join_edits([*by_person, *direct]))

    def _prepared(self, found: _Read) -> _Read:
        """A document before it is attacked: what was found anywhere in the folder is hidden."""
        edits = self._hidden_everywhere(found, found.edits)
        text = apply_edits(found.document.text, edits)
        return replace(found, edits=edits, words=searchable(found.tagger.words(text), edits))

    def _of_corpus(self, document: Document) -> _Read:
        try:
            tagger = tagger_of(document.text)
        except TableError as problem:
            raise TableError(f"{document.name} of the corpus: {problem.what}", problem.hint) from None
        return _Read(document, tagger, (), tagger.words(document.text))

    def _counted(self, corpus: Sequence[_Read]) -> dict[Language, Preprocessing]:
        """The words of all documents, counted for each language by itself."""
        documents, others = _by_language(self._read.values()), _by_language(corpus)
        return {
            language: Preprocessing([one.words for one in found], [one.words for one in others[language]])
            for language, found in documents.items()
        }

    def _labelled(self, labels: Mapping[str, str], corpus: Sequence[_Read]) -> dict[str, str]:
        """The labels of all documents: given ones, and for the others of the language learned from these."""
        if not labels:
            return {}
        found = {name: labels[name] for name in self._read if name in labels}
        known = _by_language(one for one in (*corpus, *self._read.values()) if one.document.name in labels)
        for language, those in _by_language(self._read.values()).items():
            unknown = [one for one in those if one.document.name not in labels]
            if unknown:
                examples = known[language]
                labeller = Labeller(
                    [one.words for one in examples], [labels[one.document.name] for one in examples]
                )
                found |= {one.document.name: labeller.label(one.words) for one in unknown}
        return found


def _by_language(documents: Iterable[_Read]) -> defaultdict[Language, list[_Read]]:
    found: defaultdict[Language, list[_Read]] = defaultdict(list)
    for one in documents:
        found[one.tagger.language].append(one)
    return found


def _languages(documents: Sequence[Document], spec: SanitizeSpec) -> dict[str, Language]:
    """The language of each document, by its name.

    A short document in Latin letters that tells none is in that of the others, if these are in one.

    Raises:
        TableError: names all documents of which no language is known, or that are in another than is said.
    """
    found: dict[str, Language] = {}
    problems: dict[str, TableError] = {}
    for one in documents:
        said = spec.language_of(one.name)
        try:
            if said is None:
                found[one.name] = detect(one.text)
                continue
            (check_readable if one.name in spec.languages else check_language)(one.text, said)
            found[one.name] = tagger_of("", said).language
        except TableError as problem:
            problems[one.name] = problem
    others = set(found.values()) - {"ja"}
    if len(others) == 1:
        untold = [name for name, problem in problems.items() if isinstance(problem, UntoldLanguageError)]
        found |= dict.fromkeys(untold, *others)
        problems = {name: problem for name, problem in problems.items() if name not in found}
    if problems:
        raise _unread(problems, spec)
    return found


def _unread(problems: Mapping[str, TableError], spec: SanitizeSpec) -> TableError:
    name, first = next(iter(problems.items()))
    what = f"{name}: {first.what}"
    if len(problems) > 1:
        said = list_names(list(problems), "documents")
        where = (
            "in no language that is read" if spec.language == "auto" else "not in the language that is said"
        )
        what = f"{len(problems):,} documents are {where}: {said}. {what}"
    if not isinstance(first, UntoldLanguageError):
        return TableError(what, first.hint)
    line = f'{json.dumps(name, ensure_ascii=False)} = "..."'
    own = 'Write language = "..." in the specification for all documents, or for one of them'
    return TableError(what, f"{first.hint} {own} below [languages]: {line}.")


def _check_named(what: str, names: Iterable[str], documents: Sequence[Document]) -> None:
    known = {one.name for one in documents}
    for name in names:
        if name not in known:
            raise TableError(
                f"The table of {what} speaks of {name!r}, which is not among the documents.",
                "Write its path below the folder, such as 2025/report.txt, or take the row out.",
            )
