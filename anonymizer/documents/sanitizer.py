"""The pipeline of a folder: preprocessing, attack, sanitization (Algorithm 4)."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from anonymizer.documents.attack import Attacker
from anonymizer.documents.decisions import places
from anonymizer.documents.edits import Edit, applied, joined
from anonymizer.documents.engines.engine import Engine
from anonymizer.documents.languages.detect import tagger_of
from anonymizer.documents.languages.tagger import Tagger
from anonymizer.documents.preprocessing import Preprocessing
from anonymizer.documents.risk import KnownNames, RiskEvaluation, SharedWords
from anonymizer.documents.sanitizing import Replacement, Success, sanitized, searchable, touches
from anonymizer.documents.simulation import Simulation
from anonymizer.documents.specification import SanitizeSpec
from anonymizer.documents.text import Document, Language, Word
from anonymizer.documents.treated import Treated
from anonymizer.errors import TableError

FirstPass = Callable[[Document, tuple[Word, ...], Language], tuple[Edit, ...]]
Names = Mapping[str, tuple[str, ...]]
"""Of each document whose persons are known."""

Told = Callable[[int, int, str], None]
"""Called with documents done, documents in all, and what comes next."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A document before it is attacked."""

    document: Document
    tagger: Tagger
    edits: tuple[Edit, ...]
    words: tuple[Word, ...] = field(repr=False)


class Sanitizer:
    """Attacks and sanitizes documents of one folder, whose words are counted together.

    Attributes:
        decisions: of the person who reviews, by document and in their order.

    Args:
        documents: all of the folder.
        spec: how.
        engine: what the attacker searches.
        names: whom a search must not find; documents without are judged by shared words.
        first_pass: finds what is replaced before any attack.
        replacement: of risk words.
        corpus: further documents that words are counted in (D**).

    Raises:
        TableError: a document is in a language that is not read, or a decision of the specification is about
            a document or characters that are not there. Names the document.
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
    ) -> None:
        self._spec, self._names, self._replacement = spec, names, replacement
        self._attacker = Attacker(engine, spec.attack.results)
        self.decisions = places(spec.decisions, documents)
        _check_names(names, documents)
        # placeholders are numbered in an order that has nothing to do with names, the same in a later run
        order = sorted(documents, key=lambda one: hashlib.sha256(one.text.encode()).digest())
        read = {one.name: self._prepared(one, first_pass) for one in order}
        self._read = {one.name: read[one.name] for one in documents}
        self._preprocessing = self._counted(corpus)

    def treated(self, name: str) -> Treated:
        """A document, attacked and sanitized.

        Args:
            name: of one of the documents.

        Raises:
            EngineError: a search failed, so that nothing is known of its risk.
            UnreachableError: attacks go on to succeed.
        """
        read = self._read[name]
        attack = self._simulation(read)
        kept = [one.span for one in self.decisions[name] if one.decision.keeps]
        language = read.tagger.language
        done = sanitized(
            read.document, read.edits, read.tagger.words, attack, self._replacement, kept, language
        )
        return Treated(done, language, attack.searches, tuple(attack.own))

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

    def _simulation(self, read: _Read) -> Simulation:
        """The attacks on a document."""
        name, options = read.document.name, self._spec.attack
        preprocessing = self._preprocessing[read.tagger.language]
        evaluation: RiskEvaluation
        if name in self._names:
            evaluation = KnownNames({name: self._names[name]})
        else:
            top = preprocessing.prepared(read.words).top
            evaluation = SharedWords({name: top}, options.threshold, options.informative)
        return Simulation(
            read.document,
            preprocessing,
            self._attacker,
            evaluation,
            size=options.keywords,
            groups=-(-options.words // options.keywords),
        )

    def _prepared(self, document: Document, first_pass: FirstPass) -> _Read:
        language = None if self._spec.language == "auto" else self._spec.language
        try:
            tagger = tagger_of(document.text, language)
        except TableError as problem:
            raise TableError(f"{document.name}: {problem.what}", problem.mend) from None
        words = tagger.words(document.text)
        decided = self.decisions[document.name]
        kept = [one.span for one in decided if one.decision.keeps]
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
        edits = joined([*by_person, *direct])
        now = searchable(tagger.words(applied(document.text, edits)), edits)
        return _Read(document, tagger, edits, now)

    def _counted(self, corpus: Sequence[Document]) -> dict[Language, Preprocessing]:
        """The words of all documents, counted for each language by itself."""
        by_language: dict[Language, list[tuple[Word, ...]]] = defaultdict(list)
        others: dict[Language, list[tuple[Word, ...]]] = defaultdict(list)
        for one in self._read.values():
            by_language[one.tagger.language].append(one.words)
        for document in corpus:
            try:
                tagger = tagger_of(document.text)
            except TableError as problem:
                raise TableError(f"{document.name} of the corpus: {problem.what}", problem.mend) from None
            others[tagger.language].append(tagger.words(document.text))
        return {language: Preprocessing(found, others[language]) for language, found in by_language.items()}


def _check_names(names: Names, documents: Sequence[Document]) -> None:
    known = {one.name for one in documents}
    for name in names:
        if name not in known:
            raise TableError(
                f"The table of names speaks of {name!r}, which is not among the documents.",
                "Write its path below the folder, such as 2025/report.txt, or take the row out.",
            )
