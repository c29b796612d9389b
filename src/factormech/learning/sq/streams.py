r"""Private answers to statistical queries: randomized bits of users, and pan-private streams with a state to steal.

**Randomized response.** A user with F(x) ∈ [−1, 1] sends a bit ±1 of mean F(x)/c, c = (e^ε+1)/(e^ε−1); c times the mean
of m bits is within τ of F(λ) but for probability δ if m ≥ 2c²ln(2/δ)/τ² (Hoeffding; the bits are independent given λ).

**A stream** (Dwork, Naor, Pitassi, Rothblum & Yekhanin, ICS 2010) has a state that each user changes, and an output; it
is ε-pan-private for one intrusion if the pair (state after any one user, output) is ε-private when one user is
replaced. :class:`CountingStream` starts at Laplace noise N₁ of scale 2/ε, adds F(x_i) of every user, and releases state
+ N₂, of the same scale, divided by m. Replacing a user of an earlier or the last place moves the state that is seen by
|ΔF| ≤ 2, at a ratio of densities at most e^ε, and given the state the output does not depend on that user; replacing a
later one leaves the state and moves the output given it by as much. So both noises have scale 2/ε and neither is
halved. In a sequence of queries a user is part of one, so what was released before goes for free.

*Users per query.* For any s ∈ (0, m/b), b = 2/ε, the mean of F, N₁/m and N₂/m together have
P(|error| ≥ τ) ≤ 2 exp(−sτ + s²/(2m))/(1 − (sb/m)²)²; :func:`pan_private_users_per_query` is the least m at which some s
makes it δ. It grows as 1/τ² (sampling, which Edmonds' Theorem 54 omits; PhD thesis, University of Toronto, 2023) and
1/(ετ) (noise).

**A local protocol as a stream** (Amin, Joseph & Mao, COLT 2020): the state is the transcript so far. Whatever the
number of intrusions, all that is seen is a function of the final transcript, so it is ε-pan-private for any number of
them.

The noise is drawn in floating point, so the least bits of a release are not covered (Mironov, CCS 2012).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.learning.sq.correlational import privacy_factor
from factormech.learning.sq.oracles import Oracle, check_failure, check_tolerance, sample_sums
from factormech.numerics.roots import least_whole
from factormech.privacy.gaussian import laplace_scale
from factormech.privacy.guarantee import Guarantee

_STEPS = 400


class CountingStream:
    """The noisy sum of one query over a stream of users; its whole memory is ``state`` and ``seen``.

    Parameters
    ----------
    query
        F, (N,), values in [−1, 1]; a user is the index of a type.
    epsilon
        Budget, replace-one, for the state after any one user together with the output.
    """

    def __init__(self, query: Any, epsilon: float, rng: np.random.Generator) -> None:
        self.query = np.asarray(query, dtype=float)
        if self.query.ndim != 1 or not np.all(np.abs(self.query) <= 1.0):
            raise BadValue("query", self.query.tolist(), "be values within [−1, 1]", "divide by the largest")
        self.guarantee = Guarantee(check_epsilon(epsilon))
        self.scale = laplace_scale(2.0, self.guarantee)
        self._rng = rng
        self.state = float(rng.laplace(scale=self.scale))
        self.seen = 0

    def update(self, user: int) -> None:
        """Take one user."""
        self.state += float(self.query[user])
        self.seen += 1

    def update_drawn(self, law: FloatArray, users: int) -> None:
        """Take users drawn from a law."""
        self._take(float(sample_sums(self.query[None], law, users, self._rng)[0]), users)

    def simulate(self) -> float:
        """The output, for experiments: the mean of the query with noise of a generator whose seed is known."""
        if not self.seen:
            raise BadValue("users", 0, "have come before an output", "call update first")
        return (self.state + float(self._rng.laplace(scale=self.scale))) / self.seen

    def _take(self, total: float, users: int) -> None:
        self.state += total
        self.seen += users


def joint_log_density(
    query: FloatArray, users: Sequence[int], intrusion: int, scales: tuple[float, float], states: Any, sums: Any
) -> FloatArray:
    """Log-density of the state after ``intrusion`` users at ``states`` and the released sum at ``sums``.

    ``scales`` are those of the noises at the start and at the release; no noise at all is a point mass, refused.
    """
    if min(scales) <= 0.0:
        raise BadValue("scales", scales, "be above 0", "a release without noise has no density")
    before = sum(float(query[u]) for u in users[:intrusion])
    after = sum(float(query[u]) for u in users[intrusion:])
    state, total = np.asarray(states, dtype=float), np.asarray(sums, dtype=float)
    first = -np.abs(state - before) / scales[0] - math.log(2.0 * scales[0])
    return np.asarray(first - np.abs(total - state - after) / scales[1] - math.log(2.0 * scales[1]))


def audit(
    query: FloatArray, users: Sequence[int], replaced: int, by: int, intrusion: int, scales: tuple[float, float]
) -> float:
    """The privacy loss of replacing a user, for the state after ``intrusion`` users (0 for none) with the output.

    The log-ratio of two densities is piecewise linear with its kinks where a density has its own, and constant far
    away, so its extremes are at kinks or beyond all: the largest over these is exact.
    """
    other = list(users)
    other[replaced] = by
    states = _places([sum(float(query[u]) for u in row[:intrusion]) for row in (users, other)])
    rests = _places([sum(float(query[u]) for u in row[intrusion:]) for row in (users, other)])
    state, rest = (grid.ravel() for grid in np.meshgrid(states, rests, indexing="ij"))
    losses = [joint_log_density(query, row, intrusion, scales, state, state + rest) for row in (users, other)]
    return float(np.abs(losses[0] - losses[1]).max())


def _places(kinks: Sequence[float]) -> FloatArray:
    return np.array([min(kinks) - 1.0, *kinks, max(kinks) + 1.0])


class TranscriptStream:
    """A sequential local protocol of randomized bits as a stream: the state is the transcript.

    Parameters
    ----------
    policy
        The next query F, (N,), from the bits so far.
    output
        What is released, from all bits.
    """

    def __init__(
        self,
        policy: Callable[[tuple[int, ...]], FloatArray],
        output: Callable[[tuple[int, ...]], Any],
        epsilon: float,
        rng: np.random.Generator,
    ) -> None:
        self._policy, self._output, self._rng = policy, output, rng
        self.guarantee = Guarantee(check_epsilon(epsilon))
        self._factor = privacy_factor(epsilon)
        self.state: tuple[int, ...] = ()

    def update(self, user: int) -> None:
        """Take one user: the report is made at once, and nothing else of the user is kept."""
        mean = float(self._policy(self.state)[user]) / self._factor
        self.state += (1 if self._rng.random() < 0.5 * (1.0 + mean) else -1,)

    def simulate(self) -> Any:
        """The output of the protocol, from bits of a generator whose seed is known: for experiments."""
        return self._output(self.state)


class LocalOracle(Oracle):
    """Answers with the randomized bits of ``users`` fresh users for every query: sequential ε-LDP."""

    name = "sequential"

    def __init__(self, law: Any, users: int, epsilon: float, rng: np.random.Generator) -> None:
        super().__init__(law)
        self.users, self.rng = check_positive_integer("users", users), rng
        self.factor = privacy_factor(epsilon)
        self.guarantee = Guarantee(float(epsilon))

    def _answers(self, queries: FloatArray, towards: FloatArray) -> FloatArray:
        self.spent += self.users * len(queries)
        up = np.clip(0.5 * (1.0 + self._truth(queries) / self.factor), 0.0, 1.0)
        return np.asarray(self.factor * (2.0 * self.rng.binomial(self.users, up) / self.users - 1.0))


class PanPrivateOracle(Oracle):
    """Answers each query with a :class:`CountingStream` over ``users`` fresh users."""

    name = "pan-private"

    def __init__(self, law: Any, users: int, epsilon: float, rng: np.random.Generator) -> None:
        super().__init__(law)
        self.users, self.epsilon, self.rng = check_positive_integer("users", users), check_epsilon(epsilon), rng
        self.guarantee = Guarantee(self.epsilon)

    def _answers(self, queries: FloatArray, towards: FloatArray) -> FloatArray:
        found = np.empty(len(queries))
        for j, query in enumerate(queries):
            stream = CountingStream(query, self.epsilon, self.rng)
            stream.update_drawn(self.law, self.users)
            found[j] = stream.simulate()
            self.spent += self.users
        return found


def sequential_users_per_query(tolerance: float, epsilon: float, failure: float) -> int:
    """2c²ln(2/δ)/τ² users, rounded up, whose bits answer a query to τ but for probability δ."""
    tau, delta = check_tolerance(tolerance, zero=False), check_failure(failure)
    return math.ceil(2.0 * privacy_factor(epsilon) ** 2 * math.log(2.0 / delta) / tau**2)


def pan_private_users_per_query(tolerance: float, epsilon: float, failure: float) -> int:
    """The least number of users of which the bound of the module promises τ but for probability δ."""
    tau, delta = check_tolerance(tolerance, zero=False), check_failure(failure)
    b = 2.0 / check_epsilon(epsilon)
    return least_whole(lambda n: _log_tail(n, tau, b), math.log(delta), smooth=False)


def _log_tail(users: int, tau: float, scale: float) -> float:
    """The logarithm of the bound on P(|error| ≥ τ), at the best s of a grid; every s is a bound."""
    u = np.arange(1, _STEPS) / _STEPS
    s = np.concatenate([u * users / scale, u * min(2.0 * tau, users / scale / users) * users])
    s = s[s < users / scale]
    return float(np.min(math.log(2.0) - s * tau + s * s / (2.0 * users) - 2.0 * np.log1p(-((s * scale / users) ** 2))))
