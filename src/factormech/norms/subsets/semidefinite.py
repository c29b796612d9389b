r"""The program of ``boxes`` over a class on sets of attributes, in blocks, for the interior-point method of Clarabel.

An invariant U has one mass u(a, b, t) for all pairs of a kind. With c_k of ``zonal`` the bound γ₂*(U) ≤ 1 is

.. math:: \begin{pmatrix} \operatorname{diag} p & B_k \\ B_k^\top & \operatorname{diag} q \end{pmatrix} ⪰ 0
          \text{ for all } k, \quad B_k(a,b) = Σ_t c_k(a,b,t)\,u(a,b,t), \quad Σp + Σq ≤ 2,

in blocks of the kinds whose sizes are between k and d − k. The multipliers of the blocks are Gram matrices of the
vectors in W̃(a, b, t) = Σ_k c_k(a, b, t) ⟨R_k(a), A_k(b)⟩, the squared length of a row being Σ_k‖R_k(a)‖².

Where W(S, x) = W(xᶜ, Sᶜ) and nothing else tells rows from columns, p and q are equal at complements and each block
splits into diag p ± B_k, where column b stands at the row whose complement it is.

Nothing here is trusted: ``certificate`` proves both ends from what comes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.norms import involutions, splitting
from factormech.norms.boxes import Boxes
from factormech.norms.subsets import zonal
from factormech.norms.subsets.classes import SubsetClass

# Kinds of entries: η of 30 attributes has 10 912, and takes three minutes.
MOST_ENTRIES = 12_000


@dataclass(frozen=True)
class SemidefiniteSolution:
    """The solution of a semidefinite program, with its dual.

    Attributes
    ----------
    dual
        The masses of U, a table like the ``values`` of the class.
    row_weights, column_weights
        p and q.
    roots
        For each k the vectors R_k(a) and then A_k(b): (kinds of row + kinds of column, any), zero where a kind has
        none.
    record
        The solver's verdict and steps.
    """

    dual: FloatArray
    row_weights: FloatArray
    column_weights: FloatArray
    roots: list[FloatArray]
    record: dict[str, object]


def solve(queries: SubsetClass, boxes: Boxes) -> SemidefiniteSolution:
    """Solve the program of the boxes, a table like the ``values`` of the class."""
    import clarabel
    from scipy import sparse

    entries = int(np.count_nonzero(queries.exists))
    if entries > MOST_ENTRIES:
        rule = f"leave at most {MOST_ENTRIES} kinds of entries, not {entries}, for the semidefinite program"
        raise BadValue(f"attributes of {queries.name}", queries.attributes, rule, "give fewer attributes")
    partner = None if boxes.shifted else queries.complement
    masses = _Masses(queries, boxes, partner)
    blocks = _Blocks(queries, masses, partner)
    equal, limited = _plain_rows(queries, masses, blocks, boxes.shifted)
    cones = [clarabel.ZeroConeT(equal.shape[0]), clarabel.NonnegativeConeT(limited.shape[0])]
    cones += [clarabel.PSDTriangleConeT(size) for size, _ in blocks.triangles]
    lines = sparse.csc_matrix(sparse.vstack([equal, limited, *(-triangle for _, triangle in blocks.triangles)]))
    limits, plain = np.zeros(lines.shape[0]), equal.shape[0] + limited.shape[0]
    limits[equal.shape[0]] = 2.0 if partner is None else 1.0  # the budget of the weights is the first of its rows
    cost = np.concatenate([np.zeros(blocks.weights), -masses.sign * masses.bound])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    nothing = sparse.csc_matrix((len(cost), len(cost)))
    found = clarabel.DefaultSolver(nothing, cost, lines, limits, cones, settings).solve()
    x, z = np.asarray(found.x), np.asarray(found.z)
    record: dict[str, object] = {
        "method": "symmetric", "iterations": int(found.iterations), "stopped": str(found.status),
        "variables": len(cost), "largest_block": max(size for size, _ in blocks.triangles),
    }  # fmt: skip
    p, q = blocks.spread(x[: blocks.weights])
    return SemidefiniteSolution(masses.table(x[blocks.weights :]), p, q, blocks.roots(z[plain:]), record)


def _plain_rows(queries: SubsetClass, masses: _Masses, blocks: _Blocks, shifted: bool) -> tuple[Any, Any]:
    """The rows that are 0 (sums of the masses of a row, where its shift is free), and those that have an upper limit.

    The latter: the sum of the weights, and masses that are not negative.
    """
    from scipy import sparse

    A, weights, variables = len(queries.rows), blocks.weights, len(masses.sign)
    every = np.arange(variables)
    sums = sparse.csr_matrix((masses.sign, (masses.row, every)), shape=(A, variables))
    equal = sparse.hstack([sparse.csr_matrix((A, weights)), sums]).tocsr()
    budget = sparse.hstack([sparse.csr_matrix(np.ones((1, weights))), sparse.csr_matrix((1, variables))])
    limited = np.flatnonzero(masses.positive)
    at = (np.arange(len(limited)), weights + limited)
    rows = [budget, sparse.csr_matrix((-np.ones(len(limited)), at), shape=(len(limited), weights + variables))]
    return equal if shifted else equal[:0], sparse.vstack(rows)


class _Masses:
    """The masses as variables: one for a pair of kinds and an intersection, or for two that complements exchange.

    At a finite lower bound a mass is positive, at a finite upper bound negative; where both bounds are one it is of any
    sign.
    """

    def __init__(self, queries: SubsetClass, boxes: Boxes, partner: IntArray | None) -> None:
        d, B = queries.attributes, len(queries.columns)
        self.shape = queries.values.shape
        self.places = np.flatnonzero(queries.exists)
        self.a, rest = np.divmod(self.places, B * (d + 1))
        self.b, self.t = np.divmod(rest, d + 1)
        of = np.arange(len(self.places))
        if partner is not None:
            i, j = queries.rows[self.a], queries.columns[self.b]
            row, column = np.argsort(partner)[self.b], partner[self.a]
            mirrored = (row * B + column) * (d + 1) + d - i - j + self.t
            of = np.unique(np.minimum(self.places, mirrored), return_inverse=True)[1]
        low, high = boxes.low.ravel()[self.places], boxes.high.ravel()[self.places]
        fixed = low == high
        sides = [(fixed, 1.0, low), (~fixed & np.isfinite(low), 1.0, low), (~fixed & np.isfinite(high), -1.0, high)]
        first = [np.unique(of[mask]) for mask, _, _ in sides]
        counts = [len(mass) for mass in first]
        mass = np.concatenate(first)
        self.sign = np.repeat([sign for _, sign, _ in sides], counts)
        self.positive = np.repeat([False, True, True], counts)
        sums = [np.bincount(of[mask], weights=bound[mask], minlength=len(of)) for mask, _, bound in sides]
        self.bound = np.concatenate([sums[s][first[s]] for s in range(3)])
        # Variable of each place and side: several where the bounds differ, one for two places that are exchanged.
        self.row = self.a[np.unique(of, return_index=True)[1]][mass]
        self._of, self._mass, self._size = of, mass, int(of.max()) + 1

    def spread(self) -> Any:
        """The map from variables to the masses of all places, sparse."""
        from scipy import sparse

        places, size = len(self._of), self._size
        copies = sparse.csr_matrix((np.ones(places), (np.arange(places), self._of)), shape=(places, size))
        signs = sparse.csr_matrix((self.sign, (self._mass, np.arange(len(self.sign)))), shape=(size, len(self.sign)))
        return copies @ signs

    def table(self, variables: FloatArray) -> FloatArray:
        """The masses as a table."""
        table = np.zeros(self.shape)
        table.ravel()[self.places] = self.spread() @ variables
        return table


class _Blocks:
    """The blocks: their sizes, their upper triangles as maps of the variables, and the vectors of their multipliers.

    Attributes
    ----------
    weights
        Numbers of p and q, or of p alone where complements have equal weights.
    triangles
        The size of every block and the map from variables to its upper triangle.
    """

    def __init__(self, queries: SubsetClass, masses: _Masses, partner: IntArray | None) -> None:
        d, self.rows, self.partner = queries.attributes, len(queries.rows), partner
        self.kinds = self.rows + len(queries.columns)
        self.weights = self.kinds if partner is None else self.rows
        self.triangles: list[tuple[int, Any]] = []
        sizes = np.concatenate([queries.rows, queries.columns])[: self.weights]
        columns = self.rows + masses.b if partner is None else np.argsort(partner)[masses.b]
        spread, c = masses.spread(), zonal.coefficients(d)
        self.lines = [np.flatnonzero((sizes >= k) & (sizes <= d - k)) for k in range(len(c))]
        for k, lines in enumerate(self.lines):
            at = np.flatnonzero(np.isin(masses.a, lines) & np.isin(columns, lines) & (masses.a <= columns))
            values = c[k, queries.rows[masses.a[at]], queries.columns[masses.b[at]], masses.t[at]]
            i, j = np.searchsorted(lines, masses.a[at]), np.searchsorted(lines, columns[at])
            for sign in self.signs:
                self.triangles.append((len(lines), _triangle(lines, self.weights, i, j, sign * values, spread[at])))

    @property
    def signs(self) -> tuple[float, ...]:
        """Of the blocks diag p ± B_k; one block where rows and columns are not paired."""
        return (1.0,) if self.partner is None else (1.0, -1.0)

    def spread(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """p and q."""
        if self.partner is None:
            return weights[: self.rows], weights[self.rows :]
        return weights, weights[np.argsort(self.partner)]

    def roots(self, z: FloatArray) -> list[FloatArray]:
        """The vectors R_k(a), A_k(b) of the multipliers, whose squares sum to the program's value over all k."""
        ends = np.cumsum([triangle.shape[0] for _, triangle in self.triangles])
        parts = [_root(part, size) for part, (size, _) in zip(np.split(z, ends[:-1]), self.triangles, strict=True)]
        found, blocks = [], iter(parts)
        for lines in self.lines:
            found.append(np.hstack([self._placed(lines, next(blocks), sign) for sign in self.signs]))
        return found

    def _placed(self, lines: IntArray, part: FloatArray, sign: float) -> FloatArray:
        """A block's vectors at the kinds of row and of column that they belong to; those of columns change their
        sign.
        """
        whole = np.zeros((self.kinds, part.shape[1]))
        if self.partner is None:
            whole[lines] = 2.0**0.5 * part
            whole[self.rows :] *= -1.0
        else:
            whole[lines] = part
            whole[self.rows + self.partner[lines]] = -sign * part
        return whole


def _triangle(lines: IntArray, weights: int, i: IntArray, j: IntArray, values: FloatArray, masses: Any) -> Any:
    """The upper triangle of diag + B, column after column, entries beside the diagonal times √2, of all variables."""
    from scipy import sparse

    n, size = len(lines), len(lines) * (len(lines) + 1) // 2
    on = np.arange(n) * (np.arange(n) + 3) // 2
    diagonal = sparse.csr_matrix((np.ones(n), (on, lines)), shape=(size, weights))
    scaled = np.where(i == j, values, 2.0**0.5 * values)
    inside = sparse.csr_matrix((scaled, (j * (j + 1) // 2 + i, np.arange(len(i)))), shape=(size, len(i))) @ masses
    return sparse.hstack([diagonal, inside]).tocsr()


def _root(triangle: FloatArray, n: int) -> FloatArray:
    """F with FFᵀ the nearest positive semidefinite matrix to one of this upper triangle."""
    matrix = np.zeros((n, n))
    columns, rows = np.tril_indices(n)
    matrix[rows, columns] = np.where(rows == columns, triangle, triangle / 2.0**0.5)
    return splitting.root_in_cone(matrix + np.triu(matrix, 1).T, involutions.trivial(n))
