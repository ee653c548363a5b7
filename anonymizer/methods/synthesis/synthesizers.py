"""The methods for synthetic tables, by how what was measured becomes a distribution."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.synthesis.synthesis import Cuts, Learned, Synthesis
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

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        columns: tuple[str, ...] | None = None,
        bins: int = 32,
        cuts: Cuts | None = None,
        rows: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.columns = columns
        self.bins = bins
        self.cuts = cuts
        self.rows = rows
        self.random_state = random_state

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


class SynthPrivBayes(Synthesis):
    """A Bayesian network, chosen and measured in private.

    Args: as `Synthesis`, and
        degree: the most parents of a column, in [1, 5].
    """

    name: ClassVar[str] = "synth-privbayes"

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        degree: int = 2,
        columns: tuple[str, ...] | None = None,
        bins: int = 32,
        cuts: Cuts | None = None,
        rows: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.degree = degree
        self.columns = columns
        self.bins = bins
        self.cuts = cuts
        self.rows = rows
        self.random_state = random_state

    @override
    def check(self) -> None:
        super().check()
        if not 1 <= self.degree <= 5:
            raise TableError(f"degree is {self.degree}, outside [1, 5].", "Choose such as 2.")

    @override
    def _learn(self, data: Coded, budget: Budget, randomness: Randomness) -> Learned:
        return bayesian(data, budget, randomness, degree=self.degree)


class SynthMst(Synthesis):
    """The marginals of all columns and of a tree of pairs, fitted together; needs the extra `synthetic`.

    Args: as `Synthesis`, and
        iterations: steps of the fit at most, in [50, 100000].
    """

    name: ClassVar[str] = "synth-mst"
    needs_delta: ClassVar[bool] = True

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        iterations: int = 500,
        columns: tuple[str, ...] | None = None,
        bins: int = 32,
        cuts: Cuts | None = None,
        rows: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.iterations = iterations
        self.columns = columns
        self.bins = bins
        self.cuts = cuts
        self.rows = rows
        self.random_state = random_state

    @override
    def check(self) -> None:
        super().check()
        check_iterations(self.iterations)

    @override
    def _learn(self, data: Coded, budget: Budget, randomness: Randomness) -> Learned:
        return spanning_tree(data, budget, steps=self.iterations)


class SynthAim(Synthesis):
    """All columns, then again and again the pair that the model has worst; needs the extra `synthetic`.

    Args: as `Synthesis`, and
        rounds: how many the budget is divided by at first, two for each column at least; three for each if
            None. There are fewer in the end, as rounds grow where small ones teach nothing.
        iterations: steps of the last fit at most, in [50, 100000].
    """

    name: ClassVar[str] = "synth-aim"
    needs_delta: ClassVar[bool] = True

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        rounds: int | None = None,
        iterations: int = 500,
        columns: tuple[str, ...] | None = None,
        bins: int = 32,
        cuts: Cuts | None = None,
        rows: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rounds = rounds
        self.iterations = iterations
        self.columns = columns
        self.bins = bins
        self.cuts = cuts
        self.rows = rows
        self.random_state = random_state

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
        raise TableError(f"iterations is {iterations}, outside [50, 100,000].", "Choose such as 500.")
