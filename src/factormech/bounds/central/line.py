r"""The least noise that hides a shift on the line, certified; all central lower bounds are multiples of it.

**The unit shift.** For ε > 0 and 0 ≤ δ < 1, call a random variable Z *admissible* if Z and Z + s are (ε,
δ)-indistinguishable both ways,

.. math:: V(ε, δ) = \min E Z^2, \qquad V_1(ε, δ) = \min E|Z| ,

for the single shift s = 1 (``unit``: all that data of whole counts imply) or for every s in [−1, 1] (``interval``: real
counts). Z is any real variable in both; restricting it to whole numbers would bound from above.

*The unit shift, exactly.* With b = e^{−ε} let p_{kl} put masses ∝ 1 at r, b^j at r + j (1 ≤ j < k) and at r − j
(1 ≤ j < l). Its likelihood ratios at the shift ±1 are e^{±ε} but at its two ends, whose masses are what δ pays for:

.. math:: d_{kl} = \tfrac12 (b^{k-1} + b^{l-1})/n_{kl}, \qquad n_{kl} = 1 + S_k + S_l,\; S_k = Σ_{j<k} b^j .

A mixture of p_{kl} and their mirror images with mean d ≤ δ is admissible. *No other noise is better.* Z may be taken
symmetric. For test functions 0 ≤ f ≤ λ, weak duality says E|Z|^t ≥ θ − 2λδ if for all z
|z|^t + f(z+1) + f(1−z) − e^ε(f(z) + f(−z)) ≥ θ. On the points r + ℤ and −r + ℤ, 0 ≤ r ≤ ½, let f vanish at ±r, at
negative points, and follow two chains f(z+1) = max(0, θ − z^t + e^ε f(z)) started at f(1+r) = u and
f(1−r) = θ − r^t − u. Chain ± stays within λ if its start is at most
U_±(k) = b^{k−1}λ − Σ_{0<j<k} b^j(θ − (j±r)^t) for every k; so the certificate exists if
U_+(k) + U_−(l) ≥ θ − r^t for all k, l, r, which is
θ ≤ m_{kl}(r) + 2λ d_{kl} with m_{kl}(r) = E_{p_{kl}}|z|^t (for 0 ≤ r ≤ ½, where U_± ≥ 0 follows from r = ½, as
U_−(l) = b(U_+(l−1) − θ + 2^{−t}) there and both fall in r). Hence, by linear programming duality,

.. math:: V = \max_{s \ge 0} \min_{k,l} (m_{kl} + s\,d_{kl}) - sδ, \qquad m_{kl} = \min_{0 \le r \le 1/2} m_{kl}(r) :

the lower convex hull of the points (d, m), evaluated at δ. Windows beyond K points add nothing once
(K − ½)^t ≥ θ + (e^ε − 1)λ, for from there on a chain within λ does not rise. At δ = 0, m_{∞∞}(0) is what discrete
Laplace noise has: V = 2b/(1 − b)², V₁ = 2b/(1 − b²). (This program, its solution and proof are ours.)

**Every shift.** V(ε, δ) when every shift in [−1, 1] must be hidden is a linear program on a lattice, made rigorous
from both sides. Let V_M be the least E Z² of noise on ℤ/M that hides the shifts ±1/M, …, ±M/M. Then

.. math:: V_M − \frac{1}{4M^2} \;\le\; V \;\le\; V_M + \frac{1}{12M^2} .

*Left.* Round an admissible Z at random to one of its two neighbours in ℤ/M, without bias: this commutes with shifts by
1/M, so the result is admissible on the lattice, and adds E r(1−r)/M² ≤ 1/(4M²) to E Z². *Right.* Add uniform noise on
[−1/2M, 1/2M]: the density is constant on cells, so at a shift (i + t)/M its excess over e^ε is at most (1 − t) that
of i/M plus t that of (i+1)/M. Also V is at least the unit shift's value, at most that plus 1/12 (M = 1), and at most
Geng and Viswanath's optimum at δ = 0.

*The lower end of V_M.* The dual needs λ_s ≥ 0 and tests 0 ≤ f_s ≤ λ_s on ℤ with, for all z ≥ 0,
z²/M² + Σ_s [f_s(z+s) + f_s(s−z) − e^ε f_s(z)] ≥ θ (f_s = 0 on z ≤ s/2). The solver's tests are clipped to [0, λ_s];
what the constraints then miss is repaired from the far end back by lowering f_M, which never spoils a constraint
farther out; θ is what is left. Beyond the points where z²/M² ≥ θ + (e^ε − 1)Σλ every test may be λ_s. *The upper
end*: the solver's noise, clipped and normalised, mixed with discrete Laplace noise as far as its worst excess asks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.errors import BadValue, UnknownName
from factormech.numerics.rounding import gamma

# The unit shift.

SHIFTS = ("unit", "interval")
# Windows of more points than this are not searched: ε below about 0.002.
_POINTS_LIMIT = 20_000


@dataclass(frozen=True)
class LeastNoise:
    """V(ε, δ) (moment 2) or V₁ (moment 1), between ends that hold in exact arithmetic.

    Attributes
    ----------
    lower
        No admissible noise has less.
    upper
        Some admissible noise has this.
    method
        ``closed form``, ``hull`` (exact to rounding) or ``linear program``.
    """

    epsilon: float
    delta: float
    shifts: str
    moment: int
    lower: float
    upper: float
    method: str

    @property
    def gap(self) -> float:
        """upper ÷ lower − 1; infinite where the lower end proves nothing."""
        return self.upper / self.lower - 1.0 if self.lower > 0.0 else math.inf


def check_failure(value: Any, name: str = "delta") -> float:
    """δ as a float, at least 0 and below 1."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not 0.0 <= value < 1.0:
        raise BadValue(name, value, "be at least 0 and below 1", "give for example 1e-6, or 0 for pure privacy")
    return float(value)


def least_noise(epsilon: float, delta: float, *, shifts: str = "unit", moment: int = 2) -> LeastNoise:
    """V(ε, δ), or V₁ with ``moment=1`` (unit shift only: it bounds the interval's from below too).

    Parameters
    ----------
    epsilon, delta
        The indistinguishability; δ = 0 has closed forms.
    shifts
        ``unit`` or ``interval`` (module docstring). The interval's value is never below the unit's.
    """
    epsilon, delta = check_epsilon(epsilon), check_failure(delta)
    if shifts not in SHIFTS:
        raise UnknownName("shifts", shifts, SHIFTS)
    if moment not in (1, 2) or (moment == 1 and shifts == "interval"):
        raise BadValue("moment", moment, "be 2, or 1 with the unit shift", "ask for shifts='unit'")
    return _least_noise(epsilon, delta, shifts, moment)


def pure_unit(epsilon: float, moment: int = 2) -> float:
    """The unit shift at δ = 0: 2b/(1 − b)² or 2b/(1 − b²), that of discrete Laplace noise (``least_noise``)."""
    b, c = math.exp(-epsilon), -math.expm1(-epsilon)
    return 2.0 * b / (c * (c if moment == 2 else 1.0 + b))


def pure_interval(epsilon: float) -> float:
    """Return every shift, δ = 0: the staircase noise's (b + (b(1+b)/2)^{2/3})/(1−b)².

    Geng & Viswanath, The optimal noise-adding mechanism in differential privacy, IEEE Trans. Inf. Theory 62(2), 2016.
    """
    b, c = math.exp(-epsilon), -math.expm1(-epsilon)
    return (b + math.pow(0.5 * b * (1.0 + b), 2.0 / 3.0)) / (c * c)


@lru_cache(maxsize=1024)
def _least_noise(epsilon: float, delta: float, shifts: str, moment: int) -> LeastNoise:
    if shifts == "interval":
        lower, upper, method = interval_ends(epsilon, delta)
    elif delta == 0.0:
        value, slack = pure_unit(epsilon, moment), gamma(32)
        lower, upper, method = value * (1.0 - slack), value * (1.0 + slack), "closed form"
    else:
        lower, upper = _Windows(epsilon, moment, _points_needed(epsilon, delta)).ends(delta)
        method = "hull"
    return LeastNoise(epsilon, delta, shifts, moment, max(lower, 0.0), upper, method)


def _points_needed(epsilon: float, delta: float) -> int:
    """A first K: windows that end where b^K is far below δ."""
    return _allowed(math.ceil(math.log(16.0 / delta) / epsilon) + 8, epsilon)


def _allowed(K: int, epsilon: float) -> int:
    if K > _POINTS_LIMIT:
        rule = f"be large enough for noise of {_POINTS_LIMIT} steps (this needs {K})"
        raise BadValue("epsilon", epsilon, rule, "give a larger epsilon or delta")
    return K


class _Windows:
    """The sums over the windows of 1 … K points on a side, and the hull of their (d, m)."""

    def __init__(self, epsilon: float, moment: int, K: int) -> None:
        self.epsilon, self.moment, self.K = epsilon, moment, K
        j = np.arange(K, dtype=np.float64)
        self.ends_mass = np.exp(-epsilon * j)
        masses = np.where(j > 0, self.ends_mass, 0.0)
        self.S, self.T, self.Q = (np.cumsum(masses * j**power) for power in (0, 1, 2))

    def points(self, offset: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(d, m, m at r = 0) of the windows with l = k + offset, k = 1 … K − offset."""
        k, far = slice(0, self.K - offset), slice(offset, self.K)
        n = 1.0 + self.S[k] + self.S[far]
        d = 0.5 * (self.ends_mass[k] + self.ends_mass[far]) / n
        if self.moment == 1:  # linear in r, so least at an end
            size = (self.T[k] + self.T[far]) / n
            return d, np.minimum(size, size + 0.5 * (1.0 + self.S[k] - self.S[far]) / n), size
        size, tilt = (self.Q[k] + self.Q[far]) / n, (self.T[far] - self.T[k]) / n
        r = np.minimum(tilt, 0.5)
        return d, size + r * (r - 2.0 * tilt), size

    def ends(self, delta: float) -> tuple[float, float]:
        """Both ends of the value at δ: the hull of nearly symmetric windows above, its slope's dual value below."""
        pairs = [self.points(offset)[:2] for offset in (0, 1)]
        d, m = (np.concatenate(part) for part in zip(*pairs, strict=True))
        value, slope = _hull_at(d, m, delta, pure_unit(self.epsilon, self.moment))
        theta = value + slope * delta
        needed = math.ceil((theta + 0.5 * math.expm1(self.epsilon) * slope) ** (1.0 / self.moment) + 0.5) + 1
        if needed > self.K:
            return _Windows(self.epsilon, self.moment, _allowed(needed + 8, self.epsilon)).ends(delta)
        slack = gamma(8 * self.K + 64)
        return self._dual_value(slope, delta, slack), value * (1.0 + slack) + slack * theta

    def _dual_value(self, slope: float, delta: float, slack: float) -> float:
        """min over all windows of m + s·d − sδ, less what rounding may have added to these terms."""
        least = math.inf
        for offset in range(self.K):
            d, m, size = self.points(offset)
            least = min(least, float(np.min(m + slope * d - slack * (size + 1.0 + slope * d))))
        return least - slope * delta * (1.0 + slack)


def _hull_at(d: FloatArray, m: FloatArray, delta: float, limit: float) -> tuple[float, float]:
    """The lower convex hull of the points and of (0, limit) at δ, and minus its slope there."""
    order = np.lexsort((m, d))
    hull: list[tuple[float, float]] = [(0.0, limit)]
    for x, y in zip(d[order].tolist(), m[order].tolist(), strict=True):
        if y >= hull[-1][1]:
            continue
        while len(hull) > 1 and _turns_up(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    for (x0, y0), (x1, y1) in pairwise(hull):
        if x0 <= delta <= x1:
            slope = (y0 - y1) / (x1 - x0)
            return y1 + slope * (x1 - delta), slope
    return hull[-1][1], 0.0


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Return whether b lies on or above the segment from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


# Every shift.

# Test cells of one program (about 0.1 s), and lattice points per unit shift.
_CELLS_LIMIT, _FINEST = 4000, 32
# A certificate this close to the program's value is final; else other programs are tried, with δ times the first number
# and the second number of lattice points fewer to a unit: where δ is tiny some are better scaled than others.
_GOOD = 1e-4
_ATTEMPTS = ((1.0, 0), (1e2, 0), (1.0, 1), (1e2, 1), (1e4, 0), (1e4, 1))


def interval_ends(epsilon: float, delta: float) -> tuple[float, float, str]:
    """(lower, upper, method) of V for every shift in [−1, 1]."""
    pure = pure_interval(epsilon)
    if delta == 0.0:
        return pure * (1.0 - gamma(64)), pure * (1.0 + gamma(64)), "closed form"
    unit = least_noise(epsilon, delta)
    lower, upper = unit.lower, min(unit.upper + 1.0 / 12.0, pure * (1.0 + gamma(64)))
    window = _window(epsilon, delta)
    M = min(_FINEST, math.isqrt(_CELLS_LIMIT // (window + 2)))
    if M < 2:
        return lower, upper, unit.method
    for larger, fewer in _ATTEMPTS:
        points = M - fewer
        program = _solve(epsilon, min(delta * larger, 0.5), points, window)
        if program is None:
            continue
        found = program.lower_end(delta)
        lower = max(lower, found - 0.25 / points**2 * (1.0 + gamma(8)))
        upper = min(upper, program.upper_end(delta) + 1.0 / (12.0 * points**2) * (1.0 + gamma(8)))
        if found >= program.value * (1.0 - _GOOD):
            break
    return lower, upper, "linear program"


def _window(epsilon: float, delta: float) -> int:
    """Units that the noise reaches to: the first symmetric window of the unit shift that pays δ, and one more."""
    b, k, end, total = math.exp(-epsilon), 1, 1.0, 1.0
    while end > delta * total:
        k, end = k + 1, end * b
        total += 2.0 * end
    return k + 1


@dataclass(frozen=True)
class _SolvedProgram:
    """A solved program: its value, its noise on 0 … J (mass of one point), its multipliers and tests."""

    epsilon: float
    per_unit: int
    value: float
    masses: FloatArray
    multipliers: FloatArray
    tests: FloatArray
    theta: float

    def lower_end(self, delta: float) -> float:
        """Return the lower end that the repaired tests prove of V_M at δ."""
        a, M = math.exp(self.epsilon), self.per_unit
        total = float(self.multipliers.sum())
        reach = max(math.ceil(M * math.sqrt(max(self.theta, 0.0) + (a - 1.0) * total)) + M, self.tests.shape[1])
        f = self._extended(reach + M + 1)
        rest = self._without_unit_test(f, reach, a)
        _repair(rest, f[M], M, a, self.theta)
        values = rest + f[M, M : M + reach + 1] - a * f[M, : reach + 1]
        values[:M] += f[M, M:0:-1]
        sizes = gamma(4 * M + 32) * ((reach / M) ** 2 + 3.0 * a * total)
        return float(float(values.min()) - sizes - 2.0 * delta * total * (1.0 + gamma(M + 8)))

    def _extended(self, length: int) -> FloatArray:
        """The tests clipped to [0, λ], continued by λ_M for the unit shift and by zero for the others."""
        M, known = self.per_unit, self.tests.shape[1]
        f = np.zeros((M + 1, length))
        f[1:, :known] = np.clip(self.tests[1:], 0.0, self.multipliers[:, None])
        f[M, known:] = self.multipliers[-1]
        return f

    def _without_unit_test(self, f: FloatArray, reach: int, a: float) -> FloatArray:
        """z²/M² and the tests of the shifts below M, for z = 0 … reach."""
        M = self.per_unit
        rest = np.square(np.arange(reach + 1) / M)
        for s in range(1, M):
            rest += f[s, s : s + reach + 1] - a * f[s, : reach + 1]
            rest[:s] += f[s, s:0:-1]
        return rest

    def upper_end(self, delta: float) -> float:
        """E Z² of a feasible noise on the lattice."""
        a, M, J = math.exp(self.epsilon), self.per_unit, len(self.masses) - 1
        full = np.concatenate([self.masses[:0:-1], self.masses])
        full = full / full.sum()
        pad = [np.zeros(M), np.zeros(M)]
        centre = np.concatenate([pad[0], full, pad[1]])
        excess = max(
            float(np.maximum(np.roll(centre, s) - a * (1.0 - 1e-14) * centre, 0.0).sum()) for s in range(1, M + 1)
        ) * (1.0 + 1e-12)
        own = 2.0 * float(np.square(np.arange(1, J + 1) / M) @ full[J + 1 :]) * (1.0 + 1e-12)
        if excess <= delta:
            return own
        # Laplace noise on the lattice of ratio e^{ε/M} pays no δ.
        share = 1.0 - delta / excess
        b, c = math.exp(-self.epsilon / M), -math.expm1(-self.epsilon / M)
        return (1.0 - share) * own + share * 2.0 * b / (c * c * M * M) * (1.0 + 1e-12)


def _repair(rest: FloatArray, unit: FloatArray, M: int, a: float, theta: float) -> None:
    """Lower the unit shift's test, farthest block first, wherever a constraint is missed."""
    half = M // 2 + 1
    for top in range(len(rest), half, -M):
        z = np.arange(max(top - M, half), top)
        mirrored = np.where(z < M, unit[np.abs(M - z)], 0.0)
        missed = np.maximum(theta - (rest[z] + unit[z + M] + mirrored - a * unit[z]), 0.0)
        unit[z] = np.maximum(unit[z] - missed / a * (1.0 + 1e-15), 0.0)


def _cells(M: int, J: int) -> tuple[IntArray, IntArray]:
    """The shifts and points of all tests: z from above s/2 to J + s."""
    shifts = [np.full(J + s - s // 2, s) for s in range(1, M + 1)]
    points = [np.arange(s // 2 + 1, J + s + 1) for s in range(1, M + 1)]
    return np.concatenate(shifts), np.concatenate(points)


def _solve(epsilon: float, delta: float, M: int, window: int) -> _SolvedProgram | None:
    """The program over symmetric noise, p_j in units of b^{j/M} and excesses in units that balance its rows."""
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    a, J = math.exp(epsilon), (window + 2) * M
    s, t = _cells(M, J)
    from_, inside, cells, rows = np.abs(t - s), t <= J, len(s), np.arange(len(s))
    decay, both = np.exp(-epsilon * np.arange(J + 1) / M), np.where(np.arange(J + 1) == 0, 1.0, 2.0)
    scale = np.exp(-epsilon * from_ / M)
    balance = np.sqrt(scale / delta)
    # p_{z−s} − a·p_z − excess ≤ 0, each row over its scale; then Σ excess ≤ δ for each shift, over δ.
    entries = np.concatenate([np.ones(cells), -a * decay[t[inside]] / scale[inside], -1.0 / balance])
    places = (np.concatenate([rows, rows[inside], rows]), np.concatenate([from_, t[inside], J + 1 + rows]))
    ratios = sparse.csr_matrix((entries, places), shape=(cells, J + 1 + cells))
    totals = sparse.csr_matrix((balance, (s - 1, J + 1 + rows)), shape=(M, J + 1 + cells))
    costs = np.concatenate([np.square(np.arange(J + 1) / M) * both * decay, np.zeros(cells)])
    one = sparse.csr_matrix(np.concatenate([both * decay, np.zeros(cells)])[None])
    limits = np.concatenate([np.zeros(cells), np.ones(M)])
    answer = linprog(costs, sparse.vstack([ratios, totals]), limits, one, [1.0], method="highs-ds")
    if answer.x is None or answer.ineqlin.marginals is None:
        return None
    dual = np.maximum(-np.asarray(answer.ineqlin.marginals), 0.0)
    tests = np.zeros((M + 1, J + M + 1))
    tests[s, t] = 0.5 * dual[:cells] / scale
    multipliers = 0.5 * dual[cells:] / delta
    theta = float(answer.fun) + 2.0 * delta * float(multipliers.sum())
    masses = np.maximum(np.asarray(answer.x[: J + 1]), 0.0) * decay
    return _SolvedProgram(epsilon, M, float(answer.fun), masses, multipliers, tests, theta)
