"""Job files as users give them: a path, a text, or a document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from parties.errors import JobError
from parties.exits import why_unreadable


def job_text(job: Path | str | Mapping[str, Any]) -> str:
    """The text of a job file.

    Args:
        job: a path, the text itself (a string of several lines), or the document as a mapping.

    Raises:
        JobError: the file cannot be read, or the document has no TOML form.
    """
    if isinstance(job, Mapping):
        try:
            return tomli_w.dumps(job)
        except (TypeError, ValueError) as problem:
            raise JobError(
                f"The job cannot be written as TOML: {problem}.", "Use texts and integers."
            ) from None
    if isinstance(job, str) and "\n" in job:
        return job
    try:
        return Path(job).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise JobError(f"{job} cannot be read: {why_unreadable(problem)}.", "Name a job file.") from None
