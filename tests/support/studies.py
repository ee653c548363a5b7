"""Studies with other parameters than their job files would give them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

S = TypeVar("S")


def changed(study: S, **changes: Any) -> S:
    """The study with changed parameters, which are not checked as those of a job file are."""
    return replace(study, parameters=replace(study.parameters, **changes))  # type: ignore[attr-defined,type-var]
