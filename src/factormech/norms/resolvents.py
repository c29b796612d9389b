r"""Roots of tridiagonal matrices as sums of resolvents, with proven errors.

**The power t^{−1/2}.** The elliptic midpoint rule has a relative error that is known in closed form. For 0 < μ ≤ L, κ
= L/μ and the modulus k₁ = 1/√κ, let K = K(k₁), K' = K(√(1 − k₁²)), and x(u) = sn(u)/cn(u) of modulus √(1 − k₁²). Then
t^{−1/2} = (2/π)∫₀^∞ dx/(t + x²) becomes, by x = √μ x(u), an integral over 0 < u < K', and the midpoint rule with N
nodes u_j = (j − ½)K'/N reads

.. math:: t^{-1/2} \approx \sum_j \frac{\omega_j}{t + s_j}, \qquad s_j = \mu x_j^2, \quad
          \omega_j = \frac{2 K'}{\pi N} \sqrt{\mu (1 + x_j^2)(1 + x_j^2/\kappa)},

as x'² = (1 + x²)(1 + k₁²x²) (Hale, Higham & Trefethen, SIAM J. Numer. Anal. 46(5), 2008; the nodes are Zolotarev's).

Its error is known exactly. Write t = μ/dn²(y), which runs over [μ, L] as y runs over [0, K']. The integrand times √t is

.. math:: \frac{\sqrt{t/\mu}\, x'(u)}{t/\mu + x(u)^2} = \frac{\mathrm{dn}\,u\, \mathrm{dn}\,y}
          {1 - m\, \mathrm{sn}^2 u\, \mathrm{sn}^2 y} = \tfrac12 [\mathrm{dn}(u+y) + \mathrm{dn}(u-y)],

by the addition theorem, with dn(u) = (π/2K')[1 + 2Σ_{ℓ≥1} sech(πℓK/K') cos(πℓu/K')]. The rule sums every harmonic to
zero but those with ℓ a multiple of 2N, so that for every t in [μ, L]

.. math:: \Bigl|\sqrt t \sum_j \frac{\omega_j}{t+s_j} - 1\Bigr| \le 2 \sum_{\ell\ge1} \mathrm{sech}(2\pi\ell N K/K')
          \le \frac{4Q}{1-Q}, \qquad Q = e^{-2\pi N K/K'}.

All terms are positive: relative errors of the shifts and weights pass to the sum undiminished and no larger. They are
computed with forty digits and rounded once.

**Diagonals of roots of a tridiagonal matrix.** They come between bounds, in O(n · shifts). A :class:`Chain` stands
for T = D_c^{−1/2} L₀ D_c^{−1/2}, with L₀ the Laplacian of the resistors e (see
:mod:`factormech.norms.chain_kernels`), so that (T + s)⁻¹ = D_c^{1/2} L_s⁻¹ D_c^{1/2}. With the rule t^{−1/2} ≈ Σ_k
ω_k/(t + s_k),

.. math:: (T^{-1/2})_{ii} / c_i \approx \sum_k \omega_k (L_{s_k}^{-1})_{ii} .

Where the chain ends at node n (``end`` infinite), L₀ = Bᵀ D_e⁻¹ B with B bidiagonal. Then T = FᵀF for
F = D_e^{−1/2} B D_c^{−1/2}, and of (FFᵀ)^{−1/2}, whose spectrum is the same, the chain gives the diagonal too:

.. math:: ((FF^T)^{-1/2})_{jj} / e_j \approx \sum_k \frac{\omega_k}{s_k (x_j + R_j)},

since (FFᵀ + s)⁻¹ = (I − F(T + s)⁻¹Fᵀ)/s, and F(T + s)⁻¹Fᵀ at j is the resistance between the ends of the branch j
over e_j: that of e_j in parallel with the rest, x_j − e_j + R_j.

**Any power t^{−α}, 0 < α < 1.** The relative error is proven:

.. math:: t^{-α} = \frac{\sin πα}{π} \int_0^\infty \frac{s^{-α}}{t+s}\, ds, \qquad t \in [μ, L],

in three pieces, each with Gauss's rule, whose weights are positive; a rule of N nodes and total weight m errs on g by
at most 2m E(g), E being the distance of g from the polynomials of degree 2N − 1.

* s < μ, with the weight s^{−α} (Jacobi). On [0, μ] scaled to [−1, 1], 1/(t + s) has its pole at or beyond −3, and its
  distance from the polynomials is (|z| − √(z² − 1))^{2N−1}/(z² − 1) for the pole z (Chebyshev). Relative to t^{−α}
  the error is largest at t = μ: sin(πα)/(2π(1 − α)) ρ^{−(2N−1)}, ρ = 3 + √8.
* s > L becomes the first with α and 1 − α exchanged, by s ↦ 1/s.
* Between them, v = ln s in panels of length 2h with Legendre's rule. Within the ellipse of sum of half-axes ρh and
  imaginary half-axis b < π, |1 + e^z| ≥ (1 + e^{Re z}) cos(b/2); with φ(x) = e^{(1−α)x}/(1 + e^x), whose logarithm has
  slope less than β = max(α, 1 − α) and whose integral is π/sin(πα), Bernstein's bound E ≤ 2 max|g| ρ^{1−2N}/(ρ − 1)
  gives, over all panels, a relative error of at most 4ρ^{1−2N} e^{β(1+c)h}/((ρ − 1) cos(b/2)), c = ½(ρ + 1/ρ).

These errors are of exact nodes and weights; SciPy's are right to about 1e-14, and all terms are positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import lru_cache

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.numerics.rounding import growth

# The power t^{−1/2}.

_DIGITS = 44
_NEGLIGIBLE = Decimal(10) ** -_DIGITS
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
# Every float below is its real number rounded once; the errors of forty digits hide in the second rounding.
ROUNDINGS = 2


@dataclass(frozen=True)
class ResolventSum:
    """Σ_j weights_j/(t + shifts_j), a power of t up to ``relative_error`` on [``lowest``, ``highest``].

    ``relative_error`` is that of the exact shifts and weights; each float is within ``ROUNDINGS`` of its own.
    """

    shifts: FloatArray
    weights: FloatArray
    lowest: float
    highest: float
    relative_error: float

    def __call__(self, t: FloatArray) -> FloatArray:
        """The sum at each t, for tests and plots."""
        return np.asarray((self.weights / (np.asarray(t)[..., None] + self.shifts)).sum(axis=-1))


def forty_digits() -> Context:
    """A decimal context whose rounding errors are nothing beside those of a float."""
    return Context(prec=_DIGITS, rounding=ROUND_HALF_EVEN, Emin=-(10**6), Emax=10**6)


def inverse_square_root(lowest: float, highest: float, tolerance: float) -> ResolventSum:
    """t^{−1/2} on [``lowest``, ``highest``] to a relative error of at most ``tolerance``, with the fewest nodes."""
    if not 0.0 < lowest <= highest < math.inf:
        raise BadValue("the spectrum", (lowest, highest), "be an interval of positive numbers", "give 0 < μ ≤ L < ∞")
    if not 1e-15 <= tolerance < 1.0:
        raise BadValue("tolerance", tolerance, "lie in [1e-15, 1)", "give for example 1e-9")
    # A power of four: μ and √μ scale floats without rounding, so that the cached unit rule serves every interval.
    unit = 4.0 ** math.floor(math.log2(lowest) / 2)
    unit = unit if unit <= lowest else unit / 4.0
    kappa = 2.0 ** max(4, math.ceil(math.log2(highest / unit)))
    kappa = kappa if unit * kappa >= highest else 2.0 * kappa
    squares, weights, error = _unit_rule(kappa, tolerance)
    return ResolventSum(unit * squares, math.sqrt(unit) * weights, unit, unit * kappa, error)


@lru_cache(maxsize=256)
def _unit_rule(kappa: float, tolerance: float) -> tuple[FloatArray, FloatArray, float]:
    """x_j², ω_j for μ = 1, and 4Q/(1 − Q) rounded up."""
    with localcontext(forty_digits()):
        k1 = 1 / Decimal(kappa).sqrt()
        K = PI / (2 * _mean(Decimal(1), (1 - k1 * k1).sqrt()))
        Kp = PI / (2 * _mean(Decimal(1), k1))
        N = max(2, math.ceil(float(Kp / (2 * PI * K)) * math.log(5.0 / tolerance)))
        while N > 2 and _error(K, Kp, N - 1) <= tolerance:
            N -= 1
        while _error(K, Kp, N) > tolerance:
            N += 1
        half = [_tangent(Decimal(2 * j - 1) * Kp / (2 * N), K, Kp) for j in range(1, (N + 1) // 2 + 1)]
        # x(u)x(K' − u) = 1/k₁ gives the rest.
        x = half + [1 / (k1 * value) for value in half[: N // 2][::-1]]
        factor = 2 * Kp / (PI * N)
        weights = [factor * ((1 + v * v) * (1 + k1 * k1 * v * v)).sqrt() for v in x]
        return np.array([float(v * v) for v in x]), np.array([float(v) for v in weights]), _error(K, Kp, N)


def _error(K: Decimal, Kp: Decimal, N: int) -> float:
    Q = (-2 * PI * N * K / Kp).exp()
    return float(4 * Q / (1 - Q)) * (1.0 + 1e-14)


def _mean(a: Decimal, b: Decimal) -> Decimal:
    """The arithmetic-geometric mean."""
    while abs(a - b) > _NEGLIGIBLE * a * 100:
        a, b = (a + b) / 2, (a * b).sqrt()
    return (a + b) / 2


def _tangent(u: Decimal, K: Decimal, Kp: Decimal) -> Decimal:
    r"""x(u) = sc(u, √(1 − k₁²)) = −i sn(iu, k₁), 0 < u ≤ K'/2, by Jacobi's products in the nome q = exp(−πK'/K).

    .. math:: x = \sinh ζ \prod_n \frac{(1+q^{2n-1})^2}{(1+q^{2n})^2} \cdot \frac{(1-q^{2n}e^{2ζ})(1-q^{2n}e^{-2ζ})}
              {(1-q^{2n-1}e^{2ζ})(1-q^{2n-1}e^{-2ζ})}, \qquad ζ = πu/2K.

    As e^{2ζ} ≤ q^{−1/2}, no factor cancels.
    """
    z = PI * u / (2 * K)
    q, up = (-PI * Kp / K).exp(), (2 * z).exp()
    down = 1 / up
    x = (up.sqrt() - down.sqrt()) / 2
    odd, even = q, q * q
    while odd * up > _NEGLIGIBLE:
        x *= ((1 + odd) / (1 + even)) ** 2
        x *= (1 - even * up) * (1 - even * down) / ((1 - odd * up) * (1 - odd * down))
        odd, even = odd * q * q, even * q * q
    return x


# Diagonals of roots of a tridiagonal matrix.

# Outside, products of three such numbers and a shift might leave the floats.
_SMALLEST, _LARGEST = 1e-60, 1e60


@dataclass(frozen=True)
class Chain:
    """Resistors e_1 … e_n from the ground through nodes 1 … n, leaks c_1 … c_n, and the resistor at the far end."""

    resistances: FloatArray
    leaks: FloatArray
    end: float = math.inf

    def __post_init__(self) -> None:
        for name, values in (("resistances", self.resistances), ("leaks", self.leaks)):
            low, high = float(values.min()), float(values.max())
            if not _SMALLEST <= low <= high <= _LARGEST:
                rule = f"lie between {_SMALLEST:g} and {_LARGEST:g}"
                raise BadValue(name, (low, high), rule, "scale the weights, or mix in a floor")

    @property
    def size(self) -> int:
        return self.leaks.size

    def spectrum(self) -> tuple[float, float]:
        """Bounds μ ≤ T ≤ L of the spectrum, rounded outward by far.

        L: twice the largest diagonal entry of D_c⁻¹L₀, which bounds its row sums. 1/μ: the trace
        Σ_i c_i (L₀⁻¹)_{ii}, where (L₀⁻¹)_{ii} is at most the resistance from node i to the ground on its left.
        """
        e, c = self.resistances, self.leaks
        beyond = np.append(1.0 / e[1:], 1.0 / self.end)
        highest = 2.0 * float(((1.0 / e + beyond) / c).max())
        trace = float(np.dot(c, np.cumsum(e)))
        outward = growth(4.0 * self.size + 20.0)
        return 1.0 / (trace * outward), highest * outward


@dataclass(frozen=True)
class Diagonals:
    """The diagonals ``nodes`` of T^{−1/2} over c and ``loops`` of (FFᵀ)^{−1/2} over e, with their accuracy.

    Each number times and over ``slack`` encloses the true one.
    """

    nodes: FloatArray
    loops: FloatArray
    slack: float
    shifts: int


def diagonals(chain: Chain, tolerance: float) -> Diagonals:
    """Return both diagonals with a quadrature error of at most ``tolerance``; ``loops`` only if the end is open."""
    from factormech.norms import chain_kernels

    rule = inverse_square_root(*chain.spectrum(), tolerance)
    nodes, loops = np.empty(chain.size), np.empty(chain.size)
    s, omega = in_lanes(rule)
    chain_kernels.diagonals(chain.resistances, chain.leaks, chain.end, s, omega, nodes, loops)
    return Diagonals(nodes, loops, _slack(rule, chain.size), rule.shifts.size)


def mirrored_diagonals(resistances: FloatArray, tolerance: float) -> Diagonals:
    """Return the diagonals of a chain whose leaks are its resistances reversed: ``loops`` is ``nodes`` reversed."""
    from factormech.norms import chain_kernels

    chain = Chain(resistances, resistances[::-1])
    rule = inverse_square_root(*chain.spectrum(), tolerance)
    nodes = np.empty(chain.size)
    chain_kernels.mirrored_diagonal(resistances, *in_lanes(rule), nodes)
    return Diagonals(nodes, nodes[::-1], _slack(rule, chain.size), rule.shifts.size)


def in_lanes(rule: ResolventSum) -> tuple[FloatArray, FloatArray]:
    """Shifts and weights, filled up with terms of weight 0 to a whole number of the kernels' lanes."""
    from factormech.norms.chain_kernels import LANES

    missing = -rule.shifts.size % LANES
    shifts = np.concatenate([rule.shifts, np.full(missing, rule.shifts[-1])])
    return shifts, np.concatenate([rule.weights, np.zeros(missing)])


def _slack(rule: ResolventSum, n: int) -> float:
    """Return a bound on what the rule and roundings change: 5 a node, 8 to form a term, and a sum over the shifts."""
    roundings = 5.0 * n + rule.shifts.size + 12.0 + 4.0 * ROUNDINGS
    # 1/(1 − δ) exceeds 1 + δ: it is the larger of the two sides.
    return growth(roundings) / (1.0 - rule.relative_error) * growth(3.0)


# Any power t^{−α}, 0 < α < 1.

# Half the length of a panel in ln s: near the fewest nodes in all for errors from 1e-10 to 1e-14.
_HALF = 2.0
_TAIL = 3.0 + math.sqrt(8.0)
# What SciPy's nodes and weights may add to the relative error.
NODES = 1e-13


def inverse_power(alpha: float, lowest: float, highest: float, tolerance: float) -> ResolventSum:
    """t^{−α} on [``lowest``, ``highest``], each of the three pieces erring by at most a third of ``tolerance``."""
    each = tolerance / 3.0
    low_s, low_w, low_error = _tail(alpha, each)
    high_s, high_w, high_error = _tail(1.0 - alpha, each)
    middle_s, middle_w, middle_error = _middle(alpha, lowest, highest, each)
    sine = math.sin(math.pi * alpha) / math.pi
    # s ↦ 1/s: 1/(1/t + σ) = s t/(t + s), and the other t makes t^{α−1} of the rule for 1/t into t^{−α}.
    shifts = np.concatenate([lowest * low_s, middle_s, highest / high_s])
    weights = np.concatenate([lowest ** (1.0 - alpha) * low_w, middle_w, highest ** (1.0 - alpha) * high_w / high_s])
    return ResolventSum(shifts, sine * weights, lowest, highest, low_error + middle_error + high_error + NODES)


@lru_cache(maxsize=64)
def _tail(alpha: float, tolerance: float) -> tuple[FloatArray, FloatArray, float]:
    """∫_0^1 s^{−α} g(s) ds: nodes, weights, and the relative error for g = 1/(t + s), t ≥ 1."""
    from scipy.special import roots_jacobi

    constant = math.sin(math.pi * alpha) / (2.0 * math.pi * (1.0 - alpha))
    N = max(2, math.ceil((math.log(constant / tolerance) / math.log(_TAIL) + 1.0) / 2.0))
    x, w = roots_jacobi(N, 0.0, -alpha)
    return (1.0 + x) / 2.0, w * 2.0 ** (alpha - 1.0), constant * _TAIL ** (1 - 2 * N)


def _middle(alpha: float, lowest: float, highest: float, tolerance: float) -> tuple[FloatArray, FloatArray, float]:
    """∫ s^{1−α} g(s) dv over ln μ < v < ln L: shifts, weights, and the relative error."""
    length = math.log(highest / lowest)
    panels = max(1, math.ceil(length / (2.0 * _HALF)))
    half = length / (2.0 * panels)
    x, w, error = _panel(alpha, tolerance)
    centres = math.log(lowest) + half * (2.0 * np.arange(panels) + 1.0)
    s = np.exp(centres[:, None] + half * x).ravel()
    return s, half * np.tile(w, panels) * s ** (1.0 - alpha), error


@lru_cache(maxsize=64)
def _panel(alpha: float, tolerance: float) -> tuple[FloatArray, FloatArray, float]:
    """Legendre's rule on [−1, 1] with the fewest nodes for panels of half-length at most ``_HALF``, and its error."""
    N, error = 1, math.inf
    while error > tolerance:
        N += 1
        error = min(_panel_error(alpha, N, b) for b in np.linspace(0.5, 3.1, 53))
    x, w = np.polynomial.legendre.leggauss(N)
    return x, w, error


def _panel_error(alpha: float, N: int, b: float) -> float:
    ratio = b / _HALF
    rho = ratio + math.hypot(1.0, ratio)
    beta, c = max(alpha, 1.0 - alpha), 0.5 * (rho + 1.0 / rho)
    return 4.0 * rho ** (1 - 2 * N) * math.exp(beta * (1.0 + c) * _HALF) / ((rho - 1.0) * math.cos(b / 2.0))
