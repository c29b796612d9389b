"""What every workload offers; a family overrides whatever it knows in closed form or by a fast transform.

**Centred spectra.** Centring changes a spectrum whose eigenvectors are known only by their sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_dense_size, check_positive_integer
from factormech.errors import BadValue
from factormech.numerics.roots import bisect_each
from factormech.spec import WorkloadSpec
from factormech.workloads import binary

# The base class.


class Workload(ABC):
    r"""A set of ``queries`` linear queries over ``domain_size`` user types: the rows of W.

    Errors of mechanisms depend on W only through the Gram matrix G = WᵀW, and answers are computed by the
    family's own transform, so nothing outside needs W itself. The defaults below follow, in this order, from
    the spectrum where :meth:`walsh_spectrum` has one, from :meth:`gram`, and at last from :meth:`matrix`: a
    new family needs only ``queries`` and ``answer`` to be right, and the rest to be fast.

    Notation: n = ``domain_size``, p = ``queries``, P = I − 11ᵀ/n.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.workload("prefix", 3).matrix().astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """

    name: str
    domain_size: int
    # What the user calls the queries and the user types, where they have names.
    query_names: tuple[Any, ...] | None = None
    type_names: tuple[Any, ...] | None = None
    # The root seed and the stream that it was drawn with, where it was drawn at random.
    drawn: tuple[int, tuple[str, ...]] | None = None

    def __init__(self, name: str, domain_size: int) -> None:
        self.name = name
        self.domain_size = check_positive_integer("domain_size", domain_size)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.queries} queries over {self.domain_size} types>"

    def _repr_html_(self) -> str:
        return f"<b>{escape(self.name)}</b>: {self.queries} queries over {self.domain_size} user types"

    # Identity ----------------------------------------------------------------------------------------------

    def spec(self) -> WorkloadSpec:
        """The identity: equal specs are equal workloads."""
        if self.drawn is None:
            return WorkloadSpec(self.name, self.domain_size, self.definition())
        root_seed, stream = self.drawn
        if len(stream) == 1 and stream[0].isdigit():
            return WorkloadSpec(self.name, self.domain_size, None, int(stream[0]), root_seed)
        return WorkloadSpec(self.name, self.domain_size, {"stream": list(stream)}, None, root_seed)

    def definition(self) -> Any:
        """What the name stands for, in JSON's types, where the name and the domain size do not say it."""
        return None

    # Queries -----------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def queries(self) -> int:
        """Number of queries p."""

    @abstractmethod
    def answer(self, x: FloatArray) -> FloatArray:
        """Wx for data x of shape (n,) or (n, c); the result has shape (p,) or (p, c)."""

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Wᵀy for y of shape (p,) or (p, c); the result has shape (n,) or (n, c)."""
        return np.asarray(self.matrix().T @ self._over_queries(y))

    def matrix(self) -> FloatArray:
        """W as a new dense (p, n) array; refused where it would not fit in memory."""
        check_dense_size(f"matrix of workload {self.name}", self.queries, self.domain_size)
        if self.queries < self.domain_size and type(self).adjoint is not Workload.adjoint:
            # The smaller identity: n × n may not fit where a flat W does.
            return self.adjoint(np.eye(self.queries)).T.copy()
        return self.answer(np.eye(self.domain_size))

    def column_sums(self) -> FloatArray:
        """1ᵀW, of shape (n,)."""
        return self.adjoint(np.ones(self.queries))

    # Gram matrix -------------------------------------------------------------------------------------------

    def walsh_spectrum(self) -> FloatArray | None:
        """Eigenvalues of G by parity, where the family knows that u ⊕ v alone decides G_uv; else ``None``.

        Entry s belongs to the character u ↦ (−1)^{popcount(s & u)}: G = Σ_s g_s χ_s χ_sᵀ / n.
        """
        return None

    def centred_walsh_spectrum(self) -> FloatArray | None:
        """The same of PGP, which u ⊕ v may decide even where it does not decide G; entry 0 is 0."""
        g = self.walsh_spectrum()
        if g is not None:
            g[0] = 0.0
        return g

    def gram(self) -> FloatArray:
        """G = WᵀW as a new dense (n, n) array; refused where it would not fit in memory."""
        g = self.walsh_spectrum()
        if g is not None:
            return binary.group_matrix(g)
        W = self.matrix()
        return W.T @ W

    def gram_times(self, x: FloatArray) -> FloatArray:
        """WᵀWx for x of shape (n,) or (n, c)."""
        x, g = self._over_types(x), self.walsh_spectrum()
        return np.asarray(self.gram() @ x) if g is None else binary.times(g, x)

    def gram_diagonal(self) -> FloatArray:
        """Squared column norms of W."""
        g = self.walsh_spectrum()
        return np.diagonal(self.gram()).copy() if g is None else np.full(self.domain_size, g.mean())

    def frobenius_squared(self) -> float:
        """‖W‖_F² = tr G."""
        return float(np.sum(self.gram_diagonal()))

    def total_squared(self) -> float:
        """‖W1‖² = 1ᵀG1: the sum of squared row sums."""
        g = self.walsh_spectrum()
        if g is not None:
            return float(self.domain_size * g[0])
        return float(np.sum(self.gram_times(np.ones(self.domain_size))))

    def centred_gram(self) -> FloatArray:
        """PGP, the only part of G that the error of a local mechanism depends on."""
        g = self.centred_walsh_spectrum()
        if g is not None:
            return binary.group_matrix(g)
        G = self.gram()
        G -= G.mean(axis=0, keepdims=True)
        G -= G.mean(axis=1, keepdims=True)
        return 0.5 * (G + G.T)

    # Spectra -----------------------------------------------------------------------------------------------

    def singular_values(self) -> FloatArray:
        """The n square roots of the eigenvalues of G, largest first (zeros included)."""
        g = self.walsh_spectrum()
        return roots(np.linalg.eigvalsh(self.gram())) if g is None else binary.roots(g)

    def centred_singular_values(self) -> FloatArray:
        """The n square roots of the eigenvalues of PGP, largest first; the last one is 0."""
        g = self.centred_walsh_spectrum()
        if g is not None:
            return binary.roots(g)
        values = roots(np.linalg.eigvalsh(self.centred_gram()))
        values[-1] = 0.0
        return values

    # The shared check of arguments -------------------------------------------------------------------------

    def _over_types(self, x: Any) -> FloatArray:
        return self._vectors("x", x, self.domain_size, "user type")

    def _over_queries(self, y: Any) -> FloatArray:
        return self._vectors("y", y, self.queries, "query")

    def _vectors(self, name: str, value: Any, length: int, what: str) -> FloatArray:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise BadValue(f"type of {name}", array.dtype.name, "be real numbers", "convert it to float64")
        if array.ndim not in (1, 2) or len(array) != length:
            raise BadValue(
                f"shape of {name}",
                array.shape,
                f"be ({length},) or ({length}, columns)",
                f"give one number for each {what} of workload {self.name}",
            )
        return array.astype(np.float64, copy=False)


def roots(eigenvalues: npt.NDArray[np.floating[Any]]) -> FloatArray:
    """Square roots of the eigenvalues (ascending) of a Gram matrix, rounding noise removed, largest first."""
    largest = max(float(eigenvalues[-1]), 0.0)
    noise = len(eigenvalues) * np.finfo(float).eps * largest
    return np.sqrt(np.where(eigenvalues > noise, eigenvalues, 0.0))[::-1].copy()


def padded(values: FloatArray, length: int) -> FloatArray:
    """Singular values, largest first, with as many zeros after them as give this length."""
    found = np.zeros(length)
    found[: len(values)] = np.sort(values)[::-1]
    return found


def scatter(index: Any, values: FloatArray, length: int) -> FloatArray:
    """The array of this length with each ``values[i]`` (a number or a row) added to entry ``index[i]``."""
    if values.ndim == 1:
        return np.asarray(np.bincount(index, weights=values, minlength=length), np.float64)
    c = values.shape[1]
    cells = (np.asarray(index)[:, None] * c + np.arange(c)).ravel()
    return scatter(cells, values.ravel(), length * c).reshape(length, c)


# Centred spectra.

# Poles × roots that are evaluated at a time.
BLOCK = 2**22


def centred_eigenvalues(eigenvalues: FloatArray, weights: FloatArray) -> FloatArray:
    r"""The n eigenvalues of PGP, P = I − 11ᵀ/n, from those of G and the squared coordinates of 1/√n.

    ``eigenvalues`` λ ≥ 0 and ``weights`` w_i = (v_iᵀ1)²/n, v_i the orthonormal eigenvectors, have shape (n,).
    PGP has the eigenvalues of the rank-one change Λ^{1/2}(I − √w√wᵀ)Λ^{1/2}: 0, for the vector 1; each λ_i of
    no weight, and all but one of each group of equal λ's; and the roots of the secular function
    f(μ) = Σ w_i/(λ_i − μ), one between every two neighbours of the other λ's, as f rises from −∞ to ∞ there.
    The roots are found by bisection, all at once: O(n²) for each of about 50 steps, against O(n³) of the
    dense matrix.
    """
    order = np.argsort(eigenvalues)
    values, w = eigenvalues[order], weights[order] / weights.sum()
    eps = np.finfo(float).eps
    # Closer than rounding is equal: merged into one pole, the others of the group stay where they are.
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > 4 * eps * values[-1])
    mass = np.add.reduceat(w, starts)
    # A weight of eps² moves nothing by more than eps times the largest eigenvalue.
    live = mass > (10 * eps) ** 2
    poles = values[starts[live]]
    stay = np.delete(values, starts[live])
    return np.concatenate([stay, _roots(poles, mass[live]), [0.0]])


def _roots(poles: FloatArray, mass: FloatArray) -> FloatArray:
    """The root of Σ mass/(pole − μ), which rises, between every two neighbouring poles, to rounding."""
    step, accuracy = max(1, BLOCK // len(poles)), np.finfo(float).eps * poles[-1]

    def beyond(x: FloatArray, which: IntArray | slice) -> FloatArray:
        return np.asarray((1.0 / (poles - x[:, None])) @ mass >= 0.0)

    found = [np.empty(0)]
    for first in range(0, len(poles) - 1, step):
        low, high = bisect_each(beyond, poles[first:-1][:step], poles[first + 1 :][:step], accuracy)
        found.append(0.5 * (low + high))
    return np.concatenate(found)
