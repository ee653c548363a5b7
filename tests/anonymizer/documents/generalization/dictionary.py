"""A dictionary in the format of WordNet 3, with the places that its files state about each other."""

from __future__ import annotations

LICENCE = "  1 This stands for the licence.  \n"
NOUNS = {
    "entity": (["entity"], []),
    "vehicle": (["vehicle"], [("@", "entity")]),
    "craft": (["craft"], [("@", "vehicle")]),
    "aircraft": (["aircraft"], [("@", "craft")]),
    "plane": (["airplane", "plane"], [("@", "aircraft")]),
    "tool": (["plane", "carpenter's_plane"], [("@", "entity")]),
    "person": (["person", "soul"], [("@", "entity")]),
    "doctor": (["doctor", "medical_man"], [("@", "person")]),
    "dentist": (["dentist", "doctor"], [("@", "doctor")]),
    "hour": (["hour"], [("@", "unit")]),
    "unit": (["unit_of_time"], [("@", "entity")]),
    "minute": (["minute"], [("@", "hour")]),
    "curie": (["Curie", "Marie_Curie"], [("@i", "doctor")]),
    "atlantis": (["Atlantis"], [("@i", "craft")]),
    "loop": (["loop"], [("@", "ring")]),
    "ring": (["ring"], [("@", "loop")]),
}
VERBS = {"kill": (["kill"], []), "strangle": (["strangle"], [("@", "kill")])}


def _data(meanings, part):
    """The lines of a data file: the offsets have a fixed width, so two passes settle them."""
    at = dict.fromkeys(meanings, 0)
    for _ in range(2):
        text = LICENCE
        for name, (words, above) in meanings.items():
            at[name] = len(text.encode())
            members = " ".join(f"{word} 0" for word in words)
            pointers = "".join(f"{kind} {at[other]:08} {part} 0000 " for kind, other in above)
            text += (
                f"{at[name]:08} 03 {part} {len(words):02x} {members} {len(above):03} {pointers}| a gloss  \n"
            )
    return text, at


def _index(meanings, at, part):
    senses = {}
    for name, (words, _) in meanings.items():
        for word in words:
            senses.setdefault(word.lower(), []).append(at[name])
    text = LICENCE
    for word, places in sorted(senses.items()):
        offsets = " ".join(f"{one:08}" for one in places)
        text += f"{word} {part} {len(places)} 2 @ ~ {len(places)} 0 {offsets}  \n"
    return text


def written(folder):
    """The four files in a folder."""
    for name, meanings, part in (("noun", NOUNS, "n"), ("verb", VERBS, "v")):
        data, at = _data(meanings, part)
        (folder / f"data.{name}").write_text(data)
        (folder / f"index.{name}").write_text(_index(meanings, at, part))
    return folder
