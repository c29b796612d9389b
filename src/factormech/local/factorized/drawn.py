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

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.local.factorized import chernoff
from factormech.local.factorized.gaussian_maximum import expected_maximum
from factormech.local.factorized.release import LocalRelease, check_accuracy
from factormech.numerics.roots import bisect_each, least_whole


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
    return chernoff.least_users(exponents, scale, accuracy)


def _check(release: LocalRelease, alpha: float) -> float:
    accuracy = check_accuracy(alpha, release.workload)
    if accuracy <= release.distance:
        rule = f"be above the distance {release.distance:.6g} of what {release.name} answers from the workload"
        raise BadValue("alpha", alpha, rule, "ask for less accuracy, or build the mechanism for this alpha")
    return accuracy
