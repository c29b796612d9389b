"""A workload as the datasets and attributes of a result file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.workloads.base import Workload

VECTORS = ("column_sums", "singular_values", "centred_singular_values", "gram_diagonal")
ATTRIBUTES = ("workload", "domain_size", "queries", "frobenius_squared", "total_squared")
# One of these sets of datasets says what G is, the cheapest that the family has.
GRAMS = (("walsh_spectrum",), ("centred_walsh_spectrum", "gram_row_sums"), ("gram",))


def to_datasets(workload: Workload) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """Return everything that errors depend on, in place of the queries: arrays, and the numbers beside them.

    The Gram matrix is stored as its spectrum (``walsh_spectrum``), or as that of PGP and the vector G1
    (``centred_walsh_spectrum``, ``gram_row_sums``), or as it is (``gram``).
    """
    datasets = {name: getattr(workload, name)() for name in VECTORS}
    spectrum, centred = workload.walsh_spectrum(), workload.centred_walsh_spectrum()
    if spectrum is not None:
        datasets["walsh_spectrum"] = spectrum
    elif centred is not None:
        datasets["centred_walsh_spectrum"] = centred
        datasets["gram_row_sums"] = workload.gram_times(np.ones(workload.domain_size))
    else:
        datasets["gram"] = workload.gram()
    queries = workload.queries
    attributes = {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": queries if queries < 2**63 else str(queries),  # beyond what HDF5 has as a whole number
        "frobenius_squared": workload.frobenius_squared(),
        "total_squared": workload.total_squared(),
    }
    return datasets, attributes


class StoredWorkload(Workload):
    """What :func:`to_datasets` kept of a workload: everything but the queries, which it refuses to answer."""

    def __init__(self, datasets: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        missing = [name for name in ATTRIBUTES if name not in attributes]
        missing += [name for name in VECTORS if name not in datasets]
        if not any(all(name in datasets for name in kind) for kind in GRAMS):
            missing.append("gram")
        if missing:
            remedy = "delete the file and run the workflow again"
            raise BadValue("stored workload: missing", missing, "be complete", remedy)
        super().__init__(str(attributes["workload"]), attributes["domain_size"])
        self._queries = int(attributes["queries"])
        self._frobenius_squared = float(attributes["frobenius_squared"])
        self._total_squared = float(attributes["total_squared"])
        known = {*VECTORS, *(name for kind in GRAMS for name in kind)}
        self._datasets = {name: np.asarray(datasets[name], np.float64) for name in datasets if name in known}
        self._check_shapes()

    def _check_shapes(self) -> None:
        n = self.domain_size
        for name, array in self._datasets.items():
            shape = (n, n) if name == "gram" else (n,)
            if array.shape != shape:
                remedy = "delete the file and run the workflow again"
                raise BadValue(f"stored workload: shape of {name}", array.shape, f"be {shape}", remedy)

    def _copy(self, name: str) -> FloatArray:
        return self._datasets[name].copy()

    def _refuse(self, what: str) -> NoReturn:
        remedy = "make the workload from its name instead"
        raise BadValue(what, self.name, "not be asked of a workload made from a file of results: no queries", remedy)

    @property
    def queries(self) -> int:
        return self._queries

    def answer(self, x: FloatArray) -> FloatArray:
        self._refuse("answer")

    def adjoint(self, y: FloatArray) -> FloatArray:
        self._refuse("adjoint")

    def matrix(self) -> FloatArray:
        self._refuse("matrix")

    def column_sums(self) -> FloatArray:
        return self._copy("column_sums")

    def walsh_spectrum(self) -> FloatArray | None:
        return self._copy("walsh_spectrum") if "walsh_spectrum" in self._datasets else None

    def centred_walsh_spectrum(self) -> FloatArray | None:
        name = "centred_walsh_spectrum"
        return self._copy(name) if name in self._datasets else super().centred_walsh_spectrum()

    def gram(self) -> FloatArray:
        if "gram" in self._datasets:
            return self._copy("gram")
        if "walsh_spectrum" in self._datasets:
            return super().gram()
        # G = PGP + (r1ᵀ + 1rᵀ)/n − (1ᵀr/n²)11ᵀ for r = G1.
        G, n = self.centred_gram(), self.domain_size
        r = (self._datasets["gram_row_sums"] - 0.5 * self._total_squared / n) / n
        G += r[:, None]
        G += r
        return G

    def gram_times(self, x: FloatArray) -> FloatArray:
        x = self._over_types(x)
        if "gram" in self._datasets:
            return np.asarray(self._datasets["gram"] @ x)
        if "walsh_spectrum" in self._datasets:
            return super().gram_times(x)
        return self._from_centred(x)

    def _from_centred(self, x: FloatArray) -> FloatArray:
        from factormech.workloads import binary

        n, centred = self.domain_size, self._datasets["centred_walsh_spectrum"]
        r = (self._datasets["gram_row_sums"] - 0.5 * self._total_squared / n) / n
        offset = np.multiply.outer(r, x.sum(axis=0)) + np.tensordot(r, x, axes=1)
        return np.asarray(binary.times(centred, x) + offset)

    def gram_diagonal(self) -> FloatArray:
        return self._copy("gram_diagonal")

    def frobenius_squared(self) -> float:
        return self._frobenius_squared

    def total_squared(self) -> float:
        return self._total_squared

    def singular_values(self) -> FloatArray:
        return self._copy("singular_values")

    def centred_singular_values(self) -> FloatArray:
        return self._copy("centred_singular_values")
