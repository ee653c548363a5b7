"""Names of persons in columns, written in kana: names are found, and what is only written alike is not."""

from __future__ import annotations

import tomllib
from importlib import resources
from itertools import product

import pytest

from commons.tabular.person_names import holds_names, is_name, names_bearers

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


COLUMNS = {
    "dots between": ("ヤマダ・タロウ", "ｻﾄｳ･ﾖｼｺ", "クロイワ・ヒロシ"),
    "surnames alone": ("ヤマダ", "ｻﾄｳ", "たかはし", "スズキ"),
    "given names alone": ("タロウ", "ハナコ", "ケンジ"),
    "two given names": ("タロウ ハナコ", "ヨシコ ケンジ", "カズオ ユミコ"),
    "addressed": ("山田様", "山田 太郎 様", "黒岩さん", "ヤマダ氏", "榊原 望 先生"),
    "addressed in kana": ("クロイワ様", "サカキバラサマ", "きさらぎさん"),
    "with a reading": ("山田太郎（ヤマダタロウ）", "佐藤花子(さとうはなこ)", "鈴木・太郎【72】"),
    "in Latin letters": ("Yamada Taro", "YAMADA Tarō", "Kuroiwa Hiroshi", "KUROIWA, Kyouhei"),
    "surnames in Latin letters": ("Yamada", "Satoh", "TAKAHASHI", "Watanabe"),
    "with an initial": ("T. Yamada", "Takahashi K.", "H. Kobayashi"),
    "with san": ("Yamada-san", "Takahashi San", "Kobayashi sama"),
    "of accounts": ("yamada_taro", "kuroiwa_hiroshi", "hanako.suzuki"),
    "German titles": ("Frau Zielińska", "Herr Dr. med. Wójcik", "frau yılmaz"),
    "French titles": ("Mme Xyz", "Mlle Qwert", "Dr. Zzz"),
    "Italian titles": ("Sig. Xyz", "Sig.ra Zzz", "Dott.ssa Qwert"),
    "Spanish titles": ("Sr. Xyz", "Sra. Zzz", "Doña Qwert"),
    "English titles": ("Mr Xyz", "Mrs. Zzz", "dr. qwert"),
    "with a date": ("Weber, Anna *1960", "Schmidt, Peter 12.03.1960", "Hoffmann Karl (72)"),
    "of DICOM": ("WEBER^ANNA", "SCHMIDT^PETER^^DR", "HOFFMANN^KARL"),
}
"""Ugly exports of persons."""
THINGS = {
    "towns": ("チバ", "イチカワ", "コマツ", "ヤマグチ", "フクシマ", "マツモト", "ヨコハマ", "ナゴヤ"),
    "towns in Latin letters": ("Chiba", "Ichikawa", "Komatsu", "Yamaguchi", "Fukushima", "Nagoya"),
    "wards": ("Yokohama Minami", "Nagoya Midori", "Sapporo Higashi", "Osaka Kita", "Saitama Minami"),
    "trains": ("ヒカリ", "ノゾミ", "コダマ", "サクラ", "ミズホ", "ハヤブサ"),
    "cars": ("Suzuki Alto", "Honda Civic", "Toyota Corolla", "Mazda Demio"),
    "dots between": ("ケア・ホーム", "デイ・サービス", "アイス・クリーム", "スマート・フォン"),
    "images": ("MR Kopf", "MR Knie", "DR Thorax", "MR Abdomen"),
    "an illness": ("MS relapse", "MS stable", "ms unknown"),
    "illnesses of somebody": ("M. Crohn", "M. Bechterew", "M. Parkinson"),
    "titles alone": ("Frau", "Herr", "Frau Dr.", "Herr Prof. Dr."),
    "whoever it is": ("患者様", "奥様", "お客様", "利用者様", "家族様"),
    "words that end like an address": ("模様", "仕様", "同様", "摂氏"),
    "Italian": ("mano sinistra", "casa bonita", "pane nero", "vino rosso"),
    "codes": ("SATO1", "TARO2", "KEN3", "JIRO9"),
    "wards by number": ("Station 3", "Station Nord", "Innere 2"),
    "sizes": ("Fr. 20", "Hr. 3", "18 Fr"),
}


@pytest.mark.parametrize("what", COLUMNS)
def test_names_in_every_dress_of_an_export_are_found(what):
    assert holds_names(dict.fromkeys(COLUMNS[what], 3))


@pytest.mark.parametrize("what", THINGS)
def test_things_that_are_written_like_names_are_not(what):
    assert not holds_names(dict.fromkeys(THINGS[what], 3))


BEARERS = (
    ("Kowalczyk, A.", "Wójcik, Bożena", "ZZZ, C."),
    ("K. Wójcik", "B.-M. Zzzz", "Qqqq C."),
    ("黒岩 健", "榊 望", "早乙女　乱"),
    ("Petit", "Blanc", "Roy", "Boulanger", "Charpentier"),
    ("Young", "May", "Frost", "Little", "Banks", "Rivers"),
    ("ROTH", "SOMMER"),
    ("wolf", "SOMMER", "Klein", "Roth"),
    ("Chidi Okonkwo", "Kwame Mensah"),
    ("Qwert Zzz",),
    ("Dhr. van der Veen", "Mw. Bakker"),
    ("Weber", "unknown", "n/a", "-", "?"),
    ("weber", "klein", "roth"),
    ("rosa sommer", "wolf lange", "eva kurz"),
    ("smith", "young", "frost"),
    ("Telefon", "E-Mail", "Post", "Frau Zzz"),
    ("南", "堀北先生", "柊"),
    ("堀北一", "南恵", "柊誠", "宇佐美三"),
    ("Шевченко", "Бондаренко"),
    ("김민준", "이서연"),
    [f"{one}rw{other}" for one in "abcd" for other in "aeiou"],
)
"""What stands in columns called like persons: words, and names of languages that no list has."""
CATEGORIES = (
    ("Newly Diagnosed", "In Patient", "Out Patient"),
    ("Inpatient", "Outpatient", "Day Case", "Emergency"),
    ("High School", "Some College", "No School"),
    ("Internal Medicine", "Cardiology", "Nephrologist"),
    ("Customer", "Subscriber", "unknown"),
    ("Full-time", "Part-time", "Retired"),
    ("at_home", "health", "services", "teacher", "other"),
    ("Vollzeit", "Teilzeit", "Minijob"),
    ("Hauptschule", "Realschule", "Abitur"),
    ("ledig", "verheiratet", "getrennt lebend"),
    ("Temps plein", "Temps partiel", "CDI"),
    ("入院", "外来", "救急"),
    ("甲", "乙"),
    ("循環器科", "担当者", "非常勤"),
    ("A", "B", "C"),
    ("gold", "platin", "silber", "anna"),
    ("GP", "MD", "ICU"),
    ("P-01", "P-02", "Proband 3"),
    ("unknown", "none", "-"),
    [f"Group {one}" for one in range(20)],
)


@pytest.mark.parametrize("texts", BEARERS)
def test_in_a_column_called_like_persons_what_is_nothing_else_is_a_name(texts):
    assert names_bearers(dict.fromkeys(texts, 3))


@pytest.mark.parametrize("texts", CATEGORIES)
def test_in_a_column_called_like_persons_categories_and_codes_are_no_names(texts):
    assert not names_bearers(dict.fromkeys(texts, 3))


def test_half_of_the_cells_or_of_the_different_ones_is_enough():
    assert names_bearers({"Zzz": 9, "Inpatient": 3, "Outpatient": 3, "Day Case": 3})
    assert names_bearers({"Zzz": 1, "Yyy": 1, "Inpatient": 90, "Outpatient": 30})
    assert not names_bearers({"Zzz": 1, "Inpatient": 90, "Outpatient": 30})


def test_what_names_nobody_is_no_listed_name():
    lists = tomllib.loads(resources.files("commons.tabular").joinpath("person_names.toml").read_text("utf-8"))
    words = {word for kind in ("things", "nobody") for of in lists[kind].values() for word in of}
    assert not {word for word in words if is_name(word)}


@pytest.mark.parametrize(
    "texts",
    [
        ("Anna Weber", "Paul Klein"),
        ("Müller, Hans", "Schmidt, Eva"),
        ("Smith, John", "Brown, Amy"),
        ("J. Smith", "A. Jones"),
        ("鈴木", "佐藤先生"),
        ("Frau Zzz",),
        ("Dr. Zzz, Ulm", "Praxis", "MVZ Nord", "MVZ Süd"),
        ("Çağla Öztürk", "Mehmet Yılmaz"),
        ("Oleksandr Shevchenko", "Taras Bondarenko"),
    ],
)
def test_one_whole_name_is_enough_in_any_column(texts):
    assert holds_names(dict.fromkeys(texts, 3))


@pytest.mark.parametrize(
    "texts",
    [("Charlotte", "Adams"), ("Virginia Beach", "Augusta"), ("Thomas", "Martin"), ("Doctor visit", "none")],
)
def test_one_listed_word_is_not(texts):
    assert not holds_names(dict.fromkeys(texts, 3))


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("Mehmet Ayşe Emine Mustafa", "Yılmaz Kaya Demir"),
        ("Mohammed Fatima Yusuf Layla", "Al-Masri Haddad Khalil"),
        ("Rajesh Priya Anjali Vikram", "Patel Iyer Reddy"),
        ("Chidi Amina Kwame Ngozi", "Okonkwo Mensah Diallo"),
        ("Oleksandr Iryna Taras Oksana", "Shevchenko Kovalenko Bondarenko"),
        ("Nguyen Tran Pham Bui", "Minh Lan Hoa"),
    ],
)
def test_names_of_many_countries_are_found(first, last):
    assert holds_names({f"{one} {other}": 3 for one in first.split() for other in last.split()})
