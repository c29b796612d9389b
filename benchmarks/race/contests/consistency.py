"""Consistency: the non-negative data vectors nearest to unbiased estimates in the distance of prefix sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from benchmarks.race.contest import OURS, Contest, Contestant, Prepare, Work

ESTIMATES = 20


def inputs(n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """W, prefix sums, and estimates x̂ of a few skewed data vectors, (n, count); about half of x̂ is negative."""
    rng = np.random.default_rng(7)
    truth = 1000.0 / np.arange(1, n + 1)
    return np.tri(n), truth[:, None] + rng.normal(scale=100.0, size=(n, count))


def work(solve: Callable[[np.ndarray, np.ndarray], np.ndarray], n: int, count: int) -> Work:
    """By a function of W and estimates; answers are compared as Wx, in which the optimum is unique."""
    W, estimates = inputs(n, count)
    return Work((W, estimates), lambda: solve(W, estimates), lambda x: (W @ x).ravel().tolist())


def ours(count: int) -> Prepare:
    """The active-set method, with the columns of the Gram matrix that it needs; optimality is checked at the end."""

    def solve(W: np.ndarray, estimates: np.ndarray) -> np.ndarray:
        from factormech.mechanisms.local.consistency import nearest_consistent

        return nearest_consistent(W, estimates).values

    return lambda n, lent: work(solve, n, count)


def by_column(solve: Callable[[np.ndarray, np.ndarray], np.ndarray], count: int) -> Prepare:
    """One estimate after the other."""
    return lambda n, lent: work(lambda W, X: np.column_stack([solve(W, W @ x) for x in X.T]), n, count)


def nnls(W: np.ndarray, b: np.ndarray) -> np.ndarray:
    from scipy.optimize import nnls as solve

    return solve(W, b, maxiter=100 * W.shape[1])[0]


def lsq_linear(W: np.ndarray, b: np.ndarray) -> np.ndarray:
    from scipy.optimize import lsq_linear as solve

    return solve(W, b, bounds=(0.0, np.inf), method="bvls", max_iter=100 * W.shape[1]).x


def slsqp(W: np.ndarray, b: np.ndarray) -> np.ndarray:
    from scipy.optimize import minimize

    scale = float(np.abs(b).max())
    c = b / scale

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        r = W @ x - c
        return float(r @ r), 2.0 * (W.T @ r)

    bounds = [(0.0, None)] * W.shape[1]
    options = {"ftol": 1e-15, "maxiter": 1000}
    found = minimize(objective, np.zeros(W.shape[1]), jac=True, bounds=bounds, method="SLSQP", options=options)
    return np.maximum(found.x, 0.0) * scale


def contestants(count: int, *, slow: bool) -> tuple[Contestant, ...]:
    one = "one estimate after the other" if count > 1 else ""
    found = (
        Contestant(OURS, OURS, ours(count), (64, 128, 256)),
        Contestant("scipy nnls", "scipy", by_column(nnls, count), (64, 128, 256), unlike=one),
    )
    if not slow:
        return found
    return (
        *found,
        Contestant("scipy lsq_linear", "scipy", by_column(lsq_linear, count), (64, 128, 256)),
        Contestant(
            "scipy SLSQP", "scipy", by_column(slsqp, count), (64, 128), unlike="a general solver; answers to 1e-4 only"
        ),
    )


CONTESTS = (
    Contest(
        "consistency-1", "One consistent estimate", "n", contestants(1, slow=True), 1e-4, "Wx to 1e-4", 8, "first of Wx"
    ),
    Contest(
        f"consistency-{ESTIMATES}",
        f"{ESTIMATES} consistent estimates",
        "n",
        contestants(ESTIMATES, slow=False),
        1e-8,
        "Wx to 1e-8",
        8,
        "first of Wx",
    ),
)
