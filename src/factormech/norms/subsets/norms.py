r"""γ₂(W, α), γ̂₂(W, α), η(C, α), margin complexity and H of classes on sets of attributes, to d = 30, as intervals.

The semidefinite programs of ``norms.approximate`` over 2^d × 2^d matrices, in blocks of at most d + 1 kinds of row and
of column (``semidefinite``); both ends are proved by ``certificate``, whatever the solver says. Where the matrix is a
tensor power, γ₂(A ⊗ B) = γ₂(A)γ₂(B) is a closed form: the 0/1 conjunctions of all widths are T^{⊗d}, T = [[1, 1], [0,
1]], and have γ₂ = (2/√3)^d.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue, UnknownName
from factormech.norms import approximate as dense_certificate
from factormech.norms.approximate import labels_of
from factormech.norms.boxes import Boxes, around, checked_alpha, of_eta, of_margin
from factormech.norms.certified import CertifiedNorm
from factormech.norms.subsets import certificate, classes, marginals, semidefinite, zonal
from factormech.norms.subsets.classes import SubsetClass, doubled, subset_class
from factormech.norms.subsets.marginals import Centre, Hardness, PolynomialNorm
from factormech.numerics.rounding import UNIT, below, gamma, inner_product_below

# All p and q are raised by one number, which raises every eigenvalue of every block by as much: by the parts of their
# sum that are tried, since one is just above what the solver left negative.
_RAISED = tuple(10.0 ** (-0.5 * step) for step in range(7, 23))


@dataclass(frozen=True)
class BlockFactor:
    """A factor known by its vectors R_k(a) of every kind: its rows are ⊕_k R_k(a) ⊗ φ_k(S).

    Attributes
    ----------
    attributes
        d.
    sizes
        Size of the sets of each kind.
    roots
        For each k, (kinds, any).
    columns
        Whether the sets are the columns of the factor, and not its rows.
    """

    attributes: int
    sizes: tuple[int, ...]
    roots: tuple[FloatArray, ...]
    columns: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Sets, and coordinates: as large as they are."""
        d = self.attributes
        sets = sum(math.comb(d, size) for size in self.sizes)
        inner = sum(root.shape[1] * zonal.dimension(d, k) for k, root in enumerate(self.roots))
        return (inner, sets) if self.columns else (sets, inner)

    def dense(self) -> FloatArray:
        """The factor as a matrix, sets by kind and then by mask; for small d."""
        check_dense_size("factor", *self.shape)
        d = self.attributes
        masks = np.bitwise_count(np.arange(1 << d))
        parts = []
        for k, root in enumerate(self.roots):
            phi = zonal.vectors(d, k)
            parts.append(np.vstack([np.kron(root[a], phi[masks == s]) for a, s in enumerate(self.sizes)]))
        whole = np.hstack(parts)
        return whole.T if self.columns else whole

    def apply(self, vectors: FloatArray) -> FloatArray:
        """The factor times each column of ``vectors``; for small d."""
        return self.dense() @ vectors

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        """The factor's transpose times each column of ``vectors``; for small d."""
        return self.dense().T @ vectors


def subset_norm(queries: SubsetClass, quantity: str, alpha: float | None = None) -> CertifiedNorm:
    """Return a norm of a class on sets of attributes as a certified interval.

    Parameters
    ----------
    queries
        The class.
    quantity
        ``gamma-2``, ``gamma-2-approximate``, ``gamma-2-shifted``, ``eta`` or ``margin-complexity``.
    alpha
        The entrywise error, of the three in the middle.

    Returns
    -------
    CertifiedNorm
        Its factors are ``BlockFactor``; its witness has the masses of U (``dual``), p, q and the shift of every kind of
        row.

    Raises
    ------
    UnknownName
        If the quantity has no program of this form.

    Examples
    --------
    >>> from factormech.norms.subsets.classes import subset_class
    >>> subset_norm(subset_class("conjunctions", 10), "margin-complexity")
    <CertifiedNorm 6.383017 to 6.383017, gap ...>
    """
    if quantity not in QUANTITIES:
        raise UnknownName("norm of a class on sets of attributes", quantity, QUANTITIES)
    subject, boxes = QUANTITIES[quantity](queries, 0.0 if alpha is None else checked_alpha(alpha))
    return certified(subject, boxes, semidefinite.solve(subject, boxes))


def certified(queries: SubsetClass, boxes: Boxes, found: semidefinite.SemidefiniteSolution) -> CertifiedNorm:
    """Prove both ends from a solution, or from any numbers of its form."""
    U = dense_certificate.feasible(boxes, found.dual)
    value = dense_certificate.numerator(boxes, U)
    weights = [_raised(found, raised) for raised in _RAISED]
    sizes = [certificate.dual_size(queries, U, p, q) for p, q in weights]
    best = int(np.argmin(sizes))
    p, q = weights[best]
    lower = below(value / sizes[best], 2) if value > 0.0 else 0.0
    roots, shift = certificate.completed(queries, boxes, found.roots, np.zeros(len(queries.rows)))
    upper, residual = certificate.upper_end(queries, boxes, roots, shift)
    A, d = len(queries.rows), queries.attributes
    left = BlockFactor(d, tuple(queries.rows.tolist()), tuple(root[:A] for root in roots))
    right = BlockFactor(d, tuple(queries.columns.tolist()), tuple(root[A:] for root in roots), columns=True)
    witness = {"dual": U, "row_weights": p, "column_weights": q, "shift": shift}
    return CertifiedNorm(lower, upper, left, right, residual, witness, found.record)


def class_hardness(queries: SubsetClass, theta: float, quantity: str = "gamma-2-approximate") -> Hardness:
    """Return the certificate at θ that the dual matrix of a norm gives.

    By γ₂(W, θ) its strength is at least this norm up to the gap of the solver: kinds of row below θ, which lower the
    numerator of the norm, are dropped. By the margin complexity it is at least that, at every θ. By η(C, θ/(1 − θ)) it
    is a certificate of the matrix B that is 1 at wrong labels, over labelled users, for realizable refutation
    (``learning.realizable_bounds``).

    Parameters
    ----------
    queries
        The class, with any values of size at most 1.
    theta
        θ, above 0 and below 1.
    quantity
        The norm: ``gamma-2-approximate``; for classes with labels also ``margin-complexity`` and ``eta``.

    Raises
    ------
    BadValue
        If θ is out of range.
    """
    if not 0.0 < theta < 1.0:
        raise BadValue("theta", theta, "be above 0 and below 1, the size of an answer", "give for example 0.2")
    eta = quantity == "eta"
    witness = subset_norm(queries, quantity, theta / (1.0 - theta) if eta else theta).witness
    subject = doubled(queries) if eta else queries
    values = np.hstack([queries.values < 0.0, queries.values > 0.0]).astype(float) if eta else queries.values
    U, W = witness["dual"].copy(), np.where(subject.exists, values, 0.0)
    agreement = _agreements(W, U)
    U[agreement < theta] = 0.0
    used = np.abs(U).sum(axis=1) > 0.0
    if not used.any():
        return Hardness(theta, 0.0)
    q = witness["column_weights"]
    size = certificate.dual_size(subject, U, witness["row_weights"], q)
    strength = below(inner_product_below(W, U, roundings=1) / size, 2)
    centre = None if eta else Centre(q / q.sum(), _spreads(queries, W, U))
    return Hardness(float(agreement[used].min()), strength, centre=centre)


def _spreads(queries: SubsetClass, W: FloatArray, U: FloatArray) -> FloatArray:
    """Return an upper bound on D_b/θ' of ``Centre``: the users of kind b times the largest |U_vx|/W_v•U_v.

    A mass u(a, b, t) is spread evenly over C(d, i_a) rows, each with N(a, b, t) users of kind b at intersection t.
    """
    d, kinds = queries.attributes, len(queries.columns)
    rows = np.array([math.comb(d, int(size)) for size in queries.rows], dtype=float)
    users = np.array([math.comb(d, int(size)) for size in queries.columns], dtype=float)
    gains = np.maximum((W * U).sum(axis=1) - 2.0 * gamma(U.shape[1] + 2) * np.abs(U).sum(axis=1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(U != 0.0, np.abs(U) / (queries.on_columns * users.repeat(d + 1)) * rows[:, None], 0.0)
        shares = np.where(np.any(U, axis=1, keepdims=True), each / gains[:, None], 0.0)
    largest = shares.reshape(len(rows), kinds, d + 1).max(axis=(0, 2))
    return np.asarray(largest * users * (1.0 + 16.0 * UNIT))


def _agreements(W: FloatArray, U: FloatArray) -> FloatArray:
    """Return a lower bound on W_v•U_v/‖U_v‖₁ by kind of row, −1 for rows without mass; |W| ≤ 1."""
    sizes = np.abs(U).sum(axis=1)
    found = np.divide((W * U).sum(axis=1), sizes, out=np.full(len(U), -1.0), where=sizes > 0.0)
    return np.asarray(found - 2.0 * gamma(U.shape[1] + 2) - 4.0 * UNIT)


def norm_of(name: str, attributes: int, quantity: str, alpha: float | None = None) -> CertifiedNorm | PolynomialNorm:
    """The norm of a class by its name over so many attributes: a class on sets, or all marginals of one width."""
    width = marginals.width_of(name)
    if width is None:
        return subset_norm(_checked_class(name, attributes), quantity, alpha)
    if quantity not in ("gamma-2", "gamma-2-approximate", "gamma-2-shifted"):
        rule = f"be gamma-2 or gamma-2-shifted for {name}, whose programs are in w + 1 coefficients"
        raise BadValue("norm", quantity, rule, "ask for conjunctions, which have the others")
    shifted = quantity == "gamma-2-shifted"
    return marginals.marginals_norm(attributes, width, 0.0 if alpha is None else alpha, shifted=shifted)


def described(name: str, attributes: int) -> tuple[int, int]:
    """Return how many queries and user types a class has, by its name."""
    width = marginals.width_of(name)
    if width is None:
        return _checked_class(name, attributes).queries, 1 << attributes
    d, w = marginals.checked_sizes(attributes, width)
    return math.comb(d, w) << w, 1 << d


def _checked_class(name: str, attributes: int) -> SubsetClass:
    try:
        return subset_class(name, attributes)
    except UnknownName:
        raise UnknownName("class on sets of attributes", name, [*classes.names(), "{w}-way-marginals"]) from None


def _raised(found: semidefinite.SemidefiniteSolution, by: float) -> tuple[FloatArray, FloatArray]:
    p, q = np.maximum(found.row_weights, 0.0), np.maximum(found.column_weights, 0.0)
    return p + by * float(p.sum()), q + by * float(q.sum())


def _opened(queries: SubsetClass, boxes: Boxes) -> Boxes:
    """The boxes, without bounds where no pair of sets is."""
    low = np.where(queries.exists, boxes.low, -math.inf)
    return Boxes(low, np.where(queries.exists, boxes.high, math.inf), boxes.shifted)


def _gamma(queries: SubsetClass, alpha: float) -> tuple[SubsetClass, Boxes]:
    return queries, _opened(queries, around(queries.values, alpha, shifted=False))


def _shifted(queries: SubsetClass, alpha: float) -> tuple[SubsetClass, Boxes]:
    return queries, _opened(queries, around(queries.values, alpha, shifted=True))


def _margin(queries: SubsetClass, _: float) -> tuple[SubsetClass, Boxes]:
    return queries, _opened(queries, of_margin(_labels(queries)))


def _eta(queries: SubsetClass, alpha: float) -> tuple[SubsetClass, Boxes]:
    subject = doubled(queries)
    return subject, _opened(subject, of_eta(_labels(queries), alpha))


def _labels(queries: SubsetClass) -> FloatArray:
    return labels_of(queries.values)


QUANTITIES: dict[str, Callable[[SubsetClass, float], tuple[SubsetClass, Boxes]]] = {
    "gamma-2": _gamma,
    "gamma-2-approximate": _gamma,
    "gamma-2-shifted": _shifted,
    "eta": _eta,
    "margin-complexity": _margin,
}
