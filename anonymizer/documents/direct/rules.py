"""Rules: identifiers that their form gives away, in English and Japanese.

`RULES` is the whole of it: one named record per rule. Every quantifier is bounded and no pattern can match a
text in many ways, so that the time is linear in the text, whatever stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from anonymizer.documents.direct import checks
from anonymizer.documents.direct.found import Found, Kind
from anonymizer.documents.texts.text import Document, Language, Word

_CAPITAL: Final = "[" + "".join(chr(code) for code in range(0x41, 0x530) if chr(code).isupper()) + "]"
"""Latin, Greek and Cyrillic."""

_LATIN: Final = r"A-Za-z0-9_À-ɏ"
"""Characters of codes. In Japanese texts, codes stand between letters of other scripts without a blank."""

_BEFORE: Final = r"(?<![\w/])"
_MONTH: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?)"
)
_DAY: Final = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:1[5-9]|20|21)\d{2}"
_DASH: Final = r"[-‐‑–—−~〜～]"
_AMONG: Final = rf"(?:\s?{_DASH}\s?|\sto\s|\sand\s|,\s|\sor\s)"
_NUMBER: Final = r"\d[\d.,  ]{0,20}(?<![., ])"
_SCALE: Final = r"(?:\s(?:thousand|million|billion|trillion)\b)?"
_CODE: Final = r"[A-Z0-9][A-Z0-9./:-]{0,24}(?<![./:-])(?![\w/])"
_DIGITAL: Final = r"(?=[A-Z./:-]{0,12}\d)"
_CURRENCY: Final = (
    r"(?:[A-Z][a-z]{2,12}\s){0,2}(?:euros?|pounds?(?:\ssterling)?|dollars?|cents?|yen|francs?|marks?|Marks?|Mark"
    r"|[Ss]chillings?|[Ll]iras?|[Zz]lotys?|zloty|złoty|kron[aeo]r?|krónur|roubles?|rubles?|hryvnias?|lei|leva"
    r"|forints?|korunas?|kunas?|drachmas?|guilders?|pesetas?|escudos?|litai|lats|tolars?|dinars?|yuan|rupees?|Euros?)\b"
)
_ISO: Final = (
    r"(?:EUR|USD|GBP|JPY|CHF|DEM|ATS|TRY|TRL|YTL|PLN|SEK|NOK|DKK|FRF|ITL|NLG|BEF|ESP|PTE|GRD|FIM|CZK|SKK|HUF"
    r"|RON|ROL|BGN|BGL|HRK|RUB|RUR|UAH|CYP|MTL|SIT|EEK|LVL|LTL|ISK|CAD|AUD|CNY|KRW|INR)"
)
_UNIT: Final = (
    r"(?:%|per\scent\b|percent\b|(?:(?:square|cubic)\s)?(?:kilo|centi|milli)?met(?:re|er)s?\b|(?:kilo|milli)?grams?\b"
    r"|km/h\b|kph\b|mph\b|km²?|cm²?\b|mm\b|m²|kg\b|mg\b|ml\b|hectares?\b|ha\b|acres?\b|miles?\b|feet\b|inches\b|lit(?:re|er)s?\b|tonnes?\b|tons?\b"
    r"|pounds?\b|sq\.?\s?m\b)"
)
_NAMED: Final = rf"{_CAPITAL}[\w'’‑-]{{1,30}}"
_INITIAL: Final = rf"{_CAPITAL}[a-zşłžš]?\."
_PARTICLE: Final = r"(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|ben|bin|al|el|zu|af|ter|y)"
_TITLE: Final = (
    r"(?:Mr|Mrs|Ms|Miss|Mx|Dr|Drs|Prof|Professor|Doctor|Messrs|Mme|Mlle|Herr|Frau|Sir|Dame|Lady|Judge"
    r"|Captain|Colonel|Lieutenant|Sergeant|Rev|Reverend)"
)

_KANJI: Final = "一-龥々〆ヶケ"
_NUMERAL: Final = r"[\d〇零一二三四五六七八九十百千]"
_ERA: Final = r"(?:令和|平成|昭和|大正|明治|㋿|㍻|㍼|㍽|㍾)"
_AND_DAY: Final = rf"(?:{_NUMERAL}{{1,3}}月(?:{_NUMERAL}{{1,3}}日)?)?"
_PREFECTURE: Final = (
    "(?:北海道|東京都|京都府|大阪府|(?:青森|岩手|宮城|秋田|山形|福島|茨城|栃木|群馬|埼玉|千葉|神奈川|新潟|富山|石川|福井|山梨|長野"
    "|岐阜|静岡|愛知|三重|滋賀|兵庫|奈良|和歌山|鳥取|島根|岡山|広島|山口|徳島|香川|愛媛|高知|福岡|佐賀|長崎|熊本|大分|宮崎|鹿児島|沖縄)県)"
)
_TOWN: Final = rf"(?:さいたま|つくば|いわき|[{_KANJI}ノ之]{{1,6}}?)(?:市|区|郡|町|村)"
_BLOCK: Final = (
    rf"{_NUMERAL}{{1,4}}(?:(?:丁目|番地?の?|号室?|[-‐‑–−ー－の])(?:{_NUMERAL}{{1,4}}|(?!{_NUMERAL}))){{1,4}}"
)
_HONORIFIC: Final = (
    "(?:さま|様|さん|氏|殿|先生|君|ちゃん|くん|教授|弁護士|医師|看護師|被告|被告人|容疑者|裁判官|選手)"
)
_NATIVE: Final = (
    rf"(?:[{_KANJI}]{{1,6}}(?:[ 　][{_KANJI}ぁ-んァ-ヴー]{{1,6}})?|[ァ-ヴー]{{2,12}}"
    rf"(?:[・＝ 　][ァ-ヴー]{{2,12}}){{0,3}})"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        name: a word for reports and reviewers.
        kind: of what it finds.
        pattern: a regular expression; what its group "it" matches is the identifier, else the whole match.
        language: in which it is used; None for both.
        check: what the pattern cannot say.
        each: an expression for the identifiers within a match, where one match lists several.
    """

    name: str
    kind: Kind
    pattern: str
    language: Language | None = None
    check: checks.Check | None = None
    each: str | None = None


RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "e-mail",
        "CODE",
        rf"(?<![{_LATIN}.+%-])[{_LATIN}.+%-]{{1,64}}@(?:[{_LATIN}-]{{1,63}}\.){{1,8}}[A-Za-z]{{2,24}}(?![{_LATIN}])",
    ),
    Rule(
        "url",
        "CODE",
        r"(?<![A-Za-z0-9_])(?:(?:https?|ftp)://|www\.)[^\s<>\"「」、。]{3,2000}",
        check=checks.link,
    ),
    Rule(
        "ip-4",
        "CODE",
        r"(?<![A-Za-z0-9_.])(?:\d{1,3}\.){3}\d{1,3}(?![A-Za-z0-9_]|\.\d)",
        check=checks.address,
    ),
    Rule("ip-6", "CODE", r"(?<![A-Za-z0-9_:])[0-9A-Fa-f:]{4,39}(?![A-Za-z0-9_:])", check=checks.address),
    Rule(
        "iban",
        "CODE",
        r"(?<![A-Za-z0-9_])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{1,4}){3,8}(?![A-Za-z0-9_])",
        check=checks.iban,
    ),
    Rule("card", "CODE", r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])", check=checks.luhn),
    Rule(
        "phone-international",
        "CODE",
        r"(?<![A-Za-z0-9_+])(?:\+|00(?=\d\d[ .]))\d[\d ().-]{6,22}\d(?![A-Za-z0-9_])",
        check=checks.phone,
    ),
    Rule(
        "phone-national",
        "CODE",
        r"(?<![A-Za-z0-9_./-])\(?0\d{1,4}\)?[ -]\d[\d -]{4,12}\d(?![A-Za-z0-9_])",
        check=checks.phone,
    ),
    Rule(
        "phone-us", "CODE", r"(?<![A-Za-z0-9_.-])(?:\(\d{3}\)[ ]?|\d{3}[.-])\d{3}[.-]\d{4}(?![A-Za-z0-9_-])"
    ),
    Rule("ssn", "CODE", r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])", "en"),
    Rule("national-insurance", "CODE", r"(?<!\w)[A-CEGHJ-PR-TW-Z]{2}[ ]?(?:\d{2}[ ]?){3}[A-D](?!\w)", "en"),
    Rule("ecli", "CODE", r"(?<![A-Za-z0-9_])ECLI:[A-Z]{2}:\w{1,7}:\d{4}:[\w.]{1,25}(?<!\.)"),
    Rule("application", "CODE", r"(?<![\w/.-])\d{2,6}/\d{2}(?:\d{2})?(?![\w/.-]\d|\w)", "en"),
    Rule(
        "numbered",
        "CODE",
        rf"(?i:(?<!\w)(?<!protocol )(?<!law )(?<!act )(?<!decree )(?<!rule )(?<!convention )(?<!directive )"
        rf"(?<!resolution )(?<!series a )(?<!annex )(?:nos?\.|numbers?)\s?)(?:[A-Z]{{1,3}}\.\s?)?"
        rf"(?P<it>{_DIGITAL}(?=[A-Z0-9][A-Z0-9./:-]{{0,23}}[A-Z0-9]){_CODE}(?:(?:,|\sand|,\sand|\sto)\s(?=[A-Z./:-]{{0,12}}\d[\d./:-]{{2}}){_CODE}){{0,30}})",
        "en",
        each=_CODE,
    ),
    Rule(
        "named-number",
        "CODE",
        rf"(?i:(?<!\w)(?:case|file|docket|registration|passport|policy|account|licen[cs]e|reference|ref|identity(?:\scard)?"
        rf"|ID|tax|social\ssecurity|insurance|invoice|plot|parcel|patient|record|permit|visa|badge|VAT)"
        rf"(?:\s(?:no|nos|number|card|code)\b)?[.:#]{{0,2}}\s?)(?P<it>{_DIGITAL}{_CODE})",
        "en",
    ),
    Rule(
        "date",
        "DATETIME",
        rf"{_BEFORE}(?:{_DAY}{_AMONG}){{0,3}}{_DAY}\s(?:day\s)?(?:of\s)?{_MONTH}(?:,?\s(?:of\s)?{_YEAR})?"
        rf"(?:{_AMONG}{_DAY}\s{_MONTH}(?:,?\s{_YEAR})?)?(?!\w)",
        "en",
    ),
    Rule(
        "date-us",
        "DATETIME",
        rf"{_BEFORE}{_MONTH}\s{_DAY}(?:\s?{_DASH}\s?{_DAY})?(?:,?\s{_YEAR})?(?![\w.,]?\d|\w)",
        "en",
    ),
    Rule(
        "month",
        "DATETIME",
        rf"{_BEFORE}(?:{_MONTH}{_AMONG}){{0,2}}{_MONTH},?\s(?:of\s)?{_YEAR}(?!\w)",
        "en",
    ),
    Rule(
        "date-iso",
        "DATETIME",
        rf"(?<![A-Za-z0-9_./-]){_YEAR}(?P<sep>[-/.])(?:1[0-2]|0?[1-9])(?P=sep)(?:[12]\d|3[01]|0?[1-9])"
        r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![A-Za-z0-9_/-])",
    ),
    Rule(
        "date-numeric",
        "DATETIME",
        r"(?<![A-Za-z0-9_./-])(?:[12]\d|3[01]|0?[1-9])(?P<sep>[-/.])(?:[12]\d|3[01]|0?[1-9])(?P=sep)"
        r"(?:(?:1[5-9]|20|21)\d{2}|\d{2})(?![A-Za-z0-9_/-]|\.\d)",
    ),
    Rule(
        "year",
        "DATETIME",
        rf"(?<![\w/.,:§£$€-])(?<!no\. )(?<!nos\. )(?<!§ )(?<!Law )(?:mid-)?"
        rf"{_YEAR}(?:s\b|(?:{_DASH}|/)(?:{_YEAR}|\d{{2}}))?"
        rf"(?![\w/%]|[.,]\d|{_DASH}\d)(?!\s(?:euros?|metres?|people|persons|m\b|kg|km))",
        "en",
    ),
    Rule(
        "money-before",
        "QUANTITY",
        rf"(?<![A-Za-z0-9_])(?:{_ISO}\s?|(?:US|A|C|NZ|HK)?[$€£¥￥]\s?){_NUMBER}{_SCALE}(?:[KkMm](?:illion)?\b)?",
    ),
    Rule(
        "money",
        "QUANTITY",
        rf"(?<![\w./]){_NUMBER}{_SCALE}\s(?:{_CURRENCY}(?:\s\({_ISO}\))?|{_ISO}\b)",
        "en",
    ),
    Rule("quantity", "QUANTITY", rf"(?<![\w./]){_NUMBER}{_SCALE}[ ]?{_UNIT}", "en"),
    Rule("age", "DEM", r"(?i:(?<!\w)(?:aged|age\sof)\s)(?P<it>\d{1,3})(?![\w%]|[.,/-]\d)", "en"),
    Rule("age-after", "DEM", r"(?<![\w.,/])\d{1,3}(?:[\s-]years?[\s-]old|[\s-]months?[\s-]old)(?!\w)", "en"),
    Rule("postcode-uk", "LOC", r"(?<!\w)[A-Z]{1,2}\d[A-Z\d]?[ ]\d[A-Z]{2}(?!\w)", "en"),
    Rule("postcode-us", "LOC", r"(?<=, )[A-Z]{2}[ ]\d{5}(?:-\d{4})?(?![\w-])", "en"),
    Rule(
        "postcode-country",
        "LOC",
        r"(?<![\w-])(?:A|B|CH|D|DK|F|FIN|FL|I|L|N|NL|P|PL|S)-\d{4,5}(?![\w-])",
        "en",
    ),
    Rule(
        "postcode-named",
        "LOC",
        r"(?i:(?<!\w)(?:zip|post(?:al)?)[ ]?code:?\s)(?P<it>\d{3}[\d -]{1,6}\d)(?!\w)",
        "en",
    ),
    Rule(
        "street",
        "LOC",
        rf"{_BEFORE}(?:\d{{1,5}}[A-Za-z]?\s)?(?:{_NAMED}\s){{1,3}}(?:Street|St\.|Road|Rd\.?|Avenue|Ave\.?|Lane|Boulevard|Blvd\.?"
        r"|Square|Crescent|Terrace|Drive|Close|Gardens|Quay)(?!\w)",
        "en",
    ),
    Rule(
        "title",
        "PERSON",
        rf"(?<!\w){_TITLE}\.?\s(?:{_INITIAL}[\s-]?){{0,4}}(?:{_NAMED}|{_INITIAL})"
        rf"(?:\s(?:{_PARTICLE}\s){{0,2}}(?:{_INITIAL}\s?)?{_NAMED}){{0,4}}(?!\w)",
        "en",
        check=checks.titled,
    ),
    Rule(
        "initials",
        "PERSON",
        rf"(?<![\w.])(?:{_CAPITAL}\.[ ]?){{1,3}}{_CAPITAL}\.(?![\w])",
        "en",
        checks.initials,
    ),
    Rule(
        "initials-name",
        "PERSON",
        rf"(?<![\w.])(?:{_INITIAL}[ -]?){{1,3}}{_NAMED}(?!\w)",
        "en",
        checks.surname,
    ),
    Rule(
        "era",
        "DATETIME",
        rf"{_ERA}(?:元|{_NUMERAL}{{1,3}})年度?{_AND_DAY}(?:(?:{_DASH}|から|より)(?:{_ERA}?{_NUMERAL}{{1,4}}年)?{_NUMERAL}{{1,3}}月(?:{_NUMERAL}{{1,3}}日)?)?",
        "ja",
    ),
    Rule("era-short", "DATETIME", r"(?<![A-Za-z\d])[RHSTM]\d{1,2}[./年]\d{1,2}[./月]\d{1,2}日?(?!\d)", "ja"),
    Rule(
        "date-ja",
        "DATETIME",
        rf"(?<!{_NUMERAL})(?:西暦)?{_NUMERAL}{{4}}年(?:度|代)?{_AND_DAY}(?:(?:{_DASH}|から|より)(?:{_NUMERAL}{{4}}年)?{_NUMERAL}{{1,3}}月(?:{_NUMERAL}{{1,3}}日)?)?",
        "ja",
    ),
    Rule("day-ja", "DATETIME", rf"(?<!{_NUMERAL}){_NUMERAL}{{1,3}}月{_NUMERAL}{{1,3}}日", "ja"),
    Rule(
        "case-ja",
        "CODE",
        rf"{_ERA}(?:元|{_NUMERAL}{{1,3}})年[(（][ァ-ヶ{_KANJI}]{{1,3}}[)）]第?{_NUMERAL}{{1,6}}号",
        "ja",
    ),
    Rule(
        "number-ja",
        "CODE",
        r"(?:旅券|パスポート|免許証?|保険証?|被保険者|登録|事件|患者|診察券|会員|口座|社員|学籍|受付|整理|証明書|カルテ)"
        r"(?:番号|記号|No\.?|ID)[はがの]?[:：]?[ 　]{0,2}(?P<it>[A-Za-z\d](?:[A-Za-z\d-]{1,24}))",
        "ja",
    ),
    Rule("my-number", "CODE", r"(?<![\d-])\d{4}(?:[ -]?\d{4}){2}(?![\d-])", "ja", checks.my_number),
    Rule(
        "plate-ja",
        "CODE",
        rf"[{_KANJI}]{{2,4}}[ 　]?\d{{2,3}}[ 　]?[ぁ-ん][ 　]?\d{{1,2}}[-－]\d{{2}}(?!\d)",
        "ja",
    ),
    Rule(
        "phone-ja",
        "CODE",
        r"(?<![\d-])0\d{1,4}[-－‐−(（]\d{1,4}[-－‐−)）]\d{3,4}(?![\d-])",
        "ja",
        checks.phone,
    ),
    Rule("mobile-ja", "CODE", r"(?<!\d)0[5789]0\d{8}(?!\d)", "ja"),
    Rule("postcode-ja", "LOC", r"(?<![\d-])(?:〒[ 　]?\d{3}[-－‐−]?\d{4}|\d{3}[-－]\d{4})(?![\d-])", "ja"),
    Rule(
        "money-ja",
        "QUANTITY",
        rf"(?<!{_NUMERAL}){_NUMERAL}[\d,，.〇零一二三四五六七八九十百千万億兆]{{0,20}}(?:円|ドル|ユーロ|元)",
        "ja",
    ),
    Rule(
        "quantity-ja",
        "QUANTITY",
        r"(?<![\d.])\d[\d,.]{0,12}(?:キロ|センチ|ミリ|メートル|グラム|リットル|ヘクタール|平米|平方メートル|坪|kg|cm|mm|km|mg|ml|[%％])",
        "ja",
    ),
    Rule("age-ja", "DEM", rf"(?:満|享年)?{_NUMERAL}{{1,4}}(?:歳|才)(?:代)?", "ja"),
    Rule(
        "address-ja", "LOC", rf"{_PREFECTURE}(?:{_TOWN}){{0,3}}(?:[{_KANJI}ノ之ァ-ヴ]{{0,8}}?{_BLOCK})?", "ja"
    ),
    Rule("town-ja", "LOC", rf"(?<![{_KANJI}])(?:{_TOWN}){{1,3}}[{_KANJI}ノ之ァ-ヴ]{{0,8}}?{_BLOCK}", "ja"),
    Rule(
        "honorific-ja",
        "PERSON",
        rf"(?<![{_KANJI}ァ-ヴー])(?P<it>{_NATIVE}){_HONORIFIC}",
        "ja",
        checks.honoured,
    ),
    Rule(
        "named-ja",
        "PERSON",
        rf"(?:氏名|名前|患者名|被告人|原告|被告|申立人|担当者|担当医|主治医|代理人)"
        rf"[:：は　 ]{{1,2}}(?P<it>{_NATIVE})",
        "ja",
        checks.honoured,
    ),
)
"""Every rule. A year alone is a date; a weekday or the name of a month alone is none."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _matches(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    pattern = _compiled(rule.pattern)
    group = "it" if "it" in pattern.groupindex else 0
    for match in pattern.finditer(text):
        start, end = match.span(group)
        if rule.check is not None:
            end = start + rule.check(text[start:end])
        if start == end:
            continue
        if rule.each is None:
            yield start, end
        else:
            yield from (one.span() for one in _compiled(rule.each).finditer(text, start, end))


def _outermost(hits: list[Found]) -> tuple[Found, ...]:
    """Findings without those that lie within another one of their kind, such as the year of a date."""
    kept: list[Found] = []
    reach: dict[Kind, int] = {}
    for hit in sorted(hits, key=lambda one: (one.start, -one.end)):
        if hit.end > reach.get(hit.kind, -1):
            kept.append(hit)
            reach[hit.kind] = hit.end
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class Rules:
    """The recognizer that applies `RULES`.

    Attributes:
        language: of the texts; its rules and those of both languages are applied.
    """

    language: Language
    name: str = "rules"

    def found(self, document: Document, words: tuple[Word, ...] = ()) -> tuple[Found, ...]:  # noqa: ARG002
        """What the rules find, in their order within the text; `by` is the name of the rule."""
        hits = [
            Found(start, end, rule.kind, rule.name)
            for rule in RULES
            if rule.language in (None, self.language)
            for start, end in _matches(rule, document.text)
        ]
        return _outermost(hits)
