"""Analyses whose parameters are declared by a dataclass, which may be the study itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from commons.settings.reader import Tables
from commons.settings.shapes import Document
from smc.analyses.studies.parameters import read_parameters
from smc.analyses.studies.study import Study


@dataclass(frozen=True, slots=True)
class DeclaredAnalysis:
    """An analysis; see `smc.analyses.studies.study.Analysis`.

    Attributes:
        name: in job files.
        study: what a job of it is: a dataclass that is made of the parameters.
        parameters: a dataclass whose fields are what may stand in `[parameters]`, see `commons.settings`, and
            of which a study is made; None where the fields of the study are that.
        always_matches: whether every job of it matches rows of both sides.
    """

    name: str
    study: type[Study]
    parameters: type[Any] | None = None
    always_matches: bool = False

    def parse(self, parameters: Mapping[str, Any]) -> Study:
        """The study of the parameters.

        Raises:
            UsageError: a key is unknown or missing, or a value impossible; names the place.
        """
        if self.parameters is None:
            return read_parameters(self.study, parameters)
        made: Callable[..., Study] = self.study
        return made(read_parameters(self.parameters, parameters))

    @property
    def schema(self) -> Document:
        """The JSON Schema of its parameters."""
        return Tables(self.parameters or self.study).schema
