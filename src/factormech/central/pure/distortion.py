r"""What a random matrix T does to K: distances between its vertices, and its width.

**Distances.** E sup |‖T(y − y')‖ − ‖y − y'‖| ≲ w(S)/√ℓ over y, y' in any bounded S (Liaw, Mehrabian, Plan & Vershynin,
GAFA seminar 2014–2016; Nikolov, SODA 2023, Theorem 2.5). Here S is the set of columns, all pairs of it: exact for S,
and at most the supremum over K, whose inner points it leaves out.

**Width.** E w(TK) ≲ w(K) (Lemma 2.8). For Gaussian T there is no constant to lose: given g ~ N(0, I_ℓ), the vector Tᵀg
is N(0, (‖g‖²/ℓ)·I_k), so that

.. math:: \mathbb E\, w(TK) = \mathbb E \max_{y \in K} \langle T^T g, y\rangle = c_\ell\, w(K), \qquad
          c_\ell = \mathbb E\lVert g\rVert/\sqrt\ell = \sqrt{2/\ell}\;Γ(\tfrac{\ell+1}2)/Γ(\tfrac\ell2) < 1 .
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from factormech.arrays import FloatArray, check_positive_integer
from factormech.central.pure.bodies import body_of, checked_queries
from factormech.central.pure.jl import jl_matrix
from factormech.central.pure.width import half_spreads
from factormech.central.sequential import LEVEL, Estimate, student


@dataclass(frozen=True)
class Distortion:
    """Means over matrices, with intervals.

    Attributes
    ----------
    distance
        E max over pairs of columns of |‖T(v − v')‖ − ‖v − v'‖|.
    rate
        distance·√ℓ/w(K): Theorem 2.5 says that it stays bounded.
    width_ratio
        E w(TK)/w(K).
    """

    rows: int
    distance: Estimate
    rate: Estimate
    width_ratio: Estimate


def width_factor(rows: int) -> float:
    """c_ℓ, the exact E w(TK)/w(K) of Gaussian T."""
    half = 0.5 * check_positive_integer("rows", rows)
    return math.exp(gammaln(half + 0.5) - gammaln(half)) / math.sqrt(half)


def distances(points: FloatArray) -> FloatArray:
    """‖p_i − p_j‖ of all pairs i < j of lines."""
    from scipy.spatial.distance import pdist

    return np.asarray(pdist(points))


def distortion(
    queries: Any,
    rows: int,
    kind: str,
    width: float,
    rng: np.random.Generator,
    *,
    matrices: int = 30,
    gaussians: int = 200,
    level: float = LEVEL,
) -> Distortion:
    """Of ``matrices`` draws of T; ``width`` is w(K), and w(TK) is measured by ``gaussians`` draws for each."""
    V = np.ascontiguousarray(body_of(checked_queries(queries)).columns.T)
    before = distances(V)
    matrices = check_positive_integer("matrices", matrices, minimum=2)
    worst, widths = np.empty(matrices), np.empty(matrices)
    for m in range(matrices):
        images = V @ jl_matrix(rows, V.shape[1], kind, rng).T
        worst[m] = np.abs(distances(images) - before).max(initial=0.0)
        widths[m] = half_spreads(images, rng, gaussians).mean()
    distance = student(worst, level)
    return Distortion(
        rows, distance, _times(distance, math.sqrt(rows) / width), _times(student(widths, level), 1.0 / width)
    )


def _times(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(factor * estimate.value, factor * estimate.low, factor * estimate.high)
