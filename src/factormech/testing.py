"""Does a workload or a mechanism keep its promises? What the project's tests ask of every name, for yours, too.

From Python, ``check_workload("windows")`` and ``check_mechanism("arc-response")`` return how much was checked or raise
:class:`BrokenPromise`; from a shell, ``python -m factormech.testing FILE.py …`` checks all that plugins register.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from factormech import plugins
from factormech.arrays import FloatArray
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local import registry as mechanisms
from factormech.mechanisms.local.strategy import SimulatedStrategy, Strategy, StrategyMatrix
from factormech.privacy.guarantee import REPLACE_ONE, guarantee_of, verify_ldp
from factormech.seeds import rng_for
from factormech.workloads import registry as workloads
from factormech.workloads.base import Workload

SIZES = (1, 2, 5, 8, 16)
EPSILONS = (0.1, 1.0, 4.0)
# What mechanisms are asked to answer; a mechanism that refuses all of them has nothing to show.
ASKED = ("histogram", "prefix")
# Collections of each simulation, and the standard errors that its mean may be off by: 6 of them have 2·10⁻⁹.
TRIALS, STANDARD_ERRORS = 4000, 6.0
_RELATIVE = 1e-9


class BrokenPromise(AssertionError):
    """An identity that does not hold: of what, which, and by how much."""


def check_workload(name: str, domain_sizes: Sequence[int] = SIZES, *, k: Sequence[int] = (0, 1, 2)) -> int:
    """Hold everything that a workload says of itself against its own matrix; the number of members checked.

    ``name`` may be a pattern, whose ``{k}`` is replaced. Sizes at which there is no such workload are passed over, and
    a workload at none of them is a broken promise.
    """
    members = [name.replace("{k}", str(i)) for i in (k if "{k}" in name else (0,))]
    made = [(each, n) for each in members for n in domain_sizes if workloads.reason_against(each, n) is None]
    if not made:
        raise BrokenPromise(f"workload {name}: exists at none of the domain sizes {[*domain_sizes]}")
    for each, n in made:
        _check_member(workloads.create(each, n), f"workload {each}, domain size {n}")
    return len(made)


def check_mechanism(name: str, domain_sizes: Sequence[int] = SIZES, epsilons: Sequence[float] = EPSILONS) -> int:
    """Hold a mechanism against its definition: private, unbiased, its variance that of its reports.

    Returns the number of strategies checked. Points where it is unavailable are passed over, and a mechanism without
    any strategy, or that answers none of ``ASKED``, is a broken promise.
    """
    checked, answered = 0, False
    for n in domain_sizes:
        asked = {each: workloads.create(each, n) for each in ASKED}
        for epsilon in epsilons:
            for each, workload in asked.items():
                strategy = mechanisms.strategy_for(name, workload, epsilon)
                if isinstance(strategy, Unavailable):
                    continue
                where = f"mechanism {name}, domain size {n}, epsilon {epsilon:g}"
                _check_privacy(strategy, n, epsilon, where)
                answered |= _check_errors(strategy, workload, f"{where}, {each}")
                checked += 1
    if not checked:
        raise BrokenPromise(f"mechanism {name}: is available at none of the domain sizes {[*domain_sizes]}")
    if not answered:
        raise BrokenPromise(f"mechanism {name}: answers none of the workloads {', '.join(ASKED)}")
    return checked


# Workloads ---------------------------------------------------------------------------------------------------------


def _check_member(workload: Workload, where: str) -> None:
    W = workload.matrix()
    p, n = workload.queries, workload.domain_size
    _true(W.shape == (p, n), f"{where}: its matrix is {W.shape}, and not (queries, domain size) = {(p, n)}")
    _true(bool(np.isfinite(W).all()), f"{where}: its matrix has entries that are no finite numbers")
    rng, size = rng_for(0, "check", workload.name, str(n)), float(np.abs(W).max(initial=0.0)) or 1.0
    G, P = W.T @ W, np.eye(n) - 1.0 / n
    x, y = rng.normal(size=(n, 3)), rng.normal(size=(p, 3))
    pairs: list[tuple[str, Any, Any]] = [
        ("answer(x) = Wx", workload.answer(x), W @ x),
        ("answer of one vector = Wx", workload.answer(x[:, 0]), W @ x[:, 0]),
        ("adjoint(y) = Wᵀy", workload.adjoint(y), W.T @ y),
        ("gram() = WᵀW", workload.gram(), G),
        ("gram_times(x) = WᵀWx", workload.gram_times(x), G @ x),
        ("gram_diagonal() = squared norms of columns", workload.gram_diagonal(), np.diagonal(G)),
        ("centred_gram() = PWᵀWP, P = I − 11ᵀ/n", workload.centred_gram(), P @ G @ P),
        ("column_sums() = 1ᵀW", workload.column_sums(), W.sum(axis=0)),
        ("frobenius_squared() = ‖W‖²", workload.frobenius_squared(), np.sum(W * W)),
        ("total_squared() = ‖W1‖²", workload.total_squared(), np.sum(W.sum(axis=1) ** 2)),
    ]
    for identity, found, wanted in pairs:
        _close(found, wanted, _RELATIVE * p * n * size * max(size, 1.0), f"{where}: {identity}")
    # A singular value goes through a Gram matrix, which knows its square to rounding.
    top = float(np.linalg.norm(W, 2)) or 1.0
    for identity, found, M in (
        ("singular_values()", workload.singular_values(), W),
        ("centred_singular_values()", workload.centred_singular_values(), W @ P),
    ):
        wanted = np.zeros(n)
        sigma = np.linalg.svd(M, compute_uv=False)[:n]
        wanted[: len(sigma)] = sigma
        _true(np.shape(found) == (n,), f"{where}: {identity} has not {n} entries")
        _close(np.square(found), wanted**2, _RELATIVE * top**2, f"{where}: squares of {identity}")


# Mechanisms --------------------------------------------------------------------------------------------------------


def _check_privacy(strategy: Strategy, n: int, epsilon: float, where: str) -> None:
    _true(strategy.domain_size == n, f"{where}: its domain size is {strategy.domain_size}")
    try:
        found = guarantee_of(strategy, REPLACE_ONE)
        loss = verify_ldp(strategy.matrix, epsilon) if isinstance(strategy, StrategyMatrix) else found.epsilon
    except BadValue as error:
        raise BrokenPromise(f"{where}: {error}") from error
    _true(found.epsilon <= epsilon, f"{where}: it promises only ε = {found.epsilon:g}")
    _true(loss <= epsilon, f"{where}: its privacy loss is {loss:.17g}")


def _check_errors(strategy: Strategy, workload: Workload, where: str) -> bool:
    """Whether the workload is answered; then without bias, with the variance of Theorem 3.4 and of simulations."""
    C = workload.centred_gram()
    evaluation = strategy.evaluate(C)
    if not evaluation.answered:
        return False
    n = workload.domain_size
    W = workload.matrix()
    W = W - W.mean(axis=1, keepdims=True)
    if isinstance(strategy, StrategyMatrix):
        Q, B = strategy.matrix, strategy.reconstruction
        V = W @ B
        _close(V @ Q, W, 1e-7 * (np.abs(W).max() or 1.0), f"{where}: VQ = W")
        wanted = (np.sum(V**2, axis=0) @ Q) - np.sum(W**2, axis=0)
        scale = float((np.sum(V**2, axis=0) @ Q).max())
        _close(evaluation.variance, wanted, 1e-7 * scale, f"{where}: variance = Σ_o Q_ou‖Ve_o‖² − ‖We_u‖²")
    if isinstance(strategy, SimulatedStrategy) and n > 1 and not strategy.simulation_refusal(n):
        _check_simulation(strategy, W, evaluation.variance, where)
    return True


def _check_simulation(strategy: SimulatedStrategy, W: FloatArray, variance: FloatArray, where: str) -> None:
    """One user of each type reports, many times: mean and squared error of the answers."""
    n = W.shape[1]
    rng = rng_for(0, "check", where)
    counts = np.ones(n, dtype=np.int64)
    estimates = strategy.simulate_estimates(counts, TRIALS, rng)
    errors = W @ (estimates - (counts - counts.mean())[:, None])
    deviation = errors.std(axis=1, ddof=1) / math.sqrt(TRIALS)
    off = np.abs(errors.mean(axis=1)) - STANDARD_ERRORS * deviation
    tiny = 1e-7 * (float(np.abs(errors).max(initial=0.0)) + 1e-300)
    _true(bool((off <= tiny).all()), f"{where}: simulated answers are off on average (query {int(np.argmax(off))})")
    squared = np.sum(errors**2, axis=0)
    exact, found = float(variance.sum()), float(squared.mean())
    allowed = STANDARD_ERRORS * float(squared.std(ddof=1)) / math.sqrt(TRIALS) + 1e-7 * exact
    _true(abs(found - exact) <= allowed, f"{where}: variance {exact:.6g}, simulated {found:.6g} ± {allowed:.2g}")


def _true(holds: bool, what: str) -> None:
    if not holds:
        raise BrokenPromise(what)


def _close(found: Any, wanted: Any, tolerance: float, what: str) -> None:
    if np.shape(found) != np.shape(wanted):
        raise BrokenPromise(f"{what}: shape {np.shape(found)}, and not {np.shape(wanted)}")
    off = float(np.max(np.abs(np.asarray(found) - wanted), initial=0.0))
    if not off <= tolerance:
        raise BrokenPromise(f"{what}: off by {off:.3g}")


# From a shell ------------------------------------------------------------------------------------------------------


def _checks(plugin: plugins.Plugin) -> Iterator[tuple[str, Callable[[str], int]]]:
    yield from ((name, check_workload) for name in plugin.workloads)
    yield from ((name, check_mechanism) for name in plugin.mechanisms)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check all that some plugins register, a line each; 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m factormech.testing", description=__doc__.partition("\n")[0])
    parser.add_argument("plugins", nargs="+", type=Path, metavar="FILE.py")
    args = parser.parse_args(arguments)
    try:
        checks = [check for path in args.plugins for check in _checks(plugins.load(path))]
    except BadValue as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    broken = 0
    for name, check in checks:
        try:
            print(f"{name}: {check(name)} cases, all promises kept", flush=True)
        except (BrokenPromise, BadValue) as error:
            broken += 1
            print(f"broken: {error}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
