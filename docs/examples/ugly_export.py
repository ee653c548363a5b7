"""An export as hospitals have them, with everything that makes it ugly: `python ugly_export.py FILE [SEED]`.

Latin-1, semicolons, decimal commas, thousands with points, names with blanks and brackets, German dates with
times, repeated patient numbers, 999 and `k.A.` for unknown, `<0,2` below detection, a remark that names
people. All persons are made up.
"""

from __future__ import annotations

import random  # noqa: TID251 - of made-up persons
import sys
from datetime import datetime, timedelta
from pathlib import Path

COLUMNS = (
    *("PatNr", "Nachname", "Vorname", "Geburtsdatum", "Aufnahme am", "Alter", "Geschlecht", "Gewicht (kg)"),
    *("Größe cm", "Kreatinin (mg/dl)", "Kosten EUR", "Raucher", "HbA1c [%]", "Bemerkung"),
)
SURNAMES = ("Müller", "Schäfer", "Weiß", "Yılmaz", "Groß", "Lange", "König", "Vogel", "Böhm", "Kraus")
NAMES = {"m": ("Jörg", "Karl", "Uwe", "Emre"), "w": ("Änne", "Ruth", "Elif", "Käthe")}
REMARKS = ("", "", "", 'Pat. wünscht; "keine" Auskunft', "Frau Weiß ruft zurück", "Bett am Fenster bitte")


def rows(count: int, seed: int) -> list[list[str]]:
    """Rows of cells; one in twenty is a second stay of a patient before.

    Args:
        count: how many.
        seed: of their values; each gives other patients.
    """
    draw = random.Random(seed)
    found: list[list[str]] = []
    for number in range(count):
        if found and draw.random() < 0.05:
            fixed = draw.choice(found)[:4]
            sex = "m" if fixed[2] in NAMES["m"] else "w"
        else:
            sex = draw.choice("mw")
            born = datetime(1935, 1, 1) + timedelta(draw.randrange(25_000))
            birth = f"{born:%d.%m.%Y}" if draw.random() > 0.02 else "00.00.0000"
            surname = draw.choice(SURNAMES).replace("ı", "i")
            fixed = [str(100_000 * seed + number), surname, draw.choice(NAMES[sex]), birth]
        came = datetime(2025, 1, 1) + timedelta(minutes=draw.randrange(500_000))
        age = "999" if draw.random() < 0.02 else str(draw.randint(18, 96))
        weight = draw.gauss(78, 12)
        creatinine = draw.lognormvariate(0, 0.6)
        found.append(
            [
                *fixed,
                f"{came:%d.%m.%Y %H:%M}",
                age,
                sex,
                "k.A." if draw.random() < 0.03 else _comma(weight, 1),
                str(round(draw.gauss(171, 8))),
                "<0,2" if creatinine < 0.3 else _comma(creatinine, 2),
                _thousands(draw.lognormvariate(8, 0.8)),
                "k.A." if draw.random() < 0.06 else draw.choice(("ja", "nein", "ehemals")),
                _comma(draw.gauss(6, 0.8), 1),
                draw.choice(REMARKS),
            ]
        )
    return found


def _comma(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace(".", ",")


def _thousands(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def text(count: int, seed: int) -> bytes:
    """The file."""
    lines = [COLUMNS, *rows(count, seed)]
    quoted = [
        ";".join(f'"{c.replace(chr(34), chr(34) * 2)}"' if ";" in c else c for c in one) for one in lines
    ]
    return ("\r\n".join(quoted) + "\r\n").encode("latin-1")


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(text(1_500, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
