"""Exports as hospitals of other countries write them, of persons who are made up."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

FRENCH_NAMES = ("Lefèvre", "Müller", "D'Aubigné", "Nguyễn", "Garçon", "Œillet")
COUNT = 300


def french(seed: int, count: int = COUNT) -> bytes:
    """Windows-1252, semicolons, two lines of names below a title, decimal commas, `NSP`, a line of sums."""
    draw = np.random.default_rng(seed)
    lines = [
        "CHU de Besançon – extraction du 31/12/2024 à 14h30",
        "",
        "Identité;;;Séjour;;Mesures;;;;Questionnaire;;",
        "N° patient;Nom;Date de naissance;Date d'entrée;Coût;Âge;Poids (kg);CRP (mg/L);Date;Fumeur;"
        "Satisfaction;Date",
    ]
    for number in range(count):
        came = datetime(2024, 1, 1) + timedelta(minutes=int(draw.integers(500_000)))
        crp = draw.lognormal(0, 1)
        cells = [
            f"P{seed}{number - (number % 20 == 7):05}",
            f"{FRENCH_NAMES[draw.integers(6)]}",
            f"{int(draw.integers(1, 29)):02}/{int(draw.integers(1, 13)):02}/{int(draw.integers(1930, 2005))}",
            f"{came:%d/%m/%Y à %Hh%M}",
            f"{draw.integers(1, 9)} {draw.integers(100, 999)},{draw.integers(10, 99)} €",
            "NSP" if draw.random() < 0.09 else f"{draw.integers(18, 97)}",
            "NSP" if draw.random() < 0.02 else f"{draw.normal(74, 12):.1f}".replace(".", ","),
            "<LOQ" if crp < 0.4 else f"{crp:.2f}".replace(".", ","),
            f"{came + timedelta(days=1):%d/%m/%Y}",
            ("oui", "Oui", "non", "Non", "NON", "ex-fumeur", "NSP")[draw.integers(7)],
            ("tout à fait", "plutôt", "pas du tout", "")[draw.integers(4)],
            f"{came + timedelta(days=30):%d/%m/%Y}",
        ]
        lines.append(";".join(cells))
    lines += ["", "Total;;;;1 234 567,89 €;;;;;;;", f"Nombre de lignes : {count}"]
    return ("\r\n".join(lines) + "\r\n").encode("cp1252", "replace")


def polish(seed: int, count: int = COUNT) -> bytes:
    """Windows-1250, semicolons, titles above, decimal commas, `b.d.`, a sum below."""
    draw = np.random.default_rng(seed)
    lines = [
        "Szpital Wojewódzki - Raport: pacjenci oddziału;;;;;;;;",
        "",
        "Nr pacjenta;Nazwisko;Imię;PESEL;Wiek [lata];Płeć (K/M);Masa ciała [kg];Pali?;Koszt pobytu",
    ]
    for number in range(count):
        cells = [
            f"P/{seed}{number:05}",
            ("Kowalski", "Wiśniewska", "Łuczak", "Żak", "Dąbrowska", "Gęś")[draw.integers(6)],
            ("Łukasz", "Zofia", "Jerzy", "Małgorzata", "Święcisława")[draw.integers(5)],
            f"{draw.integers(10**10, 10**11)}",
            f"{draw.integers(18, 98)}",
            "KM"[draw.integers(2)],
            "b.d." if draw.random() < 0.04 else f"{draw.normal(77, 13):.1f}".replace(".", ","),
            ("tak", "nie", "rzuciła")[draw.integers(3)],
            f"{draw.integers(1, 9)}\u00a0{draw.integers(100, 999)},{draw.integers(10, 99)} zł",
        ]
        lines.append(";".join(cells))
    lines.append(f"Razem: {count};;;;;;;;")
    return ("\r\n".join(lines) + "\r\n").encode("cp1250")


def japanese(seed: int, count: int = COUNT) -> bytes:
    """Shift_JIS, commas, digits of full width, dates of eras by names and letters, `未測定`, a sum."""
    draw = np.random.default_rng(seed)
    wide = str.maketrans("0123456789.", "０１２３４５６７８９．")
    lines = [
        "患者番号,氏名,生年月日,入院日,退院日時,年齢（歳）,性別,体重（ｋｇ）,クレアチニン(mg/dL),医療費（円）"
    ]
    for number in range(count):
        born = datetime(1930, 1, 1) + timedelta(int(draw.integers(26000)))
        came = datetime(2018, 6, 1) + timedelta(int(draw.integers(1500)))
        era, year = ("昭和", born.year - 1925) if born < datetime(1989, 1, 8) else ("平成", born.year - 1988)
        reiwa, late = ("R", came.year - 2018) if came >= datetime(2019, 5, 1) else ("H", came.year - 1988)
        name = {"R": "令和", "H": "平成"}[reiwa]
        creatinine = draw.lognormal(-0.2, 0.5)
        cells = [
            f"{10000 + number}",
            ("山田太郎", "佐藤花子", "髙橋一郎", "鈴木 美咲")[draw.integers(4)],
            f"{era}{'元' if year == 1 else year}年{born.month}月{born.day}日",
            f"{name}{'元' if late == 1 else late}年{came.month}月{came.day}日".translate(wide),
            f"{reiwa}{late:02}.{came.month:02}.{came.day:02} {draw.integers(24):02}:14",
            f"{draw.integers(18, 99)}".translate(wide),
            "男女"[draw.integers(2)],
            "未測定" if draw.random() < 0.04 else f"{draw.normal(60, 11):.1f}".translate(wide),
            "＜０．４" if creatinine < 0.4 else f"{creatinine:.2f}",
            f'"{draw.integers(20000, 900000):,}"',
        ]
        lines.append(",".join(cells))
    lines.append("合計,,,,,,,,,")
    return ("\r\n".join(lines) + "\r\n").encode("cp932")


def dutch(path: Path, seed: int, count: int = COUNT) -> None:
    """A sheet with a title, merged cells, units in a row of their own, `onbekend`, and totals below."""
    import openpyxl

    draw = np.random.default_rng(seed)
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = "Gegevens 2024"
    sheet.append(["UMC Rivierenland — uitdraai 31-12-2024"])
    sheet.append([])
    sheet.append(["Patiënt", None, None, "Opname", None, "Metingen", None, None, "Ontslag", None, None])
    sheet.merge_cells("A3:C3")
    sheet.merge_cells("D3:E3")
    sheet.merge_cells("F3:H3")
    sheet.merge_cells("I3:J3")
    names = ["Patiëntnr.", "Achternaam", "Geslacht", "Datum", "Afdeling", "Leeftijd", "Gewicht", "Creatinine"]
    sheet.append([*names, "Datum", "Afdeling", "Roker"])
    sheet.append([None, None, None, None, None, "(jaren)", "(kg)", "(µmol/l)", None, None, None])
    for number in range(count):
        came = datetime(2024, 1, 1) + timedelta(minutes=int(draw.integers(500_000)))
        left = came + timedelta(days=int(draw.integers(1, 20)))
        creatinine = draw.lognormal(4.3, 0.5)
        sheet.append(
            [
                700_000 + number - (number % 25 == 3),
                ("de Vries", "van den Berg", "Jansen", "Çelik")[draw.integers(4)],
                ("M", "V", "m", "v")[draw.integers(4)],
                f"{came:%d-%m-%Y %H:%M}",
                ("Interne", "interne", "Chirurgie", "Cardiologie")[draw.integers(4)],
                999 if draw.random() < 0.03 else int(draw.integers(18, 97)),
                None if draw.random() < 0.05 else round(float(draw.normal(78, 13)), 1),
                "> 400" if creatinine > 200 else round(float(creatinine)),
                left.replace(hour=0, minute=0),
                ("Interne", "Chirurgie", "Cardiologie", "onbekend")[draw.integers(4)],
                ("ja", "nee", "Ja", "gestopt", "onbekend")[draw.integers(5)],
            ]
        )
    sheet.append(["Totaal", None, None, None, None, None, count * 78.0, None, None, None, None])
    sheet.append([f"Aantal: {count}"])
    made.save(path)
