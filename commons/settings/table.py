"""A TOML table of which every key is asked for by name; what nobody asked for is an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from commons.errors import HintedError
from commons.settings.wording import SETTINGS, Wording


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
            raise error(*wording.not_a_table(place))
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
        return self.error(self.wording.problem(self.place, key, self.table.get(key), problem), hint)

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
            raise self.error(*self.wording.kind(self.place, key, value, str))
        return value

    def choice(self, key: str, known: Sequence[str], default: str) -> str:
        """One of some texts."""
        value = self.text(key, default)
        if value not in known:
            raise self.error(*self.wording.choice(self.place, key, value, known))
        return value

    def texts(self, key: str, default: Sequence[str]) -> tuple[str, ...]:
        """A list of texts, each once."""
        value = self._value(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise self.error(*self.wording.kind(self.place, key, value, list))
        if len(set(value)) != len(value):
            raise self.fail(key, *self.wording.repeated())
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

    def missing(self, key: str) -> HintedError:
        """The error for a key that has to be there, to be raised by the caller.

        Where a key is unknown and not like it, that one is named first.
        """
        unknown = self._unknown()
        meant = get_close_matches(key, unknown, 1)
        if unknown and not meant:
            return self._refusal(unknown[0])
        return self.error(*self.wording.missing(self.place, key, meant[0] if meant else None))

    def close(self) -> None:
        """Refuse what nobody asked for.

        Raises:
            HintedError: of the table's class; a key is unknown.
        """
        for key in self._unknown():
            raise self._refusal(key)

    def _unknown(self) -> list[str]:
        return [str(key) for key in self.table if key not in self._asked]

    def _refusal(self, key: str) -> HintedError:
        return self.error(*self.wording.unknown(self.place, self.variant, key, self._asked))
