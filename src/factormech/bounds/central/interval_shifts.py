r"""V(ε, δ) when every shift in [−1, 1] must be hidden: a linear program on a lattice, made rigorous both ways.

Let V_M be the least E Z² of noise on ℤ/M that hides the shifts ±1/M, …, ±M/M. Then

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

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.central.one_dimensional import least_noise, pure_interval
from factormech.numerics.rounding import gamma

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
class _Program:
    """A solved program: its value, its noise on 0 … J (mass of one point), its multipliers and tests."""

    epsilon: float
    per_unit: int
    value: float
    masses: FloatArray
    multipliers: FloatArray
    tests: FloatArray
    theta: float

    def lower_end(self, delta: float) -> float:
        """What the repaired tests prove of V_M at δ."""
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


def _solve(epsilon: float, delta: float, M: int, window: int) -> _Program | None:
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
    return _Program(epsilon, M, float(answer.fun), masses, multipliers, tests, theta)
