"""Which encoding a file is guessed to be in."""

import pytest

from commons.tabular.encodings import guess_encoding

TEXTS = {
    "Japanese": "氏名,年齢,性別,診断\n佐藤 花子,61,女,喘息\n高橋 健太,34,男,糖尿病\n",
    "half-width": "ｼﾒｲ,年齢\nｻﾄｳ ﾊﾅｺ,61\nﾔﾏﾓﾄ ｲﾁﾛｳ,34\n",
    "one character": "sex,age\n男,61\n女,34\n",
    "mostly Latin": "name,hospital,age\nSato,St. Luke's,61\nTakahashi,聖路加病院,34\n",
}
EUROPEAN = {
    "German": ("name;town\nMüller;Köln\nGroß;Fürth\nJäger;Überlingen\n", "cp1252"),
    "French": ("nom;ville\nHélène;Orléans\nFrançois;Nîmes\nZoé;Besançon\n", "cp1252"),
    "capitals": ("NAME;ORT\nMÜLLER;KÖLN\nÄRZTE;ÖHRINGEN\nCAFÉ;GRÜNSTRAẞE\n".replace("ẞ", "ß"), "cp1252"),
    "a control character": ("town\na\x81\nb\n", "latin-1"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("encoding", ["cp932", "euc-jp", "utf-8"])
@pytest.mark.parametrize("size", [7, 10_000], ids=["pieces", "one piece"])
def test_japanese_files_are_read_as_they_are_written(text, encoding, size):
    data = text.encode(encoding)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert data.decode(guess_encoding(pieces).encoding) == text


def test_japanese_files_in_bytes_of_ascii_are_found_by_their_shifts():
    data = TEXTS["Japanese"].encode("iso2022_jp")
    assert guess_encoding([data]).encoding == "iso2022_jp"


@pytest.mark.parametrize(("text", "encoding"), EUROPEAN.values(), ids=EUROPEAN)
def test_european_files_are_not_taken_for_japanese(text, encoding):
    assert guess_encoding([text.encode(encoding)]).encoding == encoding


WESTERN = {
    "German": "name;town\nMüller;Köln\nGroß;Fürth\nJäger;Überlingen\n",
    "French": "nom;ville\nHélène;Orléans\nFrançois;Nîmes\n",
    "Spanish": "nombre;ciudad\nMuñoz;Málaga\nGarcía;Córdoba\n",
}


@pytest.mark.parametrize("text", WESTERN.values(), ids=WESTERN)
@pytest.mark.parametrize("encoding", ["cp850", "mac-roman", "cp1252", "utf-8"])
def test_files_of_old_programs_are_read_as_they_are_written(text, encoding):
    """Read as cp1252, a name in cp850 goes unrecognised: `M\u201eller`."""
    data = text.encode(encoding)
    assert data.decode(guess_encoding([data]).encoding) == text


@pytest.mark.parametrize("text", ["an “inner” word, 5 €\n", "l’eau d’or, qu’il\n", "100 €;±5 µg\n"])
def test_signs_of_cp1252_do_not_make_a_file_one_of_an_old_program(text):
    assert guess_encoding([text.encode("cp1252")]).encoding == "cp1252"


OTHERS = {
    "Chinese": ("姓名,年龄,诊断\n王伟,32,感冒\n李娜,47,癌\n张敏,64,感冒\n", ["gb18030"]),
    "traditional Chinese": ("姓名,年齡,診斷\n王偉,32,感冒\n李娜,47,癌\n張敏,64,感冒\n", ["big5"]),
    "Korean": ("이름,나이,진단\n김철수,32,감기\n이영희,47,암\n", ["cp949"]),
    "Russian": ("Фамилия,возраст\nИванов,32\nСмирнова,30\n", ["cp1251", "koi8-r"]),
    "capitals": ("ФАМИЛИЯ,ВОЗРАСТ\nИВАНОВ,32\nЯНА,30\n", ["cp1251"]),
    "Greek": ("Όνομα,ηλικία\nΠαπαδόπουλος,33\n", ["cp1253"]),
    "Polish": ("Imię;Nazwisko\nWałęsa;Żółć\nŁukasz;Michał\nPaweł;Gałązka\n", ["cp1250"]),
    "Czech": ("jméno\nDvořák\nŠťastný\n", ["cp1250"]),
    "Turkish": ("Ad;Şehir\nÇağrı Şahin;Iğdır\nYıldız;Muğla\nIşık;Kırşehir\n", ["cp1254"]),
    "Czech names": ("Příjmení;Město\nRůžička;Plzeň\nNěmec;Děčín\nKříž;Třebíč\n", ["cp1250"]),
    "Romanian": ("Nume;Oraş\nIonuţescu;Constanţa\nCăţoi;Bistriţa\n", ["cp1250"]),
    "Hungarian": ("Név;Város\nSzűcs;Győr\nErdős;Hódmezővásárhely\nTűrő;Kőszeg\n", ["cp1250"]),
    "Thai": ("ชื่อ,อายุ\nสมชาย,3\n", ["tis-620"]),
}


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(text, encoding) for text, encodings in OTHERS.values() for encoding in encodings],
)
def test_what_no_trial_can_tell_is_a_guess_in_doubt(text, encoding):
    """Names that are read as `Ôàìèëèÿ` or `侖兆` are recognized by nobody."""
    guess = guess_encoding([text.encode(encoding)])
    assert text.encode(encoding).decode(guess.encoding) != text
    assert guess.is_doubtful
    assert "--encoding" in guess.doubt
    assert guess.encoding in guess.doubt


SURE = [
    *((text, "cp1252") for text, encoding in EUROPEAN.values() if encoding == "cp1252"),
    *((text, encoding) for text in WESTERN.values() for encoding in ("cp850", "mac-roman", "cp1252")),
    *((TEXTS[name], encoding) for name in ("Japanese", "mostly Latin") for encoding in ("cp932", "euc-jp")),
    ("nome;situação\nJoão;INFORMAÇÃO\nCaetano;situações\n", "cp1252"),
    ("Größe (cm);Fläche m²\n1;2\n", "cp1252"),
    ("l’eau créée, “Élève” – 5 €, città\n", "cp1252"),
    (
        "Nafn;Bær\nÞórður Þórðarson;Ísafjörður\nGuðrún Sigurðardóttir;Hafnarfjörður\nÆvar;Höfðaborg\n",
        "cp1252",
    ),
    ("Navn;By\nSørensen;Køge\nJørgensen;Helsingør\nMøller;Brønshøj\n", "cp1252"),
    ("nome;città\nNicolò;Cefalù\nperché;virtù\nlunedì;sarà così\n", "cp1252"),
    ("nom;ville\naoût;Nîmes\nFrançois;sûreté\nmûre;Zoé\n", "cp1252"),
    ("nimi;linn\nTõnu;Põlva\nJõgi;Võru\nJäär;Räpina\nMägi;Pärnu\nÕun;Jõhvi\nKäär;Kärdla\n", "cp1252"),
    ("ｼﾒｲ,年齢\nｻﾄｳ ﾊﾅｺ,61\nｺﾞﾄｳ ﾊﾟｸ,34\n", "cp932"),
    (TEXTS["Japanese"], "utf-8"),
    (OTHERS["Russian"][0], "utf-16"),
]


@pytest.mark.parametrize(("text", "encoding"), SURE)
def test_what_reads_as_it_is_written_is_not_in_doubt(text, encoding):
    guess = guess_encoding([text.encode(encoding)])
    assert text.encode(encoding).decode(guess.encoding).removeprefix("\ufeff") == text
    assert guess.doubt == ""
