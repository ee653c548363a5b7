"""All methods, by the word that specifications use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from anonymizer.models.anatomy import Anatomy
from anonymizer.models.clustering import KMember, OnePassClustering
from anonymizer.models.coding import TopBottomCoding
from anonymizer.models.dbr import DistributionRandomization
from anonymizer.models.dp_noise import DpNoise
from anonymizer.models.exponential import ExponentialMechanism
from anonymizer.models.generalization import Generalization
from anonymizer.models.idp import DpUm, IdpCbls, IdpLs
from anonymizer.models.incognito import Incognito
from anonymizer.models.local_recoding import LocalRecoding
from anonymizer.models.local_suppression import LocalSuppression
from anonymizer.models.mdav import MDAV
from anonymizer.models.method import Method
from anonymizer.models.mondrian import Mondrian
from anonymizer.models.noise import CorrelatedNoise, MultiplicativeNoise, Noise
from anonymizer.models.pram import PRAM
from anonymizer.models.rank_swapping import RankSwapping
from anonymizer.models.sampling import Sampling
from anonymizer.models.splu_gen import SpluGen
from anonymizer.models.suppression import (
    DropIdentifiers,
    SuppressCells,
    SuppressMissing,
    SuppressRecords,
)
from anonymizer.models.swapping import Swapping
from anonymizer.models.synthesizers import (
    SynthAim,
    SynthCopula,
    SynthHistogram,
    SynthIndependent,
    SynthMst,
    SynthPrivBayes,
)

METHODS: Final[Mapping[str, type[Method]]] = MappingProxyType(
    {
        method.word: method
        for method in (
            Anatomy,
            CorrelatedNoise,
            DistributionRandomization,
            DpNoise,
            DpUm,
            DropIdentifiers,
            ExponentialMechanism,
            Generalization,
            IdpCbls,
            IdpLs,
            Incognito,
            KMember,
            LocalRecoding,
            LocalSuppression,
            MDAV,
            Mondrian,
            MultiplicativeNoise,
            Noise,
            PRAM,
            RankSwapping,
            OnePassClustering,
            Sampling,
            SpluGen,
            SuppressCells,
            SuppressMissing,
            SuppressRecords,
            Swapping,
            SynthAim,
            SynthCopula,
            SynthHistogram,
            SynthIndependent,
            SynthMst,
            SynthPrivBayes,
            TopBottomCoding,
        )
    }
)
