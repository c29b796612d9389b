r"""Lower bounds on the variance of every unbiased linear ε-LDP strategy, from singular values alone.

Both bound the *average-case* variance per user (summed over queries), hence the worst case too.

``svd``: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020), Corollary 5.7: with λ the singular values of W,
(Σλ)²/(n e^ε) − ‖W‖_F²/n.

``centred_svd``: tr X_c ≤ σ (``staircase.py``), and by Cauchy–Schwarz
tr(X_c⁺C)·tr X_c ≥ (tr C^{1/2})² whenever C lies in the range of X_c, so

.. math:: \tfrac1n\bigl(\lVert WP\rVert_*^2/\sigma - \lVert WP\rVert_F^2\bigr) .

It is attained where C is a multiple of P (Histogram), by subset selection. It is never below ``svd``: with
t = ‖W1‖/√n, ‖W‖_* ≤ t + ‖WP‖_*, so ‖W‖_*² ≤ (t² + ‖WP‖_*²/σ)(1 + σ), and 1 + σ ≤ cosh²(ε/2) ≤ e^ε.

**Rounding.** Up to 4096 types ``proved.py`` evaluates ``centred_svd``, with uniform weights. Where u ⊕ v decides C the
spectrum does: closed forms and fast transforms in whole numbers, right to 32 roundings of the largest entry. Only
``svd``, and ``centred_svd`` of other workloads on larger domains, rest on an eigenvalue solver: its values are taken to
be right to 8n + 32 roundings of the largest, which is what such solvers keep to and no proof.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.average import same_for_all
from factormech.bounds.centred import CentredGram
from factormech.bounds.proved import proved_variance, uniform_weights
from factormech.bounds.scatter import EPSILON_LIMIT
from factormech.workloads.base import Workload

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
    epsilon, n = check_epsilon(epsilon), workload.domain_size
    if n == 1 or same_for_all(workload, float(np.sum(workload.centred_singular_values() ** 2))):
        return 0.0
    if workload.centred_walsh_spectrum() is not None:
        return spectral_variance(workload.centred_singular_values(), epsilon, _SPECTRUM)
    if n > DENSE_UP_TO:
        return spectral_variance(workload.centred_singular_values(), epsilon, _SPECTRUM + 8.0 * n * _UNIT)
    return proved_variance(CentredGram.of(workload), epsilon, uniform_weights(n))


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
    (``local/strategy.py``), it holds with ‖WP‖_F², which is never larger.
    """
    return average, math.exp(epsilon) * (average + centred_squared / domain_size)
