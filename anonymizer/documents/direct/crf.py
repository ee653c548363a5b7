"""A trained recognizer: linear-chain conditional random fields over tagged words.

Every paragraph is a chain; a word has the features of `features` and one of the labels O, B-x and I-x, where
x is an identifier (DIRECT, QUASI, NO_MASK) and a kind. That what need not be masked has labels of its own
teaches where names end. A word is masked by its marginal probability of a label of DIRECT or QUASI, not by
the best path: the threshold on it trades recall for precision.

Reference: Lafferty, McCallum and Pereira, ICML 2001; CRFsuite (Okazaki 2007), by L-BFGS with L1 and L2 terms.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from anonymizer.documents.direct.annotated import Annotated, outermost
from anonymizer.documents.direct.features import features, sentences
from anonymizer.documents.direct.found import Found, Kind
from anonymizer.documents.direct.model import read_shipped_model
from anonymizer.documents.direct.rules import Rules
from anonymizer.documents.texts.text import Document, Word
from anonymizer.errors import SpecError, TableError

THRESHOLD: Final = 0.15
"""From which probability a word is masked. Chosen by cross-validation; see docs/documents-direct.md."""

_JOINED: Final = 0.5
"""Beside a masked word, this fraction of the threshold suffices, so that findings are whole."""

_PARAMETERS: Final = {
    "c1": 0.4,
    "c2": 0.02,
    "max_iterations": 80,
    "feature.minfreq": 2,
    "feature.possible_transitions": False,
}
_MASKED: Final = ("DIRECT", "QUASI")


@dataclass(frozen=True, slots=True)
class Trained:
    """A recognizer from a model.

    Attributes:
        content: of the model; the tagger reads it where it is, without a reference of its own.
        tagger: of python-crfsuite, open.
        threshold: from which probability a word is masked, above 0 to 1.
        name: for reports.
    """

    content: bytes = field(repr=False)
    tagger: Any = field(repr=False)
    threshold: float = THRESHOLD
    name: str = "crf"

    @classmethod
    def of(cls, content: bytes | None = None, threshold: float = THRESHOLD) -> Trained:
        """Open a model.

        Args:
            content: of a model file that somebody vouches for, see `model`; None for the shipped one, of
                English.
            threshold: from which probability a word is masked, above 0 to 1.

        Raises:
            FileError: the shipped model is not the one that was released.
            SpecError: the threshold is out of range, or python-crfsuite is not installed.
        """
        if not 0 < threshold <= 1:
            raise SpecError(f"The threshold {threshold} is out of range.", "Choose above 0 to 1.")
        tagger = _crfsuite().Tagger()
        held = read_shipped_model() if content is None else content
        tagger.open_inmemory(held)
        return cls(held, tagger, threshold)

    def find(self, document: Document, words: tuple[Word, ...]) -> tuple[Found, ...]:
        """What is an identifier with at least the probability `threshold`.

        A word beside such a one needs half of it. A finding ends where another kind, or another mention of
        the same kind, is more probable; its own probability is that of its most probable word.
        """
        rows = features(document, words, Rules("en").find(document, words))
        labels = self.tagger.labels()
        findings: list[Found] = []
        for start, end in sentences(document, words):
            self.tagger.set(rows[start:end])
            chances = [
                {label: self.tagger.marginal(label, at) for label in labels} for at in range(end - start)
            ]
            findings += self._join(words[start:end], chances)
        return tuple(findings)

    def _join(self, words: tuple[Word, ...], chances: Sequence[Mapping[str, float]]) -> Iterator[Found]:
        masks = [sum(chance for label, chance in one.items() if _is_masked(label)) for one in chances]
        chosen = [mask >= self.threshold for mask in masks]
        for order in (range(1, len(words)), range(len(words) - 2, -1, -1)):
            step = -1 if order.step > 0 else 1
            for at in order:
                chosen[at] |= chosen[at + step] and masks[at] >= self.threshold * _JOINED
        current: Found | None = None
        for word, one, mask, is_chosen in zip(words, chances, masks, chosen, strict=True):
            if not is_chosen:
                if current is not None:
                    yield current
                current = None
                continue
            kind, begins = _kind(one)
            probability = min(mask, 1.0)
            if current is not None and current.kind == kind and not begins:
                best = max(current.probability, probability)
                current = Found(current.start, word.end, kind, self.name, best)
            else:
                if current is not None:
                    yield current
                current = Found(word.start, word.end, kind, self.name, probability)
        if current is not None:
            yield current


def train(documents: Sequence[Annotated], words: Sequence[tuple[Word, ...]]) -> bytes:
    """Train a model; the same documents in the same order give the same model on the same machine.

    Args:
        documents: annotated; most of a second for each of a thousand words on one core.
        words: of each document, by the tagger with which the model will be used.

    Returns:
        The content of a model file of CRFsuite.

    Raises:
        TableError: no mention is to be masked, or nothing else is in the documents, so that there is nothing
            to learn.
        SpecError: python-crfsuite is not installed.
    """
    trainer = _crfsuite().Trainer(algorithm="lbfgs", params=_PARAMETERS, verbose=False)
    seen: set[bool] = set()
    for one, said in zip(documents, words, strict=True):
        rows = features(one.document, said, Rules("en").find(one.document, said))
        labels = _labels(one, said)
        seen |= {_is_masked(label) for label in labels}
        for start, end in sentences(one.document, said):
            trainer.append(rows[start:end], labels[start:end])
    if seen != {True, False}:
        lacking = "other words" if seen == {True} else "mentions to be masked (DIRECT or QUASI)"
        raise TableError(
            f"The documents have no {lacking}: a recognizer learns from both.", "Annotate more documents."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        trainer.train(str(path))
        return path.read_bytes()


def _labels(one: Annotated, words: Sequence[Word]) -> list[str]:
    """The label of each word; a word belongs to a mention that it shares a character with."""
    labels = ["O"] * len(words)
    mentions = iter(outermost(one.mentions))
    mention = next(mentions, None)
    last = None
    for at, word in enumerate(words):
        while mention is not None and mention.end <= word.start:
            mention = next(mentions, None)
        if mention is not None and mention.start < word.end:
            labels[at] = f"{'I' if last is mention else 'B'}-{mention.identifier}-{mention.kind}"
            last = mention
    return labels


def _is_masked(label: str) -> bool:
    return label != "O" and label.split("-")[1] in _MASKED


def _kind(chances: Mapping[str, float]) -> tuple[Kind, bool]:
    """The most probable kind of a word that is masked, and whether a mention rather begins than goes on."""
    kinds: dict[str, float] = {}
    begin: dict[str, float] = {}
    for label, chance in chances.items():
        if _is_masked(label):
            place, _, kind = label.split("-")
            kinds[kind] = kinds.get(kind, 0.0) + chance
            begin[kind] = begin.get(kind, 0.0) + (chance if place == "B" else 0.0)
    best = max(kinds, key=lambda kind: kinds[kind])
    return cast(Kind, best), begin[best] > kinds[best] / 2


def _crfsuite() -> Any:
    try:
        import pycrfsuite
    except ImportError:
        raise SpecError(
            "The trained recognizer needs python-crfsuite, which is not installed.",
            "Run pip install 'duetto[documents]'.",
        ) from None
    return pycrfsuite
