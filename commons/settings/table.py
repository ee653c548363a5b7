"""A TOML table of which every key is asked for by name; what nobody asked for is an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from commons.errors import HintedError, near
from commons.settings.wording import SETTINGS, Wording, say


class StrictTable:
    """A TOML table that knows which of its keys have been asked for.

    Args:
        table: the parsed table.
        place: how errors call it, such as `policy.toml, rule 2`.
        error: the class of errors.
        wording: what is said of what is wrong.
        folder: where paths are meant from.
        context: what parsers of tables within this one go by.

    Raises:
        HintedError: of class `error`; it is not a table.
    """

    def __init__(
        self,
        table: Any,
        place: str,
        error: type[HintedError],
        wording: Wording = SETTINGS,
        folder: Path = Path(),
        context: Any = None,
    ) -> None:
        if not isinstance(table, Mapping):
            raise error(*say(wording.table, place=place))
        self.table = table
        self.place = place
        self.error = error
        self.wording = wording
        self.folder = folder
        self.context = context
        self.variant = ""
        """Which of several declarations it follows."""
        self._asked: set[str] = set()

    def inner(self, value: Any, place: str) -> StrictTable:
        """A table within this one, at a place of its own."""
        return StrictTable(value, place, self.error, self.wording, self.folder, self.context)

    def fail(self, key: str, problem: str, hint: str) -> HintedError:
        """The error for one key, to be raised by the caller."""
        entry = self.wording.entry.format(place=self.place, key=key)
        return self.error(f"{entry} {problem.replace('{}', repr(self.table.get(key)))}.", hint)

    def not_a(self, kind: type, key: str, value: Any) -> HintedError:
        """The error for a value of another type, to be raised by the caller."""
        return self.error(*self.wording.not_a(kind, self.place, key, value))

    def not_among(
        self, key: str, value: str, known: Sequence[str], *, hint: str = "", in_list: bool = False
    ) -> HintedError:
        """The error for a text, or an entry of a list, that is not one of some; the caller raises it."""
        said = self.wording.listed if in_list else self.wording.choice
        names = ", ".join(map(repr, known))
        what, usual = say(said, place=self.place, key=key, value=value, near=near(value, known), known=names)
        return self.error(what, hint or usual)

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        self._asked.add(key)
        return key in self.table

    def raw(self, key: str) -> Any:
        """The value, whatever it is, or None if it is not there."""
        self._asked.add(key)
        return self.table.get(key)

    def text(self, key: str, default: str) -> str:
        """A text."""
        value = self._value(key, default)
        if not isinstance(value, str):
            raise self.not_a(str, key, value)
        return value

    def choice(self, key: str, known: Sequence[str], default: str) -> str:
        """One of some texts."""
        value = self.text(key, default)
        if value not in known:
            raise self.not_among(key, value, known)
        return value

    def texts(self, key: str, default: Sequence[str]) -> tuple[str, ...]:
        """A list of texts, each once."""
        value = self._value(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise self.not_a(list, key, value)
        if len(set(value)) != len(value):
            raise self.fail(key, *self.wording.repeated)
        return tuple(value)

    def _value(self, key: str, default: Any) -> Any:
        self._asked.add(key)
        return self.table.get(key, default)

    def expect(self, keys: Iterable[str]) -> None:
        """Know keys, whether they are there or not."""
        self._asked.update(keys)

    def only(self, keys: Iterable[str]) -> None:
        """Refuse other keys; raises as `close`."""
        self.expect(keys)
        self.close()

    def missing(self, key: str, hint: str = "Add {key} = ...") -> HintedError:
        """The error for a key that has to be there, to be raised by the caller.

        Args:
            key: of the table.
            hint: how to write it.

        Where a key is unknown and not like it, that one is named first.
        """
        unknown = self._unknown_keys()
        meant = get_close_matches(key, unknown, 1)
        if unknown and not meant:
            return self._refusal(unknown[0])
        hint = f"Is {meant[0]!r} meant to be it?" if meant else hint.format(key=key)
        return self.error(*say(self.wording.missing, place=self.place, key=key, meant=hint))

    def close(self) -> None:
        """Refuse what nobody asked for.

        Raises:
            HintedError: of the table's class; a key is unknown.
        """
        for key in self._unknown_keys():
            raise self._refusal(key)

    def _unknown_keys(self) -> list[str]:
        return [str(key) for key in self.table if key not in self._asked]

    def _refusal(self, key: str) -> HintedError:
        variant = f" ({self.variant})" if self.variant else ""
        holes = {"place": self.place, "variant": variant, "key": key, "near": near(key, self._asked)}
        return self.error(*say(self.wording.unknown, **holes))
