"""The release of a folder of documents: attacked, sanitized, kept on the way, and let out by the gate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from anonymizer.documents.attacks.naming import NamedFirst
from anonymizer.documents.engines.engine import Engine
from anonymizer.documents.engines.index import FolderIndex
from anonymizer.documents.first_pass import FirstPass
from anonymizer.documents.folders.folder import Source
from anonymizer.documents.folders.gate import DocumentGate, Outgoing, deciding
from anonymizer.documents.folders.names import released_names
from anonymizer.documents.folders.progress import Kept, key_of
from anonymizer.documents.generalization.chain import Chain
from anonymizer.documents.generalization.standard import standard
from anonymizer.documents.named import named_first
from anonymizer.documents.sanitization.treated import SanitizedFolder
from anonymizer.documents.sanitizer import Names, OnProgress, Sanitizer
from anonymizer.documents.specification import SanitizeSpec
from anonymizer.documents.texts.terms import Terms
from anonymizer.documents.texts.text import Document
from anonymizer.gate.finding import Finding
from anonymizer.gate.gate import Page, Passed
from anonymizer.gate.wording import FOLDER, TITLE, WEB, persons_in_texts, purpose_texts
from anonymizer.releases.acceptance import Acceptance
from anonymizer.releases.guarantee import Guarantee
from anonymizer.releases.manifest import Manifest

_CONDITION: Final = "The engine and its documents were as at the time of the release."
_NONE: Final[Mapping[str, str]] = {}


class ReleaseRun:
    """A folder on its way out.

    Attributes:
        names: that documents leave under, by their own.

    Args:
        sources: the documents as their formats read them.
        spec: how they are sanitized.
        engine: what the attacker searches.
        persons: whom a search must not find.
        corpus: further documents that words are counted in.
        labels: of interest, of documents of the folder or the corpus.
        keep_names: leave files their names.

    Raises:
        AnonymizerError: documents and specification do not fit each other, or a library is missing.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        spec: SanitizeSpec,
        engine: Engine,
        persons: Names,
        corpus: Sequence[Document] = (),
        labels: Mapping[str, str] = _NONE,
        *,
        keep_names: bool = False,
    ) -> None:
        self._sources, self._spec, self._engine, self._persons = tuple(sources), spec, engine, persons
        self._corpus, self._labels = tuple(corpus), labels
        self.names = released_names(sources, keep=keep_names)
        self._chain = self._new_chain()
        first_pass = FirstPass.of(spec.direct, persons)
        documents = [one.document for one in sources]
        self._sanitizer = Sanitizer(documents, spec, engine, persons, first_pass, self._chain, corpus, labels)

    def dropped(self, called: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """What the formats leave out, and what is to be known of a text, a sentence each.

        Args:
            called: what documents are called, by their own names; None is by these.
        """
        own = {one.name: one.name for one in self._sources} if called is None else called
        left_out = (
            f"Left out of {own[one.name]}: {sentence}"
            for one in self._sources
            for sentence in one.opened.dropped
        )
        noted = (f"{own[one.name]}: {sentence}" for one in self._sources for sentence in one.opened.noted)
        return tuple(dict.fromkeys((*left_out, *noted)))

    def treat(self, kept: Kept, on_progress: OnProgress | None = None) -> tuple[SanitizedFolder, ...]:
        """Attack and sanitize all documents, but those that an interrupted run with the same has finished.

        Args:
            kept: what was finished, and where to keep what will be.
            on_progress: of the progress.

        Raises:
            EngineError: a search failed; what was finished before is kept.
            UnreachableError: attacks on a document go on to succeed.
        """
        found = []
        whole = self._digest()
        for number, one in enumerate(self._sources):
            if on_progress is not None:
                on_progress(number, len(self._sources), one.name)
            key = key_of(run=whole, document=one.name)
            values = kept.get(key)
            if values is None:
                made = self._sanitizer.treat(one.name)
                # what words became in one document holds for the next ones, also in a later run
                kept.put(key, {"treated": made.to_values(), "settled": self._chain.settled})
            else:
                made = SanitizedFolder.from_values(one.document, values["treated"])
                self._chain.resume(values["settled"])
            found.append(made)
        return tuple(found)

    def named_first(
        self, treated: Sequence[SanitizedFolder], on_progress: OnProgress | None = None
    ) -> tuple[NamedFirst, ...]:
        """How many documents attackers name rightly, before and after; none where the web is a server.

        Args:
            treated: all of them.
            on_progress: of the progress.
        """
        if not isinstance(self._engine, FolderIndex):
            return ()  # the originals would be searched for
        return named_first(self._sanitizer, self._engine, self._persons, treated, on_progress)

    def persons_in_wording(self, treated: Sequence[SanitizedFolder], output: str) -> tuple[str, ...]:
        """What pages and manifest say in a user's words and holds a word that must be gone, or a name.

        Args:
            treated: all of them.
            output: the name of the folder of the release.

        Returns:
            A sentence for each: entries of the purpose, the title, and the names of the folders of release
            and web.
        """
        texts = {
            **purpose_texts(self._spec.purpose),
            TITLE: self._spec.title,
            FOLDER: output,
            WEB: self._engine.name,
        }
        own = (term for one in treated for term in self._sanitizer.terms(one))
        gone = Terms({*own, *self._sanitizer.shared.written})
        return persons_in_texts(
            texts, lambda text: "a word that must be gone from a document" if any(gone.standing(text)) else ""
        )

    def write(
        self,
        treated: Sequence[SanitizedFolder],
        output: Path,
        inputs: Sequence[Path] = (),
        pages: Mapping[Path, Page] | None = None,
    ) -> Passed:
        """Let the documents out by the gate, which attacks them once more.

        Args:
            treated: all of them.
            output: the folder of the release.
            inputs: files and folders that it was made of.
            pages: by path; they stay at home.

        Raises:
            GateError: a look found something. Nothing was written.
            FileError: a file cannot be written; nothing was.
        """
        by_name = {one.name: one for one in treated}
        outgoing = [
            Outgoing(
                one,
                by_name[one.name].edits,
                self.names[one.name],
                self._sanitizer.terms(by_name[one.name]),
                self._sanitizer.kept_texts(one.name),
            )
            for one in self._sources
        ]
        gate = DocumentGate(
            accept=(*self._spec.accept, *self._acceptances()),
            recheck=partial(self._recheck, by_name),
            terms=frozenset(self._sanitizer.shared.written),
        )
        manifest = Manifest(
            specification=self._spec.digest, purpose=self._spec.purpose, guarantees=(self._guarantee(),)
        )
        return gate.write(outgoing, output, manifest, inputs=inputs, private=pages)

    def _acceptances(self) -> tuple[Acceptance, ...]:
        """What a person kept, by the names that documents leave under."""
        return tuple(
            Acceptance("kept", self.names[one.document], one.why) for one in self._spec.decisions if one.keeps
        )

    def _recheck(
        self, treated: Mapping[str, SanitizedFolder], outgoing: Outgoing, text: str
    ) -> Iterable[Finding]:
        """Attack what was read back, by all of its words, placeholders included."""
        name = outgoing.source.name
        left = {one.keywords for one in treated[name].sanitized.left}
        again = self._sanitizer.found_again(name, text, outgoing.edits)
        lemmas = {word for one in again if one.keywords not in left for word in one.keywords}
        if lemmas:
            original = outgoing.source.document.text
            words = {word.text for word in self._sanitizer.words(name, text) if word.lemma in lemmas}
            yield Finding(
                "search",
                name,
                f"A search still leads to the person of {name} as it would leave.",
                "Run the command again with --fresh; if it comes back, hide the words that it names.",
                tuple(deciding(name, word) for word in sorted(words) if word in original),
            )

    def _guarantee(self) -> Guarantee:
        attack = self._spec.attack
        named = "known names" if self._persons else f"{attack.threshold} shared words"
        return Guarantee(
            "search-attack",
            {
                "keywords": attack.keywords,
                "words": attack.words,
                "results": attack.results,
                "engine": type(self._engine).__name__,
                "evidence": named,
            },
            condition=_CONDITION,
        )

    def _new_chain(self) -> Chain:
        return standard(self._spec.methods, self._spec.wordnet)

    def _digest(self) -> str:
        """Of everything that the result of a document depends on: words are counted in all documents."""
        return key_of(
            documents=[[one.name, one.digest] for one in self._sources],
            corpus=[[one.name, hashlib.sha256(one.text.encode()).hexdigest()] for one in self._corpus],
            specification=self._spec.digest,
            web=self._engine.digest,
            labels=dict(self._labels),
            persons={name: list(names) for name, names in self._persons.items()},
        )
