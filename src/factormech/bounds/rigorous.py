r"""The bounds of ``parametric.py`` and ``pairwise.py`` with every rounding accounted for, in exact arithmetic.

**Weights of types.** This bound serves large domains, too. Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11),
2020); the theorem and the notation are those of ``parametric.py``. What is proved from weights p and ω in floating
point is this.

**Statement.** Let a ≥ e^ε be rational, p > 0 with exact sum S, ω rational with 4a/(1+a)² ≥ ω ≥ 1 − n²/(S Σ1/p_u). By
the theorem at ε' = log a, for every ε'-LDP strategy, so for every ε-LDP one,

.. math:: \operatorname{tr}(X_cY) \le S\,B(\omega)/n , \quad Y = P(\operatorname{Diag} p - pp^\top/(S\omega))P ,
          \qquad \operatorname{tr} X_c \le \sigma ,

and B and σ are rational functions of a, n and ω, computed here as fractions. Let T be any matrix and η ≥ 0 with
zᵀTCTᵀz ≤ zᵀYz + η‖z‖² for all z ⟂ 1. With C = RRᵀ and Z = PTR, tr(X_cZZᵀ) ≤ SB/n + ησ, and by Cauchy–Schwarz

.. math:: \operatorname{tr}(X_c^+C) \ge \frac{\operatorname{tr}(TC)^2}{S\,B(\omega)/n + \eta\sigma} .

T = YRK^{−1/2}R⁺, K = RᵀYR, has TCTᵀ ⪯ Y and tr(TC) = tr K^{1/2}, the theorem's own value: η only pays for rounding.

**The matrix C** of floats is not centred exactly. The bound holds for every centred Gram matrix whose entries differ
from those of PCP, computed exactly, by at most a given error; 0 means PCP itself.

**η.** zᵀ(Diag p − pp^⊤/(Sω) − TCTᵀ)z does not change on the complement of 1 when f1ᵀ + 1fᵀ is added, for any f.
So η = e + shift, where F + shift·I ⪰ 0 for the computed sum F, and e bounds the norm of its error: of a product of k
terms at most γ_k = ku/(1−ku) times the product of absolute values (Higham, Accuracy and Stability of Numerical
Algorithms, 2002, §3.5; u is the unit of ``numpy.longdouble``, in which F is computed, or TCTᵀ of it in sums of two
doubles, ``congruence``), and a symmetric matrix with entries below E ≥ 0 has norm at most the largest row sum of E. A
floating-point Cholesky factorization that succeeds proves A ⪰ −γ_{n+1}/(1−γ_{n+1})·tr A (Rump, BIT 46, 2006, Lemma 2.1
and §2), in whatever order its sums are taken.

**Weights of pairs.** Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020); the theorem is that of
``pairwise.py``, the method is the one above. Let a ≥ e^ε be rational, p floats with exact sum S > 0, N ≥ 0 a
symmetric matrix of floats with zero diagonal, r = N1, g = p − 2r/(a+1), Ω > 0 a float. At ε' = log a the theorem's
inequality, for p/S, N/S, Ω/S, says that for every ε-LDP strategy

.. math:: \operatorname{tr}(X_cY) \le S\,B/n, \qquad Y = P\bigl(\operatorname{Diag} p - N - gg^\top/\Omega\bigr)P ;

that Y be positive semidefinite is not needed for this. B is a maximum over segments of rational functions of a, n,
ω = Ω/S and ν = 1ᵀr/S, which grows with ω and with ν: both are rounded up. With zᵀTCTᵀz ≤ zᵀYz + η‖z‖² for z ⟂ 1 and
tr X_c ≤ σ, as above, tr(X_c⁺C) ≥ tr(TC)²/(SB/n + ησ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.certificates import RATIO_BITS, exponential_bound, rounded_up
from factormech.errors import BadValue

# Weights of types.

# Unit roundoffs of double and of extended precision, the latter as this machine has it.
_UNIT = 2.0**-53
_LONG_UNIT = 0.5 * float(np.finfo(np.longdouble).eps)
# What the few roundings in the error bounds themselves may amount to: they are sums of at most n² positive terms.
_SLACK = 1.0 + 1e-6
# Steps by which the shift grows until the factorization succeeds, and the first shift relatively to tr A.
GROWTH, FIRST = 2.0, 2.0**-64
# Reciprocals of weights are rounded up to multiples of 2 to minus this.
_BITS = 128
# Up to so many types products are taken in extended precision itself: slower, but nothing is to be loaded.
LONG_UP_TO = 128
_MODERATE = 2.0**64
# 1e-6 relatively is more than the γ's may be.
DOMAIN_LIMIT = 4096


def rigorous_objective(
    centred_gram: FloatArray, epsilon: float, weights: FloatArray, omega: float, *, entry_error: float = 0.0
) -> float:
    """A lower bound on tr(X_c⁺C) for every ε-LDP strategy that holds in exact arithmetic; 0 where there is none.

    Parameters
    ----------
    centred_gram
        C, (n, n), symmetric.
    epsilon
        The budget, taken as the exact number that it is.
    weights, omega
        p, (n,), positive, and ω, such as ``type_search.best_weights`` finds; ω is raised where Y ⪰ 0 asks for it.
    entry_error
        How far the entries of PCP may be from those of the centred Gram matrix that is meant.
    """
    C, p = np.asarray(centred_gram, dtype=float), np.asarray(weights, dtype=float)
    _check(C, p, omega, entry_error)
    n, ratio = len(C), rounded_up(exponential_bound(Fraction(check_epsilon(epsilon))), RATIO_BITS)
    mass, raised = admissible_omega(p, omega, ratio)
    scale = float(np.abs(C).max())
    if n == 1 or scale == 0.0:
        return 0.0
    # ω enters the matrix through the float Ω near Sω, and the limit through Ω/S exactly; Ω is kept on the safe side.
    big = math.nextafter(float(mass * raised), math.inf)
    exact = Fraction(big) / mass
    if exact > ceiling(ratio):
        return 0.0
    T = dual_guess(C / scale, p, big) / math.sqrt(scale)
    gain = trace_below(T, C, entry_error)
    if not gain > 0.0:
        return 0.0
    eta = excess_above(T, C, p, big, entry_error)
    limit = mass * information_limit(n, ratio, exact) / n + Fraction(eta) * largest_information(n, ratio)
    return math.nextafter(float(Fraction(gain) ** 2 / limit), 0.0)


def admissible_omega(weights: FloatArray, omega: float, ratio: Fraction) -> tuple[Fraction, Fraction]:
    """S, and ω moved to where Y ⪰ 0; it may end above ``ceiling``, and then there is none."""
    n, mass = len(weights), sum((Fraction(float(x)) for x in weights), Fraction(0))
    inverse = sum(math.ceil(2**_BITS / Fraction(float(x))) for x in weights)
    least = 1 - Fraction(n * n * 2**_BITS, inverse) / mass
    raised = max(min(Fraction(omega), ceiling(ratio)), least)
    # A little more than the least, so that no eigenvalue of Y is all rounding.
    raised = max(raised, rounded_up(least * (1 + Fraction(1, 10**9)), _BITS))
    # At the ceiling there is no room for the rounding of Sω to a float; below it by less than 1e-9 there is.
    return mass, raised * (1 - Fraction(1, 2**50)) if raised == ceiling(ratio) else raised


def ceiling(ratio: Fraction) -> Fraction:
    """1/cosh²(ε'/2), the largest ω."""
    return 4 * ratio / (1 + ratio) ** 2


def information_of_size(domain_size: int, ratio: Fraction, size: int) -> Fraction:
    """σ_k."""
    n, k = domain_size, size
    return (ratio - 1) ** 2 * k * (n - k) / (n + (ratio - 1) * k) ** 2


def largest_information(domain_size: int, ratio: Fraction) -> Fraction:
    """σ: it is unimodal in k, with its real maximum at n/(a+1)."""
    k = math.floor(domain_size / (ratio + 1))
    return max(information_of_size(domain_size, ratio, j) for j in (k, k + 1))


def information_limit(domain_size: int, ratio: Fraction, omega: Fraction) -> Fraction:
    """B(ω), exactly."""
    n = domain_size
    k = math.floor(n / (ratio + 1))
    few, many = (information_of_size(n, ratio, j) for j in (k, k + 1))
    ct_few, ct_many = (n * (ratio + 1) / (2 * (n - j + j * ratio)) for j in (k, k + 1))
    height = omega * (ct_few - ct_many) ** 2
    w = min(max(Fraction(1, 2) + (many - few) / (2 * height), Fraction(0)), Fraction(1))
    return (1 - w) * few + w * many + height * w * (1 - w)


def dual_guess(centred_gram: FloatArray, weights: FloatArray, omega: float) -> FloatArray:
    """T = YRK^{−1/2}R⁺, up to rounding; Ω = ``omega``."""
    values, vectors = np.linalg.eigh(centred_gram)
    keep = values > len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    R = vectors[:, keep] * np.sqrt(values[keep])
    Y = np.diag(weights) - np.outer(weights, weights) / omega
    Y -= Y.mean(axis=0)
    Y -= Y.mean(axis=1, keepdims=True)
    roots, basis = np.linalg.eigh(R.T @ Y @ R)
    good = roots > len(roots) * np.finfo(float).eps * max(float(roots[-1]), 0.0)
    half = basis[:, good] * roots[good] ** -0.25
    return np.asarray(Y @ R @ (half @ half.T) @ (R / values[keep]).T)


@dataclass(frozen=True)
class Centring:
    """What T makes of PCP − C = −(r1ᵀ + 1rᵀ)/n + (1ᵀr)11ᵀ/n², r = C1: next to nothing, as T1 and 1ᵀT nearly vanish.

    Attributes
    ----------
    rows
        Upper bounds on the row sums of the absolute values of T(PCP − C)Tᵀ, (n,).
    trace
        An upper bound on |tr(T(PCP − C))|.
    """

    rows: FloatArray
    trace: float

    @classmethod
    def of(cls, T: FloatArray, C: FloatArray) -> Centring:
        """Both from upper bounds on |r|, |T1| and |1ᵀT|."""
        n, size = len(C), np.abs(T)
        r, right, left = _sums_above(C), _sums_above(T), _sums_above(T.T)
        image, total = size @ r, float(r.sum())
        rows = (image * right.sum() + right * image.sum()) / n + right * right.sum() * total / n**2
        trace = float(left @ r + r @ right) / n + total * float(right.sum()) / n**2
        return cls(rows * _SLACK, trace * _SLACK)


def _sums_above(A: FloatArray) -> FloatArray:
    """Upper bounds on |A1|."""
    sums = np.abs(A.astype(np.longdouble).sum(axis=1)).astype(float)
    return np.asarray((sums + _gamma(len(A), _LONG_UNIT) * np.abs(A).sum(axis=1)) * _SLACK)


def trace_below(T: FloatArray, C: FloatArray, error: float) -> float:
    """A lower bound on tr(TC') for all |C' − PCP| ≤ ``error``."""
    products = T.astype(np.longdouble) * C
    total = float(products.sum())
    doubt = (
        _gamma(T.size, _LONG_UNIT) * float(np.abs(products).sum())
        + error * float(np.abs(T).sum())
        + Centring.of(T, C).trace
    )
    return total - (doubt * _SLACK + 2.0 * _UNIT * abs(total))


def excess_above(T: FloatArray, C: FloatArray, weights: FloatArray, omega: float, error: float) -> float:
    """An upper bound on the least η, for all |C' − PCP| ≤ ``error``; Ω = ``omega``."""
    p = weights.astype(np.longdouble)
    F = np.diag(p) - np.outer(p, p) / np.longdouble(omega) - congruence(T, C)
    return excess_of(F, T, C, weights + weights * float(weights.sum()) / omega, error)


def congruence(T: FloatArray, C: FloatArray) -> FloatArray:
    """TCTᵀ in extended precision, with entrywise errors below γ_{2n+1}·|T||C||T|ᵀ, γ of its unit u.

    On large domains in sums of two doubles, whose errors are a few γ_{2n}² of double precision (Ogita, Rump & Oishi,
    SIAM J. Sci. Comput. 26(6), 2005, §4), below n·2⁻⁸⁰ for n ≤ ``DOMAIN_LIMIT``, and one u from the last sum. Nothing
    overflows there, and underflow is far below 2⁻⁹⁰⁰, for entries up to ``_MODERATE``.
    """
    largest = max(float(np.abs(T).max()), float(np.abs(C).max()))
    if len(T) <= LONG_UP_TO or _LONG_UNIT < 2.0**-64 or not largest <= _MODERATE:
        TL = T.astype(np.longdouble)
        return np.asarray((TL @ C.astype(np.longdouble)) @ TL.T)
    from factormech.bounds.kernels import add_product

    transposed, first, low = np.ascontiguousarray(T.T), np.zeros_like(C), np.zeros_like(C)
    add_product(np.ascontiguousarray(T), np.ascontiguousarray(C), first, low)
    high, low = np.zeros_like(C), low @ transposed
    add_product(first, transposed, high, low)
    return np.asarray(high.astype(np.longdouble) + low)


def excess_of(F: FloatArray, T: FloatArray, C: FloatArray, terms: FloatArray, error: float) -> float:
    """The same of F = Y' − TCTᵀ in extended precision, ``terms`` the row sums of the absolute values that make Y'."""
    n, long = len(C), np.longdouble
    middle = F.mean(axis=0).astype(float)
    f = 0.5 * float(middle.mean()) - middle
    F = F + f.astype(long)[:, None] + f.astype(long)
    rounded = (0.5 * (F + F.T)).astype(float)
    # Row sums of entrywise errors, each of them symmetric: of the products, of C, of eight more roundings, of the last.
    size = np.abs(T) @ (np.abs(C) @ np.abs(T).sum(axis=0))
    doubt = _gamma(2 * n + 2, _LONG_UNIT) * size + error * np.abs(T).sum(axis=1) * float(np.abs(T).sum())
    doubt = doubt + Centring.of(T, C).rows
    terms = terms + size + n * np.abs(f) + float(np.abs(f).sum())
    doubt = doubt + 8.0 * _LONG_UNIT * terms + 2.0 * _UNIT * np.abs(rounded).sum(axis=1)
    return (float(doubt.max()) + shift_of(rounded)) * _SLACK


def shift_of(A: FloatArray) -> float:
    """An upper bound on the least shift ≥ 0 with A + shift·I ⪰ 0, A symmetric."""
    n, scale = len(A), float(np.abs(np.diagonal(A)).sum())
    shift = FIRST * scale + 2.0**-900
    while True:
        shifted = A + np.diag(np.full(n, shift))
        try:
            scipy.linalg.cholesky(shifted, lower=True)
        except scipy.linalg.LinAlgError:
            shift *= GROWTH
            continue
        diagonal = np.abs(np.diagonal(shifted))
        # The first term is Rump's, the second the rounding of the shift itself; underflow is far below both.
        return shift + 2.0 * _gamma(n + 2, _UNIT) * float(diagonal.sum()) + 2.0 * _UNIT * float(diagonal.max())


def _gamma(terms: int, unit: float) -> float:
    return terms * unit / (1.0 - terms * unit) * _SLACK


def _check(C: FloatArray, p: FloatArray, omega: float, entry_error: float) -> None:
    n = len(p)
    if not 1 <= n <= DOMAIN_LIMIT or C.shape != (n, n):
        shapes, rule = (C.shape, p.shape), f"be (n, n) and (n,), n ≤ {DOMAIN_LIMIT}"
        raise BadValue("shapes of centred_gram and weights", shapes, rule, "give one weight per type")
    if not (np.isfinite(C).all() and np.array_equal(C, C.T)):
        raise BadValue("centred_gram", "not finite or not symmetric", "be finite and symmetric", "average it with Cᵀ")
    if not (np.isfinite(p).all() and p.min() > 2.0**-80 and p.max() <= 2.0**20):
        raise BadValue("weights", (float(p.min()), float(p.max())), "be from 2⁻⁸⁰ to 2²⁰", "normalise them")
    if not (math.isfinite(omega) and omega > 0.0 and math.isfinite(entry_error) and entry_error >= 0.0):
        raise BadValue("omega and entry_error", (omega, entry_error), "be above 0, and at least 0", "give finite ones")


# Weights of pairs.

# ω and ν are rounded up to multiples of 2 to minus this.
_PAIR_BITS = 120
# Relative errors of a sum of floats with one rounding, a rounded factor, a product and two differences.
_GAP_VECTOR = 8.0 * _UNIT
# What the roundings of the error bounds themselves may amount to.


def rigorous_pair_objective(
    centred_gram: FloatArray,
    epsilon: float,
    weights: FloatArray,
    pairs: FloatArray,
    omega: float,
    *,
    entry_error: float = 0.0,
) -> float:
    """A lower bound on tr(X_c⁺C) for every ε-LDP strategy that holds in exact arithmetic; 0 where there is none.

    Parameters
    ----------
    centred_gram
        C, (n, n), symmetric, n ≥ 2.
    epsilon
        The budget, taken as the exact number that it is.
    weights, pairs, omega
        p, (n,), N, (n, n), and ω for Σp_u = 1, such as ``pairwise.solve`` finds.
    entry_error
        How far the entries of PCP may be from those of the centred Gram matrix that is meant.
    """
    C, p, N = (np.asarray(array, dtype=float) for array in (centred_gram, weights, pairs))
    _check_pairs(C, p, N, omega, entry_error)
    n, ratio = len(C), rounded_up(exponential_bound(Fraction(check_epsilon(epsilon))), RATIO_BITS)
    scale = float(np.abs(C).max())
    if n < 2 or scale == 0.0:
        return 0.0
    mass = sum((Fraction(float(x)) for x in p), Fraction(0))
    big = float(Fraction(omega) * mass)
    r = np.array([math.fsum(row) for row in N.tolist()])
    g = p - float(2 / (ratio + 1)) * r
    # P does not see the mean of g, which a small Ω would drown the form in.
    h = g - g.mean()
    T = pair_dual_guess(C / scale, np.diag(p) - N - np.outer(h, h) / big) / math.sqrt(scale)
    gain = trace_below(T, C, entry_error)
    if not gain > 0.0:
        return 0.0
    F, terms, wrong = difference(T, C, p, N, g, big)
    eta = (excess_of(F, T, C, terms, entry_error) + wrong) * _SLACK
    nu = Fraction(math.fsum(r.tolist()) * (1.0 + _GAP_VECTOR)) / mass
    limit = mass * pair_information_limit(n, ratio, Fraction(big) / mass, nu) / n
    limit += Fraction(eta) * largest_information(n, ratio)
    return math.nextafter(float(Fraction(gain) ** 2 / limit), 0.0)


def pair_information_limit(domain_size: int, ratio: Fraction, omega: Fraction, nu: Fraction) -> Fraction:
    """An upper bound on B, exact but for ω and ν, which are rounded up: over neighbouring sizes, and the outermost."""
    n, a = domain_size, ratio
    w, v = rounded_up(omega, _PAIR_BITS), rounded_up(nu, _PAIR_BITS)
    tau = [n * (a + 1) / (2 * (n - j + j * a)) for j in range(1, n)]
    kappa, flatness = 2 / (a + 1), 4 * a / (1 + a) ** 2
    psi = [2 * t - 1 + (w - flatness) * t**2 + v * (1 - kappa * t) ** 2 for t in tau]
    segments = [*((j, j + 1) for j in range(n - 2)), (0, n - 2)]
    return max(_on_segment(tau[i], tau[j], psi[i], psi[j], w) for i, j in segments)


def _on_segment(t: Fraction, s: Fraction, low: Fraction, high: Fraction, omega: Fraction) -> Fraction:
    """The maximum of (1−q)ψ(t) + qψ(s) − ω(t + q(s−t))² over q from 0 to 1."""
    step = s - t
    if step == 0:
        return low - omega * t**2
    q = min(max((high - low - 2 * omega * t * step) / (2 * omega * step**2), Fraction(0)), Fraction(1))
    return (1 - q) * low + q * high - omega * (t + q * step) ** 2


def pair_dual_guess(centred_gram: FloatArray, form: FloatArray) -> FloatArray:
    """T = YRK^{−1/2}R⁺, up to rounding, Y = P·``form``·P."""
    values, vectors = np.linalg.eigh(centred_gram)
    keep = values > len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    R = vectors[:, keep] * np.sqrt(values[keep])
    Y = form - form.mean(axis=0)
    Y -= Y.mean(axis=1, keepdims=True)
    roots, basis = np.linalg.eigh(R.T @ Y @ R)
    good = roots > len(roots) * np.finfo(float).eps * max(float(roots[-1]), 0.0)
    half = basis[:, good] * roots[good] ** -0.25
    return np.asarray(Y @ R @ (half @ half.T) @ (R / values[keep]).T)


def difference(
    T: FloatArray, C: FloatArray, weights: FloatArray, pairs: FloatArray, gap_vector: FloatArray, omega: float
) -> tuple[FloatArray, FloatArray, float]:
    """F = Diag p − N − ggᵀ/Ω − TCTᵀ for g less its mean, its terms, and a bound on what the rounding of g changes."""
    long, r = np.longdouble, pairs.sum(axis=1)
    centre = float(gap_vector.mean())  # P does not see it
    p, shifted = weights.astype(long), gap_vector - centre
    g = shifted.astype(long)
    F = np.diag(p) - pairs.astype(long) - np.outer(g, g) / long(omega) - congruence(T, C)
    size, off = np.abs(shifted), _GAP_VECTOR * (np.abs(weights) + r + abs(centre))
    wrong = (size * off.sum() + off * size.sum() + off * off.sum()) / omega
    return np.asarray(F), np.abs(weights) + r + size * size.sum() / omega, float(wrong.max()) * _SLACK


def _check_pairs(C: FloatArray, p: FloatArray, N: FloatArray, omega: float, entry_error: float) -> None:
    n = len(p)
    if not 1 <= n <= DOMAIN_LIMIT or C.shape != (n, n) or N.shape != (n, n):
        shapes, rule = (C.shape, p.shape, N.shape), f"be (n, n), (n,) and (n, n), n ≤ {DOMAIN_LIMIT}"
        raise BadValue("shapes of centred_gram, weights and pairs", shapes, rule, "give weights of types and pairs")
    if not (np.isfinite(C).all() and np.array_equal(C, C.T)):
        raise BadValue("centred_gram", "not finite or not symmetric", "be finite and symmetric", "average it with Cᵀ")
    if not (np.isfinite(p).all() and 0.5 < float(p.sum()) < 2.0):
        raise BadValue("sum of weights", float(p.sum()), "be near 1", "normalise them")
    if not (np.isfinite(N).all() and N.min() >= 0.0 and np.array_equal(N, N.T) and not np.diagonal(N).any()):
        raise BadValue("pairs", "not such", "be symmetric, at least 0, with zero diagonal", "repair them")
    if not (math.isfinite(omega) and omega > 0.0 and math.isfinite(entry_error) and entry_error >= 0.0):
        raise BadValue("omega and entry_error", (omega, entry_error), "be above 0, and at least 0", "give finite ones")
