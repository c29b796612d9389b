r"""What every local mechanism that answers a workload offers, and the errors that follow from it.

The data are the types of n users, p = x/n their normalised histogram, and the answers are the *averages* Wp, k of them.
A mechanism's estimate is unbiased for W̃p − c, where D = W̃ − c1ᵀ − W (k × N), at most ``distance`` in every entry, is
zero for exact ones. Every user's report adds independent noise, so for n users the error is Dp plus a mean of n
independent terms whose covariance is Σ_u p_u S_u, S_u the one of type u. Three numbers say how large it is in ℓ_∞, and
they mean different things:

* *predicted*: E‖Dp + G/√n‖_∞ of the Gaussian G with these covariances, bounded by ``gaussian_maximum``; exact in the
  limit of many users but for that bound, and no theorem about n users;
* *predicted on data*: the same for one histogram with its full covariance, simulated;
* *guaranteed*: proved for every n and every data, by moment generating functions (``chernoff``).

Where K(τ) ≥ S_u τ²/2, as it is for the ball's reports (a subgaussian proxy is at least the variance), the guaranteed
number of users is at least the predicted one: the integrated union bound is the least that the marginals allow.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.local.factorized import chernoff
from factormech.local.factorized.gaussian_maximum import expected_maximum
from factormech.local.reports import check_counts
from factormech.numerics.roots import least_whole
from factormech.privacy import Guarantee


class LocalRelease(ABC):
    """A mechanism for one workload W (k × N) and one budget; a subclass states its noise, and the rest follows.

    Attributes
    ----------
    workload
        W, the queries on the normalised histogram.
    bias
        D, (k, N): the expected error of the answers on each type, but for rounding.
    distance
        A certified bound a on |D|, rounding counted.
    epsilon, delta
        The guarantee of one report, replace one.
    """

    name: str
    workload: FloatArray
    bias: FloatArray
    distance: float
    epsilon: float
    delta: float = 0.0

    # What a subclass states ----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def query_variances(self) -> FloatArray:
        """(k, N): variance of each answer that one user of each type adds, times n²: the diagonals of all S_u."""

    @abstractmethod
    def noise_root(self, histogram: FloatArray) -> FloatArray:
        """L, (k, any), with LLᵀ = Σ_u p_u S_u for a normalised ``histogram`` p (N,)."""

    @abstractmethod
    def log_moments(self, tau: float) -> FloatArray:
        """K(τ), (2k,): at least log E exp(±τ ζ_q) for every type, upper signs first."""

    @abstractmethod
    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials, k): answers from the simulated reports of ``counts`` users by type."""

    @abstractmethod
    def simulation_refusal(self, users: int) -> str:
        """Why that many users cannot be simulated, or nothing."""

    @abstractmethod
    def privacy_loss(self) -> float:
        """A rigorous upper bound of the ε of a report (at this δ)."""

    @property
    def guarantee(self) -> Guarantee:
        """Of one report, and so of the answers: the data of one user exchanged for any other."""
        return Guarantee(self.epsilon, self.delta)

    # Shapes --------------------------------------------------------------------------------------------------

    @property
    def queries(self) -> int:
        return int(self.workload.shape[0])

    @property
    def domain_size(self) -> int:
        return int(self.workload.shape[1])

    def truth(self, counts: npt.ArrayLike) -> FloatArray:
        """Wp, (k,)."""
        return np.asarray(self.workload @ self._histogram(counts)[0])

    # Exact errors --------------------------------------------------------------------------------------------

    @cached_property
    def total_variance(self) -> FloatArray:
        """(N,): trace of S_u."""
        return np.asarray(self.query_variances.sum(axis=0))

    def variances(self, counts: npt.ArrayLike) -> FloatArray:
        """Exact variance of each answer, (k,), on the data ``counts`` by type."""
        p, n = self._histogram(counts)
        return np.asarray(self.query_variances @ p / n)

    def covariance(self, counts: npt.ArrayLike) -> FloatArray:
        """Exact covariance of the answers, (k, k), on the data ``counts`` by type."""
        p, n = self._histogram(counts)
        L = self.noise_root(p)
        return np.asarray(L @ L.T / n)

    def l2_error(self, counts: npt.ArrayLike) -> float:
        """Exact E‖answers − truth‖₂² on the data ``counts``: ‖Dp‖² + Σ_u p_u tr S_u/n."""
        p, n = self._histogram(counts)
        return float(np.sum((self.bias @ p) ** 2) + self.total_variance @ p / n)

    def worst_l2_error(self, users: int) -> float:
        """The largest of these over all data of so many users.

        It is convex in the histogram, and so largest where all users are of one type.
        """
        n = check_positive_integer("users", users)
        return float(np.max(np.einsum("qu,qu->u", self.bias, self.bias) + self.total_variance / n))

    # Predicted: central limit --------------------------------------------------------------------------------

    def predicted_error(self, users: int, histogram: npt.ArrayLike | None = None) -> float:
        """Central-limit bound of E‖answers − truth‖_∞ for so many users, on every data or on one ``histogram``."""
        n = check_positive_integer("users", users)
        offsets, variances = self._marginals(histogram)
        return expected_maximum(offsets, np.sqrt(variances / n))

    def predicted_users(self, alpha: float, histogram: npt.ArrayLike | None = None) -> int:
        """The least n whose ``predicted_error`` is at most α; a prediction, no guarantee."""
        alpha = self._check_alpha(alpha)
        offsets, variances = self._marginals(histogram)
        return least_whole(lambda n: expected_maximum(offsets, np.sqrt(variances / n)), alpha)

    def gaussian_error(
        self, counts: npt.ArrayLike, rng: np.random.Generator, *, draws: int = 4096
    ) -> tuple[float, float]:
        """E‖Dp + G/√n‖_∞ on the data ``counts`` with the full covariance: mean of ``draws`` and its standard error."""
        m = check_positive_integer("draws", draws, minimum=2)
        p, n = self._histogram(counts)
        L = self.noise_root(p) / math.sqrt(n)
        found = np.empty(m)
        for start in range(0, m, 256):
            G = L @ rng.standard_normal((L.shape[1], min(256, m - start)))
            found[start : start + 256] = np.abs(G + (self.bias @ p)[:, None]).max(axis=0, initial=0.0)
        return float(found.mean()), float(found.std(ddof=1) / math.sqrt(m))

    def gaussian_users(
        self, alpha: float, histogram: npt.ArrayLike, rng: np.random.Generator, *, draws: int = 2048
    ) -> tuple[int, int, int]:
        """The least n at which E‖Dp + G/√n‖_∞ ≤ α on one ``histogram``, by simulation: estimate, low and high.

        The same ``draws`` of G, each with its mirror image −G, serve every n: their mean falls with n, as it is convex
        and even in 1/√n. The ends are where the mean less and plus three standard errors reaches α.
        """
        accuracy, m = self._check_alpha(alpha), check_positive_integer("draws", draws, minimum=2)
        p = check_histogram(histogram, self.domain_size)
        L, offset = self.noise_root(p), (self.bias @ p)[:, None]
        G = L @ rng.standard_normal((L.shape[1], m))

        def error(n: int, deviations: float) -> float:
            one, other = G / math.sqrt(n) + offset, G / math.sqrt(n) - offset
            each = 0.5 * (np.abs(one).max(axis=0) + np.abs(other).max(axis=0))
            return float(each.mean() + deviations * each.std(ddof=1) / math.sqrt(m))

        users = least_whole(lambda n: error(n, 0.0), accuracy)
        low = least_whole(lambda n: error(n, -3.0), accuracy)
        return users, low, least_whole(lambda n: error(n, 3.0), accuracy)

    # Guaranteed: every n -------------------------------------------------------------------------------------

    def guaranteed_error(self, users: int) -> float:
        """A proved bound of E‖answers − truth‖_∞ for so many users and every data."""
        n = check_positive_integer("users", users)
        if not self._noisy:
            return self.distance
        return chernoff.least_bound(self._exponents, self._scale(math.sqrt(1.0 / n)), n)

    def guaranteed_users(self, alpha: float) -> int:
        """The least n whose ``guaranteed_error`` is at most α, the best τ being found: proved for every data."""
        alpha = self._check_alpha(alpha)
        if not self._noisy:
            return 1
        return chernoff.least_users(self._exponents, self._scale(alpha - self.distance, users=True), alpha)

    def _exponents(self, tau: float) -> FloatArray:
        """ℓ of ``chernoff``: biases are bounded by the certified distance of their query."""
        return np.asarray(tau * np.tile(self.offsets, 2) + self.log_moments(tau))

    def _scale(self, size: float, *, users: bool = False) -> float:
        """The τ that a Gaussian of the largest variance would take: (α − a)/σ², or √(2 ln 2k)/(σ√n)."""
        variance = float(self.query_variances.max())
        if users:
            return size / variance
        return math.sqrt(2.0 * math.log(2.0 * self.queries) / variance) * size

    @cached_property
    def _noisy(self) -> bool:
        return bool(self.query_variances.max(initial=0.0) > 0.0)

    @cached_property
    def offsets(self) -> FloatArray:
        """(k,): largest |D| of each query, with what the certified distance adds for rounding."""
        largest = np.abs(self.bias).max(axis=1)
        return np.asarray(np.minimum(largest + (self.distance - largest.max()), self.distance))

    # Checks --------------------------------------------------------------------------------------------------

    def _marginals(self, histogram: npt.ArrayLike | None) -> tuple[FloatArray, FloatArray]:
        """|Dp| and n × variance of each answer; the largest of each over all data where there is no histogram."""
        if histogram is None:
            return self.offsets, self.query_variances.max(axis=1)
        p = check_histogram(histogram, self.domain_size)
        return np.abs(self.bias @ p), self.query_variances @ p

    def _histogram(self, counts: npt.ArrayLike) -> tuple[FloatArray, int]:
        x = check_counts(counts, self.domain_size)
        users = check_positive_integer("users", int(x.sum()))
        return x / users, users

    def _check_alpha(self, alpha: Any) -> float:
        accuracy = check_accuracy(alpha, self.workload)
        if accuracy <= self.distance:
            rule = f"be above the distance {self.distance:.6g} of what {self.name} answers from the workload"
            raise BadValue("alpha", alpha, rule, "ask for less accuracy, or build the mechanism for this alpha")
        return accuracy


def check_accuracy(alpha: Any, workload: FloatArray) -> float:
    """Return α as a ``float``: above 0, and below what constants reach without any data."""
    trivial = float(np.max(half_ranges(workload), initial=0.0))
    good = isinstance(alpha, (int, float, np.integer, np.floating)) and not isinstance(alpha, bool)
    if not good or not 0.0 < alpha < trivial:
        rule = f"be a number above 0 and below {trivial:.6g}, the error of constants"
        raise BadValue("alpha", alpha, rule, f"give for example {trivial / 10:.2g}" if trivial else "ask other queries")
    return float(alpha)


def half_ranges(workload: FloatArray) -> FloatArray:
    """(k,): half of largest less smallest entry of each query."""
    return np.asarray(0.5 * (workload.max(axis=1) - workload.min(axis=1)))


def check_histogram(histogram: npt.ArrayLike, domain_size: int) -> FloatArray:
    """Return a distribution over the user types."""
    p = np.asarray(histogram, dtype=np.float64)
    good = p.shape == (domain_size,) and bool(np.isfinite(p).all()) and p.min() >= 0 and abs(float(p.sum()) - 1) <= 1e-9
    if not good:
        rule = f"be {domain_size} shares of at least 0 that sum to 1"
        raise BadValue("histogram", p if p.ndim == 1 else p.shape, rule, "divide the counts by their sum")
    return p
