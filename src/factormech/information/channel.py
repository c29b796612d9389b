r"""Mutual information and capacity of a strategy matrix, the latter as a certified interval.

Q (m × n) has laws of reports as columns. For a law p of the types let q = Qp and D_x = KL(Q_x‖q). Then I(p) = Σ p_x
D_x, and for every p (Gallager; Arimoto, IEEE Trans. Inf. Theory 18(1), 1972; Blahut, ibid. 18(4), 1972)

.. math:: I(p) \;\le\; C = \max_p I(p) \;\le\; \max_x D_x .

**Ascent.** p_x ← p_x·e^{sD_x}, normalised; s = 1 is the algorithm of Blahut and Arimoto. At small ε all D_x are nearly
equal and s = 1 hardly moves. With η a contraction coefficient of Q, KL(Qp'‖Qp) ≤ η·KL(p'‖p), the step maximises a lower
bound of I for every s ≤ 1/η: I(p') = Σ p'_x D_x − KL(Qp'‖Qp) ≥ Σ p'_x D_x − KL(p'‖p)/s, whose maximiser is p', and
which at p' = p is I(p). So I never falls, and C − I(p after k steps) ≤ ln(n)/(sk) as for s = 1. We take
s = coth²(L/2), L being the privacy loss of Q (``limits.largest_contraction``). Types that an optimal law leaves out
lose their weight like 1/k where D_x = C just holds; that is what the limit on ``iterations`` is for: the interval is
valid wherever it stops.

**Rounding.** Each D_x is a sum of m terms of size up to Q_ox·|ln ratio|, and q is a sum of n, so its error is below
(m + n + 16)·2⁻⁵³·Σ Q_ox(1 + |ln ratio|); twice that widens both ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.information.limits import largest_contraction
from factormech.privacy import check_probabilities, privacy_loss

_UNIT = 2.0**-53
# Above this loss the step is 1 to rounding.
_LOSS_LIMIT = 30.0


@dataclass(frozen=True)
class Capacity:
    """An interval for the capacity in nats, the law of types that reaches its lower end, and the steps taken."""

    lower: float
    upper: float
    law: FloatArray
    iterations: int


def checked_channel(strategy: FloatArray) -> FloatArray:
    """Q with columns that sum to 1, without outputs that never occur."""
    Q = np.asarray(strategy, dtype=float)
    check_probabilities(Q)
    Q = Q[Q.any(axis=1)]
    return np.asarray(Q / Q.sum(axis=0))


def checked_law(law: FloatArray, types: int, name: str = "law") -> FloatArray:
    """A distribution over the types."""
    p = np.asarray(law, dtype=float)
    if p.shape != (types,) or not np.isfinite(p).all() or p.min() < 0.0 or abs(float(p.sum()) - 1.0) > 1e-9:
        rule = f"be {types} probabilities that sum to 1"
        raise BadValue(name, f"array of shape {p.shape}", rule, "give a distribution over the user types")
    return np.asarray(p / p.sum())


def type_divergences(strategy: FloatArray, law: FloatArray) -> FloatArray:
    """D_x = KL(Q_x‖Qp), (n,), nats; ∞ where a report of a type never occurs under the law."""
    Q = checked_channel(strategy)
    return _divergences(Q, Q @ checked_law(law, Q.shape[1]))


def mutual_information(strategy: FloatArray, law: FloatArray) -> float:
    """I(p) = Σ p_x KL(Q_x‖Qp) in nats, of a user's type of law p and the report.

    Parameters
    ----------
    strategy
        Q, outputs × types; columns are laws of reports.
    law
        p, (types,).
    """
    Q = checked_channel(strategy)
    p = checked_law(law, Q.shape[1])
    used = p > 0.0
    return max(float(p[used] @ _divergences(Q[:, used], Q @ p)), 0.0)


def capacity(strategy: FloatArray, *, gap: float = 1e-6, iterations: int = 20_000) -> Capacity:
    """The capacity of a strategy matrix, to a relative ``gap`` if ``iterations`` allow; the interval holds anyway.

    Parameters
    ----------
    strategy
        Q, outputs × types.
    gap
        (upper − lower)/upper at which to stop.
    iterations
        Steps at most.
    """
    Q = checked_channel(strategy)
    check_positive_integer("iterations", iterations)
    if not 0.0 < gap < 1.0:
        raise BadValue("gap", gap, "be above 0 and below 1", "give for example 1e-6")
    step = 1.0 / largest_contraction(min(max(privacy_loss(Q), 1e-8), _LOSS_LIMIT))
    p = np.full(Q.shape[1], 1.0 / Q.shape[1])
    lower, upper, best = 0.0, float(np.log(min(Q.shape))) + 1.0, p
    taken = 0
    while taken < iterations and upper - lower > gap * upper:
        taken += 1
        q = Q @ p
        D, error = _divergences(Q, q), _rounding(Q, q)
        information = float(p @ D) - error
        if information > lower:
            lower, best = information, p
        upper = min(upper, float(D.max()) + error)
        if D.max() - p @ D <= error and 2.0 * error > gap * upper:
            # What is left is rounding: no step can close the interval further, as where the capacity is 0.
            break
        weights = p * np.exp(step * (D - D.max()))
        p = weights / weights.sum()
    return Capacity(max(lower, 0.0), float(upper), best, taken)


def _divergences(Q: FloatArray, q: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ox,ox->x", Q, _log_ratio(Q, q)))


def _log_ratio(Q: FloatArray, q: FloatArray) -> FloatArray:
    # ln via log1p of the difference: at small ε the ratios are near 1.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(Q > 0.0, np.log1p((Q - q[:, None]) / q[:, None]), 0.0))


def _rounding(Q: FloatArray, q: FloatArray) -> float:
    size = float(np.einsum("ox,ox->x", Q, 1.0 + np.abs(_log_ratio(Q, q))).max())
    return 2.0 * (sum(Q.shape) + 16) * _UNIT * size
