"""All measures, by the name that the command line and JSON use, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from anonymizer.measures.contract.measure import Measure
from anonymizer.measures.risk.attacks import Inference, Linkability, SinglingOut
from anonymizer.measures.risk.classes import Classes
from anonymizer.measures.risk.distances import (
    CoverageMeasure,
    HittingRate,
    PPrivacyMeasure,
    VoronoiMeasure,
    YPrivacyMeasure,
)
from anonymizer.measures.risk.groups import DefinettiMeasure, MinimalityMeasure
from anonymizer.measures.risk.intersection import IntersectionMeasure
from anonymizer.measures.risk.joint import JointDiversity
from anonymizer.measures.risk.members import ClosestRecordMeasure, MembershipMeasure
from anonymizer.measures.risk.persons import Journalist, Prosecutor
from anonymizer.measures.risk.population import IndividualRisk, PopulationUniqueness
from anonymizer.measures.risk.simulator import AttackSimulator
from anonymizer.measures.risk.suda import Suda
from anonymizer.measures.utility.accuracy import Accuracy
from anonymizer.measures.utility.correlations import PairCorrelations
from anonymizer.measures.utility.learning import LearningMeasure
from anonymizer.measures.utility.loss import InformationLoss
from anonymizer.measures.utility.marginals import Marginals
from anonymizer.measures.utility.moments import Moments
from anonymizer.measures.utility.pairs import PairMarginals
from anonymizer.measures.utility.propensity import PropensityScore

MEASURES: Final[Mapping[str, Measure[Any]]] = MappingProxyType(
    {
        measure.name: measure()
        for measure in (
            AttackSimulator,
            Classes,
            Prosecutor,
            Journalist,
            PopulationUniqueness,
            IndividualRisk,
            Suda,
            JointDiversity,
            IntersectionMeasure,
            DefinettiMeasure,
            MinimalityMeasure,
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
            LearningMeasure,
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
