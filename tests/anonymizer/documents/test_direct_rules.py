"""Identifiers by rules: what each rule finds and leaves, and that no text makes them slow."""

from __future__ import annotations

import re

import pytest

from anonymizer.documents.direct.found import KINDS
from anonymizer.documents.direct.rules import RULES, Rules
from anonymizer.documents.texts.text import LANGUAGES, Document, Language
from tests.support.grids import grid


def spans(text: str, language: Language, kind: str | None = None) -> list[str]:
    """The texts that the rules find, of one kind or all."""
    found = Rules(language).find(Document("one.txt", text))
    return [text[one.start : one.end] for one in found if kind in (None, one.kind)]


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("証人小林こと金(キム)は証言した。", "ja", ["金(キム)"]),
        ("被告人は、通称: 田中。", "ja", ["田中"]),
        ("確認したこと、見たことはない。", "ja", []),
        ("担当は SATO Hanako です。", "ja", ["SATO Hanako"]),
        ("Kato, Shin'ichi、Ohno Yumi。", "ja", ["Kato, Shin'ichi", "Ohno Yumi"]),
        ("MRI Scan、CRP Level、Windows Update、New York。", "ja", []),
    ],
)
def test_aliases_and_japanese_names_in_latin_letters(text: str, language: Language, names: list[str]) -> None:
    assert spans(text, language, "PERSON") == names


def test_german_social_security_numbers_which_hold_a_date_of_birth() -> None:
    assert "65 120358 H 001" in spans("SVNR 65 120358 H 001, vormals 65120358H001.", "de", "CODE")
    assert "65120358H001" in spans("SVNR 65 120358 H 001, vormals 65120358H001.", "de", "CODE")


@pytest.mark.parametrize(
    "written", ["=?utf-8?B?QW5uYSBCcm93bg==?=", "=?iso-8859-1?Q?H=E9l=E8ne_D=2E?=", "=?UTF-8?b?5L2Q6Jek?="]
)
def test_names_that_mails_encode(written: str) -> None:
    for language in LANGUAGES:
        assert written in spans(f"Cc: {written} <a@b.example>", language, "CODE")


@pytest.mark.parametrize(
    "date",
    [
        "31 May 1991",
        "1st of May 1991",
        "the 3rd day of June 2001".removeprefix("the "),
        "May 31, 1991",
        "May 31st",
        "7 July",
        "Sept. 2001",
        "1991-05-31",
        "2001-02-03T14:05:06Z",
        "31.05.1991",
        "31/5/91",
        "5-31-1991",
        "12 and 14 May 1990",
        "12-14 May 1990",
        "1 March 1998 to 31 December 1999",
        "May and June 1998",
        "1998-1999",
        "1998/99",
        "1971",
        "the 1990s".removeprefix("the "),
    ],
)
def test_english_dates(date: str) -> None:
    assert spans(f"It was sent ({date}) to them.", "en", "DATETIME") == [date]


@pytest.mark.parametrize(
    "text",
    [
        "on Monday and Tuesday",
        "He may go in March.",
        "Protocol No. 11",
        "Law no. 2709",
        "Articles 1980/1 of",
        "EUR 1,998",
        "1998 euros",
        "paragraph 1999.5",
        "Article 6 § 1990",
        "room 41998",
    ],
)
def test_what_is_not_an_english_date(text: str) -> None:
    assert spans(text, "en", "DATETIME") == []


@pytest.mark.parametrize(
    "date",
    [
        "令和5年4月1日",
        "令和元年五月",
        "平成31年",
        "昭和六十三年十二月三十一日",
        "R5.4.1",
        "2023年4月1日",
        "二〇二三年四月一日",
        "２０２３年４月１日",
        "4月1日",
        "平成10年4月1日から平成11年3月31日",
        "2023/04/01",
        "1990年代",
    ],
)
def test_japanese_dates(date: str) -> None:
    assert spans(
        f"申請は{date}に届いた。" if not date[0].isascii() else f"申請: {date} 届いた", "ja", "DATETIME"
    ) == [date]


def test_weekdays_are_not_dates() -> None:
    assert spans("月曜日と火曜日に来る。", "ja", "DATETIME") == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("an application (no. 18403/91) against", ["18403/91"]),
        ("nos. 18403/91 and 265/07 against", ["18403/91", "265/07"]),
        ("Nos. 1/91, 22/92, 333/93 and 4444/94.", ["1/91", "22/92", "333/93", "4444/94"]),
        ("case file no. 1996/276 was", ["1996/276"]),
        ("passport no. P1234567 and", ["P1234567"]),
        ("registration number AB-12.345.", ["AB-12.345"]),
        ("write to anna.c+x@mail.example.co.uk.", ["anna.c+x@mail.example.co.uk"]),
        ("see https://example.org/a?b=c(d), and", ["https://example.org/a?b=c(d"]),
        ("see www.example.org.", ["www.example.org"]),
        ("call +44 20 7946 0958 now", ["+44 20 7946 0958"]),
        ("call (020) 7946 0958 now", ["(020) 7946 0958"]),
        ("call 212-555-0134 now", ["212-555-0134"]),
        ("from 192.168.0.17 and", ["192.168.0.17"]),
        ("from 2001:db8::8a2e:370:7334 and", ["2001:db8::8a2e:370:7334"]),
        ("GB29 NWBK 6016 1331 9268 19 and", ["GB29 NWBK 6016 1331 9268 19"]),
        ("DE89370400440532013000, then", ["DE89370400440532013000"]),
        ("card 4111 1111 1111 1111 was", ["4111 1111 1111 1111"]),
        ("SSN 123-45-6789 of", ["123-45-6789"]),
        ("QQ 12 34 56 C".replace("QQ", "AB"), ["AB 12 34 56 C"]),
        ("ECLI:CE:ECHR:2009:0113JUD001840391.", ["ECLI:CE:ECHR:2009:0113JUD001840391"]),
    ],
)
def test_codes(text: str, codes: list[str]) -> None:
    assert spans(text, "en", "CODE") == codes


@pytest.mark.parametrize(
    "text",
    [
        "GB29 NWBK 6016 1331 9268 18",
        "4111 1111 1111 1112",
        "4444 4444 4444 4444",
        "999.1.1.1",
        "12:30",
        "a@b",
        "Protocol No. 11",
        "version 1.2.3",
    ],
)
def test_codes_with_a_wrong_check_and_other_numbers_are_left(text: str) -> None:
    assert spans(f"It is {text} there.", "en", "CODE") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("事件は平成10年(ワ)第123号である", "平成10年(ワ)第123号"),
        ("旅券番号：TK1234567を", "TK1234567"),
        ("電話は03-1234-5678です", "03-1234-5678"),
        ("携帯は09012345678です", "09012345678"),
        ("番号は1234 5678 9018です", "1234 5678 9018"),
        ("車は品川 300 あ 12-34です", "品川 300 あ 12-34"),
        ("宛先はtaro@example.jpです", "taro@example.jp"),
        ("頁はhttps://example.jp/aです", "https://example.jp/aです"),
        ("口座はDE89370400440532013000です", "DE89370400440532013000"),
        ("海外は+81 3 1234 5678です", "+81 3 1234 5678"),
    ],
)
def test_japanese_codes(text: str, found: str) -> None:
    assert found in spans(text, "ja", "CODE")


def test_an_individual_number_with_a_wrong_digit_is_only_a_long_number() -> None:
    found = Rules("ja").find(Document("one.txt", "それは 1234 5678 9012 です"))
    assert [one.by for one in found] == ["digits"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Mr A. Demetriades, a lawyer", ["Mr A. Demetriades"]),
        ("by Mrs Anna Evagorou Christou (", ["Mrs Anna Evagorou Christou"]),
        ("Mr Z.M. Necatigil.", ["Mr Z.M. Necatigil"]),
        ("Dr. Heidemarie Abrahamian said", ["Dr. Heidemarie Abrahamian"]),
        ("Mr Jean-Claude Gacon's wife", ["Mr Jean-Claude Gacon"]),
        ("Ms Şennur Şensoy Akbulut was", ["Ms Şennur Şensoy Akbulut"]),
        ("Mr Laïfa Ben Naceur was", ["Mr Laïfa Ben Naceur"]),
        ("Ms Ursula van der Leyen was", ["Ms Ursula van der Leyen"]),
        ("and F. Trauttmansdorff was", ["F. Trauttmansdorff"]),
        ("the guardian J.S. said", ["J.S."]),
    ],
)
def test_english_names(text: str, names: list[str]) -> None:
    assert spans(text, "en", "PERSON") == names


@pytest.mark.parametrize(
    "text", ["I. THE CIRCUMSTANCES", "A. The facts", "the U.S. Government", "at 5 p.m. He"]
)
def test_what_is_not_an_english_name(text: str) -> None:
    assert spans(text, "en", "PERSON") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("昨日、山田太郎様が来た", ["山田太郎"]),
        ("鈴木さんは", ["鈴木"]),
        ("佐藤 花子氏が", ["佐藤 花子"]),
        ("ジョン・スミスさんは", ["ジョン・スミス"]),
        ("氏名：高橋一郎、", ["高橋一郎"]),
        ("皆様とお客様、患者さん", []),
    ],
)
def test_japanese_names(text: str, names: list[str]) -> None:
    assert spans(text, "ja", "PERSON") == names


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("住所は東京都新宿区西新宿2丁目8番1号です", ["東京都新宿区西新宿2丁目8番1号"]),
        ("埼玉県さいたま市大宮区桜木町1-7-5に住む", ["埼玉県さいたま市大宮区桜木町1-7-5"]),
        ("〒163-8001", ["〒163-8001"]),
        ("横浜市中区山下町279番地に", ["横浜市中区山下町279番地"]),
        ("北海道に住む", ["北海道"]),
    ],
)
def test_japanese_addresses(text: str, places: list[str]) -> None:
    assert spans(text, "ja", "LOC") == places


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("paid EUR 5,699.21 to", "QUANTITY", ["EUR 5,699.21"]),
        ("paid 200,000 Turkish liras (TRY) to", "QUANTITY", ["200,000 Turkish liras (TRY)"]),
        ("paid £1.5 million to", "QUANTITY", ["£1.5 million"]),
        ("it had 6,299 m² and", "QUANTITY", ["6,299 m²"]),
        ("aged 34, he", "DEM", ["34"]),
        ("a 63-year-old man", "DEM", ["63-year-old"]),
        ("at 10 Downing Street in", "LOC", ["10 Downing Street"]),
        ("London SW1A 2AA is", "LOC", ["SW1A 2AA"]),
        ("Springfield, IL 62704 is", "LOC", ["IL 62704"]),
    ],
)
def test_quantities_ages_and_addresses(text: str, kind: str, found: list[str]) -> None:
    assert spans(text, "en", kind) == found


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("罰金30万円を", "QUANTITY", ["30万円"]),
        ("三百円と", "QUANTITY", ["三百円"]),
        ("当時45歳の", "DEM", ["45歳"]),
    ],
)
def test_japanese_quantities_and_ages(text: str, kind: str, found: list[str]) -> None:
    assert spans(text, "ja", kind) == found


def test_each_rule_is_a_record_of_its_own() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert {rule.kind for rule in RULES} <= set(KINDS)
    assert all(re.compile(rule.pattern) for rule in RULES)


def test_a_finding_inside_another_of_its_kind_is_not_listed() -> None:
    assert [one.by for one in Rules("en").find(Document("a", "On 31 May 1991."))] == ["date"]


UNITS = [
    *(
        "1",
        "a",
        "A",
        " ",
        ".",
        ",",
        "-",
        "/",
        "@",
        "+",
        "(",
        ":",
        "A.",
        "A ",
        "1 ",
        "1,",
        "1 and ",
        "a@",
        "a.",
        "1-",
    ),
    *(
        "Mr ",
        "Mr A",
        "May ",
        "1 May ",
        "May, ",
        "no. ",
        "no. 1/1, ",
        "no. A",
        "+1 ",
        "0-",
        "EUR 1",
        "Smith, ",
        "Aa Hospital ",
        "his wife Aa ",
        "Aa of ",
        "A1-",
        "A1 ",
        "1. ",
        "Frau ",
        "M. ",
        "de Aa ",
        "von ",
        "Nr. 1",
        "12 rue ",
        "Aaitis ",
        "who, Aa ",
        "1.000 ",
        "Aa ",
        "A. A",
    ),
    *("http://", "GB00", "GB00 AAAA ", "::", "1:", "years old", "A Street "),
    *(
        "一",
        "年",
        "1年",
        "平成",
        "東京都",
        "東京都市",
        "東京都一",
        "市",
        "一市",
        "1-",
        "ア",
        "ア・",
        "様",
        "一 ",
        "氏名：",
        "妻の",
        "一の",
        "株式会社",
        "第一",
        "番号",
        "R1.",
    ),
]


WAYS = [(unit, language) for unit in dict.fromkeys(UNITS) for language in LANGUAGES]


@pytest.mark.parametrize(
    ("unit", "language"),
    grid(
        WAYS, [(unit, how) for unit, how in WAYS if (how == "en") is unit.isascii() and how in {"en", "ja"}]
    ),
)
def test_no_text_makes_the_rules_slow(unit: str, language: Language) -> None:
    """The time limit of pytest ends a search that backtracks; a linear one needs about a second."""
    text = (unit * (40_000 // len(unit) + 1))[:40_000]
    found = Rules(language).find(Document("hostile.txt", text + "!"))
    assert all(0 <= one.start < one.end <= len(text) for one in found)
