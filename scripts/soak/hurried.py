#!/usr/bin/env python3
"""`duetto` for soak tests, in which a day has as much trouble as else a year.

A party takes only so many releases that lack the peer's signature, and so many jobs without a result, in 24
hours (`parties.ledger.book`). Here these two bounds are far away; all else is as it is.
"""

from __future__ import annotations

from parties.cli.main import main
from parties.ledger import book

if __name__ == "__main__":
    book.UNSIGNED_PER_DAY = book.IDLE_PER_DAY = 1_000_000  # type: ignore[misc]
    main()
