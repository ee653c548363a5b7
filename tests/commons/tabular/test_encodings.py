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
    assert data.decode(guess_encoding(pieces)) == text


def test_japanese_files_in_bytes_of_ascii_are_found_by_their_shifts():
    data = TEXTS["Japanese"].encode("iso2022_jp")
    assert guess_encoding([data]) == "iso2022_jp"


@pytest.mark.parametrize(("text", "encoding"), EUROPEAN.values(), ids=EUROPEAN)
def test_european_files_are_not_taken_for_japanese(text, encoding):
    assert guess_encoding([text.encode(encoding)]) == encoding


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
    assert data.decode(guess_encoding([data])) == text


@pytest.mark.parametrize("text", ["an “inner” word, 5 €\n", "l’eau d’or, qu’il\n", "100 €;±5 µg\n"])
def test_signs_of_cp1252_do_not_make_a_file_one_of_an_old_program(text):
    assert guess_encoding([text.encode("cp1252")]) == "cp1252"
