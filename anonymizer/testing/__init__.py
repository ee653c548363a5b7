"""What every method has to do, as checks that anybody can run on a method of their own.

    from anonymizer.testing import check_method

    check_method(Rounding)

A check that fails raises `anonymizer.errors.ConformanceError`. No test runner is needed; with pytest,
`@pytest.mark.parametrize("check", CHECKS)` makes a test of each.
"""

from anonymizer.testing.check import CHECKS, Check, check_method, maker
from anonymizer.testing.people import DECLARED, people

__all__ = ["CHECKS", "DECLARED", "Check", "check_method", "maker", "people"]
