"""A full-text index over a folder of documents, which stands for the web of the attacker."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from types import TracebackType
from typing import Final, Self

from anonymizer.documents.engines.engine import RESULTS, EngineError, Hit
from anonymizer.documents.texts.text import fold

_VERSION: Final = "1"
"""Of the way that texts become tokens; part of the digest, since other tokens give other hits."""

_KANA: Final = "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_KANJI: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JAPANESE: Final = re.compile(f"[{_KANA}{_KANJI}]")
"""Characters of what is written without blanks."""

_PIECES: Final = re.compile(rf"({_JAPANESE.pattern}+)|[^\W_{_KANA}{_KANJI}]+")
_MEMORY: Final = 64 * 1024
"""KiB of the index that stay in memory; the rest goes to a file without a name."""


class FolderIndex:
    """SQLite's full-text index FTS5 over documents, ranked by BM25.

    All keywords must occur. Case, width and accents make no difference, and English words are found in their
    other inflections (Porter's stems), as with engines of the web. Japanese is cut into pairs of characters,
    so that a keyword is found wherever its characters stand beside each other, whatever a tagger makes of
    them. Hits of the same rank are in the order of their names, so that the same folder gives the same hits.

    The index is built anew each time, and is private: small ones stay in memory, larger ones spill to a file
    that SQLite removes from its folder at once and that only its owner could open.

    Args:
        documents: names and texts, read once and one at a time; names differ.
        name: how people call the folder.
        progress: called with the number of documents that are in, after each.

    Raises:
        EngineError: two documents have one name, there are none, no room is left on the disk, or Python's
            SQLite lacks FTS5.
    """

    leaks: Final = False

    def __init__(
        self,
        documents: Iterable[tuple[str, str]],
        name: str = "the folder",
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.name = name
        # An empty name is a database of its own that moves to an unnamed file when it outgrows its cache.
        self._store = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        try:
            self._size = self._fill(documents, progress or (lambda _: None))
            self.digest = self._digest()
        except sqlite3.Error as problem:
            self.close()
            raise self._unfit(problem) from None
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        """How many documents are in it."""
        return self._size

    def __enter__(self) -> Self:
        """The index itself, closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def documents(self) -> Iterator[tuple[str, str]]:
        """The names and texts of all documents, in the order in which they came.

        Raises:
            EngineError: the index is closed, or the disk fails.
        """
        try:
            yield from self._store.execute(
                "SELECT document.name, content.text FROM document JOIN content USING (id) ORDER BY id"
            )
        except sqlite3.Error as problem:
            raise self._unfit(problem) from None

    def close(self) -> None:
        """Give its memory and its room on the disk back."""
        self._store.close()

    def search(self, keywords: tuple[str, ...], limit: int = RESULTS) -> tuple[Hit, ...]:
        """The first documents that hold all keywords, best first.

        Args:
            keywords: as they are written; what has several words is found where these follow each other. A
                keyword without letters and digits is left out, as engines of the web do.
            limit: at most so many hits.

        Raises:
            EngineError: the index is closed, or the disk fails.
        """
        phrases = [phrase for phrase in map(_phrase, keywords) if phrase]
        if not phrases or limit < 1:
            return ()
        try:
            # The rank is rounded since its last digits differ between builds of SQLite; texts lie apart and
            # are read for the first documents alone.
            rows = self._store.execute(
                "SELECT best.name, content.text FROM (SELECT document.id AS id, document.name AS name, "
                "round(bm25(words), 9) AS rank FROM words JOIN document ON document.id = words.rowid "
                "WHERE words MATCH ? ORDER BY rank, document.name LIMIT ?) AS best "
                "JOIN content ON content.id = best.id ORDER BY best.rank, best.name",
                (" ".join(phrases), limit),
            ).fetchall()
        except sqlite3.Error as problem:
            raise self._unfit(problem) from None
        return tuple(Hit(name, text) for name, text in rows)

    def _fill(self, documents: Iterable[tuple[str, str]], progress: Callable[[int], None]) -> int:
        self._store.execute("PRAGMA journal_mode = OFF")
        self._store.execute("PRAGMA synchronous = OFF")
        self._store.execute(f"PRAGMA cache_size = -{_MEMORY}")
        self._store.execute("CREATE TABLE document (id INTEGER PRIMARY KEY, name UNIQUE, digest)")
        self._store.execute("CREATE TABLE content (id INTEGER PRIMARY KEY, text)")
        # The tokens are made here: the tokenizer "ascii" parts them at blanks and leaves all else as it is.
        self._store.execute(
            "CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'porter ascii')"
        )
        self._store.execute("BEGIN")
        count = 0
        for count, (given, text) in enumerate(documents, 1):
            name = given.encode("utf-8", "backslashreplace").decode("utf-8")  # the disk may hold other bytes
            written = text.encode("utf-8", "replace")
            try:
                self._store.execute(
                    "INSERT INTO document VALUES (?, ?, ?)", (count, name, hashlib.sha256(written).digest())
                )
            except sqlite3.IntegrityError:
                raise EngineError(
                    f"Two documents of {self.name} are called {name!r}.", "Give each a name of its own."
                ) from None
            self._store.execute("INSERT INTO content VALUES (?, ?)", (count, written.decode("utf-8")))
            self._store.execute(
                "INSERT INTO words (rowid, text) VALUES (?, ?)", (count, " ".join(tokens_of(text)))
            )
            progress(count)
        self._store.execute("COMMIT")
        if not count:
            raise EngineError(
                f"There are no documents in {self.name}, so that no attack can be made by it.",
                "Name a folder with the documents that an attacker can find.",
            )
        return count

    def _digest(self) -> str:
        """Of all names and texts, in whatever order they came."""
        whole = hashlib.sha256(_VERSION.encode())
        for name, text in self._store.execute("SELECT name, digest FROM document ORDER BY name"):
            whole.update(hashlib.sha256(name.encode()).digest())
            whole.update(text)
        return whole.hexdigest()

    def _unfit(self, problem: sqlite3.Error) -> EngineError:
        what = str(problem)
        if "fts5" in what:
            return EngineError(
                f"Python's SQLite ({sqlite3.sqlite_version}) lacks the full-text index FTS5.",
                "Use a Python whose SQLite has it, such as those of python.org, uv, conda and Debian.",
            )
        if "full" in what:
            return EngineError(
                f"No room is left for the index of {self.name}.",
                "Make room in the folder of temporary files, or name another one by SQLITE_TMPDIR.",
            )
        return EngineError(f"The index of {self.name} cannot be used: {what}.", "Build it again.")


def tokens_of(text: str) -> Iterator[str]:
    """Words of a text, folded; of its Japanese each character with the next one, and the last one alone."""
    for piece in _PIECES.finditer(fold(text)):
        if piece[1]:
            yield from (first + second for first, second in pairwise(piece[1]))
            yield piece[1][-1]
        else:
            yield piece[0]


def _phrase(keyword: str) -> str:
    """A keyword in FTS5's syntax, "" without letters and digits.

    Nothing else is in its tokens, so that no quote or operator can get into the query.
    """
    tokens = list(tokens_of(keyword))
    if not tokens:
        return ""
    beginning = ""
    if _JAPANESE.fullmatch(tokens[-1]):
        # A keyword may end amid a sentence; there its last character ends one pair and begins another.
        if len(tokens) > 1 and tokens[-2][1:] == tokens[-1] and _JAPANESE.match(tokens[-2]):
            tokens.pop()
        else:
            beginning = " *"
    return f'"{" ".join(tokens)}"{beginning}'
