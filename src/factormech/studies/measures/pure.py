r"""Errors and lower bounds under pure privacy, as rows.

**Lower bounds.** Rows have errors against nε, or users against 1/α. Errors are E‖M(X) −
Q(X)‖₂/√k on means Q(X), worst over the data; neighbours replace one user. Every row prints ε: the bounds depend on
n and ε, as whole users are copied, and on nε alone only as ε → 0.

**Laplace noise, and users.** Several studies need exact errors of Laplace noise, and numbers of users by simulated
errors.

**Laplace.** For m independent Laplace variables of scale 1, S = ΣX_i² has E e^{−tS} = φ(t)^m with φ(t) = z√π·erfcx(z),
z = 1/(2√t), and

.. math:: E\sqrt S = \frac{1}{2\sqrt\pi}\int_0^\infty \frac{1-φ(t)^m}{t^{3/2}}\,dt ,

whose integrand in ln t is analytic and falls exponentially both ways: the trapezoidal rule is exact to rounding.

**Random signs.** Some queries are longer than the others; the choices of a release are made on other noise than its
errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.bounds.packing.core import LowerBound
from factormech.bounds.packing.lower import users_needed
from factormech.bounds.packing.marginals import averaged_bound, full_parity, sparse_bound
from factormech.errors import BadValue
from factormech.mechanisms.central.moments import Estimate
from factormech.mechanisms.pure.errors import mean_error

# Lower bounds.


def parity_rows(sizes: Iterable[int], products: Iterable[float], epsilon: float) -> Iterator[dict[str, Any]]:
    """Full parity: the bound at n = nε/ε users, its two parts, and the sparsity of the packing.

    Parameters
    ----------
    sizes
        N, powers of two.
    products
        nε; n is rounded to a whole number of at least one, and the row's ``product`` is that of the rounded n.
    epsilon
        The privacy budget.
    """
    epsilon, products = check_epsilon(epsilon), list(products)
    for N in sizes:
        for product in products:
            n = users_of(product, epsilon)
            packing, averaging = sparse_bound(N, n, epsilon), averaged_bound(N, n, epsilon)
            best = max(packing, averaging, key=lambda bound: bound.value)
            yield {
                "domain_size": N,
                "epsilon": epsilon,
                "users": n,
                "product": n * epsilon,
                "lower": best.value,
                "method": best.method,
                "packing": packing.value,
                "averaging": averaging.value,
                "averaged_types": averaging.witness["types"],
                **{
                    key: packing.witness.get(key)
                    for key in ("set_size", "largest_overlap", "copies", "code", "log_size")
                },
            }


def parity_users_rows(sizes: Iterable[int], alphas: Sequence[float], epsilon: float) -> Iterator[dict[str, Any]]:
    """Full parity: users that error α takes at least, with the slope of ln n in ln(1/α) at each α."""
    epsilon = check_epsilon(epsilon)
    for N in sizes:
        yield from users_rows({"domain_size": N}, lambda n, N=N: full_parity(N, n, epsilon), alphas, epsilon)  # type: ignore[misc]


def users_rows(
    subject: dict[str, Any], bound: Callable[[int], LowerBound], alphas: Sequence[float], epsilon: float
) -> Iterator[dict[str, Any]]:
    """The same for any bound n ↦ error; ``slope`` is empty where α has no neighbours or nothing is proved."""
    ordered = sorted(map(float, alphas), reverse=True)
    needed = [users_needed(bound, alpha) for alpha in ordered]
    slopes = local_slopes([1.0 / alpha for alpha in ordered], [found.users for found in needed])
    for alpha, found, slope in zip(ordered, needed, slopes, strict=True):
        method = found.last.method if found.last is not None else "none"
        yield {**subject, "epsilon": epsilon, "alpha": alpha, "users": found.users, "method": method, "slope": slope}


def local_slopes(x: Sequence[float], y: Sequence[float]) -> list[float | None]:
    """d ln y/d ln x by differences to both neighbours (to one at the ends); ``None`` for single points and y ≤ 1."""
    a, b = np.log(np.asarray(x, float)), np.log(np.asarray(y, float))
    found: list[float | None] = []
    for i in range(len(a)):
        low, high = max(i - 1, 0), min(i + 1, len(a) - 1)
        found.append(float((b[high] - b[low]) / (a[high] - a[low])) if high > low and b[low] > 0.0 else None)
    return found


def users_of(product: float, epsilon: float) -> int:
    """n = nε/ε, rounded, at least 1."""
    if not (math.isfinite(product) and product > 0.0):
        raise BadValue("product", product, "be a finite number nε above 0", "give for example 64.0")
    return check_positive_integer("users", max(1, round(product / epsilon)))


# Laplace noise, and users.

# Simulated errors have intervals that miss with this probability.
LEVEL = 1e-3
_REACH, _STEP = 90.0, 0.02
# Below this t the power series of φ is exact to rounding and its logarithm is not.
_SERIES = 1e-4


def laplace_norm(variables: int) -> float:
    """E‖X‖₂ of that many independent Laplace variables of scale 1."""
    from scipy.special import erfcx

    m = check_positive_integer("variables", variables)
    y = np.arange(-_REACH, _REACH + _STEP, _STEP)
    t = np.exp(y)
    z = 0.5 / np.sqrt(t)
    small = t < _SERIES
    series = np.where(small, t, 0.0)
    gap = np.where(small, series * (2.0 - series * (12.0 - series * (120.0 - 1680.0 * series))), 0.0)
    logs = np.where(small, np.log1p(-gap), np.log(math.sqrt(math.pi) * z * erfcx(z)))
    return float((-np.expm1(m * logs) / np.sqrt(t)).sum() * _STEP / (2.0 * math.sqrt(math.pi)))


def parity_laplace_norm(size: int) -> float:
    """nε times the error of Laplace noise on all N parities.

    One of them is constant, and two types differ in half of them, by 2: scale N/ε on N − 1 answers, over √k = √N.
    """
    return math.sqrt(size) * laplace_norm(size - 1)


def sparsities_to(size: int, users: int) -> list[int]:
    """1, 2, 4 … as far as both types and users go."""
    return [2**i for i in range(max(1, min(size, users)).bit_length())]


def users_within(
    error: Callable[[int], float], alpha: float, *, most: int = 2**40, precision: float = 0.01
) -> tuple[int, int]:
    """A whole n with error(n) ≤ α and the n' < n nearest below that was seen to fail, n − n' ≤ max(1, n·precision).

    The users are doubled until the error is at most α, and the last doubling is halved: for errors that fall in n,
    n is the least that will do, up to the precision. n' is 0 if one user is enough.
    """
    low, high = 0, 1
    while error(high) > alpha:
        low, high = high, 2 * high
        if high > most:
            raise BadValue("alpha", alpha, f"be reached by {most} users", "ask for a larger error")
    while high - low > max(1, precision * high):
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= alpha else (middle, high)
    return high, low


# Random signs.

# Intervals of errors miss with this probability.
SKEWED_LEVEL = 0.01


def lengths(queries: int, long: int, skew: float) -> FloatArray:
    """The scale of each query, (k,): the first ``long`` are ``skew`` times the others; their mean square is 1."""
    found = np.ones(queries)
    found[:long] = skew
    return np.asarray(found / math.sqrt(float((found**2).mean())))


def signs(queries: int, types: int, rng: np.random.Generator) -> FloatArray:
    """Independent signs, (k, N)."""
    return rng.choice(np.array([-1.0, 1.0]), (queries, types))


@dataclass(frozen=True)
class Chosen:
    """The release and the data set that one half of the noise chose, and their error on the other half."""

    release: int
    data: int
    error: Estimate


def chosen(errors: FloatArray) -> Chosen:
    """Return the release that is best on its worst data, with its error; axes: releases, data, matrices, draws.

    The first half of the matrices chooses both and the second measures, so that a choice is no part of its own error.
    """
    half = errors.shape[2] // 2
    first = errors[:, :, :half].mean(axis=(2, 3))
    release = int(np.argmin(first.max(axis=1)))
    data = int(np.argmax(first[release]))
    return Chosen(release, data, mean_error(errors[release, data, half:], SKEWED_LEVEL))
