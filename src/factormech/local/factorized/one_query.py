r"""Every user answers one random query by randomized response: the rival that spends ε on one query.

W_qu = m_q + h_q·w_qu with w_qu ∈ [−1, 1], m_q and h_q the middle and half the range of query q; the shift m_q is
public. A user draws one of the K queries with h_q > 0 and reports it with a sign Z, P(Z = 1) = (1 + (2p−1)w)/2 and
p/(1−p) ≤ e^ε. The curator adds K·h_q·c·Z to query q, c = 1/(2p−1), and divides by n: unbiased, with (as E Z² = 1)

.. math:: S_u = \operatorname{diag}(K h_q^2 c^2) - v_u v_u^\top, \qquad v_{qu} = h_q w_{qu} .

**Moment generating function.** With b = τKh_qc and ω = w/c ∈ [−1/c, 1/c],

.. math:: \log \operatorname{E} e^{τζ}
          = \log\Bigl(1 + \tfrac{\cosh b - 1}{K} + \tfrac{ω\sinh b}{K}\Bigr) - \tfrac{bω}{K} ,

concave in ω, so its largest value over all types is at the root of its derivative, or at the nearest end. It is the
same for −τ, the range of ω being symmetric.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.local.factorized.factor_release import symmetric_root
from factormech.local.factorized.release import LocalRelease, half_ranges
from factormech.local.randomizers.half_sphere import facing_probability
from factormech.numerics.rounding import gamma
from factormech.privacy import loss_of_ratio

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
