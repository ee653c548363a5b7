"""Names of persons in columns, written in kana: names are found, and what is only written alike is not."""

from __future__ import annotations

import tomllib
from importlib import resources
from itertools import product

import pytest

from commons.tabular.person_names import holds_names, is_name

PEOPLE = (
    *(
        "ヤマダ タロウ",
        "サトウ ヨシコ",
        "スズキ カズオ",
        "クロイワ ヒロシ",
        "タカハシ モネ",
        "キサラギ ユミコ",
        "ワタナベ サム",
    ),
    *("コバヤシ ケンジ", "ナカムラ ミサキ", "カトウ ルナ"),
)
OTHERS = {
    "drugs": ("ロキソニン", "ムコスタ", "カロナール", "アムロジピン", "タケプロン", "リリカ", "メバロチン"),
    "drugs with their forms": (
        *(
            "ロキソニン テープ",
            "モーラス パップ",
            "ボルタレン ゲル",
            "アズノール ナンコウ",
            "タケキャブ ジョウ",
        ),
        *("リンデロン クリーム", "ヒルドイド ローション"),
    ),
    "municipalities": (
        *(
            "ヨコハマシ ミナミク",
            "カワサキシ ナカハラク",
            "チバケン イチカワシ",
            "オオサカシ キタク",
            "ナゴヤシ ミドリク",
        ),
        *("サッポロシ ヒガシク", "フクシマケン イワキシ"),
    ),
    "towns called like families": (
        "チバ イチカワ",
        "イシカワ コマツ",
        "ヤマグチ ハギ",
        "フクシマ アイヅ",
        "ミヤザキ ノベオカ",
    ),
    "cars": (
        "スズキ アルト",
        "スズキ スイフト",
        "ホンダ フィット",
        "マツダ デミオ",
        "マツダ ロードスター",
        "ホンダ シビック",
    ),
    "firms": (
        "タケダ ヤクヒン",
        "スズキ ジドウシャ",
        "ノムラ ショウケン",
        "オオツカ セイヤク",
        "シミズ ケンセツ",
    ),
    "loan words": (
        "アイス クリーム",
        "ケア ホーム",
        "デイ サービス",
        "スマート フォン",
        "モモ カン",
        "アイ ケア",
    ),
    "illnesses": ("トウニョウビョウ", "コウケツアツ", "ゼンソク", "インフルエンザ", "ハイエン"),
}


def hiragana(text: str) -> str:
    return "".join(chr(ord(one) - 0x60) if "ァ" <= one <= "ヶ" else one for one in text)


def half_width(text: str) -> str:
    """As banks write: letters of half a width, and no small ones."""
    full = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
    half = "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ"
    table = str.maketrans(full, half) | str.maketrans("ァィゥェォッャュョ", "ｱｲｳｴｵﾂﾔﾕﾖ")
    table |= {
        ord(one): f"{half[full.index(chr(ord(one) - 1))]}ﾞ"
        for one in "ガギグゲゴザジズゼゾダヂヅデドバビブベボ"
    }
    return text.translate(table)


FORMS = {
    "as they are": str,
    "hiragana": hiragana,
    "half width": half_width,
    "wide blank": lambda text: text.replace(" ", "\u3000"),
    "given name first": lambda text: " ".join(reversed(text.split())),
    "with a comma": lambda text: text.replace(" ", "，"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_names_in_kana_is_found(form):
    assert holds_names({FORMS[form](one): 1 for one in PEOPLE})


@pytest.mark.parametrize("what", OTHERS)
@pytest.mark.parametrize("form", ["as they are", "hiragana", "half width"])
def test_what_is_written_in_kana_and_names_nobody_is_not(what, form):
    assert not holds_names({FORMS[form](one): 3 for one in OTHERS[what]})


def test_long_vowels_and_small_kana_are_read_in_every_spelling():
    for text in (
        "オーノ ユーコ",
        "オオノ ユウコ",
        "オウノ ユウコ",
        "サトー ジユンイチ",
        "ヤマダタロー",
        "大野 花子",
    ):
        assert is_name(text), text


def test_a_few_names_among_others_are_no_column_of_names():
    others = [one for group in OTHERS.values() for one in group]
    assert not holds_names(dict.fromkeys((*PEOPLE, *others), 1))
    assert holds_names({one: 9 if one in PEOPLE else 1 for one in (*PEOPLE, *others[: len(PEOPLE) - 1])})


def test_the_listed_names_in_kanji_have_their_readings_listed():
    """As the dictionary of Sudachi reads them."""
    sudachipy = pytest.importorskip("sudachipy", reason="the extra documents is not installed")
    read = sudachipy.Dictionary(dict="core").tokenizer(mode=sudachipy.SplitMode.C).tokenize
    lists = tomllib.loads(resources.files("commons.tabular").joinpath("person_names.toml").read_text("utf-8"))
    unlike = {"愛": "a word of English too", "凛": "a ring too", "実": "read ミノル as a name"}
    for kind, language in product(("surname", "given"), ("ja",)):
        for name in lists[kind][language]:
            reading = "".join(one.reading_form() for one in read(name))
            assert reading in lists[kind]["ja_kana"] or name in unlike, (name, reading)
