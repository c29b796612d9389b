r"""Users who are drawn: how many make a mechanism accurate for a *distribution* of types rather than for a data set.

Lower bounds (``bounds/hard/release.py``) are about n users drawn independently from a distribution λ, and errors are
measured from Wλ. A mechanism's error from Wp, p the histogram of the users that were drawn, is then not the whole: one
user's report, seen from λ, has the mean w̃_u = W_u + D_u of its type around w̃λ besides its own noise, and so

.. math:: \operatorname{Var}_q = \sum_u λ_u\bigl(S_{u,qq} + (\tilde w_{qu} - \tilde w_q λ)^2\bigr)
          \le \min_t \max_u \bigl(S_{u,qq} + (\tilde w_{qu} - t)^2\bigr)

for every λ, with equality for some (the left side is a minimum over t of what is linear in λ; minimax). With r_q the
range of w̃_q, Hoeffding's lemma gives log-moments of at most K_q(τ) + τ²r_q²/8. In both the biases are Dλ.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.local.factorized import chernoff
from factormech.local.factorized.gaussian_maximum import expected_maximum
from factormech.local.factorized.release import LocalRelease, check_accuracy

_STEPS = 60
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)


def worst_variances(release: LocalRelease) -> FloatArray:
    """(k,): the largest variance of each answer times n over all distributions, from above."""
    S, w = release.query_variances, release.workload + release.bias
    low, high = w.min(axis=1), w.max(axis=1)

    def largest(t: FloatArray) -> FloatArray:
        return np.asarray((S + (w - t[:, None]) ** 2).max(axis=1))

    best = largest(0.5 * (low + high))
    for _ in range(_STEPS):  # golden section: convex in t
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = largest(left), largest(right)
        best = np.minimum(best, np.minimum(at_left, at_right))
        falls = at_left > at_right
        low, high = np.where(falls, left, low), np.where(falls, high, right)
    return np.asarray(best)


def predicted_users(release: LocalRelease, alpha: float) -> int:
    """The least n whose central-limit bound of E‖answers − Wλ‖_∞ is at most α for every λ; a prediction."""
    accuracy = _check(release, alpha)
    variances = worst_variances(release)
    return chernoff.whole_users(lambda n: expected_maximum(release.offsets, np.sqrt(variances / n)), accuracy)


def guaranteed_users(release: LocalRelease, alpha: float) -> int:
    """The least n that is proved to give E‖answers − Wλ‖_∞ ≤ α for every λ."""
    accuracy = _check(release, alpha)
    ranges = np.ptp(release.workload + release.bias, axis=1)
    sampling = np.tile(ranges**2 / 8.0, 2)

    def exponents(tau: float) -> FloatArray:
        return np.asarray(tau * np.tile(release.offsets, 2) + release.log_moments(tau) + tau**2 * sampling)

    scale = (accuracy - release.distance) / float(worst_variances(release).max())
    return chernoff.least_users(exponents, scale, accuracy)


def _check(release: LocalRelease, alpha: float) -> float:
    accuracy = check_accuracy(alpha, release.workload)
    if accuracy <= release.distance:
        rule = f"be above the distance {release.distance:.6g} of what {release.name} answers from the workload"
        raise BadValue("alpha", alpha, rule, "ask for less accuracy, or build the mechanism for this alpha")
    return accuracy
