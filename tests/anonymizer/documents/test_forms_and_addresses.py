"""Names in capitals, in fields and tables, double names, addresses and dates: holes that a reader found."""

from __future__ import annotations

import io
from itertools import product

import docx
import pytest

from anonymizer.documents.direct import checks
from anonymizer.documents.direct.columns import named_cells
from anonymizer.documents.direct.fields import named_fields
from anonymizer.documents.first_pass import Reading
from anonymizer.documents.formats.registry import format_of
from anonymizer.documents.languages.detect import tagger_of
from anonymizer.documents.texts.disguise import as_typed, in_title_case, undisguise
from anonymizer.documents.texts.text import Document, Language
from tests.anonymizer.documents.test_everyday_texts import hides, masked, recognizers


@pytest.mark.parametrize("name", ["Hans-Peter", "Anna-Lena", "Marie-Luise", "Ann-Kathrin", "Tim-Oliver"])
def test_german_double_first_names(name: str) -> None:
    assert hides(f"Am Abend war {name} sehr ruhig.", name, "de")


@pytest.mark.parametrize("name", ["Schmidt", "Meier", "Haase", "Fuchs", "Vogel", "Krause"])
def test_german_surnames_that_the_lexicon_has(name: str) -> None:
    assert hides(f"Wir haben mit {name} gesprochen.", name, "de")


def test_german_nouns_behind_an_article_stay() -> None:
    text = "Danach kam die Visite, und er sah einen Fuchs, einen großen Vogel und den Wolf."
    assert masked(text, "de") == []


@pytest.mark.parametrize(
    ("text", "name", "language"),
    [
        ("Nous avons parlé avec Pierre-Yves.", "Pierre-Yves", "fr"),
        ("Nous avons parlé avec Rose-Marie.", "Rose-Marie", "fr"),
        ("We saw K Baptiste-Crane there.", "K Baptiste-Crane", "en"),
        ("We saw J K Rowling-Smith there.", "J K Rowling-Smith", "en"),
    ],
)
def test_double_names_of_other_languages(text: str, name: str, language: str) -> None:
    assert hides(text, name, language)


@pytest.mark.parametrize(
    ("text", "name", "language"),
    [
        *(
            (f"Le rapport de {name} est arrivé.", name, "fr")
            for name in (
                "M. d'Argenson",
                "Mme d'Harcourt",
                "Monsieur d’Estienne",
                "maître d'Andigné",
                "M. de l'Isle",
                "Capucine d'Hautefeuille",
            )
        ),
        *(
            (f"Gestern war {name} wieder hier.", name, "de")
            for name in ("Herr de la Cruz", "Joost v. d. Berg", "Baron v. Stein", "Herr d'Hondt")
        ),
        ("We saw Dr de l'Isle again.", "Dr de l'Isle", "en"),
    ],
)
def test_particles_with_an_apostrophe_and_of_other_languages(text: str, name: str, language: str) -> None:
    assert hides(text, name, language)


@pytest.mark.parametrize(
    ("text", "name", "language"),
    [
        ("Am Abend waren FRAU WEISS und DR. HAASE wieder hier.", "FRAU WEISS", "de"),
        ("Am Abend waren FRAU WEISS und DR. HAASE wieder hier.", "DR. HAASE", "de"),
        ("Hier, MME PETIT a vu MAÎTRE ROUX.", "MME PETIT", "fr"),
        ("Hier, MME PETIT a vu MAÎTRE ROUX.", "MAÎTRE ROUX", "fr"),
        ("Later DR NG saw MR YOUNG again.", "DR NG", "en"),
        ("Later DR NG saw MR YOUNG again.", "MR YOUNG", "en"),
    ],
)
def test_names_in_capitals(text: str, name: str, language: str) -> None:
    assert hides(text, name, language)


def test_headings_in_capitals_stay() -> None:
    assert masked("BERICHT DER KLINIK FÜR INNERE MEDIZIN\nEs geht ihm gut und er hat gegessen.", "de") == []


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("die FRAU WEISS kam", "die Frau Weiss kam"),
        ("der HNO sah", "der HNO sah"),
        ("O'NEILL, J. R.", "O'Neill, J. R."),
        ("AB\nCD", "AB\nCD"),
    ],
)
def test_words_in_capitals_beside_each_other(text: str, plain: str) -> None:
    assert in_title_case(text) == plain


@pytest.mark.parametrize(
    ("text", "part", "language"),
    [
        ("生年月日：S42.11.3です。", "S42.11.3", "ja"),
        ("Ｓ４２．１１．３生まれの人です。", "Ｓ４２．１１．３", "ja"),
        ("S13/5/9に生まれた人です。", "S13/5/9", "ja"),
        ("昭42.11.3に生まれた人です。", "昭42.11.3", "ja"),
        ("毎日5mgを飲んでいる。", "5mg", "ja"),
        ("Das Aktenzeichen war damals 33 O 1187/23, wie gesagt.", "33 O 1187/23", "de"),
    ],
)
def test_letters_among_digits_may_be_meant(text: str, part: str, language: str) -> None:
    assert hides(text, part, language)


def test_a_bar_between_cells_is_no_digit() -> None:
    row = "| 12. Mai 1941 | 0049 221 112233 |"
    assert undisguise(row).text == row
    assert undisguise("|2O24 118").text == "12024 118"
    assert masked(row, "de") == ["12. Mai 1941", "0049 221 112233"]


def test_places_of_the_original_in_a_text_without_disguises() -> None:
    text = "S42.11.3 and the Novernber\u200b of Wigg-\nles"
    plain, typed = undisguise(text), as_typed(text)
    for word in ("S42.11.3", "Novernber", "Wiggles"):
        at = typed.text.index(word)
        start, end = plain.within(*typed.span(at, at + len(word)))
        assert plain.span(start, end) == typed.span(at, at + len(word))
    assert plain.text[slice(*plain.within(text.index("Nov"), text.index(" of")))].startswith("November")


GERMAN_FORMS = (
    "Patient : {}",
    "Patient:       {}",
    "Patient\t{}",
    "Name          {}",
    "Name:\n{}",
    "| Name | {} |",
    "Name = {}",
    "**Name:** {}",
    "Name, Vorname: {}",
    "Patient     {}     Zimmer 12",
)
FRENCH_FORMS = ("Patient :      {}", "Nom          {}", "Nom :\n{}", "| Nom | {} |", "Nom et prénom : {}")
ENGLISH_FORMS = ("Patient:       {}", "Name          {}", "Name:\n{}", "| Name | {} |", "Patient name: {}")
JAPANESE_FORMS = (
    "氏名　　{}　殿",
    "氏名 {}",
    "氏名\t{}",
    "| 氏名 | {} |",
    "氏名：{}　年齢：38歳",
    "患者氏名　{}　性別　女",
    "【氏名】{}",
)


@pytest.mark.parametrize(
    ("form", "name", "language"),
    [
        *((*one, "de") for one in product(GERMAN_FORMS, ("Rosa Weiß", "Wolf Jung", "Weiß, Rosa"))),
        *((*one, "fr") for one in product(FRENCH_FORMS, ("Petit Claire", "Rose Petit"))),
        *((*one, "en") for one in product(ENGLISH_FORMS, ("Grace May", "June Summers"))),
        *((*one, "ja") for one in product(JAPANESE_FORMS, ("大空 桜", "南 中", "ほしの あかり"))),
    ],
)
def test_a_field_for_a_name_holds_one(form: str, name: str, language: str) -> None:
    rest = {
        "de": "Es geht ihm gut und er hat gegessen.",
        "fr": "Elle est venue hier avec sa fille.",
        "en": "She was seen by the team today.",
        "ja": "食事は全量摂取した。",
    }
    assert hides(f"{form.format(name)}\n{rest[language]}", name, language)


LABELS = {
    "de": "Versicherungsnehmer Sorgeberechtigte Überweiser Operateur Mandant Notfallkontakt Vorname(n)",
    "fr": "Souscripteur Curateur Anesthésiste Bailleur Défunte Expéditeur Usager Signataire Prénom(s)",
    "en": "Cardholder Guarantor Inmate Recipient Caseworker Tenant Debtor Alias Forename(s)",
    "ja": "受診者 身元引受人 記入者 立会人 術者 入居者 喪主 会員名 氏名(カナ)",
}
BESIDE = {
    "de": ("Kurz", "Lang"),
    "fr": ("Petit", "Blanc Rose"),
    "en": ("May", "Frost, Amber"),
    "ja": ("南", "大空 海"),
}


@pytest.mark.parametrize(
    ("label", "name", "language"),
    [
        *((label, name, one) for one in BESIDE for label in LABELS[one].split() for name in BESIDE[one]),
        ("Gesetzlicher Vertreter", "Kurz", "de"),
        ("Diktiert von", "Lang", "de"),
        ("Rédigé par", "Petit", "fr"),
        ("Registered keeper", "May", "en"),
        ("Name", "rosa klein", "de"),
        ("Surname", "young", "en"),
        ("Nom", "petit, rose", "fr"),
    ],
)
def test_a_label_that_a_column_of_names_may_have_is_one_of_a_form(
    label: str, name: str, language: Language
) -> None:
    """Labels that the rules do not list: names that are words stayed beside them, and small letters."""
    text = f"x\n{label}: {name}\nx"
    assert [text[slice(*span)] for span in named_fields(text, language)] == [name]


@pytest.mark.parametrize(
    "text", ["Halter | {}", "| Halter: | {} |", "Halter\t{}", "Halter    {}", "1  Halter: {}, 3 Tiere"]
)
def test_a_label_in_a_cell_is_one_of_a_form(text: str) -> None:
    found = named_fields(f"x\n{text.format('Kurz')}\nx", "de")
    assert [span[1] - span[0] for span in found] == [4]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Kontakt: Telefon\nKunde: siehe oben\nHalter: Kunde\nGast   Alter   Zimmer", "de"),
        ("Name: siehe oben\nOperateur: unbekannt\nMitglied: nein", "de"),
        ("Subject: May Report\nMember since 2001\nDoctor: Take these twice", "en"),
        ("Tenant: the owner is away\nRecipient: none\nName\tAge\tWard", "en"),
        ("Bailleur : le syndic\nUsager : inconnu", "fr"),
        ("記入者：担当者\n保険者：国民健康保険組合連合会\n対象者：全員", "ja"),
    ],
)
def test_beside_a_label_what_shows_that_it_is_no_name_stays(text: str, language: Language) -> None:
    assert list(named_fields(text, language)) == []


def test_columns_of_a_table_may_be_headed_like_those_of_data() -> None:
    text = "Zeile;Versicherungsnehmer;Kontakt\n1;Kurz;Telefon\n2;Lang;Post"
    assert [text[slice(*span)] for span in named_cells(text, "de")] == ["Kurz", "Lang"]


@pytest.mark.parametrize(
    ("text", "number", "language"),
    [
        ("Seine Karte 80276 00000 1234567890 war abgelaufen.", "80276 00000 1234567890", "de"),
        ("The card 8027 6000 0012 3456 7890 was valid.", "8027 6000 0012 3456 7890", "en"),
        ("Die Nummer A123 456 780 steht dort.", "A123 456 780", "de"),
        ("Vers. A 12345678 0", "A 12345678 0", "de"),
        ("Il porte 1.85.05.2A.006.084.35 sur lui", "1.85.05.2A.006.084.35", "fr"),
        ("Card 4111.1111.1111.1111 was used.", "4111.1111.1111.1111", "en"),
        ("記号　い－１２　番号　３４５", "い－１２", "ja"),
    ],
)
def test_numbers_of_cards_and_of_health_insurance(text: str, number: str, language: Language) -> None:
    assert hides(text, number, language)


@pytest.mark.parametrize(
    ("check", "number", "others"),
    [
        (checks.health_insured, "A 123 456 780", ("A123456781", "B123456780")),
        (checks.register, "255081416802538", ("255081416802539", "2550814168025")),
        (checks.register, "1 85 05 2A 006 084 35", ("1 85 05 2B 006 084 35",)),
        (
            checks.health_card,
            "80 276 00000 1234567890",
            ("80999000001234567890", "8127600000123456789"),
        ),
    ],
)
def test_check_digits_of_health_insurance(check: checks.Check, number: str, others: tuple[str, ...]) -> None:
    assert check(number) == len(number)
    assert not any(map(check, others))


def test_other_fields_and_headings_are_no_names() -> None:
    text = "Name   Alter   Diagnose\n| Name | Geburtsdatum |\nPatient\nKommt zur Aufnahme in die Klinik."
    assert masked(text, "de") == []


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("| Nr | Name |\n|---|---|\n| 1 | Rosa Blum |\n| 2 | 14 |\n\nEnde", "de", ["Rosa Blum"]),
        ("No;Name;Note\n1;Amber Waters;eats\n2;Will Short;sleeps", "en", ["Amber Waters", "Will Short"]),
        ("Nom, prénom\tVille\nPetit Claire\tLyon", "fr", ["Petit Claire"]),
        ("|氏名|備考|\n|南 中|良好|", "ja", ["南 中"]),
        ("Name | Note\nonly | one | more\nName: Rosa", "en", []),
        ("Nachname,Vorname,Telefon\nKurz,August,0731 1\n", "de", ["Kurz", "August"]),
        ('Name,Age\n"May, Grace",7\nBanks,8', "en", ["May, Grace", "Banks"]),
        ("Nom,Prénom\nPetit,Rose\nRoux,Aimé", "fr", ["Petit", "Rose", "Roux", "Aimé"]),
        ("氏名,電話\n星野 光,090\n", "ja", ["星野 光"]),
        ("Surname, Age\nBanks, 8\nMay, 7", "en", ["Banks", "May"]),
        ("first_name,age\nHope,8", "en", ["Hope"]),
        ("Es kamen Vater, Mutter, Onkel und\ndanach, wie immer, Hans\nund, wie es hieß, Eva", "de", []),
        ("Name, Vorname\nDas steht oben, wie gesagt.", "de", []),
        ("Nr;Name;Ort\n1;;Ulm\n2;Sommer;Ulm", "de", ["Sommer"]),
        ("Nr;Name\n1;Kurz\n2;Lang;links;rechts\n3;Sommer", "de", ["Kurz", "Sommer"]),
        ("| Nr | Name |\n| | Kurz |\n", "de", ["Kurz"]),
        ("Name\tKurz\nGeburtsdatum:\t1.2.44\nHausarzt\tWolf", "de", []),
        ("Name;Kurz\nKrankenkasse;AOK", "de", []),
        ("Name;Kurz;Vorname;Eva\nAlter;9;Station;B", "de", []),
        ("Name;Alter\nKurz;9\nDatum;heute", "de", ["Kurz"]),
    ],
)
def test_columns_of_names(text: str, language: str, names: list[str]) -> None:
    assert [text[start:end] for start, end in sorted(named_cells(text, language))] == names


ROWS = (("Nachname", "Vorname", "Telefon"), ("Kurz", "August", "0731 5001123"), ("Sommer", "Rosa", ""))
PROSE = "Die Liste wurde am Montag von der Verwaltung geschickt und ist nicht vollständig."


def html_table(rows: list[list[str]]) -> str:
    lines = (f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<table>{''.join(lines)}</table>"


def masked_file(name: str, data: bytes, language: Language) -> list[str]:
    """What the first pass hides of a file."""
    opened = format_of(name).open(name, data)
    words = tagger_of(opened.text, language).words(opened.text)
    document = Document(name, opened.text, opened.tables)
    found = Reading.of(document, words, language).mask(*recognizers(language))
    return [opened.text[start:end] for start, end in found]


@pytest.mark.parametrize("kind", ["html", "docx"])
def test_names_below_headings_of_tables_of_pages_and_of_word(kind: str) -> None:
    """Each cell has a line of its own there, and surnames that are words have no other sign."""
    if kind == "html":
        cells = [[f"<td>{cell}</td>" for cell in row] for row in ROWS]
        data = f"<html><body><p>{PROSE}</p>{html_table(cells)}</body></html>".encode()
    else:
        document = docx.Document()
        document.add_paragraph(PROSE)
        table = document.add_table(rows=3, cols=3)
        for cells, row in zip(table.rows, ROWS, strict=True):
            for cell, text in zip(cells.cells, row, strict=True):
                cell.text = text
        file = io.BytesIO()
        document.save(file)
        data = file.getvalue()
    found = masked_file(f"list.{kind}", data, "de")
    assert {"Kurz", "August", "Sommer", "Rosa"} <= {*found}
    assert not {"Nachname", "Vorname", "Telefon"} & {*found}


def test_cells_that_cover_others_keep_the_columns() -> None:
    rows = [
        ["<th>Station</th>", "<th colspan=2>Zimmer</th>", "<th>Nachname</th>"],
        ["<td rowspan=2>A</td>", "<td>1</td>", "<td>b</td>", "<td>Kurz</td>"],
        ["<td>2</td>", "<td>c<table><tr><td>x</td></tr></table></td>", "<td><b>Som</b>mer</td>"],
    ]
    data = f"<html><body><p>{PROSE}</p>{html_table(rows)}<table></table></body></html>".encode()
    assert masked_file("list.html", data, "de")[-2:] == ["Kurz", "Sommer"]


def test_labels_of_a_form_in_a_table_stay() -> None:
    rows = [["Patient", "Wolf Lange"], ["Geburtsdatum", "keine Angabe"], ["Krankenkasse", "unbekannt"]]
    cells = [[f"<td>{cell}</td>" for cell in row] for row in rows]
    found = masked_file(
        "form.html", f"<html><body><p>{PROSE}</p>{html_table(cells)}</body></html>".encode(), "de"
    )
    assert "Wolf Lange" in found
    assert not {"Geburtsdatum", "Krankenkasse"} & {*found}


def test_a_name_in_a_column_is_hidden() -> None:
    text = "| No | Name | Note |\n|---|---|---|\n| 1 | June Summers | eats |\n| 2 | Amber Waters | sleeps |"
    assert masked(text, "en") == ["June Summers", "Amber Waters"]


@pytest.mark.parametrize(
    ("text", "part", "language"),
    [
        *(
            (one, one.partition(" *")[0], "de")
            for one in ("WEIß, ROSA *12.03.1944 w", "MÜLLER, ROSA *12.03.1944")
        ),
        ("KLEIN, ROSA geb. 12.03.1944", "KLEIN, ROSA", "de"),
        ("KURZ, EVA  12.3.44", "KURZ, EVA", "de"),
        ("YOUNG, WILL  M  14-FEB-1941", "YOUNG, WILL", "en"),
        ("PETIT, ROSE (F) 04/05/1947", "PETIT, ROSE", "fr"),
        ("Wolf Lange *1.2.44", "Wolf Lange", "de"),
        ("LEROUX Marie née PETIT", "PETIT", "fr"),
        ("NOM D'USAGE PETIT", "PETIT", "fr"),
        ("Fr. Lang (Nichte v. Pat. Kurz)", "Kurz", "de"),
        ("z. Hd. Sommer", "Sommer", "de"),
        *(("Kopie an: Vogel, Fuchs, Sommer", name, "de") for name in ("Vogel", "Fuchs", "Sommer")),
        ("Entschuldigt: Braun (krank)", "Braun", "de"),
        ("Present: May, Frost and Hope", "May", "en"),
        ("Copie à : Roux, Blanc, Petit", "Petit", "fr"),
        *(("出席者：東、西、中", name, "ja") for name in "東西中"),
        ("続柄：夫　大空 海", "海", "ja"),
        ("星野 光は元気です。", "光", "ja"),
        ("first_name=Hope&last_name=Banks", "Banks", "en"),
        ('{"gp": "okonjo"}', "okonjo", "en"),
    ],
)
def test_names_that_are_words_where_a_name_must_stand(text: str, part: str, language: Language) -> None:
    assert hides(text, part, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Pat. Untersuchung verweigert.", "de"),
        ("Kopie an: Hausarzt", "de"),
        ("née le matin à terme", "fr"),
        ("Wert 0.1234 und 0815.12", "de"),
    ],
)
def test_what_stands_there_and_is_no_name_stays(text: str, language: Language) -> None:
    assert masked(text, language) == []


@pytest.mark.parametrize(
    ("text", "phone", "language"),
    [
        ("Rückruf unter 0151.20304050", "0151.20304050", "de"),
        ("Rückruf unter 07 31/50 01 23", "07 31/50 01 23", "de"),
        ("電話：090.1234.5678", "090.1234.5678", "ja"),
    ],
)
def test_phones_with_dots_and_blanks(text: str, phone: str, language: Language) -> None:
    assert hides(text, phone, language)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("18 LARCH CLOSE, KIRKBY STEPHEN, CA17 4QT", "KIRKBY STEPHEN"),
        ("ADDRESS: 7 HIGH STREET, YORK", "7 HIGH STREET"),
        ("ADDRESS: 7 HIGH STREET, YORK", "YORK"),
        ("THE OLD FORGE, 12A CASTLE STREET", "12A CASTLE STREET"),
    ],
)
def test_english_addresses_in_capitals(text: str, part: str) -> None:
    assert hides(text, part, "en")


@pytest.mark.parametrize("name", ["Hans-Peter Lang", "Rosa Klein"])
def test_a_name_below_greetings(name: str) -> None:
    assert hides(f"Vielen Dank für Ihre Mühe.\n\nMit freundlichen Grüßen\n\n{name}", name, "de")


@pytest.mark.parametrize(
    ("text", "address", "language"),
    [
        *(
            (f"Die Tochter wohnt jetzt {one}.", one, "de")
            for one in (
                "Berliner Straße 5",
                "Karl-Marx-Straße 1",
                "Konrad-Adenauer-Allee 3",
                "Bonner Str. 12",
                "Alter Markt 3",
                "Berliner Straße 5, 2. OG",
            )
        ),
        ("Er wohnt in der Zeil 112.", "Zeil 112", "de"),
        ("Anschrift: Jungfernstieg 40, Hamburg", "Jungfernstieg 40", "de"),
        ("Zeil 112\n60313 Frankfurt, wie es auf dem Brief steht.", "Zeil 112", "de"),
        *(
            (f"Elle habite {one}, depuis hier.", one, "fr")
            for one in (
                "8 av. Foch",
                "1 pl. de la République",
                "10 rte de Lyon",
                "3 rue du 8 Mai 1945",
                "lieu-dit Kerhuon",
                "bâtiment C",
                "porte 12",
                "BP 123",
            )
        ),
        *(
            (f"住まいは{one}である。", one, "ja")
            for one in (
                "メゾン太閤305号室",
                "コーポ桜201",
                "県営住宅3号棟402",
                "渋谷2-21-1",
                "札幌市北区北8条西5丁目",
            )
        ),
    ],
)
def test_addresses(text: str, address: str, language: str) -> None:
    assert hides(text, address, language)


@pytest.mark.parametrize(
    "text",
    [
        "Er lag in der Station 3.",
        "Das war am Montag 14.",
        "Er war am Tag 5, wie immer.",
        "Er ging weg 5 Minuten später.",
    ],
)
def test_numbers_behind_other_german_words_are_no_addresses(text: str) -> None:
    assert masked(text, "de") == []


@pytest.mark.parametrize(
    ("text", "date", "language"),
    [
        ("Il est né le 3 mars 58 à Lyon.", "3 mars 58", "fr"),
        ("Il est né le 8 nov. 64 à Lyon.", "8 nov. 64", "fr"),
        ("Il est né en novembre 64 à Lyon.", "novembre 64", "fr"),
        (
            "Il est né le premier janvier mil neuf cent soixante-douze.",
            "premier janvier mil neuf cent soixante-douze",
            "fr",
        ),
        ("He was born on 3 Jan '62 there.", "3 Jan '62", "en"),
        ("He was born in '57 there.", "'57", "en"),
        (
            "He was born on the third of May nineteen sixty-two there.",
            "third of May nineteen sixty-two",
            "en",
        ),
        ("Er wurde am 3. Mai 58 dort geboren.", "3. Mai 58", "de"),
        (
            "Er wurde am dritten Mai neunzehnhundertzweiundsechzig dort geboren.",
            "dritten Mai neunzehnhundertzweiundsechzig",
            "de",
        ),
    ],
)
def test_dates_with_short_years_and_in_words(text: str, date: str, language: str) -> None:
    assert hides(text, date, language)


@pytest.mark.parametrize(
    ("text", "part", "language"),
    [
        (
            "The note is kowalczyk_aleksandra_fitnote.pdf and was sent.",
            "kowalczyk_aleksandra_fitnote.pdf",
            "en",
        ),
        ("It lies in C:\\Users\\siobhan.odwyer\\notes now.", "siobhan.odwyer", "en"),
        ("It lies in /home/mpattinson/ now.", "mpattinson", "en"),
        ("See linkedin.com/in/siobhan-odwyer for it.", "siobhan-odwyer", "en"),
        ("[09:02] mike: are you there\n[09:03] bex: yes I am here", "mike", "en"),
        ("12/03/2024, 09:02 - bex: are you there with us", "bex", "en"),
        ("La voiture AB 123 CD était là avec elle.", "AB 123 CD", "fr"),
    ],
)
def test_names_of_files_users_and_speakers(text: str, part: str, language: str) -> None:
    assert hides(text, part, language)


def test_what_follows_a_german_name_stays() -> None:
    assert masked("Am Abend war Dr. Haase auf der Station.", "de") == ["Dr. Haase"]
    assert masked("08:00 Waschen: es geht ihm gut, und er hat gegessen.", "de") == ["08:00"]
