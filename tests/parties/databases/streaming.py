"""How much memory a process takes that reads a query to its end."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import re, sys
from pathlib import Path
from parties.catalog.sources.databases import Query, read
asked = Query(*sys.argv[1:4], "data set v")
rows = sum(batch.rows for batch in read(asked, [f"c{i}" for i in range(8)]))
# not what getrusage says, which counts the process that started this one
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
print(rows, int(peak[1]) // 1024)
"""


def rows_and_megabytes(driver: str, url: str, query: str) -> tuple[int, int]:
    """The rows of a query of the columns c0 to c7, and the most memory that reading them took, in MiB."""
    words = [sys.executable, "-c", _PROGRAM, driver, url, query]
    done = subprocess.run(words, capture_output=True, text=True, timeout=170, check=True)
    rows, megabytes = map(int, done.stdout.split())
    return rows, megabytes
