"""Gram matrices of workloads from their definitions, for ``verify_strategies.py``; no code is of the package."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Definitions = dict[str, Any]
# Definitions inside of definitions: more is a cycle, or a trap.
DEEPEST = 20
FAMILIES = re.compile(
    r"(?:(?P<all>all)-|(?P<exact>\d+)-way-|at-most-(?P<most>\d+)-way-)?(?P<kind>marginals|parities(?:-01)?)"
    r"|conjunctions-(?P<conjunctions>\d+)"
)


def gram(name: str, n: int, definitions: Definitions, folder: Path, depth: int = 0) -> Array | None:
    """WᵀW over n types by name and definition; None where the queries are drawn, or in a file of another format."""
    if depth > DEEPEST:
        raise ValueError(f"definitions deeper than {DEEPEST}")
    if is_registered(name):
        return registered(name, n)
    definition = definitions[name]
    if set(definition) == {"union"}:
        parts = [
            (float(part.get("weight", 1.0)), gram(part["workload"], n, definitions, folder, depth + 1))
            for part in definition["union"]
        ]
        return None if any(G is None for _, G in parts) else np.asarray(sum(w**2 * G for w, G in parts))
    if set(definition) == {"kronecker"}:
        return product(definition["kronecker"], n, definitions, folder, depth + 1)
    if set(definition) <= {"file", "dataset"}:
        return of_file(folder / definition["file"], n)
    raise ValueError(f"no definition of {name}")


def product(factors: list[Any], n: int, definitions: Definitions, folder: Path, depth: int) -> Array | None:
    """The Kronecker product of the factors' Gram matrices; one factor may leave its size to the others."""
    sizes = [factor.get("domain_size") for factor in factors]
    known = math.prod(size for size in sizes if size is not None)
    found = np.ones((1, 1))
    for factor, size in zip(factors, sizes, strict=True):
        G = gram(factor["workload"], n // known if size is None else int(size), definitions, folder, depth)
        if G is None or len(found) * len(G) > n:
            return None
        found = np.kron(found, G)
    return found


def of_file(path: Path, n: int) -> Array | None:
    """Of a matrix of numbers in CSV or NPY."""
    if path.suffix not in (".csv", ".npy") or not path.is_file() or path.stat().st_size > 2**28:
        return None
    W = np.loadtxt(path, delimiter=",", ndmin=2) if path.suffix == ".csv" else np.load(path, allow_pickle=False)
    return np.asarray(W.T.astype(float) @ W.astype(float)) if W.ndim == 2 and W.shape[1] == n else None


# By name ------------------------------------------------------------------------------------------------------------

DENSE: dict[str, Callable[[Array, int], Array]] = {
    "histogram": lambda u, n: np.asarray(u[:, None] == u, dtype=float),
    "total": lambda u, n: np.ones((n, n)),
    "prefix": lambda u, n: n - np.maximum.outer(u, u).astype(float),
    "all-ranges": lambda u, n: (np.minimum.outer(u, u) + 1.0) * (n - np.maximum.outer(u, u)),
}


def is_registered(name: str) -> bool:
    """Whether a name is one of the package's own, which no definition may take."""
    return name in DENSE or name == "random-signs" or FAMILIES.fullmatch(name) is not None


def registered(name: str, n: int) -> Array | None:
    """WᵀW of a workload of the package."""
    if name == "random-signs":
        return None
    u = np.arange(n)
    if name in DENSE:
        return DENSE[name](u, n)
    found = FAMILIES.fullmatch(name)
    d = n.bit_length() - 1
    if found is None or n != 2**d:
        raise ValueError(f"there is no workload {name!r} over {n} types")
    if found["conjunctions"]:
        common = np.bitwise_count(u[:, None] & u).astype(int)
        return table([subsets(c, range(int(found["conjunctions"]) + 1)) for c in range(d + 1)])[common]
    sizes = range(d + 1)
    if found["exact"]:
        sizes = range(int(found["exact"]), int(found["exact"]) + 1)
    elif found["most"]:
        sizes = range(int(found["most"]) + 1)
    return of_bits(found["kind"], d, sizes, u)


def of_bits(kind: str, d: int, sizes: range, u: Array) -> Array:
    """Of marginals, or of parities in ±1 or 0/1, on all sets of these sizes of d attributes: by unequal bits."""
    unequal = np.bitwise_count(u[:, None] ^ u).astype(int)
    if kind == "marginals":
        return table([subsets(d - h, sizes) for h in range(d + 1)])[unequal]
    signs = table([signed(h, d, sizes) for h in range(d + 1)])
    if kind == "parities":
        return signs[unequal]
    # Rows (1 + χ_S)/2: a quarter of Σ (1 + χ_S(u))(1 + χ_S(v)).
    own = signs[np.bitwise_count(u).astype(int)]
    return np.asarray((subsets(d, sizes) + own[:, None] + own + signs[unequal]) / 4)


def subsets(size: int, sizes: range) -> int:
    """How many sets of these sizes a set has."""
    return sum(math.comb(size, k) for k in sizes)


def signed(h: int, d: int, sizes: range) -> int:
    """The sum of χ_S(u) over sets S of these sizes, for a u of h ones: Krawtchouk's polynomials."""
    return sum((-1) ** j * math.comb(h, j) * math.comb(d - h, k - j) for k in sizes for j in range(min(h, k) + 1))


def table(values: list[int]) -> Array:
    """Values by number of bits."""
    return np.array(values, dtype=float)
