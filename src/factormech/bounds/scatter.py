r"""The variance itself bounded from below: no trace is taken from another, so that nothing cancels at large ε.

Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020); notation of ``mechanisms/local/strategy.py`` and
``pairwise.py``. Class of mechanisms: non-interactive ε-LDP protocols in which every user draws from one strategy Q
(any number of outputs) and the answers are the sum of one vector per report, without bias: *unbiased linear
strategies*.

**Theorem 1.** Let w_u = We_u, and z_u any vectors, one a user type. For every strategy Q with reconstruction VQ = W

.. math:: \frac1n\sum_u \operatorname{Var}_u \;\ge\; \frac1n\Bigl[\sum_{u<v} X_{uv}\lVert z_u-z_v\rVert^2
          - \sum_u \lVert z_u-w_u\rVert^2\Bigr], \qquad X_{uv} = \sum_o \frac{Q_{ou}Q_{ov}}{\sum_wQ_{ow}} .

*Proof.* Var_u = Σ_oQ_ou‖v_o − w_u‖². As Σ_oQ_ou(v_o − w_u) = 0, subtracting 2⟨z_u − w_u, v_o − w_u⟩ from every square
changes no sum: Var_u = Σ_oQ_ou[‖v_o − z_u‖² − ‖z_u − w_u‖²]. For each o, Σ_uQ_ou‖v_o − z_u‖² is least at the mean of
the z_u with weights Q_ou, where it is Σ_{u<v}Q_ouQ_ov‖z_u−z_v‖²/Σ_wQ_ow. ∎

It is an equality where every v_o is that mean. The sum of X_uv‖z_u−z_v‖² is positive term by term: its relative error
is that of its terms, however small the variance is.

**Theorem 2.** Let numbers p_u, N_uv = N_vu ≥ 0, ω > 0 satisfy, with κ = 2/(e^ε+1) and g = p − κN1, for all u ≠ v

.. math:: p_u + p_v + 2N_{uv} \;\le\; \lVert z_u-z_v\rVert^2 + (g_u-g_v)^2/\omega .

Let π = Σp_u ≥ 0, ν = ΣN_uv. With w = e^ε − 1, l_j = n/(n+jw), τ_j = ½(2+w)l_j and
ρ_j = l_j(n−2+(j−1)w) + (1+w)l_j², every ε-LDP strategy has

.. math:: n\sum_{u<v}X_{uv}\lVert z_u-z_v\rVert^2 \;\ge\; \beta - \tfrac n\omega\lVert Pg\rVert^2, \qquad
          \beta = \min\; \mathrm E\bigl[\pi\rho_j + \nu l_j(2-l_j)\bigr] - \omega\operatorname{Var}\tau_j

over the laws of a random j in {1, …, n−1}.

*Proof.* As in ``pairwise.py`` let every row be extreme, and draw it with probability 1ᵀq/n; x = nq/1ᵀq has j entries
h = (1+w)l and n−j entries l = l_j, E x = 1 and nX = E[xxᵀ]. So nΣ_{u<v}X_uv‖z_u−z_v‖² is at least E of

.. math:: \sum_{u<v}x_ux_v\bigl(p_u+p_v+2N_{uv}\bigr) - \tfrac1\omega\sum_{u<v}x_ux_v(g_u-g_v)^2 .

The first sum is Σp_ux_u(n−x_u) + ΣN_uvx_ux_v. From (x_u−h)(x_u−l) = 0 and (x_u−l)(x_v−l) ≥ 0 it is at least
Σp_u[(n−h−l)x_u + hl] + 2l(N1)ᵀx − l²ν; with x = 1 + y, h + l = 2τ and l = κτ that is πρ + νl(2−l) + n·pᵀy − 2τgᵀy.
The second is n·Σx_ug_u² − (gᵀx)², in the mean n‖Pg‖² − E(gᵀy)². At last
E[2τgᵀy] = E[2(τ−Eτ)gᵀy] ≤ E[ω(τ−Eτ)² + (gᵀy)²/ω]. ∎

β: πρ + νl(2−l) is a quadratic function of τ, so the extreme laws are those of ``pairwise.py``: two neighbouring j, or
the outermost. On a segment with values f ≤ f' and c = ω(τ−τ')² the minimum is f − max(c−(f'−f), 0)²/(4c).

**Vectors.** z = (1 + E)w for a matrix E: ‖z_u−z_v‖² and Σ‖z_u−w_u‖² are those of (1+E)C(1+E)ᵀ and tr(ECEᵀ). Vectors of
further coordinates, in which every w is 0, may be added: the rows of V. With T and Y of ``pairwise.py``, scaled to
tr(TC) = tr(X_cY), E is T less the projection onto the range of C, and VVᵀ = P(Y − TCTᵀ)P: in exact arithmetic the bound
is then that of ``pairwise.py``. Any other E, V, p, N, ω give a bound as well, perhaps a poor one.

**Large ε.** E = ϑP, and p_u half the least distance from u: with β' the bound of Theorem 2 for z = w, the best ϑ gives
tr C·β'/(tr C − β'). It needs no search, and randomized response attains it in the limit.

**Rounding.** E, V, p, N, ω are the floats that they are. Products of k terms are off by at most γ_k = ku/(1−ku) times
the product of absolute values (Higham, Accuracy and Stability of Numerical Algorithms, 2002, §3.5), u = 2⁻⁵³, in
whatever order they are summed; every bound below replaces absolute values by their largest. Distances are rounded down,
the condition of Theorem 2 is checked with all roundings against it (p is lowered by the same number for all types until
it holds, which leaves g_u − g_v alone), w is above e^ε − 1, π and ν are rounded down, all else up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.centred import CentredGram
from factormech.bounds.pair_search import PairWeights
from factormech.bounds.staircase import SizeLimit

_UNIT = 2.0**-53
# Beyond, variances are near the least float, and nothing is proved.
EPSILON_LIMIT = 600.0
# What the few roundings in the error bounds themselves may amount to.
_SLACK = 1.0 + 1e-6
# Relative errors of l, τ, ρ and of differences of τ: products and quotients of at most eight rounded factors.
_SIZES = 32.0 * _UNIT
# Times that p is lowered until the condition of Theorem 2 holds.
_TRIES = 5
# The ω that are tried where E = ϑP, relative to what makes two sizes equally good.
_OMEGAS = np.geomspace(1e-4, 1e4, 161)


def scatter_variance(gram: CentredGram, epsilon: float, weights: PairWeights) -> float:
    """A lower bound on the average variance per user of unbiased linear strategies, by weights p, N, ω.

    It holds in exact arithmetic. It is 0 where nothing is proved.
    """
    found = Vectors.of(gram.matrix, epsilon, weights) if epsilon <= EPSILON_LIMIT else None
    if found is None:
        return 0.0
    return max(_variance(gram, epsilon, vectors) for vectors in found.variants())


def single_variance(gram: CentredGram, epsilon: float) -> float:
    """The bound for E = ϑP, which needs no search: randomized response attains it as e^ε grows. 0 if vacuous."""
    n, trace = len(gram.matrix), gram.trace_above
    if epsilon > EPSILON_LIMIT:
        return 0.0
    d = distances_below(gram.matrix, _entry_error(gram, 0.0))
    p, N = _nearest_weights(d)
    w = _ratio_above(epsilon)
    g, doubt = _gap_vector(p, N, w)
    lowered = _lowered(d, p, N, math.inf, w)
    if lowered is None or not trace > 0.0:
        return 0.0
    mass, pairs = _sum_below(lowered), _sum_below(N)
    spread = _spread_above(g, doubt)
    scale = 8.0 * mass / n**2
    beta = max(_scatter_below(n, w, mass, pairs, float(omega), spread) for omega in scale * _OMEGAS) if scale else 0.0
    return _below(beta * trace / ((trace - beta) * n)) if 0.0 < beta < trace else 0.0


@dataclass(frozen=True)
class Vectors:
    """E, V and weights.

    Attributes
    ----------
    change
        E, (n, n).
    beside
        V, (n, r), coordinates in which the workload is 0, or none.
    weights
        p, N, ω in the scale of the distances.
    """

    change: FloatArray
    beside: FloatArray | None
    weights: PairWeights

    @classmethod
    def of(cls, C: FloatArray, epsilon: float, weights: PairWeights) -> Vectors | None:
        """T of ``pairwise.py`` from weights, scaled; None where they give none."""
        n, limit = len(C), SizeLimit.of(len(C), epsilon)
        values, basis = np.linalg.eigh(C)
        keep = values > n * np.finfo(float).eps * max(float(values[-1]), 0.0)
        values, basis = values[keep], basis[:, keep]
        Y = _form(weights, limit.kappa)
        R = basis * np.sqrt(values)
        roots, turn = np.linalg.eigh(R.T @ Y @ R)
        good = roots > len(roots) * np.finfo(float).eps * max(float(roots[-1]), 0.0) if len(roots) else roots > 0.0
        if not good.any():
            return None
        half = turn[:, good] * roots[good] ** -0.25
        T = (Y @ R) @ (half @ half.T) / np.sqrt(values)  # on the basis of the range of C
        information = limit.at(float(weights.pairs.sum()), weights.omega).value
        scale = float(np.sum(T * basis * values)) * n / information
        E = (scale * T - basis) @ basis.T
        scaled = PairWeights(scale**2 * weights.types, scale**2 * weights.pairs, scale**2 * weights.omega)
        return cls(E, _beside(scale**2 * Y, scale * T * np.sqrt(values)), scaled)

    def variants(self) -> list[Vectors]:
        """With V, and without: where V should be 0, it is rounding, which is too large at large ε."""
        return [self, Vectors(self.change, None, self.weights)]


def _form(weights: PairWeights, kappa: float) -> FloatArray:
    """Y = P(Diag p − N − ggᵀ/ω)P."""
    p, N = weights.types, weights.pairs
    g = p - kappa * N.sum(axis=1)
    g = g - g.mean()
    Y = np.diag(p) - N
    Y -= Y.mean(axis=0)
    Y -= Y.mean(axis=1)[:, None]
    return np.asarray(Y - np.outer(g, g) / weights.omega)


def _beside(Y: FloatArray, Z: FloatArray) -> FloatArray:
    """V with VVᵀ = P(Y − ZZᵀ)P but for negative eigenvalues."""
    rest = Y - Z @ Z.T
    rest -= rest.mean(axis=0)
    rest -= rest.mean(axis=1)[:, None]
    values, vectors = np.linalg.eigh(0.5 * (rest + rest.T))
    keep = values > 0.0
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


def _variance(gram: CentredGram, epsilon: float, vectors: Vectors) -> float:
    """Theorems 1 and 2 for these vectors and weights, all roundings accounted for."""
    C, E, n = gram.matrix, vectors.change, len(gram.matrix)
    EC = E @ C
    sums = np.abs(E).sum(axis=1) * _SLACK
    d = distances_below(C + EC + EC.T + EC @ E.T, _entry_error(gram, float(sums.max())))
    largest = float(np.abs(C).max())
    squares = float(np.sum(sums**2)) * _SLACK
    cost = math.fsum((EC * E).ravel().tolist())
    cost += (_gamma(n + 2) * largest + gram.entry_error) * squares * _SLACK
    if vectors.beside is not None:
        V = vectors.beside
        norms = np.einsum("ur,ur->u", V, V)
        d = d + distances_below(V @ V.T, _gamma(V.shape[1] + 2) * float(norms.max()) * _SLACK)
        cost += math.fsum(norms.tolist()) * (1.0 + 2.0 * _gamma(V.shape[1] + 2))
    gain = _gain(d, vectors.weights, _ratio_above(epsilon))
    return _below((gain - cost * (1.0 + 4.0 * _UNIT)) / n)


def _gain(d: FloatArray, weights: PairWeights, w: float) -> float:
    """Theorem 2: a lower bound on Σ_{u<v}X_uv·d_uv, by weights that are lowered until they satisfy its condition."""
    n, omega = len(d), weights.omega
    N = np.minimum(weights.pairs, weights.pairs.T)
    g, doubt = _gap_vector(weights.types, N, w)
    room = d + _squares_below(g, doubt) / omega - weights.types[:, None] - weights.types
    N = np.minimum(N, np.maximum(0.5 * room, 0.0))
    N = np.minimum(N, N.T)
    np.fill_diagonal(N, 0.0)
    p = _lowered(d, weights.types, N, omega, w)
    if p is None:
        return 0.0
    g, doubt = _gap_vector(p, N, w)
    return _scatter_below(n, w, _sum_below(p), _sum_below(N), omega, _spread_above(g, doubt))


def _lowered(d: FloatArray, p: FloatArray, N: FloatArray, omega: float, w: float) -> FloatArray | None:
    """p less the least number with which the condition of Theorem 2 certainly holds; None where none is found."""
    for _ in range(_TRIES):
        g, doubt = _gap_vector(p, N, w)
        size = np.abs(p)
        left = (p[:, None] + p + 2.0 * N) + 8.0 * _UNIT * (size[:, None] + size + 2.0 * N)
        left -= d if math.isinf(omega) else d + _squares_below(g, doubt) / omega * (1.0 - 8.0 * _UNIT)
        np.fill_diagonal(left, -math.inf)
        # The last difference is rounded, too; where left is small it is exact to a unit of its terms.
        excess = float((left + 4.0 * _UNIT * (size[:, None] + size + 2.0 * N)).max())
        if excess <= 0.0:
            return p
        p = p - (0.5 * excess * (1.0 + 1e-9) + 8.0 * _UNIT * float((size[:, None] + N).max()))
    return None


def _scatter_below(n: int, w: float, mass: float, pairs: float, omega: float, spread: float) -> float:
    """(β − n‖Pg‖²/ω)/n, rounded down; ``spread`` is an upper bound on ‖Pg‖²."""
    if not (mass > 0.0 and pairs >= 0.0 and omega > 0.0):
        return 0.0
    j = np.arange(1, n)
    size = n + j * w
    low = n / size
    f = mass * (low * (n - 2.0 + (j - 1) * w) + (1.0 + w) * low * low) + pairs * low * (2.0 - low)
    first = np.append(np.arange(max(n - 2, 1)), 0)
    second = np.minimum(np.append(np.arange(max(n - 2, 1)) + 1, n - 2), n - 2)
    step = 0.5 * n * ((2.0 + w) / size[first]) * (w / size[second]) * (second - first)
    c = omega * step**2 * (1.0 + 4.0 * _SIZES)
    least, most = np.minimum(f[first], f[second]), np.maximum(f[first], f[second])
    more = np.maximum(c - np.maximum(most * (1.0 - _SIZES) - least * (1.0 + _SIZES), 0.0), 0.0)
    loss = more**2 / (4.0 * np.where(c > 0.0, c, 1.0)) * (1.0 + _SIZES)
    beta = float((least * (1.0 - _SIZES) - loss).min())
    paid = n * spread / omega * (1.0 + 4.0 * _UNIT)
    return _below((beta - paid) / n - 4.0 * _UNIT * (abs(beta) + paid) / n)


def _nearest_weights(d: FloatArray) -> tuple[FloatArray, FloatArray]:
    """p_u, half the least distance from u, and N, what is left of half the distances."""
    far = d.copy()
    np.fill_diagonal(far, math.inf)
    p = 0.5 * far.min(axis=1)
    N = np.maximum(0.5 * (d - p[:, None] - p), 0.0)
    np.fill_diagonal(N, 0.0)
    return p, N


def distances_below(gram: FloatArray, error: float) -> FloatArray:
    """Lower bounds on the squared distances M_uu + M_vv − 2M_uv, M's entries being known to ``error``; at least 0."""
    diagonal = np.diagonal(gram)
    d = diagonal[:, None] + diagonal - 2.0 * gram
    d = np.minimum(d, d.T) - (4.0 * error + 16.0 * _UNIT * float(np.abs(gram).max(initial=0.0))) * _SLACK
    np.fill_diagonal(d, 0.0)
    return np.maximum(d, 0.0)


def _entry_error(gram: CentredGram, size: float) -> float:
    """What an entry of C + EC + CEᵀ + ECEᵀ is off by, ``size`` being the largest row sum of |E|."""
    n, largest = len(gram.matrix), float(np.abs(gram.matrix).max(initial=0.0))
    products = 2.0 * _gamma(n + 2) * size * (1.0 + size) * largest
    return (products + (8.0 * _UNIT * largest + gram.entry_error) * (1.0 + size) ** 2) * _SLACK


def _gap_vector(p: FloatArray, N: FloatArray, w: float) -> tuple[FloatArray, float]:
    """g = p − κN1, and what an entry is off by."""
    kappa, r = 2.0 / (2.0 + w), N.sum(axis=1)
    doubt = kappa * _gamma(len(p) + 8) * float(r.max(initial=0.0)) + 4.0 * _UNIT * float(np.abs(p).max(initial=0.0))
    return p - kappa * r, doubt * _SLACK


def _squares_below(g: FloatArray, doubt: float) -> FloatArray:
    """Lower bounds on (g_u − g_v)²."""
    return np.asarray(np.maximum(np.abs(g[:, None] - g) * (1.0 - 2.0 * _UNIT) - 2.0 * doubt, 0.0) ** 2)


def _spread_above(g: FloatArray, doubt: float) -> float:
    """An upper bound on ‖Pg‖²."""
    off = np.abs(g - g.mean()) * (1.0 + 2.0 * _UNIT) + doubt
    return float(np.sum(off**2)) * _SLACK


def _sum_below(terms: FloatArray) -> float:
    total = math.fsum(terms.ravel().tolist())
    return total - 2.0 * _UNIT * abs(total)


def _ratio_above(epsilon: float) -> float:
    """w ≥ e^ε − 1, finite; at larger budgets nothing is proved of variances near the least float."""
    return math.expm1(epsilon) * (1.0 + 4.0 * _UNIT)


def _below(x: float) -> float:
    return max(x - 8.0 * _UNIT * abs(x), 0.0)


def _gamma(terms: int) -> float:
    return terms * _UNIT / (1.0 - terms * _UNIT) * _SLACK
