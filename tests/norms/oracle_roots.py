"""Square roots of small matrices with eighty digits: the oracle of the certified ends."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

DIGITS = 80


def exact(matrix):
    """Floats as the decimals they are."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(matrix, dtype=float))


def inverse(A):
    """Gauss and Jordan's, of a positive definite matrix: no pivoting."""
    n = len(A)
    B = np.hstack([A.copy(), exact(np.eye(n))])
    for i in range(n):
        B[i] = B[i] / B[i, i]
        for j in range(n):
            if j != i:
                B[j] = B[j] - B[j, i] * B[i]
    return B[:, n:]


def root(A):
    """A^{1/2} by Denman and Beavers's iteration."""
    Y, Z = A, exact(np.eye(len(A)))
    half = Decimal("0.5")
    for _ in range(60):
        Y, Z, before = half * (Y + inverse(Z)), half * (Z + inverse(Y)), Y
        if max(abs(v) for v in (Y - before).ravel()) < Decimal(10) ** (30 - DIGITS):
            break
    return Y


def squared_norms(w, q):
    """r and a of the prefix workload at the exact floats w and q, as decimals."""
    with localcontext() as context:
        context.prec = DIGITS
        n = len(w)
        w, q = exact(w), exact(q)
        W = exact(np.tril(np.ones((n, n))))
        left = np.array([v.sqrt() for v in w], dtype=object)
        right = np.array([v.sqrt() for v in q], dtype=object)
        M = left[:, None] * W * right
        return np.diagonal(root(M.dot(M.T))) / w, np.diagonal(root(M.T.dot(M))) / q


def range_columns(q):
    """a of all ranges at the exact floats q, as decimals."""
    with localcontext() as context:
        context.prec = DIGITS
        n = len(q)
        u = np.arange(1, n + 1)
        gram = exact(np.minimum.outer(u, u) * (n + 1 - np.maximum.outer(u, u)))
        q = exact(q)
        right = np.array([v.sqrt() for v in q], dtype=object)
        return np.diagonal(root(right[:, None] * gram * right)) / q
