"""Workloads made of workloads: unions of queries, and products of domains."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue
from factormech.workloads.base import Workload, centred_eigenvalues, padded

# A factor's Gram matrix maps 1 to a constant vector where its entries differ by no more than this share.
BALANCED = 1e-12


class Union(Workload):
    """The queries of all ``parts`` over one domain, part after part, each row times its part's weight.

    G = Σ w² G_part, so all but the singular values follow from the parts; those do too where every part's
    Gram matrix (for the centred ones: every part's centred Gram matrix) is diagonal in the parities.
    """

    def __init__(self, name: str, parts: Sequence[Workload], weights: Sequence[float] | None = None) -> None:
        if not parts:
            raise BadValue("union", [], "have at least one part", "list the workloads to unite")
        super().__init__(name, parts[0].domain_size)
        for part in parts:
            if part.domain_size != self.domain_size:
                rule = f"be {self.domain_size}, as of {parts[0].name}"
                raise BadValue(f"domain_size of {part.name}", part.domain_size, rule, "unite over one domain")
        self.parts = tuple(parts)
        self.weights = tuple(check_weight(w) for w in ([1.0] * len(parts) if weights is None else weights))
        if len(self.weights) != len(self.parts):
            rule = f"be as many as the parts, {len(parts)}"
            raise BadValue("number of weights", len(self.weights), rule, "give one weight for each part")
        if all(part.query_names for part in parts):
            self.query_names = tuple(query for part in parts for query in part.query_names or ())
        self.type_names = next((part.type_names for part in parts if part.type_names), None)

    def definition(self) -> Any:
        """The specs of the parts, each with its weight."""
        return {"union": [[part.spec().as_data(), w] for part, w in zip(self.parts, self.weights, strict=True)]}

    @property
    def queries(self) -> int:
        return sum(part.queries for part in self.parts)

    def _sum(self, of: Callable[[Workload], FloatArray]) -> FloatArray:
        """Σ w² of(part)."""
        first, *others = zip(self.weights, self.parts, strict=True)
        total = first[0] ** 2 * of(first[1])
        for w, part in others:
            total += w**2 * of(part)
        return total

    def answer(self, x: FloatArray) -> FloatArray:
        x = self._over_types(x)
        check_dense_size(f"answers of workload {self.name}", self.queries, x[0].size)
        return np.concatenate([w * part.answer(x) for w, part in zip(self.weights, self.parts, strict=True)])

    def adjoint(self, y: FloatArray) -> FloatArray:
        y = self._over_queries(y)
        ends = np.cumsum([part.queries for part in self.parts])
        pieces = np.split(y, ends[:-1])
        terms = zip(self.weights, self.parts, pieces, strict=True)
        return np.asarray(sum(w * part.adjoint(piece) for w, part, piece in terms))

    def column_sums(self) -> FloatArray:
        terms = zip(self.weights, self.parts, strict=True)
        return np.asarray(sum(w * part.column_sums() for w, part in terms))

    def walsh_spectrum(self) -> FloatArray | None:
        return _weighted(self.weights, [part.walsh_spectrum() for part in self.parts])

    def centred_walsh_spectrum(self) -> FloatArray | None:
        return _weighted(self.weights, [part.centred_walsh_spectrum() for part in self.parts])

    def gram(self) -> FloatArray:
        return self._sum(lambda part: part.gram())

    def gram_times(self, x: FloatArray) -> FloatArray:
        x = self._over_types(x)
        return self._sum(lambda part: part.gram_times(x))

    def gram_diagonal(self) -> FloatArray:
        return self._sum(lambda part: part.gram_diagonal())

    def frobenius_squared(self) -> float:
        terms = zip(self.weights, self.parts, strict=True)
        return float(sum(w**2 * part.frobenius_squared() for w, part in terms))

    def total_squared(self) -> float:
        terms = zip(self.weights, self.parts, strict=True)
        return float(sum(w**2 * part.total_squared() for w, part in terms))


class Kronecker(Workload):
    """All products of one query of each factor, over all tuples of the factors' types.

    W = W₁ ⊗ W₂ ⊗ …: rows in the order of ``np.kron``; type u = u₁·n₂ + u₂ for two factors, so the last one
    varies fastest. Every part of G = G₁ ⊗ G₂ ⊗ … is the product of the factors' parts.
    """

    def __init__(self, name: str, factors: Sequence[Workload]) -> None:
        if not factors:
            raise BadValue("kronecker", [], "have at least one factor", "list the workloads to multiply")
        super().__init__(name, math.prod(factor.domain_size for factor in factors))
        self.factors = tuple(factors)
        self.query_names = _combined([factor.query_names for factor in factors])
        self.type_names = _combined([factor.type_names for factor in factors])

    def definition(self) -> Any:
        """The specs of the factors."""
        return {"kronecker": [factor.spec().as_data() for factor in self.factors]}

    @property
    def queries(self) -> int:
        return math.prod(factor.queries for factor in self.factors)

    def answer(self, x: FloatArray) -> FloatArray:
        x = self._over_types(x)
        check_dense_size(f"answers of workload {self.name}", self.queries, x[0].size)
        sizes = [(f.domain_size, f.queries) for f in self.factors]
        return along_axes([f.answer for f in self.factors], sizes, x)

    def adjoint(self, y: FloatArray) -> FloatArray:
        sizes = [(f.queries, f.domain_size) for f in self.factors]
        return along_axes([f.adjoint for f in self.factors], sizes, self._over_queries(y))

    def column_sums(self) -> FloatArray:
        return _kron([f.column_sums() for f in self.factors])

    def walsh_spectrum(self) -> FloatArray | None:
        spectra = [g for g in (f.walsh_spectrum() for f in self.factors) if g is not None]
        return _kron(spectra) if len(spectra) == len(self.factors) else None

    def gram(self) -> FloatArray:
        check_dense_size("gram matrix", self.domain_size, self.domain_size)
        return _kron([f.gram() for f in self.factors])

    def gram_times(self, x: FloatArray) -> FloatArray:
        sizes = [(f.domain_size, f.domain_size) for f in self.factors]
        return along_axes([f.gram_times for f in self.factors], sizes, self._over_types(x))

    def gram_diagonal(self) -> FloatArray:
        return _kron([f.gram_diagonal() for f in self.factors])

    def frobenius_squared(self) -> float:
        return math.prod(f.frobenius_squared() for f in self.factors)

    def total_squared(self) -> float:
        return math.prod(f.total_squared() for f in self.factors)

    def singular_values(self) -> FloatArray:
        products = reduce(np.multiply.outer, [f.singular_values() for f in self.factors])
        return padded(products.ravel(), self.domain_size)

    def centred_singular_values(self) -> FloatArray:
        """Return them from those of the factors; where 1 is no eigenvector of a factor, from its dense Gram matrix.

        Where 1 is an eigenvector of G_B, an eigenvector of A ⊗ B that is not constant on B is orthogonal to
        1, and is left as it is; the constant ones see the centred A, times the eigenvalue of 1.
        """
        balanced = [f for f in self.factors if _is_balanced(f)]
        values, centred = _spectra_of_unbalanced([f for f in self.factors if not _is_balanced(f)])
        for B in balanced:
            of_one = math.sqrt(B.total_squared() / B.domain_size)
            kept = np.multiply.outer(values, B.centred_singular_values()[:-1]).ravel()
            centred = np.concatenate([kept, centred * of_one])
            values = np.multiply.outer(values, B.singular_values()).ravel()
        return padded(centred, self.domain_size)


def _combined(names: Sequence[Sequence[Any] | None]) -> tuple[Any, ...] | None:
    """The combinations of names, the last factor fastest; None where a factor has no names."""
    if any(each is None for each in names):
        return None
    return tuple(itertools.product(*(each or () for each in names)))


def check_weight(value: Any, name: str = "weight") -> float:
    """The weight of a part as a ``float`` above 0 whose square is an ordinary number."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not 1e-100 <= value <= 1e100:
        raise BadValue(name, value, "be a number above 0 (from 1e-100 to 1e100)", "give for example 2.0")
    return float(value)


def _weighted(weights: Sequence[float], spectra: Sequence[FloatArray | None]) -> FloatArray | None:
    """Σ w² spectrum, or ``None`` where one is missing."""
    total: FloatArray | None = None
    for w, g in zip(weights, spectra, strict=True):
        if g is None:
            return None
        total = w**2 * g if total is None else total + w**2 * g
    return total


def _kron(parts: Sequence[FloatArray]) -> FloatArray:
    return reduce(lambda a, b: np.asarray(np.kron(a, b), np.float64), parts)


def along_axes(
    maps: Sequence[Callable[[FloatArray], FloatArray]], sizes: Sequence[tuple[int, int]], x: FloatArray
) -> FloatArray:
    """Apply the k-th linear map (sizes: in, out) along the k-th axis folded into the first axis of x."""
    columns = x.shape[1:]
    tensor = x.reshape(*(size for size, _ in sizes), *columns)
    # Those that shrink their axis the most go first, so that no product on the way is larger than need be.
    for axis in sorted(range(len(maps)), key=lambda k: sizes[k][1] / sizes[k][0]):
        front = np.moveaxis(tensor, axis, 0)
        rest = front.shape[1:]
        image = maps[axis](front.reshape(sizes[axis][0], math.prod(rest)))
        tensor = np.moveaxis(image.reshape(sizes[axis][1], *rest), 0, axis)
    return tensor.reshape(math.prod(size for _, size in sizes), *columns)


def _is_balanced(factor: Workload) -> bool:
    """Return whether 1 is an eigenvector of the factor's Gram matrix, up to rounding."""
    image = factor.gram_times(np.ones(factor.domain_size))
    return float(np.ptp(image)) <= BALANCED * float(np.abs(image).max())


def _spectra_of_unbalanced(factors: Sequence[Workload]) -> tuple[FloatArray, FloatArray]:
    """Singular values and centred ones of a product; of none, those of the total over one type."""
    if not factors:
        return np.ones(1), np.zeros(1)
    if len(factors) == 1:
        return factors[0].singular_values(), factors[0].centred_singular_values()
    pairs = [np.linalg.eigh(f.gram()) for f in factors]
    eigenvalues = _kron([np.maximum(pair[0], 0.0) for pair in pairs])
    weights = _kron([pair[1].sum(axis=0) ** 2 / len(pair[0]) for pair in pairs])
    values = reduce(np.multiply.outer, [f.singular_values() for f in factors]).ravel()
    return values, np.sqrt(centred_eigenvalues(eigenvalues, weights))
