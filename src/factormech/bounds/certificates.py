r"""Lower bounds that hold in exact arithmetic: a check over every extreme report, and certificates of integers.

**The condition, checked over every extreme report of a small domain.** Setting: McKenna, Maity, Mazumdar & Miklau
(PVLDB 13(11), 2020); notation of ``mechanisms/local/strategy.py``, a = e^ε. An ε-LDP strategy Q has on the centred
workload C = PGP = RRᵀ the objective tr(X_c⁺C), X = Σ_o q_o q_oᵀ/(1ᵀq_o) = X_c + 11ᵀ/n.

**Extreme rows.** A row with max q ≤ a·min q is a non-negative combination Σθ_j v_j of vectors v ∈ {1, a}ⁿ: sort its
entries and peel off 1 + (a−1)1_S for the upper level sets S. As q ↦ (xᵀq)²/(1ᵀq) is convex and homogeneous of degree
one, qqᵀ/(1ᵀq) ⪯ Σθ_j v_j v_jᵀ/(1ᵀv_j).

**Certificate.** Let Z (n × r) have 1ᵀZ = 0, and let λ satisfy

.. math:: v^\top Z Z^\top v \le (\lambda^\top v)(\mathbf 1^\top v) \qquad\text{for all } v \in \{1, a\}^n .

Then tr(X_cZZᵀ) = tr(XZZᵀ) ≤ Σ_o λᵀq_o = 1ᵀλ, the columns of Q summing to one, and for every ε-LDP Q of any size

.. math:: \operatorname{tr}(X_c^+ C) \ge \frac{\operatorname{tr}(R^\top Z)^2}{\mathbf 1^\top\lambda} :

where the left side is finite R lies in the range of X_c, so tr(RᵀZ) = ⟨(X_c^{1/2})⁺R, X_c^{1/2}Z⟩, and Cauchy–Schwarz
applies. A symmetric T in place of Z is the case Z = TR: ZZᵀ = TCT and tr(RᵀZ) = tr(TC).

**Repair.** With c = max_v [vᵀZZᵀv − (λᵀv)(1ᵀv)]/(1ᵀv)² of either sign, λ + c1 satisfies the condition, whatever Z and
λ are. So any guess becomes a bound; at the optimum, Z = X_c⁺R and λ the multiplier of X1 = 1, it is attained.

**Certificates of whole numbers.** They can be checked again with integers alone. Setting: McKenna, Maity, Mazumdar &
Miklau (PVLDB 13(11), 2020), in the notation above. Let G = WᵀW be a Gram matrix of rational numbers,
a a rational number with a ≥ e^ε, T a rational (n, n) matrix with T1 = 0 and 1ᵀT = 0, and λ a rational vector with

.. math:: v^\top T G T^\top v \le (\lambda^\top v)(\mathbf 1^\top v) \qquad\text{for all } v \in \{1, a\}^n .

Z = TPWᵀ is then a dual for the root PWᵀ of C = PGP: ZZᵀ = TGTᵀ and tr(WPZ) = tr(TG), so every ε-LDP strategy, each of
them being (log a)-LDP, has

.. math:: \operatorname{tr}(X_c^+C) \ge \frac{\operatorname{tr}(TG)^2}{\mathbf 1^\top\lambda}, \qquad
          \text{average variance per user} \ge \frac1n \Bigl(\frac{\operatorname{tr}(TG)^2}{\mathbf 1^\top\lambda}
          - \operatorname{tr} G + \frac{\mathbf 1^\top G\mathbf 1}n\Bigr) .

T need not be symmetric, and suffices even where C or X_c is singular: any Z is TPWᵀ up to what is lost on tr(WPZ).

**Rounding.** T and λ come from a solver in floating point. T is rounded to integers over 2^k except for its last row
and column, which make the sums zero; λ is raised by the violation that floating point sees and a little more, and
rounded up; then the 2ⁿ conditions are checked in unbounded integers along a Gray code. If one fails, λ is raised again.

**The ratio.** For x ≥ 0 and K + 1 > x, e^x ≤ Σ_{k<K} x^k/k! + (x^K/K!)/(1 − x/(K+1)); a is this bound for the exact
value of the floating-point ε, rounded up to a multiple of 2^{−40}.
"""

from __future__ import annotations

import json
import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.errors import BadValue
from factormech.numerics.rational import integers

# The condition, checked over every extreme report of a small domain.

# 2^n extreme rows are enumerated up to this n.
DOMAIN_LIMIT = 20


def largest_violation(quadratic: FloatArray, multiplier: FloatArray, epsilon: float) -> float:
    """c = max over v ∈ {1, a}ⁿ of [vᵀMv − (λᵀv)(1ᵀv)]/(1ᵀv)², M = ``quadratic``, λ = ``multiplier``, by enumeration.

    The ratio does not change when v is scaled, so v runs over {e^{−ε}, 1}ⁿ, which cannot overflow.
    """
    low = math.exp(-check_epsilon(epsilon))
    M, multiplier = _checked(quadratic, multiplier)
    # One matrix of both sides: vᵀNv = vᵀMv − (λᵀv)(1ᵀv).
    N = 0.5 * (M + M.T) - 0.5 * (multiplier[:, None] + multiplier[None, :])
    half = (len(N) + 1) // 2
    head, tail = _corners(half, low), _corners(len(N) - half, low)
    # vᵀNv over all pairs of a head and a tail: its two squares, and one product for the cross terms.
    values = head @ (2.0 * N[:half, half:]) @ tail.T
    values += np.einsum("vi,vi->v", head @ N[:half, :half], head)[:, None]
    values += np.einsum("vi,vi->v", tail @ N[half:, half:], tail)
    values[0, 0] = -math.inf  # all low: the direction of all high, but its square may underflow
    values /= np.square(np.maximum(head.sum(axis=1)[:, None] + tail.sum(axis=1), 1e-150))
    return float(values.max())


def _checked(quadratic: FloatArray, multiplier: FloatArray) -> tuple[FloatArray, FloatArray]:
    M, vector = np.asarray(quadratic, dtype=float), np.asarray(multiplier, dtype=float)
    if not 1 <= len(M) <= DOMAIN_LIMIT:
        raise BadValue("domain size", len(M), f"be from 1 to {DOMAIN_LIMIT}", "use bounds.parametric on larger ones")
    if M.shape != (len(M), len(M)) or vector.shape != (len(M),):
        shapes = (M.shape, vector.shape)
        raise BadValue("shapes of quadratic and multiplier", shapes, "be (n, n) and (n,)", "give one entry per type")
    if not (np.isfinite(M).all() and np.isfinite(vector).all()):
        raise BadValue("quadratic and multiplier", "not finite", "be finite", "scale them")
    return M, vector


def _corners(length: int, low: float) -> FloatArray:
    """Return all of {low, 1}^length, (2^length, length)."""
    bits = np.arange(2**length)[:, None] >> np.arange(length) & 1
    return np.where(bits == 1, 1.0, low)


# Certificates of whole numbers.

IntMatrix = list[list[int]]

# T and λ are rounded to this many bits below their largest entries.
BITS = 44
# a is a multiple of 2 to minus this.
RATIO_BITS = 40
# λ is raised by this fraction of its mean beyond the violation seen, times 16 after every failure.
MARGIN = 1e-13
ATTEMPTS = 10

CLAIM = (
    "G = gram / gram_denominator is the Gram matrix of the queries, P = I - 11'/n, C = PGP. Every epsilon-LDP strategy "
    "matrix Q, of any number of outputs, has tr(pinv(X) C) >= objective_bound, where X = P Q' Diag(Q1)^-1 Q P, and an "
    "average variance per user of at least average_variance_bound. Proof: ratio >= exp(epsilon); the rows and columns "
    "of T = dual / dual_denominator sum to 0; v'TGT'v <= (multiplier'v / multiplier_denominator)(1'v) for all v in "
    "{1, ratio}^n; then objective_bound = tr(TG)^2 / (1'multiplier / multiplier_denominator), and "
    "average_variance_bound = (objective_bound - tr C) / n."
)


@dataclass(frozen=True)
class RationalCertificate:
    """G, a, T and λ as integers over common denominators; ``check`` says whether they prove the bound."""

    epsilon: Fraction
    ratio: Fraction
    gram: IntMatrix
    gram_denominator: int
    dual: IntMatrix
    dual_denominator: int
    multiplier: list[int]
    multiplier_denominator: int

    @cached_property
    def objective_bound(self) -> Fraction:
        """tr(TG)²/1ᵀλ, a lower bound on tr(X_c⁺C)."""
        gain = sum(sum(map(operator.mul, row, column)) for row, column in zip(self.dual, self.gram, strict=True))
        trace = Fraction(gain, self.dual_denominator * self.gram_denominator)
        return trace**2 * self.multiplier_denominator / sum(self.multiplier)

    @cached_property
    def average_variance_bound(self) -> Fraction:
        """The bound on the average variance per user."""
        n = len(self.gram)
        centred = sum(self.gram[i][i] for i in range(n)) - Fraction(sum(map(sum, self.gram)), n)
        return (self.objective_bound - centred / self.gram_denominator) / n

    def check(self) -> bool:
        """Return whether all conditions of the certificate hold, in exact arithmetic."""
        T = self.dual
        sums = [sum(row) for row in T] + [sum(column) for column in zip(*T, strict=True)]
        if any(sums) or sum(self.multiplier) <= 0 or self.ratio < exponential_bound(self.epsilon):
            return False
        return never_positive(self._doubled_form(), self.ratio)

    def _doubled_form(self) -> IntMatrix:
        """An integer multiple of 2TGTᵀ − λ1ᵀ − 1λᵀ."""
        TG = _product(self.dual, self.gram)
        TGT = _product(TG, [list(column) for column in zip(*self.dual, strict=True)])
        left, right = 2 * self.multiplier_denominator, self.dual_denominator**2 * self.gram_denominator
        x = self.multiplier
        return [[left * entry - right * (x[i] + x[j]) for j, entry in enumerate(row)] for i, row in enumerate(TGT)]

    def text(self) -> str:
        """The certificate as JSON, for a file that anyone can check."""
        record = {
            "kind": "factormech lower bound certificate",
            "version": 1,
            "claim": CLAIM,
            "epsilon": str(self.epsilon),
            "ratio": str(self.ratio),
            "gram_denominator": self.gram_denominator,
            "dual_denominator": self.dual_denominator,
            "multiplier_denominator": self.multiplier_denominator,
            "objective_bound": str(self.objective_bound),
            "average_variance_bound": str(self.average_variance_bound),
            "multiplier": self.multiplier,
            "gram": self.gram,
            "dual": self.dual,
        }
        return json.dumps(record, indent=1) + "\n"


def certify(gram: FloatArray, epsilon: float, dual: FloatArray, multiplier: FloatArray) -> RationalCertificate:
    """A checked certificate near a floating-point T and λ; a bad guess gives a poor bound, never a wrong one.

    Parameters
    ----------
    gram
        G = WᵀW, (n, n), symmetric, n ≤ 20, taken as the exact rational numbers that its entries are.
    epsilon
        The budget, taken as the exact rational number that it is.
    dual, multiplier
        T, (n, n), and λ, (n,), such as ``local.optimal.exact`` gives. T is centred here, and λ repaired.
    """
    G, T, guess = (np.asarray(array, dtype=float) for array in (gram, dual, multiplier))
    n = len(guess)
    if not 2 <= n <= DOMAIN_LIMIT or G.shape != (n, n) or T.shape != (n, n):
        shapes = (G.shape, T.shape, guess.shape)
        rule = f"be (n, n), (n, n) and (n,), 2 ≤ n ≤ {DOMAIN_LIMIT}"
        raise BadValue("shapes of gram, dual and multiplier", shapes, rule, "give one entry per type")
    if not (np.isfinite(G).all() and np.isfinite(T).all() and np.isfinite(guess).all() and (G == G.T).all()):
        state = "not finite or not symmetric"
        raise BadValue("gram, dual and multiplier", state, "be finite, and gram symmetric", "repair them")
    exact, gram_denominator = integers(G)
    T_int, dual_denominator = _rounded_dual(T)
    rounded = np.array(T_int, dtype=float) / float(dual_denominator)
    centred = G - G.mean(axis=0)
    form = rounded @ (centred - centred.mean(axis=1, keepdims=True)) @ rounded.T
    budget = Fraction(check_epsilon(epsilon))
    repaired = guess + largest_violation(form, guess, epsilon)
    mean = abs(float(repaired.mean())) + float(np.abs(form).max())
    bits = max(BITS - math.frexp(mean)[1], 0)
    for attempt in range(ATTEMPTS):
        raised = repaired + MARGIN * 16.0**attempt * mean
        found = RationalCertificate(
            epsilon=budget,
            ratio=rounded_up(exponential_bound(budget), RATIO_BITS),
            gram=exact,
            gram_denominator=gram_denominator,
            dual=T_int,
            dual_denominator=dual_denominator,
            multiplier=[math.ceil(Fraction(float(x)) * 2**bits) for x in raised],
            multiplier_denominator=2**bits,
        )
        if found.check():
            return found
    raise BadValue("multiplier", "no small multiple of 1", "repair the dual", "scale gram to entries near 1")


def exponential_bound(x: Fraction) -> Fraction:
    """A rational upper bound on e^x, x ≥ 0, by Taylor's series and a geometric series for its tail."""
    terms = 2 * math.ceil(x) + 40
    total, term = Fraction(0), Fraction(1)
    for k in range(terms):
        total += term
        term = term * x / (k + 1)
    return total + term / (1 - x / (terms + 1))


def rounded_up(x: Fraction, bits: int) -> Fraction:
    """The least multiple of 2^{−bits} that is at least x."""
    return Fraction(math.ceil(x * 2**bits), 2**bits)


def never_positive(N: IntMatrix, ratio: Fraction) -> bool:
    """Return whether vᵀNv ≤ 0 for all v ∈ {1, ratio}ⁿ, N symmetric; each v differs from the one before in one entry."""
    n, low = len(N), ratio.denominator
    step = ratio.numerator - low
    up = [[step * entry for entry in row] for row in N]
    down = [[-entry for entry in row] for row in up]
    own = [step * up[u][u] for u in range(n)]
    gradient = [low * sum(row) for row in N]
    value = low * sum(gradient)
    high = [False] * n
    for count in range(1, 2**n + 1):
        if value > 0:
            return False
        u = (count & -count).bit_length() - 1
        if u == n:
            break
        value += (-2 if high[u] else 2) * step * gradient[u] + own[u]
        change = down[u] if high[u] else up[u]
        gradient = [g + c for g, c in zip(gradient, change, strict=True)]
        high[u] = not high[u]
    return True


def _rounded_dual(T: FloatArray) -> tuple[IntMatrix, int]:
    """T rounded to integers over a power of two, with rows and columns of sum 0."""
    T = T - T.mean(axis=0)
    T = T - T.mean(axis=1, keepdims=True)
    largest = float(np.abs(T).max())
    if largest == 0.0:
        raise BadValue("dual", "zero but for constants", "not be zero", "give the dual of a workload that varies")
    # Denominators are at least 1, so that they are whole numbers: a T of more than 2^44 keeps more bits.
    bits = max(BITS - math.frexp(largest)[1], 0)
    scaled = [[round(Fraction(float(entry)) * 2**bits) for entry in row[:-1]] for row in T[:-1]]
    rows = [[*row, -sum(row)] for row in scaled]
    return [*rows, [-sum(column) for column in zip(*rows, strict=True)]], 2**bits


def _product(A: IntMatrix, B: IntMatrix) -> IntMatrix:
    columns = list(zip(*B, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in A]
