"""Lines of a CSV file that need no CSV reader: without quotation marks, each with a cell for each column.

They are split a block at a time, which gives what `csv` gives and takes a fraction of the time. From the
first block on of which that is not certain, the rest of the file is for `csv`.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import IO, Any, Final

from typing_extensions import override

from commons.tabular.dialect import Dialect
from commons.tabular.footers import begins

_BLOCK: Final = 1 << 18
_VISIBLE: Final = bytes(range(0x21, 0x7F))
_CODECS: Final = ("utf-8-sig", "cp1252", "iso8859-1")
"""Encodings in which the bytes of separators and ends of lines stand for nothing else."""


class PlainBlocks:
    """The blocks of a file, and what is left of it.

    Args:
        raw: the file, at its start.
        dialect: of the file.
        width: how many columns it has.
        longest: characters that a line may have.
        above: lines above the one that names the columns.
        footer: how rows begin that may be none; blocks that have such a beginning are for `csv`.

    Attributes:
        lines: how many were taken.
    """

    def __init__(
        self,
        raw: IO[bytes],
        dialect: Dialect,
        width: int,
        longest: int,
        above: int = 0,
        footer: Sequence[str] = (),
    ) -> None:
        self._raw = raw
        self._separator = dialect.separator
        self._codec = dialect.codec
        self._width = width
        self._longest = longest
        self._above = above
        self._footer = tuple(footer)
        self._ahead = b""
        self.lines = 0

    def __iter__(self) -> Iterator[tuple[int, list[str], bool]]:
        """Line of the first row, and the cells of all rows one after the other; the header is left out.

        The last entry says whether the cells are as `parties.catalog.sources.batch.VisibleCells` says.
        """
        if codecs.lookup(self._codec).name not in _CODECS:
            return
        while block := self._block():
            start = len(codecs.BOM_UTF8) if self._is_marked(block) else 0
            lines = self._split(block[start:])
            header = 0 if self.lines or lines is None else self._header(lines)
            if lines is None or header is None or not self._fits(lines[header:]):
                self._ahead = block + self._ahead
                return
            first = self.lines + header + 1
            self.lines += len(lines)
            if header < len(lines):
                cells = self._cells(lines[header:])
                yield first, cells, self._are_visible(block, cells)

    def rest(self) -> io.TextIOWrapper:
        """What is left, as text; it is closed with the file."""
        again = io.BufferedReader(_Again(self._ahead, self._raw), _BLOCK)
        codec = "utf-8" if self.lines and self._codec == "utf-8-sig" else self._codec
        return io.TextIOWrapper(again, encoding=codec, newline="")

    def _block(self) -> bytes:
        """Whole lines; of the end of the file also a last one without its end."""
        more = self._raw.read(_BLOCK)
        held = self._ahead + more
        end = held.rfind(b"\n") + 1 if len(more) == _BLOCK else len(held)
        self._ahead = held[end:]
        return held[:end]

    def _is_marked(self, block: bytes) -> bool:
        return not self.lines and self._codec == "utf-8-sig" and block.startswith(codecs.BOM_UTF8)

    def _split(self, block: bytes) -> list[str] | None:
        """The lines of a block without their ends; None if only `csv` knows."""
        if b'"' in block or b"\0" in block:
            return None
        if b"\r" in block:
            if block.count(b"\r") != block.count(b"\r\n"):
                return None
            block = block.replace(b"\r\n", b"\n")
        try:
            text = block.decode("utf-8" if self._codec == "utf-8-sig" else self._codec)
        except UnicodeDecodeError:
            return None
        lines = text.removesuffix("\n").split("\n")
        return lines if max(map(len, lines)) <= self._longest else None

    def _header(self, lines: list[str]) -> int | None:
        """The index after the line that names the columns, the first that is not blank."""
        for index, line in enumerate(lines[self._above :], self._above):
            if any(cell.strip() for cell in line.split(self._separator)):
                return index + 1
        return None

    def _fits(self, lines: list[str]) -> bool:
        """Whether each line is a row; where there is one column, one that is blank may be none."""
        if self._footer and any(begins(line.split(self._separator), self._footer) for line in lines):
            return False
        if self._width == 1:
            return self._separator not in "".join(lines) and all(map(str.strip, lines))
        return {*map(str.count, lines, repeat(self._separator))} <= {self._width - 1}

    def _cells(self, rows: list[str]) -> list[str]:
        return rows if self._width == 1 else self._separator.join(rows).split(self._separator)

    def _are_visible(self, block: bytes, cells: list[str]) -> bool:
        """Whether there is nothing but visible characters in a block, besides what separates its cells."""
        return not block.translate(None, _VISIBLE + self._separator.encode() + b"\r\n") and all(cells)


class _Again(io.RawIOBase):
    """Bytes that were read already, and the file that they come from."""

    def __init__(self, ahead: bytes, raw: IO[bytes]) -> None:
        self._ahead = ahead
        self._raw = raw

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Any) -> int:
        found = self._ahead[: len(buffer)] or self._raw.read(len(buffer))
        self._ahead = self._ahead[len(buffer) :]
        buffer[: len(found)] = found
        return len(found)
