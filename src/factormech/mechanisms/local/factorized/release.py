r"""What every local mechanism offers that answers a workload: its errors, and the users that they need.

**Predicted and guaranteed errors.** The data are the types of n users, p = x/n their normalised histogram, and the
answers are the *averages* Wp, k of them. A mechanism's estimate is unbiased for W̃p − c, where D = W̃ − c1ᵀ − W (k ×
N), at most ``distance`` in every entry, is zero for exact ones. Every user's report adds independent noise, so for n
users the error is Dp plus a mean of n independent terms whose covariance is Σ_u p_u S_u, S_u the one of type u. Three
numbers say how large it is in ℓ_∞, and they mean different things:

* *predicted*: E‖Dp + G/√n‖_∞ of the Gaussian G with these covariances, bounded by ``gaussian_maximum``; exact in the
  limit of many users but for that bound, and no theorem about n users;
* *predicted on data*: the same for one histogram with its full covariance, simulated;
* *guaranteed*: proved for every n and every data, by moment generating functions (``chernoff``).

Where K(τ) ≥ S_u τ²/2, as it is for the ball's reports (a subgaussian proxy is at least the variance), the guaranteed
number of users is at least the predicted one: the integrated union bound is the least that the marginals allow.

**Simulated errors.** Collections are simulated until their mean ℓ_∞ error is known to a relative width. Trials are
run in batches, and looked at when there are m₁, 2m₁, 4m₁, … of them. At each of at most J looks the mean has a
two-sided Student interval at level η/J, so that by the union bound the one at which the run stops holds at level η,
whenever that is. The interval is exact for normal errors; an ℓ_∞ error is a maximum, whose mean over m₁ or more
trials is close to normal, and the tests measure how often the interval misses. The number of trials never depends on
the clock. A run that is not narrow enough at its last look says so.

**Users who are drawn from a distribution.** This part says how many make a mechanism accurate for the distribution,
not only for a data set. Lower bounds (``bounds/hard/release.py``) are about n users drawn independently from a
distribution λ, and errors are measured from Wλ. A mechanism's error from Wp, p the histogram of the users that were
drawn, is then not the whole: one user's report, seen from λ, has the mean w̃_u = W_u + D_u of its type around w̃λ
besides its own noise, and so

.. math:: \operatorname{Var}_q = \sum_u λ_u\bigl(S_{u,qq} + (\tilde w_{qu} - \tilde w_q λ)^2\bigr)
          \le \min_t \max_u \bigl(S_{u,qq} + (\tilde w_{qu} - t)^2\bigr)

for every λ, with equality for some (the left side is a minimum over t of what is linear in λ; minimax). With r_q the
range of w̃_q, Hoeffding's lemma gives log-moments of at most K_q(τ) + τ²r_q²/8. In both the biases are Dλ.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.local.factorized import tails
from factormech.mechanisms.local.factorized.tails import expected_maximum
from factormech.mechanisms.local.reports import check_counts
from factormech.numerics.intervals import student_half_width
from factormech.numerics.roots import bisect_each, least_whole
from factormech.privacy.guarantee import Guarantee

# Predicted and guaranteed errors.


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

    # Guaranteed: every n -------------------------------------------------------------------------------------

    def guaranteed_error(self, users: int) -> float:
        """A proved bound of E‖answers − truth‖_∞ for so many users and every data."""
        n = check_positive_integer("users", users)
        if not self._noisy:
            return self.distance
        return tails.least_bound(self._exponents, self._scale(math.sqrt(1.0 / n)), n)

    def guaranteed_users(self, alpha: float) -> int:
        """The least n whose ``guaranteed_error`` is at most α, the best τ being found: proved for every data."""
        alpha = self._check_alpha(alpha)
        if not self._noisy:
            return 1
        return tails.least_users(self._exponents, self._scale(alpha - self.distance, users=True), alpha)

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
        return _check(self, alpha)


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


# Simulated errors.

FIRST, LOOKS = 32, 8


@dataclass(frozen=True)
class SimulatedRelease:
    """What the simulated collections measured.

    Attributes
    ----------
    users
        n of each.
    maxima, squares
        ‖answers − truth‖_∞ and ‖answers − truth‖₂² of each, (trials,).
    mean, low, high
        Mean of the maxima, and its interval at ``level``.
    stopped
        ``width`` where the interval is as narrow as asked, else ``looks``.
    """

    users: int
    maxima: FloatArray
    squares: FloatArray
    mean: float
    low: float
    high: float
    level: float
    stopped: str

    @property
    def trials(self) -> int:
        return len(self.maxima)

    @property
    def relative_width(self) -> float:
        """Half the interval over the mean; 0 where there is no error."""
        return 0.5 * (self.high - self.low) / self.mean if self.mean > 0 else 0.0


def simulate(
    release: LocalRelease,
    counts: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    relative_width: float = 0.02,
    level: float = 0.01,
    first: int = FIRST,
    looks: int = LOOKS,
) -> SimulatedRelease:
    """Collect from ``counts`` users by type until half the interval is ``relative_width`` of the mean."""
    x = check_counts(counts, release.domain_size)
    users = int(x.sum())
    _check_stopping(relative_width, level, first, looks)
    reason = release.simulation_refusal(users)
    if reason:
        raise BadValue("users", users, f"be few enough to simulate {release.name}", reason)
    truth = release.truth(x)
    maxima, squares = np.empty(0), np.empty(0)
    for look in range(looks):
        batch = first if look == 0 else len(maxima)
        errors = release.estimates(x, batch, rng) - truth
        maxima = np.concatenate([maxima, np.abs(errors).max(axis=1, initial=0.0)])
        squares = np.concatenate([squares, np.einsum("tq,tq->t", errors, errors)])
        mean = float(maxima.mean())
        half = student_half_width(maxima, level / looks)
        if half <= relative_width * mean:
            break
    stopped = "width" if half <= relative_width * mean else "looks"
    return SimulatedRelease(users, maxima, squares, mean, max(mean - half, 0.0), mean + half, level, stopped)


def _check_stopping(relative_width: float, level: float, first: int, looks: int) -> None:
    for name, value in (("relative_width", relative_width), ("level", level)):
        if not 0.0 < value < 1.0:
            raise BadValue(name, value, "be a number between 0 and 1", "give for example 0.02")
    if first < 8:
        raise BadValue("first", first, "be at least 8 trials", f"give for example {FIRST}")
    if looks < 1:
        raise BadValue("looks", looks, "be at least 1", f"give for example {LOOKS}")


# Users who are drawn from a distribution.


def worst_variances(release: LocalRelease) -> FloatArray:
    """(k,): the largest variance of each answer times n over all distributions, from above."""
    S, w = release.query_variances, release.workload + release.bias

    def rises(t: FloatArray, which: IntArray | slice) -> FloatArray:
        far = S[which] + (w[which] - t[:, None]) ** 2
        return np.asarray(t >= np.take_along_axis(w[which], far.argmax(axis=1)[:, None], axis=1)[:, 0])

    # The largest of convex functions of t: where its slope changes sign, from either side.
    ends = bisect_each(rises, w.min(axis=1), w.max(axis=1))
    return np.asarray(np.minimum(*((S + (w - t[:, None]) ** 2).max(axis=1) for t in ends)))


def predicted_users(release: LocalRelease, alpha: float) -> int:
    """The least n whose central-limit bound of E‖answers − Wλ‖_∞ is at most α for every λ; a prediction."""
    accuracy = _check(release, alpha)
    variances = worst_variances(release)
    return least_whole(lambda n: expected_maximum(release.offsets, np.sqrt(variances / n)), accuracy)


def guaranteed_users(release: LocalRelease, alpha: float) -> int:
    """The least n that is proved to give E‖answers − Wλ‖_∞ ≤ α for every λ."""
    accuracy = _check(release, alpha)
    ranges = np.ptp(release.workload + release.bias, axis=1)
    sampling = np.tile(ranges**2 / 8.0, 2)

    def exponents(tau: float) -> FloatArray:
        return np.asarray(tau * np.tile(release.offsets, 2) + release.log_moments(tau) + tau**2 * sampling)

    scale = (accuracy - release.distance) / float(worst_variances(release).max())
    return tails.least_users(exponents, scale, accuracy)


def _check(release: LocalRelease, alpha: Any) -> float:
    accuracy = check_accuracy(alpha, release.workload)
    if accuracy <= release.distance:
        rule = f"be above the distance {release.distance:.6g} of what {release.name} answers from the workload"
        raise BadValue("alpha", alpha, rule, "ask for less accuracy, or build the mechanism for this alpha")
    return accuracy
