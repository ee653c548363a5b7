"""The simulated attacker as the loop of sanitizing calls it: Algorithms 5 and 6 and RiskEvaluation."""

from __future__ import annotations

from collections.abc import Collection

from anonymizer.documents.attack import Attacker, Progress
from anonymizer.documents.preprocessing import Preprocessing
from anonymizer.documents.risk import RiskEvaluation, successes
from anonymizer.documents.sanitizing import Attack, Success
from anonymizer.documents.text import Document, Word


def simulated(
    document: Document,
    preprocessing: Preprocessing,
    attacker: Attacker,
    evaluation: RiskEvaluation,
    *,
    original: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Attack:
    """An attack on a document, for `sanitizing.sanitized`.

    Args:
        document: the original; a hit with the same text is it, and is set aside.
        preprocessing: chooses keywords anew of the words that are left.
        attacker: searches; give all documents of a run the same one, which remembers answers.
        evaluation: judges hits.
        original: lemmas that the sanitizer did not write; see `Preprocessing.prepared`.
        progress: is called after each search of a round.
    """

    def attack(words: tuple[Word, ...]) -> tuple[Success, ...]:
        keywords = preprocessing.prepared(words, original).keywords
        return successes(attacker.attack(document, keywords, progress=progress), evaluation)

    return attack
