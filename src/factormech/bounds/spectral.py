r"""Lower bounds on the variance of every unbiased linear ε-LDP strategy, from singular values alone.

**Over all types.** Both bound the *average-case* variance per user (summed over queries), hence the worst case too.

``svd``: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020), Corollary 5.7: with λ the singular values of W,
(Σλ)²/(n e^ε) − ‖W‖_F²/n.

``centred_svd``: tr X_c ≤ σ (``staircase.py``), and by Cauchy–Schwarz
tr(X_c⁺C)·tr X_c ≥ (tr C^{1/2})² whenever C lies in the range of X_c, so

.. math:: \tfrac1n\bigl(\lVert WP\rVert_*^2/\sigma - \lVert WP\rVert_F^2\bigr) .

It is attained where C is a multiple of P (Histogram), by subset selection. It is never below ``svd``: with
t = ‖W1‖/√n, ‖W‖_* ≤ t + ‖WP‖_*, so ‖W‖_*² ≤ (t² + ‖WP‖_*²/σ)(1 + σ), and 1 + σ ≤ cosh²(ε/2) ≤ e^ε.

**Rounding.** Up to 4096 types ``proved.py`` evaluates ``centred_svd``, with uniform weights. Where u ⊕ v decides C the
spectrum does: closed forms and fast transforms in whole numbers, right to 32 roundings of the largest entry. The others
rest on an eigenvalue solver (``svd``, ``by_singular_values``, and ``centred_svd`` of other workloads on larger
domains): its values are taken to be right to 8n + 32 roundings of the largest, which is what such solvers keep to and
no proof.

**On given data.** This bound holds even for a strategy that was made for these data. Let p be the shares of the user
types, VQ = W, μ = Qp, and v_o the columns of V. The variance of the answers for one user drawn from p (McKenna,
Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, Theorem 3.4, averaged over p) is

.. math:: \sum_o \mu_o\lVert v_o\rVert^2 - \sum_u p_u\lVert We_u\rVert^2 .

*Centring.* V' = V − Wp1ᵀ has V'μ = 0 (because Vμ = Wp and 1ᵀμ = 1), so Σ_o μ_o‖v_o‖² = ‖Wp‖² + Σ_o μ_o‖v'_o‖², and
V'(Q − μ1ᵀ) = V'Q = W_p with W_p = W(I − p1ᵀ). The variance is therefore ‖V'D‖_F² − ‖W_pP‖_F² with D = Diag(μ)^{1/2},
P = Diag(p)^{1/2}.

*Duality.* ‖W_pP‖_* = ‖(V'D)(D⁻¹(Q − μ1ᵀ)P)‖_* ≤ ‖V'D‖_F·‖D⁻¹(Q − μ1ᵀ)P‖_F by Cauchy–Schwarz.

*Privacy.* The square of the last norm is Σ_o Var_p(q_o)/μ_o. The entries of row o lie in [a, e^ε a], so
Var_p(q_o) ≤ (e^ε a − μ_o)(μ_o − a) (Bhatia & Davis), at most κμ_o² with κ = (e^ε − 1)²/(4e^ε) = sinh²(ε/2) whatever a
is; and Σ_o μ_o = 1. Hence

.. math:: \text{variance} \ge \lVert W_pP\rVert_*^2 / \sinh^2(\varepsilon/2) - \lVert W_pP\rVert_F^2 .

With p uniform this is ``spectral.centred_svd`` with sinh²(ε/2) in place of the slightly smaller σ. W enters through its
centred Gram matrix alone, because W1 1ᵀ(I − p1ᵀ) = 0.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.centred import CentredGram
from factormech.bounds.proved import proved_variance, same_for_all, uniform_weights
from factormech.bounds.scatter import EPSILON_LIMIT
from factormech.errors import BadValue
from factormech.workloads.base import Workload

# Over all types.

# Gram matrices of up to so many types are made dense, for a proof; spectra of larger ones are taken as they are.
DENSE_UP_TO = 4096
_UNIT = 2.0**-53
# Roundings of a spectrum from a closed form or a fast transform, relative to its largest entry.
_SPECTRUM = 2.0**-48


def svd(workload: Workload, epsilon: float) -> float:
    """Corollary 5.7's lower bound on the variance per user, rounded down; 0 where it is vacuous."""
    epsilon = check_epsilon(epsilon)
    n = workload.domain_size
    low, _ = _roots_within(workload.singular_values(), _SPECTRUM + 8.0 * n * _UNIT)
    gain = math.fsum(low.tolist()) ** 2 * math.exp(-epsilon)
    cost = workload.frobenius_squared() * (1.0 + _SPECTRUM)
    return _below((gain - cost) / n, 8.0 * (gain + cost) / n)


def centred_svd(workload: Workload, epsilon: float) -> float:
    """The centred bound on the variance per user, rounded down; 0 where it is vacuous or all types are alike."""
    n = workload.domain_size
    if workload.centred_walsh_spectrum() is None and 1 < n <= DENSE_UP_TO:
        epsilon = check_epsilon(epsilon)
        alike = same_for_all(workload, float(np.sum(workload.centred_singular_values() ** 2)))
        return 0.0 if alike else proved_variance(CentredGram.of(workload), epsilon, uniform_weights(n))
    return by_singular_values(workload, epsilon)


def by_singular_values(workload: Workload, epsilon: float) -> float:
    """``centred_svd`` without its proof for dense Gram matrices, the dear part of it: enough to check numbers with."""
    epsilon, n, values = check_epsilon(epsilon), workload.domain_size, workload.centred_singular_values()
    if n == 1 or same_for_all(workload, float(np.sum(values**2))):
        return 0.0
    solver = 0.0 if workload.centred_walsh_spectrum() is not None else 8.0 * n * _UNIT
    return spectral_variance(values, epsilon, _SPECTRUM + solver)


def spectral_variance(values: FloatArray, epsilon: float, doubt: float) -> float:
    r"""The centred bound from the n singular values of WP, rounded down; 0 where it is vacuous.

    The squares of the values are right to ``doubt`` times the largest.
    With s the n − 1 values but for that of 1, m any number, and σ the largest information, it is either side of

    .. math:: \frac{(\sum s)^2 - \sigma\sum s^2}{\sigma n}
              = \frac{(n-1-\sigma)\sum s^2 - (n-1)\sum(s-m)^2 + (n-1)^2(\bar s-m)^2}{\sigma n} :

    the left one cancels at large ε, the right one at small ε, where n − 1 − σ, a sum of positive terms, does not.
    """
    n = len(values)
    low, high = _roots_within(values, doubt)
    low, high = low[:-1], high[:-1]  # values fall, and the last is that of 1
    if epsilon > EPSILON_LIMIT:
        return 0.0
    sigma, rest = _information_within(n, epsilon)
    squares_low, squares_high = (math.fsum((x**2).tolist()) for x in (low, high))
    total = math.fsum(low.tolist())
    left, cost = total**2 / sigma, squares_high
    middle = 0.5 * (low + high).mean()
    far = np.maximum(np.abs(low - middle), np.abs(high - middle))
    gain, spread = rest * squares_low / sigma, (n - 1) * math.fsum((far**2).tolist()) / sigma
    found = ((left, cost), (gain, spread))
    return max(_below((x - y) / n, 32.0 * (x + y) / n) for x, y in found)


def _roots_within(values: FloatArray, doubt: float) -> tuple[FloatArray, FloatArray]:
    """Bounds on singular values, their squares being right to ``doubt`` times the largest."""
    squares = values**2
    error = doubt * float(squares.max(initial=0.0))
    low = np.sqrt(np.maximum(squares - error, 0.0)) * (1.0 - 4.0 * _UNIT)
    return np.minimum(low, values), np.sqrt(squares + error) * (1.0 + 4.0 * _UNIT)


def _information_within(n: int, epsilon: float) -> tuple[float, float]:
    """σ rounded up, and n − 1 − σ rounded down, as a sum of positive terms."""
    w = math.expm1(epsilon) * (1.0 + 4.0 * _UNIT)
    centre = n / (w + 2.0)
    sizes = {min(max(k, 1), n - 1) for k in (math.floor(centre), math.floor(centre) + 1)}
    named = {k: k * (w / (n + w * k)) for k in sizes}  # the share of high entries beyond the low ones, below 1
    sigma = max(x**2 * (n - k) / k for k, x in named.items())
    rest = min(((n - 1) * n / (n + w * k)) * (1.0 + x) + n * (k - 1) / k * x**2 for k, x in named.items())
    return sigma * (1.0 + 32.0 * _UNIT), rest * (1.0 - 32.0 * _UNIT)


def _below(x: float, size: float) -> float:
    """x less ``size`` roundings, at least 0."""
    return max(x - size * _UNIT, 0.0)


def worst_case_interval(
    average: float, centred_squared: float, domain_size: int, epsilon: float
) -> tuple[float, float]:
    """Where the worst-case variance must lie, given the average: Theorem 5.1 applied to WP, N = 1.

    average ≤ worst ≤ e^ε(average + ‖WP‖_F²/n). The theorem has ‖W‖_F²; since both variances depend on W only through WP
    (``mechanisms/local/strategy.py``), it holds with ‖WP‖_F², which is never larger.
    """
    return average, math.exp(epsilon) * (average + centred_squared / domain_size)


# On given data.

NAME = "data-svd"
# What an eigenvalue may be off by, in roundings of the largest for each type: a model of the solver, not a proof.
EIGENVALUES = 8.0


def centred_svd_on(centred_gram: FloatArray, shares: FloatArray, epsilon: float) -> float:
    """Return the bound on the variance per user, summed over the queries, rounded down; 0 where it is vacuous.

    Parameters
    ----------
    centred_gram
        PGP, (n, n).
    shares
        p, (n,): at least 0, summing to one.
    epsilon
        The budget, replace-one relation.
    """
    p = np.asarray(shares, dtype=float)
    if p.shape != (len(centred_gram),) or not np.isfinite(p).all() or p.min() < 0 or abs(p.sum() - 1) > 1e-9:
        rule = f"have shape ({len(centred_gram)},), no entry below 0 and sum 1"
        raise BadValue(
            "shares", f"shape {p.shape}, sum {p.sum():.6g}", rule, "divide the counts by the number of users"
        )
    there = p > 0
    C, p = centred_gram[np.ix_(there, there)], p[there]
    # (I − 1pᵀ)C(I − p1ᵀ): C loses its mean under p, on both sides.
    Cp = C @ p
    A = C - Cp[:, None] - Cp + p @ Cp
    A *= np.sqrt(p) * np.sqrt(p)[:, None]
    squares = np.linalg.eigvalsh(0.5 * (A + A.T))
    doubt = EIGENVALUES * len(A) * np.finfo(float).eps * max(float(squares[-1]), 0.0)
    kappa = math.sinh(0.5 * check_epsilon(epsilon)) ** 2 * (1.0 + 1e-14)
    gain = float(np.sum(np.sqrt(np.maximum(squares - doubt, 0.0)))) ** 2 / kappa
    cost = float(np.trace(A)) + len(A) * doubt
    return max(gain * (1.0 - 1e-12) - cost * (1.0 + 1e-12), 0.0)
