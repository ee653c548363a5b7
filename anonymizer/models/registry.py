"""All methods, by the word that specifications use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from anonymizer.models.coding import TopBottomCoding
from anonymizer.models.exponential import ExponentialMechanism
from anonymizer.models.generalization import Generalization
from anonymizer.models.local_recoding import LocalRecoding
from anonymizer.models.mdav import MDAV
from anonymizer.models.method import Method
from anonymizer.models.noise import CorrelatedNoise, MultiplicativeNoise, Noise
from anonymizer.models.sampling import Sampling
from anonymizer.models.suppression import (
    DropIdentifiers,
    SuppressCells,
    SuppressMissing,
    SuppressRecords,
)

METHODS: Final[Mapping[str, type[Method]]] = MappingProxyType(
    {
        method.word: method
        for method in (
            CorrelatedNoise,
            DropIdentifiers,
            ExponentialMechanism,
            Generalization,
            LocalRecoding,
            MDAV,
            MultiplicativeNoise,
            Noise,
            Sampling,
            SuppressCells,
            SuppressMissing,
            SuppressRecords,
            TopBottomCoding,
        )
    }
)
