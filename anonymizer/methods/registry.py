"""All methods, by the name that specifications use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from anonymizer.methods.contract.method import Method
from anonymizer.methods.perturbation.dp_noise import DpNoise
from anonymizer.methods.perturbation.exponential import ExponentialMechanism
from anonymizer.methods.perturbation.idp import DpUm, IdpCbls, IdpLs
from anonymizer.methods.perturbation.mdav import MDAV
from anonymizer.methods.perturbation.noise import CorrelatedNoise, MultiplicativeNoise, Noise
from anonymizer.methods.perturbation.pram import PRAM
from anonymizer.methods.perturbation.rank_swapping import RankSwapping
from anonymizer.methods.perturbation.swapping import Swapping
from anonymizer.methods.recoding.clustering import KMember, OnePassClustering
from anonymizer.methods.recoding.incognito import Incognito
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.recoding.local_suppression import LocalSuppression
from anonymizer.methods.recoding.mondrian import Mondrian
from anonymizer.methods.reduction.coding import TopBottomCoding
from anonymizer.methods.reduction.generalization import Generalization
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import (
    DropIdentifiers,
    SuppressCells,
    SuppressMissing,
    SuppressRecords,
)
from anonymizer.methods.sensitive.anatomy import Anatomy
from anonymizer.methods.sensitive.dbr import DistributionRandomization
from anonymizer.methods.sensitive.splu_gen import SpluGen
from anonymizer.methods.synthesis.synthesizers import (
    SynthAim,
    SynthCopula,
    SynthHistogram,
    SynthIndependent,
    SynthMst,
    SynthPrivBayes,
)

METHODS: Final[Mapping[str, type[Method]]] = MappingProxyType(
    {
        method.name: method
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
