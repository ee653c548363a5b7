"""English and Japanese texts as tagged words that keep their places, and other languages refused."""

from __future__ import annotations

import builtins

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.languages import japanese
from anonymizer.documents.languages.detect import (
    LanguageError,
    UntoldLanguageError,
    check_language,
    detect,
    tagger_of,
    tells,
)
from anonymizer.documents.languages.english import English
from anonymizer.documents.languages.tokens import sentences, tokens
from anonymizer.errors import SpecError, TableError

FACTS = (
    "THE FACTS\n\nOn 5 March 1996 Mr A. Demetriades, a lawyer practising in Nicosia, didn’t pay the judges "
    "€ 1,000.50 (no. 18403/91). Mrs Anna Evagorou-Christou’s homes, e.g. in O'Neill Street, were lost."
)
ACCIDENT = (
    "2019年3月5日、田中太郎さん（17歳）は東京都渋谷区の田中病院で死亡した。佐藤記念病院の中村川と山田小学校。"
)

PIECES = st.sampled_from(
    [
        *"aZ9é東ア。！、 \n\t.'’-/@_(\u0301\u200b㍿ﷺ😀",
        "n't",
        "Mr. ",
        "田中病院",
        "U.S.A.",
        "http://",
        "can't",
        "１２",
        "ｶﾞ",
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=40).map("".join))


def tags(text, language):
    return {word.text: word.tag for word in tagger_of(text, language).words(text)}


def keeps_places(text, words):
    at = 0
    for word in words:
        assert word.start >= at
        assert not text[at : word.start].strip()
        assert word.text == text[word.start : word.end]
        assert word.text.strip() == word.text != ""
        assert word.lemma == word.lemma.lower().strip() != ""
        at = word.end
    assert not text[at:].strip()


@given(TEXTS)
def test_every_character_that_is_not_blank_is_in_one_word_of_english(text):
    keeps_places(text, tagger_of(text, "en").words(text))


@given(TEXTS)
def test_every_character_that_is_not_blank_is_in_one_word_of_japanese(text):
    keeps_places(text, tagger_of(text, "ja").words(text))


SPANISH = "El paciente, nacido el 2 de febrero, vive en la calle del Pez y fue atendido por la doctora."
CLINICAL = "Pat. unruhig, RR 140/80. Bedarfsmedikation gegeben."
GERMAN = "Frau Müller wurde am 3. Mai in der Klinik aufgenommen und ist seit dem Tag nicht mehr bei uns."


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        (ACCIDENT, "en", "Han letters, and is said to be English"),
        (ACCIDENT, "de", "Han letters, and is said to be German"),
        (FACTS, "ja", "Latin letters, and is said to be Japanese"),
        (GERMAN, "en", "reads as German"),
        (FACTS, "fr", "reads as English"),
        ("北京协和医院 李伟 五十四岁", "en", "Han letters"),
        ("Иванов был принят в больницу", "en", "Cyrillic letters"),
        (SPANISH, "de", "reads as Spanish, which is not read, and is said to be German"),
        (SPANISH, "en", "reads as Spanish"),
        ("Il paziente è stato dimesso dal reparto e non ha più dolore alla gamba.", "fr", "as Italian"),
        ("Pacjentka nie była w domu, dlatego że się źle czuła po lekach.", "en", "as Polish"),
    ],
)
def test_a_text_is_not_read_in_a_language_that_it_is_not_in(text, language, said):
    with pytest.raises(LanguageError, match=said) as caught:
        check_language(text, language)
    assert ("out" if "which is not read" in str(caught.value) else 'language = "auto"') in caught.value.hint


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (FACTS, "en"),
        (ACCIDENT, "ja"),
        (GERMAN, "de"),
        ("Hb 12.1 g/dL\nCRP 0.3 mg/L", "en"),
        ("CRP 0.3 mg/dL 佐藤", "ja"),
        ("Jean Dupont | 12 | Hôpital Nord", "en"),
        ("12.5 / 13", "de"),
    ],
)
def test_a_text_is_read_in_the_language_that_it_is_said_to_be_in_where_nothing_tells_another(text, language):
    check_language(text, language)


def test_short_texts_tell_no_language_and_long_ones_are_in_none():
    with pytest.raises(UntoldLanguageError):
        detect(CLINICAL)
    for text in (SPANISH, "Alpha beta gamma. " * 100):
        with pytest.raises(LanguageError) as caught:
            detect(text)
        assert not isinstance(caught.value, UntoldLanguageError)


def test_a_text_tells_its_language():
    assert tells(GERMAN, "de")
    assert not tells(GERMAN, "en")
    assert not tells(CLINICAL, "de")
    assert not tells("12", "de")


def test_a_long_japanese_text_is_cut_and_keeps_its_places():
    text = ACCIDENT * 600
    words = tagger_of(text, "ja").words(text)
    keeps_places(text, words)
    once = tagger_of(text, "ja").words(ACCIDENT)
    assert [(word.text, word.tag) for word in words] == [(word.text, word.tag) for word in once] * 600


@pytest.mark.parametrize("unit", ["ﷺ", "😀", "あ", "あ、"])
def test_a_long_sentence_without_an_end_is_cut_too(unit):
    text = unit * (3 * japanese._PIECE)
    keeps_places(text, tagger_of(text, "ja").words(text))


def test_long_words_of_english_take_no_long_time():
    text = "x" * 200_000 + " court"
    first, second = tagger_of(text, "en").words(text)
    assert (first.end, second.tag) == (200_000, "noun")


def test_parts_of_speech_of_english():
    found = tags(FACTS, "en")
    expected = {
        "FACTS": "noun",
        "5": "number",
        "March": "noun",
        "Mr": "noun",
        "A.": "person",
        "Demetriades": "person",
        "lawyer": "noun",
        "practising": "verb",
        "in": "function",
        "Nicosia": "name",
        "did": "function",
        "n’t": "function",
        "18403/91": "number",
        "Evagorou-Christou": "person",
        "’s": "function",
        "€": "symbol",
        "lost": "verb",
    }
    assert {word: found[word] for word in expected} == expected


def test_lemmas_of_english_are_those_of_words_and_not_of_names():
    found = {word.text: word.lemma for word in tagger_of(FACTS, "en").words(FACTS + " Mr Jones paid.")}
    expected = {"judges": "judge", "n’t": "not", "lost": "lose", "Jones": "jones", "1,000.50": "1,000.50"}
    assert {word: found[word] for word in expected} == expected


def test_characters_of_no_width_do_not_hide_a_word():
    (word,) = tagger_of("", "en").words("Nico\u200bsia")
    assert (word.text, word.lemma, word.tag) == ("Nico\u200bsia", "nicosia", "name")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "He met Mr. Smith at 5 p.m. on Monday. She left.",
            ["He met Mr. Smith at 5 p.m. on Monday.", "She left."],
        ),
        ("In the U.S.A. The court sat.", ["In the U.S.A.", "The court sat."]),
        (
            "He said “Go.” (It rained.) Then no. 5 came.",
            ["He said “Go.”", "(It rained.)", "Then no. 5 came."],
        ),
        ("HEADING\n\nIt is so\nand no more", ["HEADING", "It is so\nand no more"]),
        ("Is it so? No. It is not!", ["Is it so?", "No.", "It is not!"]),
    ],
)
def test_sentences_of_english(text, expected):
    spans = list(tokens(text))
    found = [text[spans[first][0] : spans[end - 1][1]] for first, end in sentences(text, spans)]
    assert found == expected


def test_parts_of_speech_of_japanese():
    found = tags(ACCIDENT, "ja")
    expected = {
        "2019": "number",
        "太郎": "person",
        "さん": "function",
        "東京都渋谷区": "place",
        "病院": "noun",
        "死亡": "noun",
        "し": "function",
        "。": "symbol",
        "佐藤": "name",
        "中村": "place",
        "山田": "name",
    }
    assert {word: found[word] for word in expected} == expected


def test_the_name_of_a_hospital_is_not_a_person():
    found = [word.tag for word in tagger_of(ACCIDENT, "ja").words(ACCIDENT) if word.text == "田中"]
    assert found == ["person", "name"]


def test_lemmas_of_japanese_are_normal_forms():
    found = {word.text: word.lemma for word in tagger_of("", "ja").words("ﾃｽﾄで１２３円を支払った。")}
    assert (found["ﾃｽﾄ"], found["１２３"], found["支払っ"]) == ("テスト", "123", "支払う")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He was born in Nicosia and lives with his wife, Anna Evagorou, of Kyrenia.", "en"),
        (ACCIDENT, "ja"),
        ("The applicant lives in Москва and works there with her sister.", "en"),
        ("IBM Japanの田中さんがNew Yorkへ行ったと聞いています。", "ja"),
        (
            "Statement date 3.6.1978 Account number 358 Card payment, Sons Ltd 87.98 Cash, Bude, rent 9.1",
            "en",
        ),
        ("Kontoauszug Frau Sägebrecht, Kundennummer 67, Gehalt Maschinenbau GmbH 5.387,57 Miete 630", "de"),
        ("Bulletin de Odile, père : avocat. Téléphone 01 Professeur : Solenne, juin 2022, diabète", "fr"),
        ("細菌検査報告 患者名 早乙女優奈 受付番号 H70 依頼科 内科 臨床診断 高血圧症", "ja"),
    ],
)
def test_the_language_is_found(text, expected):
    assert detect(text) == expected
    assert tagger_of(text).language == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("De klager was in Amsterdam en had een huis; hij is in 1950 geboren.", "as none of the languages"),
        ("El demandante nació en Madrid y se quejó de que no lo habían oído.", "as none of the languages"),
        ("Rekeningnummer 17 Achternaam Jansen, geboortedatum 1.2.1950, beroep bakker, huur 30", "as none of"),
        ("Apellido: García, ciudad: Sevilla, profesión: panadero, alquiler 30, salario 900", "as none of"),
        ("Cognome: Rossi, nato il 3.4.1960, indirizzo: Milano, stipendio 900, medico: Verdi", "as none of"),
        ("病歷號碼 12 姓名 王小明 診斷 高血壓 醫師 李大同 檢查日期 2024", "may be Chinese"),
        ("Заявитель родился в Москве.", "Cyrillic"),
        ("原告于2019年在北京出生。", "may be Chinese"),
        ("المدعي ولد في القاهرة", "Arabic"),
        ("신청인은 서울에서 태어났다.", "Hangul"),
        ("ผู้ร้องเกิดที่กรุงเทพ", "unknown letters"),
    ],
)
def test_another_language_is_refused_with_what_to_do(text, said):
    with pytest.raises(
        TableError, match=rf'(?s){said}.*German \("de"\) and French \("fr"\)\. Name the language'
    ):
        tagger_of(text)


@pytest.mark.parametrize("text", ["", " \n", "123 !?"])
def test_a_text_without_letters_is_refused(text):
    with pytest.raises(TableError, match="no letters"):
        tagger_of(text)


def test_a_language_is_taken_by_name():
    assert tagger_of("Anna Christou, Nicosia", "en").language == "en"
    with pytest.raises(TableError, match="'nl' is not known"):
        tagger_of("", "nl")


def test_a_missing_package_names_the_extra(monkeypatch):
    original = builtins.__import__

    def missing(name, *given, **named):
        if name.startswith("HanTa"):
            raise ImportError(name="HanTa")
        return original(name, *given, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(SpecError, match=r"English needs HanTa.*duetto\[documents\]"):
        English()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Beschwerdeführer war in Berlin und hat an die Polizei geschrieben.", "de"),
        ("Le requérant est né en 1950 et habite à Paris, où il a été arrêté par la police.", "fr"),
        ("The applicant was in Paris when the police came for him.", "en"),
    ],
)
def test_languages_in_latin_letters_are_told_apart(text, language):
    assert detect(text) == language


@pytest.mark.parametrize(
    ("text", "language", "names", "nouns"),
    [
        ("Frau Wieczorek kam in die Klinik.", "de", {"Wieczorek"}, {"Klinik"}),
        ("Hier, le tribunal a entendu Quéméneur.", "fr", {"Quéméneur"}, {"tribunal"}),
    ],
)
def test_german_and_french_words_have_tags_and_places(text, language, names, nouns):
    words = tagger_of("", language).words(text)
    assert {word.text for word in words if word.tag == "name"} >= names
    assert {word.text for word in words if word.tag == "noun"} >= nouns
    assert all(text[word.start : word.end] == word.text for word in words)
