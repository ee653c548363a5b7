"""Names of columns in seven languages and all the ways in which exports write them."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from commons.tabular.column_names import (
    LANGUAGES,
    OTHERS,
    direct,
    is_called,
    is_of_persons,
    kinds,
    kinds_of,
    named_as_a_whole,
)

ROLES = ("identifiers", "quasi_identifiers", "sensitive", "")

CALLED = {
    "surname": "surname LastName family-name NACHNAME Patientennachname nom apellido_1 cognome achternaam 姓",
    "given_name": "forename firstName VORNAME prénom Prenom nombre nome voornaam 名",
    "full_name": "name PATIENT_NAME Name,Vorname nom_complet nombre.completo nominativo naam 氏名 患者氏名",
    "street": "Street address_1 Straße STRASSE Wohnstrasse rue calle indirizzo straat 住所",
    "phone": "phone Tel. Telefonnr téléphone teléfono cellulare telefoon 電話番号",
    "mail": "e-mail eMail E_MAIL courriel correo メールアドレス",
    "identifier": "id patient_nbr PatNr IDNumber Fallnummer identifiant 患者番号 ＩＤ",
    "account": "ssn IBAN Versichertennummer dni codice_fiscale BSN マイナンバー",
    "birth_date": "dob dateOfBirth ＤＯＢ Geburtsdatum Geb.-Datum date_de_naissance geboortedatum 生年月日",
    "age": "age Age(years) ALTER Alter_in_Jahren edad età leeftijd 年齢",
    "sex": "sex Gender GESCHLECHT sexe sexo sesso geslacht 性別",
    "postcode": "zip ZipCode PLZ code_postal CAP 郵便番号",
    "town": "city Wohnort ville ciudad città woonplaats 市区町村",
    "nationality": "nationality native-country Staatsangehörigkeit nationalité cittadinanza 国籍",
    "race": "race Ethnicity raza etnia 人種",
    "religion": "religion Konfession religione geloof 宗教",
    "diagnosis": "diag_1 Diagnosis_Code Hauptdiagnose diagnóstico malattia ziekte 病名",
    "drug": "drug Medikation médicament fármaco geneesmiddel 処方",
    "income": "income annual_income Einkommen salaire ingresos reddito inkomen 年収",
    "body": "height Größe Groesse GROESSE Gewicht_(kg) poids statura lengte 身長",
}


@pytest.mark.parametrize("kind", CALLED)
def test_names_of_every_language_and_form_are_found(kind):
    missed = [name for name in CALLED[kind].split() if kind not in [one.name for one in kinds_of(name)]]
    assert not missed


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("spin", "identifier"),
        ("pinot", "identifier"),
        ("fluid", "identifier"),
        ("numeric", "identifier"),
        ("num_lab_procedures", "identifier"),
        ("number_of_visits", "identifier"),
        ("no_of_children", "identifier"),
        ("stage", "age"),
        ("average", "age"),
        ("Betrag", "age"),
        ("essex", "sex"),
        ("capsule", "postcode"),
        ("drug_name", "full_name"),
        ("country_name", "full_name"),
        ("vintage", "account"),
        ("recommended", "surname"),
        ("病名", "given_name"),
        ("品名", "given_name"),
        ("marital_status", "outcome"),
        ("social grade", "diagnosis"),
        ("employment_status", "outcome"),
        ("x", "sex"),
        ("", "age"),
    ],
)
def test_short_words_are_found_as_whole_words_only(name, kind):
    assert not is_called(name, kind)


GLUED = {
    "numkids": "family",
    "hushrs": "occupation",
    "nwifeinc": "income",
    "totalcost": "income",
    "trtmnt": "drug",
    "occup": "occupation",
    "relig": "religion",
    "cardiolog": "diagnosis",
    "A1Cresult": "laboratory",
    "Status (NED, AWD, D)": "outcome",
}


@pytest.mark.parametrize("name", GLUED)
def test_words_written_together_shortened_or_without_vowels_are_found(name):
    assert is_called(name, GLUED[name])


@pytest.mark.parametrize(
    "name", ["carpet", "manager_note", "patientxnamer", "streetwise", "count", "compl", "x1", "numeric"]
)
def test_a_guess_never_makes_an_identifier(name):
    assert "identifiers" not in [kind.role for kind in kinds_of(name)]


def test_the_identifier_of_a_record_is_no_relapse_into_crime():
    assert [kind.name for kind in kinds_of("rec_id")] == ["identifier"]


def test_what_says_how_a_table_was_made_has_no_role():
    for name in ("fnlwgt", "strata", "pweight", "wave", "Stichprobe", "poids_ponderation"):
        assert is_called(name, "design"), name
    assert not any(kind.role for kind in kinds_of("sampling_weight"))
    assert is_called("weight", "body")


def test_what_names_a_person_is_direct_and_what_counts_is_not():
    assert {key for key, one in kinds().items() if one.is_direct} == {
        *("surname", "given_name", "full_name", "mail", "phone", "street", "account")
    }
    assert direct("Nachname").name == "surname"
    assert direct("admission_type_id") is direct("age") is direct("diagnosis") is None


NAMES = (
    *(
        "Patient's name",
        "Name of patient",
        "name_of_the_employee",
        "NAME1",
        "Name 1",
        "emp_name",
        "pupil name",
    ),
    *("Name des Patienten", "Name Patient", "Name_Pat.", "Schülername", "Mitarbeitername", "Arztname"),
    *("Nom du patient", "nom de l'élève", "Nombre del paciente", "nome del dipendente"),
    *("Naam van de patiënt", "patiëntnaam", "生徒名", "社員名", "保護者名", "カナ", "ヨミ", "よみがな"),
)
NO_NAMES = (
    *("drug name", "name of drug", "hospital_name", "school name", "file_name", "variable name", "Dateiname"),
    *(
        "Medikamentenname",
        "Städtename",
        "nom de la commune",
        "nombre de hijos",
        "病名",
        "国名",
        "カナダ",
        "patient",
    ),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_word_for_a_name_beside_one_for_persons_is_the_name_of_persons(name):
    assert is_called(name, "full_name")


@pytest.mark.parametrize("name", NO_NAMES)
def test_names_of_things_are_no_names_of_persons(name):
    assert direct(name) is None


def test_a_whole_name_is_more_than_a_part_of_it():
    assert "given_name" in [one.name for one in named_as_a_whole("First Name")]
    assert not named_as_a_whole("first_name_of_mother_again")
    assert "birth_date" not in [one.name for one in named_as_a_whole("birth_year")]


def test_the_table_has_known_roles_and_languages_and_no_word_twice_in_a_kind():
    text = resources.files("commons.tabular").joinpath("column_words.toml").read_text(encoding="utf-8")
    for key, one in tomllib.loads(text).items():
        assert set(one) <= {"role", "direct", *LANGUAGES, OTHERS}, key
        assert kinds()[key].role in ROLES
        for language in (*LANGUAGES, OTHERS):
            words = one.get(language, [])
            assert words or language == OTHERS, (key, language)
            assert len(set(words)) == len(words), (key, language)
            for word in words:
                bare = word.strip("=$*")
                assert "*" not in word or len(bare) >= 4, (key, word)
                name = word.replace("*", "") if "*" in word else bare
                assert key in [found.name for found in kinds_of(name)], (key, word)


@pytest.mark.parametrize("name", ["Nom d'usage", "NOM_D_USAGE", "Nom de jeune fille", "nom d’épouse"])
def test_french_surnames_are_names_of_persons(name):
    assert direct(name).name == "surname"


SHORTENED = (
    *("hosp_pt_nm", "pt_nm", "pat nm", "ptnm", "PATNAME", "nm_patient", "pat_nam", "cust_nm", "mbr_first_nm"),
    *("last_nm", "FIRST_NM", "LastNm", "fst_nm", "full_nm", "name_last", "patient_last", "PT FIRST", "surnm"),
    *("Nom du malade", "NOM_MAL", "nom bénéficiaire", "pren_pat", "nom_jf", "Nom du praticien"),
    *("nombre_pac", "Nombre del enfermo", "apell1", "ap_paterno", "COGN", "nome paz.", "nome_degente"),
    *("VNAME", "Vorn.", "Nachn.", "Geb.-Name", "Name d. Pat.", "Bewohn. Name", "Versichertenname"),
    *("受診者名", "被検者氏名", "世帯主名", "ご芳名", "姓（漢字）", "名（カナ）", "ｼﾒｲ", "紹介医名"),
)
"""As databases with eight letters for a name and hurried people write."""
NO_SHORTENED = (
    *("drug_nm", "hosp_nm", "test_nm", "nm_drug", "city_nm", "file_nm", "lambda_nm", "wavelength_nm", "nm23"),
    *("od_600_nm", "size_nm", "pt", "PT_sec", "pt_temp", "last_visit", "first_visit", "patient first visit"),
    *("hospital name", "hosp. Name", "nombre_hospital", "nom du médicament", "nome_ospedale", "sig_level"),
    *("薬剤名", "施設名", "病院名", "項目名", "患者数", "N/M", "tnm", "enm", "apex", "cognition"),
)


@pytest.mark.parametrize("name", SHORTENED)
def test_shortened_words_for_names_of_persons_are_found(name):
    assert direct(name) is not None


@pytest.mark.parametrize("name", NO_SHORTENED)
def test_shortened_words_for_other_things_are_no_names(name):
    assert direct(name) is None


@pytest.mark.parametrize(
    "name",
    [
        *("Patient", "Patientin", "Hausarzt", "Beh. Arzt", "Herr/Frau", "Sig.", "sig.ra", "Mme/M.", "usager"),
        *("médecin traitant", "medico curante", "signed_by", "erfasst von", "患者", "世帯主", "Angehörige"),
        *(
            "caseworker",
            "case_worker",
            "Social worker",
            "Sozialarbeiterin",
            "Therapeut",
            "avocat",
            "sage-femme",
        ),
        *(
            "trabajadora social",
            "assistente sociale",
            "maatschappelijk werker",
            "ケアマネジャー",
            "相談員",
            "supervisor",
        ),
    ],
)
def test_a_column_can_be_called_like_persons_alone(name):
    assert is_of_persons(name)


@pytest.mark.parametrize(
    "name", ["patient_age", "doctor visits", "患者数", "mother_educ", "employment", "of", "x", "", "123"]
)
def test_what_is_told_of_persons_is_not_called_like_them(name):
    assert not is_of_persons(name)
