"""W of every family, row by row and entry by entry as its definition says it; slow and obvious."""

from __future__ import annotations

import itertools
import re

import numpy as np

from factormech.workloads import registry

SIZES = (1, 2, 3, 4, 5, 8, 12, 16, 32)


def members():
    """All (name, domain size) that exist for the sizes above, every k included."""
    for n in SIZES:
        for pattern in registry.names():
            for k in range(6) if "{k}" in pattern else [0]:
                name = pattern.replace("{k}", str(k))
                if registry.reason_against(name, n) is None:
                    yield name, n


MEMBERS = list(members())
STRUCTURED = [(name, n) for name, n in MEMBERS if name != "random-signs"]


def attributes_of(u, d):
    return {j for j in range(d) if u >> j & 1}


def sets(d, sizes):
    """The sets of attributes by size, then by mask."""
    chosen = [set(S) for k in sizes for S in itertools.combinations(range(d), k)]
    return sorted(chosen, key=lambda S: (len(S), sum(2**j for j in S)))


def parity(S, u):
    return (-1) ** len(S & u)


def marginal_rows(d, sizes):
    for S in sets(d, sizes):
        for values in itertools.product([0, 1], repeat=len(S)):
            # The lowest attribute varies fastest.
            wanted = {j for j, value in zip(sorted(S, reverse=True), values, strict=True) if value}
            yield [float(u & S == wanted) for u in (attributes_of(t, d) for t in range(2**d))]


def matrix(name, n):
    if name == "histogram":
        return np.eye(n)
    if name == "total":
        return np.ones((1, n))
    if name == "prefix":
        return np.array([[float(u <= i) for u in range(n)] for i in range(n)])
    if name == "all-ranges":
        return np.array([[float(a <= u <= b) for u in range(n)] for a in range(n) for b in range(a, n)])
    return binary_matrix(name, n)


def binary_matrix(name, n):
    d = n.bit_length() - 1
    types = [attributes_of(u, d) for u in range(n)]
    numbers = [int(number) for number in re.findall(r"(?<!-0)(\d+)(?=-way|$)", name.removesuffix("-01"))]
    k = numbers[0] if numbers else d
    sizes = [k] if re.match(r"\d", name) else range(k + 1)
    if "marginals" in name:
        return np.array(list(marginal_rows(d, sizes)))
    if name.startswith("conjunctions"):
        return np.array([[float(S.issubset(u)) for u in types] for S in sets(d, sizes)])
    family = sets(d, sizes)
    if name in ("parities", "parities-01"):
        family = types  # by mask
    W = np.array([[float(parity(S, u)) for u in types] for S in family])
    return (1 + W) / 2 if name.endswith("-01") else W


def singular_values(M, length):
    found = np.zeros(length)
    sigma = np.linalg.svd(M, compute_uv=False)[:length]
    found[: len(sigma)] = sigma
    return found


def centring(n):
    return np.eye(n) - 1.0 / n


def check_against(workload, W, *, spectral=1e-11):
    """Compare everything a workload says with dense linear algebra on W.

    ``spectral`` is the tolerance of singular values: where they go through a dense Gram matrix, its
    eigenvalues are right to rounding, and a root of one near zero only to the root of that.
    """
    rtol = 1e-11
    n, p = W.shape[1], W.shape[0]
    G, P = W.T @ W, centring(n)
    scale = np.abs(G).max()
    rng = np.random.default_rng(7)

    def close(found, wanted, size):
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * size)

    assert workload.domain_size == n
    assert workload.queries == p
    assert type(workload.queries) is int
    np.testing.assert_allclose(workload.matrix(), W, rtol=0, atol=1e-13 * max(1.0, np.abs(W).max()))
    for shape in [(), (1,), (3,), (0,)]:
        x, y = rng.normal(size=(n, *shape)), rng.normal(size=(p, *shape))
        close(workload.answer(x), W @ x, n * np.abs(W).max())
        close(workload.adjoint(y), W.T @ y, p * np.abs(W).max())
        close(workload.gram_times(x), G @ x, n * scale)
    close(workload.gram(), G, scale)
    close(workload.centred_gram(), P @ G @ P, scale)
    close(workload.gram_diagonal(), np.diagonal(G), scale)
    close(workload.column_sums(), W.sum(axis=0), p)
    close(workload.frobenius_squared(), np.sum(W * W), 0)
    close(workload.total_squared(), np.sum(W.sum(axis=1) ** 2), 0)
    top = np.linalg.norm(W, 2)
    np.testing.assert_allclose(workload.singular_values(), singular_values(W, n), atol=spectral * top)
    centred = workload.centred_singular_values()
    np.testing.assert_allclose(centred, singular_values(W @ P, n), atol=spectral * top)
    np.testing.assert_allclose(centred**2, singular_values(W @ P, n) ** 2, atol=rtol * top**2)
    assert centred[-1] == 0.0
    check_spectrum(workload.walsh_spectrum(), G, rtol)
    check_spectrum(workload.centred_walsh_spectrum(), P @ G @ P, rtol)


def check_spectrum(spectrum, G, rtol):
    """The spectrum, if there is one, makes G: from the definition, with no fast transform."""
    if spectrum is None:
        return
    n = len(G)
    chi = np.array([[(-1.0) ** (s & u).bit_count() for u in range(n)] for s in range(n)])
    assert spectrum.shape == (n,)
    np.testing.assert_allclose(chi.T @ np.diag(spectrum) @ chi / n, G, rtol=rtol, atol=rtol * n * np.abs(G).max())
