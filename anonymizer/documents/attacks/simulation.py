"""The simulated attacker as the loop of sanitizing calls it: Algorithms 5 and 6 and RiskEvaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from anonymizer.documents.attacks.attack import Attacked, Attacker, Progress
from anonymizer.documents.attacks.risk import RiskEvaluation, successes
from anonymizer.documents.sanitization.sanitizing import Success
from anonymizer.documents.texts.text import Document, Word
from anonymizer.documents.words.preprocessing import Preprocessing


class SimulatedAttacks:
    """The attacks on a document, for `sanitizing.sanitize`.

    Attributes:
        searches: made so far.
        own: names of hits that were set aside, since they are the document itself.

    Args:
        document: the original; a hit with the same text is it, and is set aside.
        preprocessing: chooses keywords anew of the words that are left.
        attacker: searches; give all documents of a run the same one, which remembers answers.
        evaluation: judges hits.
        size: |KW|; what the label of the document decides if it is not given.
        groups: so many keyword sets KW are searched with, each of the words that the ones before have left;
            the thesis has one. What a single search misses among words of equal information, the next finds.
        original: lemmas that the sanitizer did not write; see `Preprocessing.prepare`.
        progress: is called after each search of a round.
    """

    def __init__(
        self,
        document: Document,
        preprocessing: Preprocessing,
        attacker: Attacker,
        evaluation: RiskEvaluation,
        *,
        size: int | None = None,
        groups: int = 1,
        original: Collection[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.searches = 0
        self.own: dict[str, None] = {}
        self._document, self._preprocessing, self._attacker = document, preprocessing, attacker
        self._evaluation, self._size, self._groups = evaluation, size, groups
        self._original, self._progress = original, progress

    def __call__(self, words: tuple[Word, ...]) -> tuple[Success, ...]:
        """The searches by words of the document that succeed.

        Raises:
            EngineError: a search failed.
        """
        return tuple(one for attacked in self.attacks(words) for one in successes(attacked, self._evaluation))

    def attacks(self, words: tuple[Word, ...]) -> Iterator[Attacked]:
        """The searches by words of the document, one group of keywords after another.

        Raises:
            EngineError: a search failed.
        """
        left = words
        for _ in range(self._groups):
            keywords = self._preprocessing.prepare(left, self._original, size=self._size).keywords
            if not keywords:
                break
            attacked = self._attacker.attack(self._document, keywords, progress=self._progress)
            self.searches += len(attacked.searches)
            self.own |= dict.fromkeys(attacked.own)
            yield attacked
            searched = {one.lemma for one in keywords}
            left = tuple(word for word in left if word.lemma not in searched)
