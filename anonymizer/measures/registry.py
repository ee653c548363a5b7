"""All measures, by the word that the command line and JSON use, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from anonymizer.measures.accuracy import Accuracy
from anonymizer.measures.attacks import Inference, Linkability, SinglingOut
from anonymizer.measures.classes import Classes
from anonymizer.measures.correlations import PairCorrelations
from anonymizer.measures.distances import (
    CoverageMeasure,
    HittingRate,
    PPrivacyMeasure,
    VoronoiMeasure,
    YPrivacyMeasure,
)
from anonymizer.measures.joint import JointDiversity
from anonymizer.measures.learning import LearningUtility
from anonymizer.measures.loss import InformationLoss
from anonymizer.measures.marginals import Marginals
from anonymizer.measures.measure import Measure
from anonymizer.measures.members import ClosestRecordMeasure, MembershipMeasure
from anonymizer.measures.moments import Moments
from anonymizer.measures.pairs import PairMarginals
from anonymizer.measures.persons import Journalist, Prosecutor
from anonymizer.measures.population import IndividualRisk, PopulationUniqueness
from anonymizer.measures.propensity import PropensityScore
from anonymizer.measures.simulator import AttackSimulator
from anonymizer.measures.suda import Suda

MEASURES: Final[Mapping[str, Measure[Any]]] = MappingProxyType(
    {
        measure.word: measure()
        for measure in (
            AttackSimulator,
            Classes,
            Prosecutor,
            Journalist,
            PopulationUniqueness,
            IndividualRisk,
            Suda,
            JointDiversity,
            HittingRate,
            CoverageMeasure,
            YPrivacyMeasure,
            VoronoiMeasure,
            PPrivacyMeasure,
            ClosestRecordMeasure,
            MembershipMeasure,
            SinglingOut,
            Linkability,
            Inference,
            LearningUtility,
            Accuracy,
            InformationLoss,
            Moments,
            Marginals,
            PairMarginals,
            PairCorrelations,
            PropensityScore,
        )
    }
)
