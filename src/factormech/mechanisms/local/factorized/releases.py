r"""The mechanisms that answer a workload from local reports, one class each.

**Columns with noise in every coordinate.** The noise is Laplace or Gaussian, decoded for a workload as in
``mechanisms/local/matrix_mechanism.py``. With R = WP(AP)⁺ the answers are W1/N + R(Ȳ − ā), ā the mean column, and
every type adds the same noise:

.. math:: S_u = s^2 RR^\top, \qquad
          K_q(τ) = -\sum_i \log(1 - b^2τ^2R_{qi}^2) \;\text{(Laplace, scale } b,\; s^2 = 2b^2), \qquad
          \tfrac12 s^2τ^2\|R_q\|^2 \;\text{(Gaussian)} .

**The factorization mechanism.** Every user reports a column of A through a randomizer of the unit ball. Edmonds,
Nikolov & Ullman (STOC 2020, Theorem 10); row shifts and approximation as in Edmonds (PhD thesis, 2023, Theorems 12
and 23). With s = ‖A‖_{1→2}, a user of type u reports Y with E Y = a_u = A_u/s, and the curator answers

.. math:: s\,R\,\bar Y - c, \qquad S_u = s^2\,R \operatorname{Cov}(Y \mid u) R^\top .

**Second moments.** The randomizers are equivariant under rotations, so E[YYᵀ] = β(r)I + g(r)x̂x̂ᵀ, r = ‖x‖, and for all
of them β and g are quadratic in r: additive noise has g = r², reports that are free or loyal to x̂ are linear in how
often they are loyal. The coefficients are read off the randomizer at three points, and a fourth one checks them.

**A strategy matrix.** With it the mechanisms of McKenna et al. can be compared with factorizations. A user of type u
reports output o with probability Q_ou. With the best reconstruction B of the histogram
(``mechanisms/local/strategy.py``; McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020) the answers are the mean of

.. math:: V e_o = \tfrac1N W\mathbf 1 + W b_o, \qquad \tilde W = VQ, \qquad
          S_u = V(\operatorname{Diag}(Q_u) - Q_uQ_u^\top)V^\top

over the reports. The log-moments are computed type by type, log Σ_o Q_ou exp(τ(V_qo − W̃_qu)), and so are the least
possible for this V, up to rounding.

**Constant answers.** Where all types give the same answers, up to the distance a, the mechanism needs no report.

**One random query a user.** Every user answers it by randomized response: the rival that spends ε on one query. W_qu
= m_q + h_q·w_qu with w_qu ∈ [−1, 1], m_q and h_q the middle and half the range of query q; the shift m_q is public. A
user draws one of the K queries with h_q > 0 and reports it with a sign Z, P(Z = 1) = (1 + (2p−1)w)/2 and p/(1−p) ≤
e^ε. The curator adds K·h_q·c·Z to query q, c = 1/(2p−1), and divides by n: unbiased, with (as E Z² = 1)

.. math:: S_u = \operatorname{diag}(K h_q^2 c^2) - v_u v_u^\top, \qquad v_{qu} = h_q w_{qu} .

**Moment generating function.** With b = τKh_qc and ω = w/c ∈ [−1/c, 1/c],

.. math:: \log \operatorname{E} e^{τζ}
          = \log\Bigl(1 + \tfrac{\cosh b - 1}{K} + \tfrac{ω\sinh b}{K}\Bigr) - \tfrac{bω}{K} ,

concave in ω, so its largest value over all types is at the root of its derivative, or at the nearest end. It is the
same for −τ, the range of ω being symmetric.

**The dyadic tree for thresholds.** It is the O(log³ T) rival (Edmonds, PhD thesis, 2023, §1.2.2). Over T = 2^h types
a user of type u reports all nodes above it in a binary tree but the root, which is public: A has a row for every
node, h ones in each column, and ‖A‖_{1→2} = √h. The prefix of length t is the sum of popcount(t) nodes, for t < T;
for t = T it is the root, which a row shift answers. So ‖R‖_{2→∞} = √h and n grows like h·h·log T. Other T are the
first types of a larger tree.

``plain`` adds those nodes up. Least squares uses all reports: R = WP(AP)⁺ has the shortest rows of all R with
RAP = WP, P = I − 11ᵀ/T, and the shift is what RA − W says in every column alike.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.errors import BadValue
from factormech.mechanisms.local.factorized.factors import LocalFactorization, factorization
from factormech.mechanisms.local.factorized.release import LocalRelease, half_ranges
from factormech.mechanisms.local.noisy_columns import NoisyColumns
from factormech.mechanisms.local.randomizers.base import BallRandomizer, units
from factormech.mechanisms.local.randomizers.cap_randomizers import facing_probability
from factormech.mechanisms.local.strategy import RESIDUAL_LIMIT, StrategyMatrix
from factormech.numerics.rounding import gamma
from factormech.numerics.vectors import symmetric_root
from factormech.privacy.guarantee import Guarantee, loss_of_ratio

# Columns with noise in every coordinate.


class AdditiveRelease(LocalRelease):
    """Factors whose right one is the columns with noise."""

    def __init__(self, name: str, factors: LocalFactorization, noisy: NoisyColumns) -> None:
        if noisy.noise not in ("laplace", "gaussian"):
            raise BadValue("noise", noisy.noise, "be laplace or gaussian", "give ball reports to FactorizationRelease")
        if not np.array_equal(factors.right, noisy.columns):
            raise BadValue("factors", factors.right.shape, "end in the columns that are reported", "give R of them")
        self.name, self.factors, self.noisy = name, factors, noisy
        self.workload, self.bias, self.distance = factors.workload, factors.bias, factors.distance
        self.epsilon, self.delta = noisy.epsilon, noisy.delta

    @cached_property
    def query_variances(self) -> FloatArray:
        rows = np.einsum("qs,qs->q", self.factors.left, self.factors.left)
        return np.asarray(np.repeat(self.noisy.second_moment * rows[:, None], self.domain_size, axis=1))

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        return np.asarray(math.sqrt(self.noisy.second_moment * float(histogram.sum())) * self.factors.left)

    def log_moments(self, tau: float) -> FloatArray:
        R = self.factors.left
        if self.noisy.noise == "gaussian":
            return np.asarray(0.5 * tau**2 * np.tile(self.noisy.second_moment * np.einsum("qs,qs->q", R, R), 2))
        squares = (self.noisy.scale * tau * R) ** 2
        if float(squares.max(initial=0.0)) >= 1.0:
            return np.full(2 * len(R), math.inf)
        return np.tile(-np.log1p(-squares).sum(axis=1), 2)

    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        sums = self.noisy.simulate_deviations(counts, np.zeros(len(self.noisy.columns)), trials, rng)
        return np.asarray((self.factors.left @ (sums / counts.sum())).T - self.factors.shift)

    def simulation_refusal(self, users: int) -> str:
        return self.noisy.simulation_refusal(users)

    def privacy_loss(self) -> float:
        return self.noisy.privacy_loss


# The factorization mechanism.


class FactorizationRelease(LocalRelease):
    """Factors, and the randomizer of their columns."""

    def __init__(self, name: str, factors: LocalFactorization, randomizer: BallRandomizer) -> None:
        R, A = factors.left, factors.right
        if randomizer.dimension != len(A):
            rule = f"be a randomizer of dimension {len(A)}, the number of rows of A"
            raise BadValue("randomizer", randomizer.dimension, rule, "build it for the factors")
        self.name, self.factors, self.randomizer = name, factors, randomizer
        self.workload, self.bias, self.distance = factors.workload, factors.bias, factors.distance
        self.epsilon, self.delta = randomizer.epsilon, randomizer.delta
        # Divided by the largest norm, columns are in the unit ball but for the rounding that randomizers allow for.
        self.points = np.ascontiguousarray(A.T / factors.column_norm)
        self.decoder = np.asarray(factors.column_norm * R)

    @property
    def dimension(self) -> int:
        """Of a report."""
        return int(self.points.shape[1])

    @property
    def norm_product(self) -> float:
        """‖R‖_{2→∞}‖A‖_{1→2}."""
        return self.factors.row_norm * self.factors.column_norm

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """β and g of every type, (N,) each."""
        r = np.linalg.norm(self.points, axis=1)
        across, along = rotation_moments(self.randomizer)
        return np.polynomial.polynomial.polyval(r, across), np.polynomial.polynomial.polyval(r, along)

    @cached_property
    def query_variances(self) -> FloatArray:
        return self.variances_of(self.decoder)

    def variances_of(self, rows: FloatArray) -> FloatArray:
        """(any, N): variance of each row times the report of one user of each type."""
        beta, g = self._moments
        x = self.points
        sizes = np.einsum("qs,qs->q", rows, rows)
        found = beta * sizes[:, None] + g * (rows @ units(x).T) ** 2 - (rows @ x.T) ** 2
        return np.asarray(np.maximum(found, 0.0))

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        beta, g = self._moments
        x, axes = self.points, units(self.points)
        covariance = (axes.T * (histogram * g)) @ axes - (x.T * histogram) @ x
        covariance[np.diag_indices(self.dimension)] += beta @ histogram
        return np.asarray(self.decoder @ symmetric_root(covariance))

    def log_moments(self, tau: float) -> FloatArray:
        """v‖s·R_q‖²τ²/2, v the randomizer's subgaussian proxy."""
        rows = np.einsum("qs,qs->q", self.decoder, self.decoder)
        return np.asarray(np.tile(0.5 * self.randomizer.subgaussian_proxy * tau**2 * rows, 2))

    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        sums = self.randomizer.sample_sums(self.points, counts, trials, rng)
        return np.asarray(sums / counts.sum() @ self.decoder.T - self.factors.shift)

    def simulation_refusal(self, users: int) -> str:
        return self.randomizer.simulation_refusal(self.domain_size, users)

    def privacy_loss(self) -> float:
        return self.randomizer.privacy_loss()


def rotation_moments(randomizer: BallRandomizer) -> tuple[FloatArray, FloatArray]:
    """Coefficients (3,) of β(r) and g(r) in E[YYᵀ] = β(r)I + g(r)x̂x̂ᵀ, constants first; β is 0 in one dimension."""
    d, radii = randomizer.dimension, np.array([0.25, 0.5, 1.0, 0.75])
    along, across = np.empty(4), np.zeros(4)
    for i, r in enumerate(radii.tolist()):
        point = np.zeros(d)
        point[0] = r
        M = randomizer.second_moment(point)
        along[i] = M[0, 0]
        across[i] = M[1, 1] if d > 1 else 0.0
    powers = np.vander(radii, 3, increasing=True)
    values = np.stack([across, along - across], axis=1)
    coefficients = np.linalg.solve(powers[:3], values[:3])
    if float(np.max(np.abs(powers[3] @ coefficients - values[3]))) > 1e-9 * float(np.max(along + across)):
        rule = "have second moments β(r)I + g(r)x̂x̂ᵀ that are quadratic in r = ‖x‖"
        raise BadValue("randomizer", randomizer.name, rule, "use one whose reports do, or compute its covariances")
    return coefficients[:, 0], coefficients[:, 1]


# A strategy matrix.


class StrategyRelease(LocalRelease):
    """A strategy matrix, decoded for a workload."""

    def __init__(self, name: str, workload: FloatArray, strategy: StrategyMatrix) -> None:
        W = workload
        if W.shape[1] != strategy.domain_size:
            rule = f"have {W.shape[1]} user types"
            raise BadValue("strategy", strategy.domain_size, rule, "build the strategy for the workload's domain")
        self.name, self.workload, self.strategy, self.epsilon = name, W, strategy, strategy.epsilon
        mean = W.mean(axis=1)
        # A constant adds nothing to variances but rounding: they are computed without it.
        self.centred = np.asarray((W - mean[:, None]) @ strategy.reconstruction)
        self.decoder = np.asarray(self.centred + mean[:, None])
        self.mean = np.asarray(self.decoder @ strategy.matrix)
        self.bias = np.asarray(self.mean - W)
        worst = float(np.max(np.abs(self.bias), initial=0.0))
        scale = float(np.max(np.abs(W), initial=0.0))
        if not worst <= RESIDUAL_LIMIT * max(scale, 1e-300) * math.sqrt(W.shape[1]):
            rule = f"answer the workload (its decoding is {worst:.3g} away in an entry)"
            raise BadValue("strategy", name, rule, "use one whose row space holds the workload")
        lost = gamma(strategy.outputs + 4) * float(np.max(np.abs(self.decoder), initial=0.0)) + gamma(4) * scale
        self.distance = worst + lost

    @cached_property
    def query_variances(self) -> FloatArray:
        V, Q = self.centred, self.strategy.matrix
        return np.asarray(np.maximum(V**2 @ Q - (V @ Q) ** 2, 0.0))

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        Q = self.strategy.matrix
        covariance = -(Q * histogram) @ Q.T
        covariance[np.diag_indices(len(Q))] += Q @ histogram
        return np.asarray(self.centred @ symmetric_root(covariance))

    def log_moments(self, tau: float) -> FloatArray:
        V, Q = self.decoder, self.strategy.matrix
        found = []
        for signed in (tau, -tau):
            largest = (signed * V).max(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):  # an output of chance 0 that alone matters: never seen
                logs = np.log(np.exp(signed * V - largest) @ Q) + largest - signed * self.mean
            found.append(logs.max(axis=1))
        return np.concatenate(found)

    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        reports = self.strategy.simulate_reports(counts, trials, rng)
        return np.asarray((self.decoder @ reports).T / counts.sum())

    def simulation_refusal(self, users: int) -> str:
        return self.strategy.simulation_refusal(users)

    @property
    def guarantee(self) -> Guarantee:
        return self.strategy.guarantee

    def privacy_loss(self) -> float:
        return self.strategy.privacy_loss


# Constant answers.


class ConstantRelease(LocalRelease):
    """The answers −c of factors without inner dimension."""

    def __init__(self, name: str, factors: LocalFactorization, epsilon: float) -> None:
        self.name, self.factors, self.epsilon = name, factors, check_epsilon(epsilon)
        self.workload, self.bias, self.distance = factors.workload, factors.bias, factors.distance

    @property
    def query_variances(self) -> FloatArray:
        return np.zeros_like(self.workload)

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        del histogram
        return np.zeros((self.queries, 1))

    def log_moments(self, tau: float) -> FloatArray:
        del tau
        return np.zeros(2 * self.queries)

    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        del counts, rng
        return np.tile(-self.factors.shift, (trials, 1))

    def simulation_refusal(self, users: int) -> str:
        del users
        return ""

    def privacy_loss(self) -> float:
        """Nothing is reported."""
        return 0.0


# One random query a user.

# Numbers of users by type and query that are held at once, and above which a trial is refused.
_CELLS_LIMIT = 2**22


class OneQuery(LocalRelease):
    """Randomized response on one random query a user."""

    def __init__(self, name: str, workload: FloatArray, epsilon: float) -> None:
        self.name, self.workload, self.epsilon = name, workload, check_epsilon(epsilon)
        self.bias = np.zeros_like(workload)
        # Nothing is factored: what the middle and the half range lose to rounding is all.
        self.distance = gamma(8) * float(np.max(np.abs(workload), initial=0.0))
        self.p = facing_probability(self.epsilon)
        self.half = half_ranges(workload)
        self.middle = workload.max(axis=1) - self.half
        self.asked = np.flatnonzero(self.half > 0)

    @cached_property
    def _signal(self) -> FloatArray:
        """v, (k, N)."""
        return np.asarray(np.clip(self.workload - self.middle[:, None], -self.half[:, None], self.half[:, None]))

    @cached_property
    def _size(self) -> FloatArray:
        """K·h_q·c, (k,): what a report adds to its query."""
        return np.asarray(len(self.asked) * self.half / (2.0 * self.p - 1.0))

    @cached_property
    def query_variances(self) -> FloatArray:
        K = max(len(self.asked), 1)
        return np.asarray(np.maximum((self._size**2 / K)[:, None] - self._signal**2, 0.0))

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        v = self._signal
        covariance = -(v * histogram) @ v.T
        covariance[np.diag_indices(self.queries)] += self._size**2 / max(len(self.asked), 1)
        return symmetric_root(covariance)

    def log_moments(self, tau: float) -> FloatArray:
        K, b = max(len(self.asked), 1), tau * self._size
        if float(b.max(initial=0.0)) > 700.0:
            return np.full(2 * self.queries, math.inf)
        rise, sine = (np.cosh(b) - 1.0) / K, np.sinh(b) / K
        end = 2.0 * self.p - 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(b > 0, K / b - (1.0 + rise) / sine, 0.0)
        omega = np.clip(np.nan_to_num(best), -end, end)
        return np.tile(np.log1p(rise + omega * sine) - b * omega / K, 2)

    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        asked, K = self.asked, len(self.asked)
        found = np.tile(self.middle, (trials, 1))
        if not K:
            return found
        faces = 0.5 + 0.5 * (2.0 * self.p - 1.0) * (self._signal[asked] / self.half[asked, None]).T
        used = np.flatnonzero(counts)
        step = max(1, _CELLS_LIMIT // (len(used) * K))
        for start in range(0, trials, step):
            size = min(step, trials - start)
            each = rng.multinomial(counts[used], np.full(K, 1.0 / K), size=(size, len(used)))
            signs = 2 * rng.binomial(each, faces[used]) - each
            found[start : start + size, asked] += signs.sum(axis=1) * (self._size[asked] / counts.sum())
        return found

    def simulation_refusal(self, users: int) -> str:
        cells = self.domain_size * len(self.asked)
        return "" if cells <= 16 * _CELLS_LIMIT else f"{cells} numbers of users by type and query are too many to draw"

    def privacy_loss(self) -> float:
        """log p/(1 − p) of the p that is drawn with, at most ε."""
        return min(loss_of_ratio(self.p / (1.0 - self.p)), self.epsilon)


# The dyadic tree for thresholds.

# AP has one zero singular value; the others are between 1, as the leaves alone are P, and ‖A‖_F = √(hT).
_SINGULAR = 1e-9


def nodes(domain_size: int) -> FloatArray:
    """A, (nodes, T): for each node below the root that holds a type, where its types are."""
    T, u = domain_size, np.arange(domain_size)
    levels = [u >> bit for bit in range((T - 1).bit_length())][::-1]
    rows = [(np.arange(int(level[-1]) + 1)[:, None] == level).astype(np.float64) for level in levels]
    return np.vstack([np.zeros((0, T)), *rows])


def plain(workload: FloatArray) -> LocalFactorization:
    """Return every prefix from the fewest nodes."""
    T = workload.shape[1]
    depth = (T - 1).bit_length()
    sizes = [((T - 1) >> bit) + 1 for bit in range(depth)][::-1]
    starts = np.cumsum([0, *sizes])
    R = np.zeros((T, int(starts[-1])))
    for level in range(depth):
        bit = depth - 1 - level
        t = np.flatnonzero((np.arange(1, T + 1) >> bit) & 1)  # the length is t + 1; its node ends where bit is dropped
        node = ((t + 1) >> bit) - 1
        R[t, starts[level] + node] = 1.0
    shift = np.zeros(T)
    if 1 << depth == T:
        shift[-1] = -1.0  # the root, the number of users being public
    return factorization(workload, R, nodes(T), shift)


def least_squares(workload: FloatArray) -> LocalFactorization:
    """Return every prefix from all nodes, with the shortest rows."""
    A = nodes(workload.shape[1])
    centred = A - A.mean(axis=1, keepdims=True)
    R = (workload - workload.mean(axis=1, keepdims=True)) @ np.linalg.pinv(centred, rcond=_SINGULAR)
    return factorization(workload, R, A, (R @ A - workload).mean(axis=1))
