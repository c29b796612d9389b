r"""Correlations of all concepts by correlational queries: the algorithm of Edmonds' Theorem 56, with its right
constant.

Wanted: the correlations (Wg)_c = E_λ[b·c(a)], g(a) = λ(a, 1) − λ(a, −1), of the k rows of a matrix W, from an oracle
that answers b·f(a) only. Let W̃ = RA, |W − W̃| ≤ a entrywise, columns of A of norm at most 1, and let Z_1, …, Z_J be
standard Gaussian vectors. Query t is f_t(x) = sign⟨Z_t, A'e_x⟩, A' being A with one more row √(1 − ‖a_x‖²) (a zero
column in R); the estimate is √(π/2)·R'·mean(r_tZ_t) for the answers r_t.

**Constant.** For a unit vector v, E[sign⟨Z, v⟩Z] = √(2/π)v, so √(π/2) makes it unbiased. The thesis (Edmonds, PhD
thesis, University of Toronto, 2023) multiplies by √π/2, and by 1/√π in the same proof: with √π/2 every estimate is 1/√2
of what it should be. The query is odd in the label only if the padding is, too: b·f_t(a).

**Length for padding**, ours: f_t(x) = ‖a_x‖·sign⟨Z_t, a_x⟩ is a query, too, has the same mean without the further row,
and nowhere a larger second moment of f.

**Error.** One row ρ of R', ‖ρ‖ ≤ ‖R‖, N = ⟨ρ, Z⟩. For a single labelled point, X = b·f(x)N has mean m and
ln E e^{s(X−m)} ≤ s²‖ρ‖²/2: split N along v = a_x/‖a_x‖ and across; across it is Gaussian, along it is ±|N₁|, and
E e^{s|N₁|} = 2e^{s²/2}Φ(s), where ln 2Φ is concave with slope √(2/π) = E|N₁| at 0. For a law of points, X = Σλ(x)X_x:
ln E e^{sX} is convex in λ (Hölder) and sm linear, so ln E e^{sX} − sm is largest at a single point (at length for
padding, f = 0 is the other end of a segment). So the estimate of a row is subgaussian with proxy (π/2)‖ρ‖²/J, and what
is added to the answers, |e_t| ≤ τ, moves it by at most √(π/2)·τ·mean|N_t|, where |N| has mean √(2/π)‖ρ‖ and upper proxy
‖ρ‖². With maxima over 2k and over k such numbers,

.. math:: \mathrm{E}\lVert\text{estimate} - Wg\rVert_\infty \le
   a + \lVert R\rVert_{2\to\infty}\Bigl(\sqrt{\tfrac{\pi\ln 2k}{J}} + \tau\bigl(1 + \sqrt{\tfrac{\pi\ln
   k}{J}}\bigr)\Bigr).

Fresh samples, n for every query, are no error of the oracle but more noise: given them the proxy is the same and the
mean moves within ±√(2/π)‖ρ‖, so (π/2)‖ρ‖²/J becomes (π/2)(1 + 2/(πn))‖ρ‖²/J.

**The simulation of Kasiviswanathan et al.** (SIAM J. Comput. 40(3), 2011) of the local protocol whose user answers
sign⟨Z, A'e_x⟩ by randomized response: one query a user, its answer r made a bit ±1 of mean r/c and multiplied by c
(``rounded_at``), c = (e^ε+1)/(e^ε−1). It uses as many queries as the protocol has users, and its variance is at least
c² times that of Theorem 56, which keeps r itself: E c²N² − m² ≥ c²(E r²N² − m²).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue, UnknownName
from factormech.learning.sq.oracles import Correlational, check_tolerance
from factormech.norms.certified import CertifiedNorm, checked_matrix

RIGHT = math.sqrt(math.pi / 2.0)
PRINTED = math.sqrt(math.pi) / 2.0
CONSTANTS = {"unbiased": RIGHT, "as-printed": PRINTED}
Padding = Literal["coordinate", "length"]
PADDINGS: tuple[Padding, ...] = ("coordinate", "length")
# Signs that are held at once.
_CELLS = 2**20


@dataclass(frozen=True)
class Factors:
    """W ≈ RA with columns of A of norm at most 1.

    Attributes
    ----------
    left, right
        R, (k, s), and A, (s, T).
    distance
        The largest |W − RA|.
    """

    left: FloatArray
    right: FloatArray
    distance: float

    @property
    def size(self) -> float:
        """‖R‖_{2→∞}."""
        return float(np.sqrt(np.einsum("ij,ij->i", self.left, self.left)).max())

    @property
    def lengths(self) -> FloatArray:
        """The norms of A's columns, at most 1."""
        return np.asarray(np.minimum(np.sqrt(np.einsum("ij,ij->j", self.right, self.right)), 1.0))


def factors_of(workload: Any, norm: CertifiedNorm) -> Factors:
    """The factors of a norm of W, with A's largest column made a unit vector."""
    W = checked_matrix("workload", workload)
    R, A = norm.left.dense(), norm.right.dense()
    scale = float(np.sqrt(np.einsum("ij,ij->j", A, A)).max())
    if scale == 0.0:
        return Factors(R, A, float(np.abs(W).max()))
    R, A = R * scale, A / scale
    return Factors(R, A, float(np.abs(W - R @ A).max()))


def estimate(
    factors: Factors,
    oracle: Correlational,
    queries: Any,
    rng: np.random.Generator,
    *,
    constant: float = RIGHT,
    padding: Padding = "coordinate",
    attacked: int | None = None,
    rounded_at: float | None = None,
) -> FloatArray:
    """Estimates of the correlations, (len(queries), k): after each number of queries, in rising order.

    Parameters
    ----------
    constant
        What the mean is multiplied by: ``RIGHT``, or ``PRINTED`` in the thesis.
    padding
        How columns shorter than 1 are filled up (see the module).
    attacked
        The row whose estimate an adversary pushes down; it gives away as little as it may, if ``None``.
    rounded_at
        ε of the local protocol that is simulated: answers become bits.
    """
    counts = _checked_counts(queries)
    points = _padded(factors, padding)
    weights = factors.lengths if padding == "length" else np.ones(points.shape[1])
    s, total = points.shape[0], np.zeros(points.shape[0])
    bits = None if rounded_at is None else privacy_factor(rounded_at)
    found, done, step = [], 0, max(1, _CELLS // points.shape[1])
    for count in counts.tolist():
        while done < count:
            Z = rng.standard_normal((min(step, count - done), s))
            f = np.where(Z @ points >= 0.0, weights, -weights)
            push = 0.0 if attacked is None else -2.0 * np.sign(Z[:, : factors.left.shape[1]] @ factors.left[attacked])
            answers = oracle.correlations(f, towards=push)
            if bits is not None:
                answers = np.where(rng.random(len(answers)) < 0.5 * (1.0 + answers / bits), bits, -bits)
            total += answers @ Z
            done += len(Z)
        found.append(total / done)
    means = np.array(found)[:, : factors.left.shape[1]]
    return np.asarray(constant * means @ factors.left.T)


def error_bound(factors: Factors, queries: int, tolerance: float = 0.0, *, samples: int | None = None) -> float:
    """An upper bound on E‖estimate − Wg‖_∞ with the unbiased constant, for every law (see the module).

    ``samples`` fresh draws answer each query, or an oracle of this tolerance does.
    """
    J, tau = check_positive_integer("queries", queries), check_tolerance(tolerance)
    k = len(factors.left)
    more = 1.0 if samples is None else math.sqrt(1.0 + 2.0 / (math.pi * check_positive_integer("samples", samples)))
    noise = more * math.sqrt(math.pi * math.log(2 * k) / J)
    return factors.distance + factors.size * (noise + tau * (1.0 + math.sqrt(math.pi * math.log(k) / J)))


def queries_needed(factors: Factors, accuracy: float, tolerance: float = 0.0) -> int:
    """The least J of which ``error_bound`` promises this accuracy."""
    k, tau = len(factors.left), check_tolerance(tolerance)
    room = accuracy - factors.distance - factors.size * tau
    if not room > 0.0:
        least = factors.distance + factors.size * tau
        raise BadValue("accuracy", accuracy, f"be above {least:.6g} at this tolerance", "lower τ or the approximation")
    root = factors.size * (math.sqrt(math.pi * math.log(2 * k)) + tau * math.sqrt(math.pi * math.log(k))) / room
    return max(1, math.ceil(root * root))


def constant_of(name: str) -> float:
    """The constant of a name: ``unbiased``, or ``as-printed`` in the thesis."""
    if name not in CONSTANTS:
        raise UnknownName("constant", name, CONSTANTS)
    return CONSTANTS[name]


def privacy_factor(epsilon: float) -> float:
    """c = (e^ε + 1)/(e^ε − 1), what a randomized bit is multiplied by."""
    return 1.0 / math.tanh(0.5 * check_epsilon(epsilon))


def _padded(factors: Factors, padding: Padding) -> FloatArray:
    """A', or A."""
    if padding not in PADDINGS:
        raise UnknownName("padding", padding, PADDINGS)
    if padding == "length":
        return factors.right
    rest = np.sqrt(np.maximum(1.0 - factors.lengths**2, 0.0))
    return np.concatenate([factors.right, rest[None]], axis=0)


def _checked_counts(queries: Any) -> IntArray:
    counts = np.atleast_1d(np.asarray(queries))
    if counts.ndim != 1 or not counts.size or counts.dtype.kind not in "iu" or np.any(np.diff(counts, prepend=0) <= 0):
        raise BadValue("queries", queries, "be whole numbers of at least 1 that rise", "give for example [10, 100]")
    return counts.astype(np.int64)
