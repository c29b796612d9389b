r"""How much a strategy matrix contracts: its coefficient η, and the largest divergence of two types.

η(Q) = sup KL(Qλ‖Qμ)/KL(λ‖μ) over laws λ ≠ μ of the types. It is the largest over two types alone (Ordentlich &
Polyanskiy, *Strong data processing constant is achieved by binary inputs*, IEEE Trans. Inf. Theory 68(3), 2022), where
for columns P, R

.. math:: \eta(P,R) = \max_{0\le\beta\le1} L(\beta),\qquad
          L(\beta) = \beta\bar\beta\sum_o\frac{(P_o-R_o)^2}{\beta P_o+\bar\beta R_o}
                   = 1-\sum_o\frac{P_oR_o}{\beta P_o+\bar\beta R_o},\quad \bar\beta = 1-\beta .

The second form is concave in β. For an ε-LDP matrix and one β the first is Σ R_o φ(P_o/R_o), φ convex, so it is at most
what the two ratios e^{±ε} give, which is L(β) of randomized response, concave and symmetric in β: at most its value at
½, tanh²(ε/2) (Zamanlooy & Asoodeh, ISIT 2023, by another way).

The maximum over β is found by bisection of L'; its tangents at the last two points give the upper end of the interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_dense_size
from factormech.errors import BadValue
from factormech.information.channel import checked_channel
from factormech.numerics.roots import bisect_each

_END, _WIDTH = 1e-9, 2.0**-30  # how far from 0 and 1 β begins, and when its bracket is narrow enough
_MARGIN = 2.0**-40  # sums of some thousand terms below 1
_BLOCK = 2_000_000


@dataclass(frozen=True)
class Contraction:
    """An interval for η, and the two types that reach its lower end."""

    lower: float
    upper: float
    types: tuple[int, int]


def contraction(strategy: FloatArray) -> Contraction:
    """The contraction coefficient of Kullback–Leibler (and χ²) divergence of a strategy matrix.

    Parameters
    ----------
    strategy
        Q, outputs × types; at least two types.
    """
    Q = checked_channel(strategy)
    n = Q.shape[1]
    if n < 2:
        raise BadValue("types", n, "be at least 2", "give a strategy for a larger domain")
    check_dense_size("pairs of types x outputs", n * n, 1)
    first, second = np.triu_indices(n, 1)
    best = Contraction(0.0, 0.0, (0, 1))
    each = max(_BLOCK // len(Q), 1)
    for start in range(0, len(first), each):
        a, b = first[start : start + each], second[start : start + each]
        low, high = _of_pairs(Q[:, a], Q[:, b])
        i = int(np.argmax(low))
        types = (int(a[i]), int(b[i])) if low[i] > best.lower else best.types
        best = Contraction(max(best.lower, float(low[i])), max(best.upper, float(high.max())), types)
    return Contraction(max(best.lower - _MARGIN, 0.0), min(best.upper + _MARGIN, 1.0), best.types)


def largest_pairwise_divergence(strategy: FloatArray) -> float:
    """The largest KL(Q_x‖Q_x') over two types, nats; ∞ where a report tells one from the other."""
    Q = checked_channel(strategy)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(Q)
        own = np.where(Q > 0.0, Q * logs, 0.0).sum(axis=0)
        if np.isneginf(logs).any():
            return _with_zeros(Q, logs)
    return float((own[:, None] - Q.T @ logs).max())


def _with_zeros(Q: FloatArray, logs: FloatArray) -> float:
    """The same where some probabilities are 0: a type that reports what another never does is infinitely far."""
    absent = (Q == 0.0).astype(float)
    if ((Q > 0.0).astype(float).T @ absent).any():
        return float("inf")
    finite = np.where(np.isneginf(logs), 0.0, logs)
    own = (Q * finite).sum(axis=0)
    return float((own[:, None] - Q.T @ finite).max())


def _of_pairs(P: FloatArray, R: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends of η(P, R) for columns P, R, each (outputs, pairs)."""
    pairs = P.shape[1]

    def falls(beta: FloatArray, which: IntArray | slice) -> FloatArray:
        return np.asarray(_slope(P[:, which], R[:, which], beta) <= 0.0)

    # The maximum lies between the ends, or within the margin of one of them: below either tangent there.
    ends = bisect_each(falls, np.full(pairs, _END), np.full(pairs, 1.0 - _END), _WIDTH)
    width = ends[1] - ends[0] + _END
    values = [_value(P, R, beta) for beta in ends]
    slopes = _slope(P, R, ends[0]), -_slope(P, R, ends[1])
    low = np.maximum(*values)
    high = np.minimum(*(value + np.maximum(slope, 0.0) * width for value, slope in zip(values, slopes, strict=True)))
    return low, np.maximum(high, low)


def _value(P: FloatArray, R: FloatArray, beta: FloatArray) -> FloatArray:
    """L(β), in the form that does not cancel where P and R are near."""
    D = P - R
    mixed = R + beta * D
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(beta * (1.0 - beta) * np.where(mixed > 0.0, D * D / mixed, 0.0).sum(axis=0))


def _slope(P: FloatArray, R: FloatArray, beta: FloatArray) -> FloatArray:
    """L'(β)."""
    D = P - R
    mixed = R + beta * D
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(mixed > 0.0, P * R * D / mixed**2, 0.0).sum(axis=0))
