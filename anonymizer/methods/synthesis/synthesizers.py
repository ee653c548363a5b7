"""The methods for synthetic tables, by how what was measured becomes a distribution."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.synthesis.synthesis import Learned, Synthesis
from anonymizer.synthetic.bayes import bayesian
from anonymizer.synthetic.budget import Budget
from anonymizer.synthetic.copula import copula
from anonymizer.synthetic.counting import Coded
from anonymizer.synthetic.histogram import histogram
from anonymizer.synthetic.selection import adaptive, independent, spanning_tree
from anonymizer.tables.randomness import Randomness


class SynthIndependent(Synthesis):
    """Each column by itself: relations of columns are lost; a yardstick for the others.

    Args: as `Synthesis`.
    """

    name: ClassVar[str] = "synth-independent"

    @override
    def _learn(self, data: Coded, budget: Budget, randomness: Randomness) -> Learned:
        return independent(data, budget)


class SynthHistogram(SynthIndependent):
    """All columns as one table of counts with noise: every relation, for few columns with few cells.

    Args: as `Synthesis`.
    """

    name: ClassVar[str] = "synth-histogram"

    @override
    def _learn(self, data: Coded, budget: Budget, randomness: Randomness) -> Learned:
        return histogram(data, budget)


class SynthCopula(SynthIndependent):
    """A Gaussian copula: each column, and the correlations of all pairs; categories count by their order.

    Args: as `Synthesis`.
    """

    name: ClassVar[str] = "synth-copula"

    @override
    def _learn(self, data: Coded, budget: Budget, randomness: Randomness) -> Learned:
        return copula(data, budget)


@parameters
class SynthPrivBayes(Synthesis):
    """A Bayesian network, chosen and measured in private.

    Args: as `Synthesis`, and
        degree: the most parents of a column, in [1, 5].
    """

    name: ClassVar[str] = "synth-privbayes"

    degree: int = 2

    @override
    def check(self) -> None:
        super().check()
        if not 1 <= self.degree <= 5:
            raise TableError(f"degree is {self.degree}, outside [1, 5].", "Choose, for example, 2.")

    @override
    def _learn(self, data: Coded, budget: Budget, randomness: Randomness) -> Learned:
        return bayesian(data, budget, randomness, degree=self.degree)


@parameters
class SynthMst(Synthesis):
    """The marginals of all columns and of a tree of pairs, fitted together; needs the extra `synthetic`.

    Args: as `Synthesis`, and
        iterations: steps of the fit at most, in [50, 100000].
    """

    name: ClassVar[str] = "synth-mst"
    needs_delta: ClassVar[bool] = True

    iterations: int = 500

    @override
    def check(self) -> None:
        super().check()
        check_iterations(self.iterations)

    @override
    def _learn(self, data: Coded, budget: Budget, randomness: Randomness) -> Learned:
        return spanning_tree(data, budget, steps=self.iterations)


@parameters
class SynthAim(Synthesis):
    """All columns, then again and again the pair that the model has worst; needs the extra `synthetic`.

    Args: as `Synthesis`, and
        rounds: how many the budget is divided by at first, two for each column at least; three for each if
            None. There are fewer in the end, as rounds grow where small ones teach nothing.
        iterations: steps of the last fit at most, in [50, 100000].
    """

    name: ClassVar[str] = "synth-aim"
    needs_delta: ClassVar[bool] = True

    rounds: int | None = None
    iterations: int = 500

    @override
    def check(self) -> None:
        super().check()
        check_iterations(self.iterations)
        if self.rounds is not None and not 1 <= self.rounds <= 10_000:
            raise TableError(f"rounds is {self.rounds}, outside [1, 10,000].", "Leave it out.")

    @override
    def _learn(self, data: Coded, budget: Budget, randomness: Randomness) -> Learned:
        rounds = 3 * len(data.sizes) if self.rounds is None else self.rounds
        return adaptive(data, budget, rounds=rounds, steps=self.iterations)


def check_iterations(iterations: int) -> None:
    """Check the number of steps of a fit.

    Raises:
        TableError: it is out of range.
    """
    if not 50 <= iterations <= 100_000:
        raise TableError(f"iterations is {iterations}, outside [50, 100,000].", "Choose, for example, 500.")
