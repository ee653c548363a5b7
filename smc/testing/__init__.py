"""What every analysis and every transport has to do, as checks that anybody can run on one of their own.

    from smc.testing import Case, check_analysis

    check_analysis(PRODUCTS, Case(parameters, alice, bob))

A check that fails raises `ConformanceError`, which says what to correct. No test runner is needed.
"""

from smc.testing.analyses import check_analysis
from smc.testing.case import Case
from smc.testing.demands import ConformanceError
from smc.testing.transports import check_transport

__all__ = ["Case", "ConformanceError", "check_analysis", "check_transport"]
