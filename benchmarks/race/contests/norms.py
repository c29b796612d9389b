"""Factorization norms to a relative gap of 1e-6: prefix sums and random signs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.race.contest import OURS, Contest, Contestant, Prepare, Work

GAP = 1e-6
CVXPY = "its seconds have the compiling of the problem by cvxpy; no certificate; asked for"


def matrix(family: str, n: int) -> np.ndarray:
    """W, (n, n)."""
    if family == "prefix":
        return np.tri(n)
    return np.random.default_rng(n).choice([-1.0, 1.0], size=(n, n))


def ours(norm: str, family: str, *, structured: bool) -> Prepare:
    """A certified interval of relative width 1e-6; its upper end is compared."""

    def prepare(n: int, lent: float | None) -> Work:
        from factormech.norms import registry
        from factormech.workloads.registry import create

        W = matrix(family, n)
        run: Callable[[], Any] = (
            (lambda: registry.solve(norm, create(family, n), gap=GAP))
            if structured
            else (lambda: registry.solve(norm, W, method="dense", gap=GAP))
        )
        return Work((W,), run, lambda found: [found.upper])

    return prepare


def cvxpy(norm: str, family: str, solver: str) -> Prepare:
    """min t, [[X, W], [Wᵀ, Y]] ⪰ 0, diag Y ≤ t, and diag X ≤ t (γ₂) or tr X ≤ nt (γ_F)."""

    def prepare(n: int, lent: float | None) -> Work:
        import cvxpy as cp

        W = matrix(family, n)

        def run() -> float:
            gram, t = cp.Variable((2 * n, 2 * n), PSD=True), cp.Variable()
            diagonal = cp.diag(gram)
            rows = cp.sum(diagonal[:n]) / n if norm == "gamma-f" else cp.max(diagonal[:n])
            problem = cp.Problem(cp.Minimize(t), [gram[:n, n:] == W, rows <= t, cp.max(diagonal[n:]) <= t])
            asked: dict[str, Any] = {"eps": 1e-6, "max_iters": 200_000} if solver == "SCS" else {}
            problem.solve(solver=solver, **asked)
            return float(t.value)

        return Work((W,), run, lambda value: [value])

    return prepare


def jax_privacy(own_rule: bool) -> Prepare:
    """The dense optimiser, γ_F of prefix sums, to within the gap of our answer (lent), or to its own stopping rule."""

    def prepare(n: int, lent: float | None) -> Work:
        import jax

        jax.config.update("jax_enable_x64", True)
        from jax_privacy.matrix_factorization import dense

        excluded = [0.0, 0.0]

        def run() -> float:
            begin = time.process_time(), time.perf_counter()
            least = math.inf

            def stop(step: Any) -> bool:
                nonlocal least
                least = math.sqrt(float(step.loss))
                # Its first step compiles; the second compiles what its own stopping rule uses.
                own = bool(dense.pg_tol_termination_fn(step))
                if step.step <= 1:
                    excluded[:] = time.process_time() - begin[0], time.perf_counter() - begin[1]
                return own if own_rule or lent is None else least <= (1.0 + GAP) * lent

            dense.optimize(n, callback=stop)
            return least

        return Work((matrix("prefix", n),), run, lambda value: [value], excluded)

    return prepare


JAX = "no certificate; its first two steps, in which it compiles, are not in its seconds, but in its memory"


def contest(
    norm: str, family: str, ours_at: tuple[int, ...], clarabel: tuple[int, ...], scs: tuple[int, ...]
) -> Contest:
    """Ours (and, for prefix sums, ours without being told of the structure), general solvers, and jax-privacy."""
    symbol, what = {"gamma-2": "γ₂", "gamma-f": "γ_F"}[norm], {"prefix": "prefix sums", "random-signs": "random signs"}
    dense = ours(norm, family, structured=False)
    if family == "prefix":
        found = [
            Contestant(OURS, OURS, ours(norm, family, structured=True), ours_at, unlike="uses the structure"),
            Contestant(f"{OURS}, as a matrix", OURS, dense, ours_at, unlike="is not told of the structure"),
        ]
    else:
        found = [Contestant(OURS, OURS, dense, ours_at)]
    found += [
        Contestant(
            "cvxpy + Clarabel", "clarabel", cvxpy(norm, family, "CLARABEL"), clarabel, unlike=f"{CVXPY} its usual 1e-8"
        ),
        Contestant("cvxpy + SCS", "scs", cvxpy(norm, family, "SCS"), scs, unlike=f"{CVXPY} 1e-6"),
    ]
    if (norm, family) == ("gamma-f", "prefix"):
        sizes = tuple(n for n in ours_at if n >= 64)
        near = f"{JAX}; is lent our answer, to stop within 1e-6 of it"
        found.append(
            Contestant("jax-privacy", "jax-privacy", jax_privacy(False), sizes, peers=True, lender=OURS, unlike=near)
        )
    return Contest(
        f"{norm}-{family}",
        f"{symbol} of {what[family]}",
        "n",
        tuple(found),
        1e-5,
        "the norm to a relative 1e-5",
        8,
        "the norm",
    )


CONTESTS = (
    contest("gamma-2", "prefix", (16, 32, 64), (16, 32), (16, 32, 64)),
    contest("gamma-f", "prefix", (32, 64, 128, 256), (32,), (32, 64)),
    contest("gamma-2", "random-signs", (16, 32, 64), (16, 32), (16, 32, 64)),
    contest("gamma-f", "random-signs", (32, 64), (32,), (32, 64)),
)
