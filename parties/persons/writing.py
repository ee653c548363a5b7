"""Changes of the text of `persons.toml`, which keep what people wrote around them.

None of it is in force before it is signed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final

from parties.errors import ConfigError
from parties.persons.declaration import (
    FILE,
    MAX_KEYS,
    DeclaredPerson,
    Persons,
    parse_persons,
    read_file,
)
from parties.persons.gate import NO_FILE
from parties.persons.keys import PersonKey
from parties.pki.files import PRIVATE, write_atomically
from smc.errors import UsageError

_KEYS: Final = r"""(?P<before>^[ \t]*key[ \t]*=[ \t]*)(?:"[^"\n]*"|'[^'\n]*'|\[[^\]]*\])"""


def read_text(home: Path) -> str:
    """The text of the file of a home.

    Raises:
        UsageError: there is none.
        ConfigError: it cannot be read, or is not valid.
    """
    data = read_file(home / FILE)
    if data is None:
        raise UsageError(NO_FILE, "Begin with `duetto person add`.")
    parse_persons(data)
    return data.decode("utf-8")


def write_text(home: Path, text: str) -> None:
    """Put a text in the place of the file of a home. Raises OSError if it cannot be written."""
    write_atomically(home / FILE, text.encode(), PRIVATE)


def with_person(
    text: str, word: str, name: str, roles: Collection[str], key: str, until: date | None = None
) -> str:
    """The file with a person more.

    Args:
        text: of the file; empty for a new one.
        word: by which the person is known from then on.
        name: as people know the person.
        roles: by their names.
        key: the public key.
        until: the last day on which it is taken; None for ever.

    Raises:
        UsageError: the word is taken.
        ConfigError: the file would not be valid.
    """
    if text.strip() and word in parse_persons(text.encode()).persons:
        raise UsageError(
            f"{FILE} has {word!r} already.",
            f"Choose another word; `duetto person add-key {word}` gives that person a further key.",
        )
    listed = ", ".join(f'"{role}"' for role in dict.fromkeys(roles))
    lines = [f"[persons.{word}]", f"name = {_quote(name)}", f"roles = [{listed}]", f'key = "{key}"']
    lines += [f"until = {until}"] if until else []
    after = (text.rstrip("\n") + "\n\n" if text.strip() else "") + "\n".join(lines) + "\n"
    parse_persons(after.encode())
    return after


def without_person(text: str, word: str) -> str:
    """The file without a person.

    Raises:
        UsageError: nobody is called so.
        ConfigError: the file would not be valid, or has that person in another way than `[persons.WORD]`.
    """
    _find(parse_persons(text.encode()), word)
    mine = re.compile(rf"^\s*\[\[?\s*persons\s*\.\s*{re.escape(word)}\s*[.\]]")
    kept, skipping = [], False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            skipping = mine.match(line) is not None
        if not skipping:
            kept.append(line)
    after = "".join(kept)
    if word in parse_persons(after.encode()).persons:
        raise _unlike(word)
    return after


def with_key(text: str, word: str, key: str) -> str:
    """The file with a further key for a person who is in it.

    Raises:
        UsageError: nobody is called so, or that person has the key, or as many as there can be.
        ConfigError: it is not a key, or is that of somebody else; or as `without_person`.
    """
    person, made = _find(parse_persons(text.encode()), word), PersonKey.parse(key)
    if made in person.key:
        raise UsageError(f"{word!r} has this key already.", "`duetto person list` shows the keys there are.")
    if len(person.key) == MAX_KEYS:
        raise UsageError(
            f"{word!r} has {MAX_KEYS} keys already.",
            f"Take out one that is not used any more: `duetto person remove-key {word} FINGERPRINT`.",
        )
    return _with_keys(text, word, (*person.key, made))


def without_key(text: str, word: str, fingerprint: str) -> str:
    """The file without a key of a person, who keeps another.

    Raises:
        UsageError: nobody is called so, or that person has no such key, or no other.
        ConfigError: as `without_person`.
    """
    person = _find(parse_persons(text.encode()), word)
    kept = tuple(key for key in person.key if key.fingerprint != fingerprint)
    if len(kept) == len(person.key):
        raise UsageError(
            f"{word!r} has no key with the fingerprint {fingerprint[:40]!r}.",
            "`duetto person list` shows the fingerprints there are.",
        )
    if not kept:
        raise UsageError(
            f"It is the only key of {word!r}.",
            f"Add another first (`duetto person add-key {word}`), or take the person out.",
        )
    return _with_keys(text, word, kept)


def _with_keys(text: str, word: str, keys: Sequence[PersonKey]) -> str:
    """The file in which a person has these keys, and everything else is as it was."""
    before = parse_persons(text.encode())
    head = rf"^[ \t]*\[[ \t]*persons[ \t]*\.[ \t]*{re.escape(word)}[ \t]*\][^\n]*\n(?:(?![ \t]*\[)[^\n]*\n)*?"
    texts = [f'"{key.text}"' for key in keys]
    listed = texts[0] if len(texts) == 1 else "[\n" + "".join(f"    {one},\n" for one in texts) + "]"
    after = re.sub(
        rf"(?P<head>{head}){_KEYS}",
        lambda found: f"{found['head']}{found['before']}{listed}",
        text,
        count=1,
        flags=re.MULTILINE,
    )
    found = parse_persons(after.encode())
    changed = replace(before.persons[word], key=tuple(keys))
    if dict(found.persons) != {**before.persons, word: changed}:
        raise _unlike(word)
    return after


def _find(persons: Persons, word: str) -> DeclaredPerson:
    if word not in persons.persons:
        raise UsageError(f"{FILE} has no {word[:40]!r}.", "`duetto person list` shows who there is.")
    return persons.persons[word]


def _unlike(word: str) -> ConfigError:
    return ConfigError(
        f"{word!r} is written in {FILE} in another way than [persons.{word}].", "Edit the file."
    )


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
