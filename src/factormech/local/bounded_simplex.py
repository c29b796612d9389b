r"""Euclidean projection of every column of a matrix onto {z ≤ q ≤ a·z, 1ᵀq = 1}, and its derivative in z.

Problem 4.1, Proposition 4.2 and Algorithm 1 of McKenna, Maity, Mazumdar & Miklau, "A workload-adaptive
mechanism for linear queries under local differential privacy", PVLDB 13(11), 2020. A strategy Q (m outputs
× n user types) is ε-LDP if and only if, with a = e^ε, every column lies in that set for one common vector z
of row minima. The projection of a column r is

.. math:: q = \operatorname{clip}(r + λ, z, a z), \qquad λ \text{ the root of } f(λ) = \sum_o
          \operatorname{clip}(r_o + λ, z_o, a z_o) = 1.

f is piecewise linear and nondecreasing, so a Newton step taken on the right piece is exact: the paper sorts
the 2m break points to find that piece, here a bracketed Newton iteration finds it in a handful of passes
and no memory.

Layout. Everything works on columns, so they are kept contiguous: the arrays returned are Fortran-ordered,
and the kernels see their transposes, of shape (n, m) in C order.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, RealArray
from factormech.errors import BadValue

# 1ᵀz may pass 1 (or a·1ᵀz miss it) by this much: rounding of a z that sums to 1 on paper, and no more.
SUM_TOLERANCE = 2.0**-50


def project_columns(points: FloatArray, lower: FloatArray, ratio: float, *, overwrite: bool = False) -> FloatArray:
    r"""Project each column r_u of ``points`` onto {q : z ≤ q ≤ a·z, 1ᵀq = 1}.

    Parameters
    ----------
    points
        R, of shape (m, n); finite.
    lower
        z ≥ 0, of shape (m,), with 1ᵀz ≤ 1 ≤ a·1ᵀz: otherwise the set is empty and ``BadValue`` is raised.
    ratio
        a ≥ 1, for example e^ε.
    overwrite
        Work in the memory of ``points`` if it is Fortran-ordered, and return it.

    Returns
    -------
    Q of shape (m, n), Fortran-ordered. Its entries obey z ≤ q ≤ fl(a·z) exactly, entries on a bound equal
    it exactly, and the exact sums of its columns differ from 1 by a few units in the last place.
    """
    z, a = check_bounds(lower, ratio)
    R = np.asarray(points, dtype=np.float64)
    if R.ndim != 2 or R.shape[0] != z.size:
        remedy = "give one row for each entry of lower"
        raise BadValue("points", R.shape, f"have shape ({z.size}, columns)", remedy)
    from factormech.local import column_kernels

    T = np.ascontiguousarray(R.T) if overwrite else np.array(R.T, order="C")
    if not np.isfinite(T.sum()):
        raise BadValue("points", "an array with NaN or infinity", "be finite", "look for too large a step")
    # No entry of a distribution passes 1: a smaller bound, the same set.
    column_kernels.project(T, z, np.minimum(a * z, 1.0))
    return T.T


def step_columns(points: RealArray, gradient: RealArray, size: float, lower: RealArray, ratio: float) -> None:
    """Take a step against a gradient, in place: R ← Π(R − size·G), for iterates.

    The same set and the same bounds as :func:`project_columns`, but for the last digits of the column sums, which are
    some units in the last place from 1: project what is kept of the iterates once more. Both arrays are
    Fortran-ordered, (m, n), and only read or written in place; all are of double or all of single precision.
    """
    z, a = check_bounds(lower, ratio)
    from factormech.local import column_kernels

    if not math.isfinite(size * max(float(gradient.max()), -float(gradient.min()))):
        raise BadValue("points", "an array with NaN or infinity", "be finite", "look for too large a step")
    column_kernels.step(points.T, gradient.T, size, z, np.minimum(a * z, 1.0))


def pull_back(
    gradient: RealArray,
    projected: RealArray,
    lower: RealArray,
    ratio: float,
    *,
    multipliers_move: bool = True,
) -> FloatArray:
    r"""The chain rule through the projection: ∇_z of a function of Q = Π_z(R), from its gradient in Q.

    In a column with free entries F = {o : z_o < q_o < a z_o}, an entry on its lower (upper) bound moves
    with z_o (with a·z_o), and the multiplier λ moves all free entries alike so that the column still sums
    to 1. With c_o = 1 on the lower bound, a on the upper and 0 between,

    .. math:: \frac{∂L}{∂z_o} = \sum_u c_{ou} (g_{ou} - \bar g_u), \qquad
              \bar g_u = \operatorname{mean}\{g_{ou} : o ∈ F_u\}.

    Adding a constant to a column of the gradient changes nothing, as it must: column sums cannot change. A
    column without free entries has one-sided derivatives only; the mean over all its entries stands in for
    ḡ_u there.

    Parameters
    ----------
    gradient, projected
        ∂L/∂Q and Q, of shape (m, n); no copy is made of Fortran-ordered arrays.
    lower, ratio
        z of shape (m,) and a, the very ones that Q was projected with: bounds are recognised by equality.
    multipliers_move
        ``False`` holds every λ_u fixed: Σ_u c_ou g_ou, without ḡ. This is not the derivative, but what the
        runs published with the paper used.
    """
    from factormech.local import column_kernels

    a = float(ratio)
    G, T = np.ascontiguousarray(gradient.T), np.ascontiguousarray(projected.T)
    out = np.zeros(lower.size)
    column_kernels.pull_back(G, T, lower, a * lower, a, multipliers_move, out)
    return out


def bounds_are_feasible(lower: RealArray, ratio: float) -> bool:
    """Whether a column with z ≤ q ≤ a·z and 1ᵀq = 1 exists: 1ᵀz ≤ 1 ≤ a·1ᵀz (up to ``SUM_TOLERANCE``)."""
    total = math.fsum(lower)
    return total <= 1.0 + SUM_TOLERANCE and ratio * total >= 1.0 - SUM_TOLERANCE


def check_bounds(lower: RealArray, ratio: float) -> tuple[RealArray, float]:
    """Return z as a contiguous float array and a as a float, or say which rule they break. Singles stay singles."""
    given = np.asarray(lower)
    z: RealArray = np.ascontiguousarray(given, dtype=np.float32 if given.dtype == np.float32 else np.float64)
    a = float(ratio)
    if not (math.isfinite(a) and a >= 1):
        raise BadValue("ratio", ratio, "be finite and at least 1", "give exp(epsilon)")
    if z.ndim != 1 or not np.all(np.isfinite(z)) or np.any(z < 0):
        raise BadValue("lower", lower, "be a vector of finite numbers, none negative", "clip it at 0")
    if not bounds_are_feasible(z, a):
        remedy = "take a smaller step in lower, or rescale it"
        raise BadValue("sum(lower)", math.fsum(z), f"lie between 1/ratio = {1 / a:.6g} and 1", remedy)
    return z, a
