r"""Mechanisms that treat all user types alike: report a random subset that favours those containing the user's type.

The report is a subset S of the n types. Its size s is drawn from a law π that is the same for every type; then u ∈ S
with probability P_s, the other members being uniform. Randomized response (s = 1), subset selection (one s; Ye & Barg,
IEEE Trans. Inf. Theory 64(8), 2018) and RAPPOR's symmetric unary encoding (all s; Erlingsson, Pihur & Korolova, CCS
2014) are of this form: for RAPPOR, P(S | u) depends on s and on whether u ∈ S alone, the ratio of the two being e^ε.

**Closed form.** With a_s = P_s(n−s)/((1−P_s)s), the likelihood ratio of u ∈ S to u ∉ S, the row of S is proportional to
v = 1 + (a_s−1)1_S. Averaging over the permutations that fix nothing, X_c = xP (notation of ``strategy.py``), where

.. math:: x = \frac1{n-1}\sum_s \pi_s \frac{(a_s-1)^2 s(n-s)}{(n+(a_s-1)s)^2} .

Let p_u = e_u − 1/n be what b_o estimates. The second moment of b_o − p_u given type u commutes with the permutations
that fix u and vanishes on 1, hence it is αP + βp_up_uᵀ, and one user of type u adds the variance α tr C + βC_uu. Two
numbers fix α and β: its trace τ = (n−1)(α + β/n) and its u-th diagonal entry δ = (1−1/n)(α + β(1−1/n)). With
b_o = g_s(1_S − s/n), g_s = (a_s−1)/(x(n+(a_s−1)s)), they are means over s and over u ∈ S or not of

* u ∈ S: ‖b_o − p_u‖² = (1−s/n)[(g−1)² + g²(s−1)] + (s−1)/n, diagonal [(g−1)(1−s/n) − (s−1)/n]²;
* u ∉ S: ‖b_o − p_u‖² = g²s(1−s/n) + 2gs/n + 1 − 1/n, diagonal [gs/n + 1 − 1/n]².

The sets ∅ and [n] say nothing: b_o = 0. Nothing large cancels, even where ε is so large that the variance is tiny. No
matrix is needed, at any domain size.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.staircase import best_subset_size
from factormech.errors import BadValue
from factormech.mechanisms.local.error_law import ErrorLaw, GramSums, centred_diagonal
from factormech.mechanisms.local.memberships import SubsetLaw
from factormech.mechanisms.local.reports import check_simulation
from factormech.mechanisms.local.strategy import Evaluation, Strategy, StrategyMatrix
from factormech.privacy.guarantee import VERIFIED, Guarantee, inner_ratio, loss_of_ratio, ratio_is_within

# Up to this many outputs the strategy is an explicit matrix, verified entry by entry.
MATRIX_OUTPUTS_LIMIT = 4096


@dataclass(frozen=True)
class SubsetStrategy:
    """A subset mechanism in closed form.

    Attributes
    ----------
    epsilon
        The promised budget.
    size_law
        π_s for s = 0 … n.
    inside, outside
        P_s and 1 − P_s for s = 0 … n, up to a common factor: two floats each, because for large s the second is small
        and its relative error is what the guarantee depends on.
    """

    epsilon: float
    size_law: FloatArray
    inside: FloatArray
    outside: FloatArray

    def __post_init__(self) -> None:
        ratio = self.likelihood_ratio
        if not ratio_is_within(ratio, self.epsilon):
            raise BadValue(
                "epsilon",
                self.epsilon,
                f"be at least the privacy loss of the subset law, {loss_of_ratio(ratio):.17g}",
                "compute the two probabilities with privacy.inner_ratio(epsilon)",
            )

    @property
    def domain_size(self) -> int:
        return len(self.size_law) - 1

    @property
    def outputs(self) -> int:
        n = self.domain_size
        return sum(math.comb(n, s) for s in np.flatnonzero(self.size_law).tolist())

    @cached_property
    def ratios(self) -> FloatArray:
        """a_s for s = 1 … n − 1, as the floats P_s make it."""
        n = self.domain_size
        s = np.arange(1, n)
        return np.asarray((self.inside[1:n] * (n - s)) / (self.outside[1:n] * s))

    @cached_property
    def likelihood_ratio(self) -> float:
        """The largest ratio, either way, of the probabilities of a set given a member and given another type."""
        a = self.ratios[self.size_law[1:-1] > 0]
        with np.errstate(divide="ignore"):
            return float(np.maximum(a, 1.0 / a).max(initial=1.0))

    @property
    def privacy_loss(self) -> float:
        """A rigorous upper bound of the likelihood ratio's logarithm over the sizes that occur."""
        return min(loss_of_ratio(self.likelihood_ratio), self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, ground=VERIFIED)

    @cached_property
    def weights(self) -> FloatArray:
        """g_s for s = 1 … n − 1: a report S adds g_s(1_S − s/n) to the estimate of the centred data vector."""
        n = self.domain_size
        s = np.arange(1, n, dtype=float)
        lift = (self.ratios - 1.0) / (n + (self.ratios - 1.0) * s)
        x = float(np.sum(self.size_law[1:n] * lift**2 * s * (n - s))) / max(n - 1, 1)
        return np.asarray(lift / x)

    @property
    def _distances(self) -> tuple[FloatArray, FloatArray]:
        """‖b_o − p_u‖² for s = 1 … n − 1 where u ∈ S, and where not."""
        n, g = self.domain_size, self.weights
        s = np.arange(1, n, dtype=float)
        near = (1 - s / n) * ((g - 1) ** 2 + g**2 * (s - 1)) + (s - 1) / n
        far = g**2 * s * (1 - s / n) + 2 * g * s / n + 1 - 1 / n
        return near, far

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """α and β of the module's closed form."""
        n = self.domain_size
        s = np.arange(1, n, dtype=float)
        g = self.weights
        near, far = self._distances
        tau = self._mean(near, far, 1 - 1 / n)
        delta = self._mean(((g - 1) * (1 - s / n) - (s - 1) / n) ** 2, (g * s / n + 1 - 1 / n) ** 2, (1 - 1 / n) ** 2)
        beta = (delta / (1 - 1 / n) - tau / (n - 1)) / (1 - 2 / n) if n > 2 else 0.0
        return tau / (n - 1) - beta / n, beta

    def _mean(self, near: FloatArray, far: FloatArray, silent: float) -> float:
        """Mean over S, given u, of ``near`` where u ∈ S, ``far`` where not, ``silent`` where S is ∅ or [n]."""
        n = self.domain_size
        inside, outside = self.inside[1:n], self.outside[1:n]
        mixed = (inside * near + outside * far) / (inside + outside)
        return float(np.sum(self.size_law[1:n] * mixed) + (self.size_law[0] + self.size_law[n]) * silent)

    def evaluate(self, centred_gram: FloatArray) -> Evaluation:
        """The exact error on the workload with this centred Gram matrix."""
        C = np.diagonal(centred_gram)
        if self.domain_size == 1:
            return Evaluation(np.zeros(1), 0.0, self.privacy_loss, self.outputs)
        alpha, beta = self._moments
        variance = np.maximum(alpha * float(C.sum()) + beta * C, 0.0)
        return Evaluation(variance, 0.0, self.privacy_loss, self.outputs)

    # Simulation --------------------------------------------------------------------------------------------

    @cached_property
    def mixture(self) -> SubsetLaw:
        """Forced and free reports by size, as ``memberships.py`` draws them."""
        n = self.domain_size
        s = np.arange(1, n)
        used = self.size_law[1:n] > 0
        w = (self.ratios - 1.0) * s / (n + (self.ratios - 1.0) * s)
        if np.any(w[used] < 0):
            raise BadValue(
                "inside",
                "a set less likely with the type than without",
                "favour sets that contain the user's type",
                "report the complements of the sets",
            )
        law = self.size_law[1:n][used]
        silent = float(self.size_law[0] + (self.size_law[n] if n > 0 else 0.0))
        return SubsetLaw(n, s[used], law * w[used], law * (1.0 - w[used]), silent, self.weights[used])

    def simulation_refusal(self, users: int) -> str:
        """Why that many users cannot be simulated, or nothing."""
        return "" if self.domain_size == 1 else self.mixture.refusal(users)

    def simulate_estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """Centred estimates of the data vector from the reports of ``counts`` users by type, (types, trials)."""
        counts, trials = check_simulation(counts, self.domain_size, trials)
        if self.domain_size == 1:
            return np.zeros((1, trials))
        refusal = self.simulation_refusal(int(counts.sum()))
        if refusal:
            raise BadValue("users", int(counts.sum()), "be few enough to simulate", refusal)
        h = self.mixture.sample(counts, trials, rng)
        return np.asarray(h - h.mean(axis=0))

    def error_law(self, centred_gram: FloatArray) -> ErrorLaw:
        """Mean and variance of the squared error of a collection (see ``error_law.py``)."""
        C, n = centred_gram, self.domain_size
        variance = self.evaluate(C).variance
        if n == 1:
            return ErrorLaw(C, variance, np.zeros(1), np.zeros(1), lambda _: np.zeros((1, 1)))
        alpha, beta = self._moments
        own, rows = np.diagonal(C), np.einsum("uv,uv->u", C, C)
        pairs = alpha**2 * rows.sum() + 2.0 * alpha * beta * rows + beta**2 * own**2
        excess = self._fourth_moment(C) - variance**2 - 2.0 * pairs
        near, far = self._distances
        used = self.size_law[1:n] > 0
        jump = np.linalg.eigvalsh(C)[-1] * np.maximum(near, far)[used].max(initial=1.0 - 1.0 / n)

        def covariance(x: FloatArray) -> FloatArray:
            return np.asarray(alpha * x.sum() * (np.eye(n) - 1.0 / n) + beta * centred_diagonal(x))

        return ErrorLaw(C, variance, excess, np.full(n, max(jump, 0.0)), covariance)

    def _fourth_moment(self, centred_gram: FloatArray) -> FloatArray:
        """E[(zᵀCz)² | u]: with R the other types in S, zᵀCz = g²X + 2g(g−1)Y + (g−1)²C_uu where u ∈ S, and else
        g²X − 2gY + C_uu (X and Y as in ``GramSums``)."""
        n, g = self.domain_size, self.weights
        s = np.arange(1.0, n)
        near = self.size_law[1:n] * self.inside[1:n] / (self.inside[1:n] + self.outside[1:n])
        far = self.size_law[1:n] - near
        sums = GramSums.of(centred_gram)
        with_u = sums.mean_square(near, s - 1.0, g**2, 2.0 * g * (g - 1.0), (g - 1.0) ** 2)
        without_u = sums.mean_square(far, s, g**2, -2.0 * g, np.ones_like(g))
        silent = float(self.size_law[0] + self.size_law[n])
        return np.asarray(with_u + without_u + silent * sums.own**2)


def subset_strategy(size_law: FloatArray, epsilon: float) -> Strategy:
    """The subset mechanism with this law of sizes: a verified matrix where its outputs fit, else the closed form."""
    n = len(size_law) - 1
    sizes = np.flatnonzero(size_law).tolist()
    if sum(math.comb(n, s) for s in sizes) <= MATRIX_OUTPUTS_LIMIT:
        return StrategyMatrix(subset_matrix(size_law, epsilon), epsilon)
    a = inner_ratio(epsilon)
    s = np.arange(n + 1, dtype=float)
    total = a * s + (n - s)
    return SubsetStrategy(epsilon, size_law, a * s / total, (n - s) / total)


def subset_matrix(size_law: FloatArray, epsilon: float) -> FloatArray:
    """Q with a row for every subset of every size that occurs: π_s·v_S / (column sum of the size's rows)."""
    n = len(size_law) - 1
    a = inner_ratio(epsilon)
    blocks = []
    for s in np.flatnonzero(size_law).tolist():
        if s in (0, n):  # says nothing: the same probability for every type
            blocks.append(np.full((1, n), size_law[s]))
            continue
        members = np.array(list(itertools.combinations(range(n), s)), dtype=np.intp)
        inside = np.zeros((len(members), n), dtype=bool)
        inside[np.arange(len(members))[:, None], members] = True
        low = size_law[s] / (math.comb(n - 1, s - 1) * a + math.comb(n - 1, s))
        blocks.append(np.where(inside, low * a, low))
    return np.vstack(blocks)


def randomized_response(domain_size: int, epsilon: float) -> Strategy:
    """Randomized response (Warner, JASA 1965): a subset of size one, the true type e^ε times as likely as any other."""
    law = np.zeros(domain_size + 1)
    law[1] = 1.0
    return subset_strategy(law, epsilon)


def subset_selection(domain_size: int, epsilon: float) -> Strategy:
    """Subset selection (Ye & Barg, 2018): uniform subsets of the size of most information, near n/(e^ε+1)."""
    law = np.zeros(domain_size + 1)
    law[best_subset_size(domain_size, epsilon)] = 1.0
    return subset_strategy(law, epsilon)


def rappor(domain_size: int, epsilon: float) -> Strategy:
    """Basic RAPPOR: every bit of the one-hot code flipped with probability 1/(e^{ε/2}+1).

    Q_ou ∝ e^{(ε/2)(n − ‖o − e_u‖₁)} (Erlingsson, Pihur & Korolova, CCS 2014; Table 1 of McKenna, Maity, Mazumdar &
    Miklau, PVLDB 13(11), 2020): the size is a Bernoulli(p) plus a Binomial(n − 1, 1 − p), p = e^{ε/2}/(e^{ε/2}+1).
    Reconstruction is the optimal one for that matrix, which weighs reports by their number of ones and so is never
    worse than the usual debiasing.
    """
    return subset_strategy(_rappor_sizes(domain_size, epsilon), epsilon)


def _rappor_sizes(n: int, epsilon: float) -> FloatArray:
    log_keep = -math.log1p(math.exp(-epsilon / 2))
    log_flip = log_keep - epsilon / 2
    s = np.arange(n)
    others = np.exp(gammaln(n) - gammaln(s + 1) - gammaln(n - s) + s * log_flip + (n - 1 - s) * log_keep)
    law = np.zeros(n + 1)
    law[1:] += math.exp(log_keep) * others
    law[:-1] += math.exp(log_flip) * others
    return np.asarray(law / math.fsum(law))
