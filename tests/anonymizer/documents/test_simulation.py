"""The simulated attacker in the loop of sanitizing: documents are found before, and not after it."""

from __future__ import annotations

import pytest

from anonymizer.documents.attacks.attack import Attacker
from anonymizer.documents.attacks.risk import KnownNames, SharedWords
from anonymizer.documents.attacks.simulation import SimulatedAttacks
from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.engines.index import FolderIndex
from anonymizer.documents.generalization.chain import Generalized
from anonymizer.documents.sanitization.sanitizing import sanitize
from anonymizer.documents.texts.text import Document
from anonymizer.documents.words.preprocessing import Preprocessing
from tests.anonymizer.documents.webs import Web, read

TEXT = (
    "A boy aged 12 fell from the roof of the Volta mill in Tallinn in March. His teacher was fined by the "
    "court. The school closed the yard for a week, and the parents asked for a fence."
)
CASE = Document("case.txt", TEXT)
WEB = {
    "news.html": "Jaan Kallas, 12, fell from the roof of the Volta mill in Tallinn. A teacher was fined.",
    "report.html": "The boy Jaan Kallas of Tallinn was buried in March. The school has a fence now.",
    "other.html": "In Tartu a teacher was fined in March since a yard of the school had no fence.",
    "case.html": TEXT,
}
OTHERS = [read(one) for one in ("A boy fell in the yard in March.", "The school has a court and a roof.",
          "His teacher asked for a week, and the parents were fined.")]  # fmt: skip


class Deleted:
    def general(self, words, at, language, forbidden=()):
        return Generalized(at, at + 1, "[...]", "deletion")


def attack_by(engine, evaluation, size=3):
    preprocessing = Preprocessing([read(TEXT)], OTHERS)
    return SimulatedAttacks(CASE, preprocessing, Attacker(engine), evaluation)


def engine():
    return FolderIndex(WEB.items())


@pytest.mark.parametrize("build", [engine, lambda: Web(WEB)])
def test_a_document_is_found_and_then_no_longer(build):
    attack = attack_by(build(), KnownNames({CASE.name: ["Jaan Kallas"]}))
    before = attack(read(TEXT))
    assert "news.html" in {one.found for one in before}
    done = sanitize(CASE, (), read, attack, Deleted())
    assert done.left == ()
    assert {"tallinn", "volta"} <= set(done.risk_words)
    assert {"yard", "week", "court"}.isdisjoint(done.risk_words)
    assert "Tallinn" not in done.text


def test_the_document_itself_in_the_web_is_not_the_person_found():
    attack = attack_by(
        Web({"case.html": TEXT + ""}), SharedWords({CASE.name: ["teacher", "fined", "school"]}, 1)
    )
    assert attack(read(TEXT)) == ()


def test_without_names_shared_words_say_what_was_found():
    preprocessing = Preprocessing([read(TEXT)], OTHERS)
    top = preprocessing.prepare(read(TEXT)).top
    attack = SimulatedAttacks(CASE, preprocessing, Attacker(Web(WEB)), SharedWords({CASE.name: top}, 4))
    found = attack(read(TEXT))
    assert {one.found for one in found} == {"news.html"}
    assert all(one.evidence >= 4 for one in found)
    assert sanitize(CASE, (), read, attack, Deleted()).left == ()


def test_a_document_is_not_sanitized_by_a_search_that_failed():
    attack = attack_by(Web(WEB, fails=frozenset({"Tallinn"})), KnownNames({CASE.name: ["Jaan Kallas"]}))
    with pytest.raises(EngineError):
        sanitize(CASE, (), read, attack, Deleted())


def test_the_same_run_gives_the_same_text():
    runs = {
        sanitize(
            CASE, (), read, attack_by(engine(), KnownNames({CASE.name: ["Jaan Kallas"]})), Deleted()
        ).text
        for _ in range(3)
    }
    assert len(runs) == 1


def test_japanese_documents_are_attacked_as_well():
    from anonymizer.documents.languages.detect import tagger_of

    words = tagger_of("", "ja").words
    text = "2019年3月、渋谷区の田中病院の屋上から男子生徒が転落し死亡した。教諭は注意を怠った。"
    web = {"記事": "渋谷区の田中病院で佐藤太郎君が転落した。", "別": "教諭が生徒に注意した。"}
    document = Document("事故.txt", text)
    preprocessing = Preprocessing(
        [words(text)], [words("生徒が転落し、教諭は注意した。"), words("男子が死亡した。")]
    )
    attack = SimulatedAttacks(
        document,
        preprocessing,
        Attacker(FolderIndex(web.items())),
        KnownNames({document.name: ["佐藤 太郎"]}),
    )
    assert {one.found for one in attack(words(text))} == {"記事"}
    done = sanitize(document, (), words, attack, Deleted())
    assert done.left == ()
    assert "田中" not in done.text or "渋谷区" not in done.text
    assert "教諭" in done.text
