"""Noise drawn by both, and opening to recipients. Statistical tests alarm falsely once in a million."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.network import Network
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SETUP_COST, cost_settled
from smc.secret.noise import noise
from smc.secret.noise.laplace import DiscreteLaplace
from smc.secret.noise.records import cost_draw
from smc.secret.sharing import opening
from smc.secret.sharing.records import cost_opening
from tests.support.grids import grid
from tests.support.seeds import seeded

RANDOM = seeded()
SLOW = Network(20.0, 100.0)
BOTH = frozenset(Role)
CHI_SQUARE = {3: 35.0, 8: 48.0, 14: 60.4}
"""Critical values by degrees of freedom: exceeded once in ten million times."""


def drawn(distributions, network=None):
    """Both sides' shares."""

    def side(session):
        return noise.draw(session, distributions)

    return run_pair(side, side, network=network)


def signed(words):
    return words.view(np.int64)


@pytest.mark.parametrize("shift", [0, 60])
def test_a_biased_bit_is_exact_and_no_own_word_says_anything_of_it(shift):
    """All 16 * 16 words and 17 bounds: for any own word, exactly `bound` of the other's 16 words give 1.

    At shift 60 the four bits are the top ones of the word, so the bound 16 does not exist.
    """
    bounds = range(16 if shift else 17)
    own, other, bound = (
        np.array(axis, dtype=np.uint64).reshape(-1)
        for axis in np.meshgrid(range(16), range(16), bounds, indexing="ij")
    )
    words = [word << np.uint64(shift) for word in (own, other, bound)]
    a, b = run_pair(
        lambda s: s.oblivious.below(words[0], words[2]), lambda s: s.oblivious.below(words[1], words[2])
    )
    bits = (a ^ b).reshape(16, 16, len(bounds))
    assert (bits.sum(axis=1) == np.arange(len(bounds))).all()  # for every own word of Alice
    assert (bits.sum(axis=0) == np.arange(len(bounds))).all()  # for every own word of Bob


@pytest.fixture(scope="module", params=[None, SLOW], ids=["extended", "silent"])
def many(request):
    """Both sides' shares of 20,000 draws of rate 1."""
    return drawn([DiscreteLaplace.of(Fraction(1))] * 20_000, request.param)


def distribution_test(values, edge):
    """Chi-square statistic against the distribution of rate 1, bins 1-edge..edge-1 and both tails."""
    ratio = exp(-1)
    middle = [(1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(1 - edge, edge)]
    tail = ratio**edge / (1 + ratio)
    expected = np.array([tail, *middle, tail]) * len(values)
    assert expected.sum() == pytest.approx(len(values))
    counts = np.bincount(np.clip(values, -edge, edge) + edge, minlength=2 * edge + 1)
    return ((counts - expected) ** 2 / expected).sum()


def test_draws_follow_the_discrete_laplace_distribution(many):
    assert distribution_test(signed(many[0] + many[1]), 7) < CHI_SQUARE[14]


@pytest.mark.parametrize("stuck", [0, 1])
def test_one_good_generator_suffices(stuck):
    class Stuck(Randomness):
        def words(self, count):
            return np.zeros(count, dtype=np.uint64)

    randomness = [seeded(), seeded()]
    randomness[stuck] = Stuck()
    distributions = [DiscreteLaplace.of(Fraction(1))] * 2000
    a, b = run_pair(
        lambda s: noise.draw(s, distributions),
        lambda s: noise.draw(s, distributions),
        randomness=tuple(randomness),
    )
    assert distribution_test(signed(a + b), 4) < CHI_SQUARE[8]


@pytest.mark.parametrize(
    ("rate", "draws"),
    grid([(Fraction(5, 4), 5000), (Fraction(11, 10), 20_000)], [(Fraction(5, 4), 5000)]),
)
def test_the_distribution_test_catches_another_rate(rate, draws):
    a, b = drawn([DiscreteLaplace.of(rate)] * draws)
    assert distribution_test(signed(a + b), 7) > CHI_SQUARE[14]


def test_draws_of_different_distributions_stand_in_their_places():
    wide, narrow = DiscreteLaplace.of(Fraction(1, 10**6)), DiscreteLaplace.of(Fraction(30))
    a, b = drawn([narrow, wide, narrow, wide, wide, narrow] * 5)
    values = np.abs(signed(a + b)).reshape(5, 6)
    assert (values[:, [0, 2, 5]] <= narrow.bound).all()
    assert (values[:, [1, 3, 4]] > 1000).mean() > 0.5
    assert (values <= wide.bound).all()


def test_no_own_share_says_anything_of_the_draw(many):
    values = signed(many[0] + many[1])
    for shares in many:
        quarter = (shares >> np.uint64(62)).astype(int)
        for part in (values < 0, values == 0, values > 0, np.abs(values) > 2):
            counts = np.bincount(quarter[part], minlength=4)
            expected = part.sum() / 4
            assert ((counts - expected) ** 2 / expected).sum() < CHI_SQUARE[3]


def test_the_audit_finds_a_share_that_tells():
    """The same test as above, on shares of which one side's is zero, must fail."""
    values = signed(np.add(*drawn([DiscreteLaplace.of(Fraction(1))] * 500)))
    quarter = (values.view(np.uint64) >> np.uint64(62)).astype(int)
    counts = np.bincount(quarter[values < 0], minlength=4)
    expected = (values < 0).sum() / 4
    assert ((counts - expected) ** 2 / expected).sum() > CHI_SQUARE[3]


def test_draws_are_fresh():
    distributions = [DiscreteLaplace.of(Fraction(1, 10**9))] * 20
    a, b = run_pair(
        lambda s: np.stack([noise.draw(s, distributions) for _ in range(3)]),
        lambda s: np.stack([noise.draw(s, distributions) for _ in range(3)]),
    )
    assert len(np.unique(a + b)) == 60
    assert len(np.unique(np.concatenate([a, b]))) == 120


@pytest.mark.parametrize("silent", [None, False])
@pytest.mark.parametrize("network", [None, SLOW])
@pytest.mark.parametrize("rates", [[Fraction(1)], [Fraction(1, 10**9), Fraction(1, 7)] * 200])
def test_cost_is_as_declared(rates, network, silent):
    distributions = [DiscreteLaplace.of(rate) for rate in rates]

    def side(session):
        noise.draw(session, distributions, silent=silent)
        return session.channel.traffic

    alice, bob = run_pair(side, side, network=network)
    declared = cost_settled(SETUP_COST + cost_draw(distributions, network, silent=silent))
    assert (alice.sent, bob.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert alice.rounds == bob.rounds == declared.rounds
    is_silent = len(rates) > 1 and network is not None and silent is None
    assert declared.rounds == (12 if is_silent else 11)


def test_over_a_slow_link_noise_takes_a_seventh_of_the_bytes():
    distributions = [DiscreteLaplace.of(Fraction(1))] * 20_000
    usual = cost_draw(distributions)
    silent = cost_draw(distributions, SLOW)
    assert 7 * (silent.alice_bytes + silent.bob_bytes) < usual.alice_bytes + usual.bob_bytes


def test_no_draws_cost_nothing():
    a, _ = run_pair(lambda s: (noise.draw(s, []), s.channel.traffic), lambda s: noise.draw(s, []))
    assert len(a[0]) == 0
    assert a[1].messages == 0
    assert cost_draw([]) == Cost()


@pytest.mark.parametrize("recipients", [BOTH, {Role.ALICE}, {Role.BOB}, set()])
def test_opening_reaches_recipients_only(recipients):
    shares = RANDOM.words(10).reshape(2, 5)

    def side(own):
        return lambda s: (opening.open_words(s, own, recipients), s.channel.traffic)

    runs = run_pair(side(shares[0]), side(shares[1]))
    declared = cost_opening(5, recipients)
    for role, (opened, _) in zip(Role, runs, strict=True):
        if role in recipients:
            assert (opened == shares[0] + shares[1]).all()
        else:
            assert opened is None
    assert (runs[0][1].sent, runs[1][1].sent) == (declared.alice_bytes, declared.bob_bytes)
    assert runs[0][1].rounds == declared.rounds


def test_opening_refuses_another_number_of_shares():
    with pytest.raises(ProtocolViolation):
        run_pair(
            lambda s: opening.open_words(s, RANDOM.words(5), BOTH),
            lambda s: opening.open_words(s, RANDOM.words(6), BOTH),
        )


def test_messages_do_not_depend_on_the_noise(monkeypatch):
    honest = Channel.send
    sizes: list[tuple[str, int]] = []

    def send(self, message):
        sizes.append((type(message).__name__, len(message.encode())))
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    distributions = [DiscreteLaplace.of(Fraction(1, 100))] * 3
    drawn(distributions)
    first = sorted(sizes)
    sizes.clear()
    drawn(distributions)
    assert sorted(sizes) == first
