"""Compare with other packages on what they also compute, and write ``docs/peers.md``.

Run it with a Python in which the packages of ``requirements-peers.txt`` are installed beside this one (the lock file
does not have them). Every comparison says how the two numbers must be related; one that is not is an error, here and in
``tests/peers``.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import chi2

PAGE = Path(__file__).resolve().parents[1] / "docs" / "peers.md"
PACKAGES = ("pure-ldp", "multi-freq-ldpy", "opendp", "dp-accounting", "jax-privacy")
FALSE_ALARM = 1e-6
EPSILON, TYPES = 1.0, 6
DRAWS = 40_000


@dataclass(frozen=True)
class Compared:
    """One number of ours, one of theirs, and how they are related.

    ``relation`` is ``equal`` (to ``tolerance``, relatively), ``at most`` (ours), or ``same law``: then ours is the
    p-value of χ² for their draws under our probabilities, and theirs the level.
    """

    what: str
    ours: float
    theirs: float
    relation: str = "equal"
    tolerance: float = 1e-9
    why: str = ""

    @property
    def holds(self) -> bool:
        if self.relation == "equal":
            return abs(self.ours - self.theirs) <= self.tolerance * abs(self.theirs)
        if self.relation == "at most":
            return self.ours <= self.theirs * (1 + self.tolerance)
        return self.ours > self.theirs


# pure-ldp and multi-freq-ldpy -----------------------------------------------------------------------------------


def histogram_variance(name: str) -> float:
    """Our total variance of the histogram, per user, the same for all types."""
    from factormech.mechanisms.local.registry import strategy_for
    from factormech.workloads.registry import create

    histogram = create("histogram", TYPES)
    strategy: Any = strategy_for(name, histogram, EPSILON)
    return float(strategy.evaluate(histogram.centred_gram()).average)


def bitwise_variance(p: float, q: float) -> float:
    """Of (bit − q)/(p − q) over all types, bits of probability p at the own type and q elsewhere."""
    return (p * (1 - p) + (TYPES - 1) * q * (1 - q)) / (p - q) ** 2


def matrix_of(name: str) -> Any:
    from factormech.mechanisms.local.registry import build

    return build(name, TYPES, EPSILON).matrix  # type: ignore[union-attr]


def same_law(what: str, column: np.ndarray, counts: np.ndarray, why: str = "") -> Compared:
    """χ² of the draws of a package against one column of our matrix."""
    due = counts.sum() * column / column.sum()
    p_value = float(chi2.sf(float(np.sum((counts - due) ** 2 / due)), len(due) - 1))
    return Compared(what, p_value, FALSE_ALARM, "same law", why=why)


def row_of_subsets(Q: np.ndarray) -> dict[tuple[int, ...], int]:
    """The row of each set of types: its members have the larger probability; ∅ comes first and all types last."""
    rows = {}
    for o, row in enumerate(Q):
        inside = tuple(np.flatnonzero(row > row.min() * 1.0001).tolist())
        rows[inside if inside or o == 0 else tuple(range(Q.shape[1]))] = o
    return rows


def pure_ldp() -> Iterator[Compared]:
    import random

    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.hadamard_response.internal import k2k_hadamard
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 (it draws from global state)
    direct, unary = DEServer(EPSILON, TYPES), UEServer(EPSILON, TYPES)
    p, q = direct.p, direct.q
    ours = histogram_variance("randomized-response")
    yield Compared("randomized response: variance of the histogram", ours, bitwise_variance(p, q))
    yield Compared(
        "unary encoding: variance of the histogram",
        histogram_variance("rappor"),
        bitwise_variance(unary.p, unary.q),
        "at most",
        why="the same reports; our reconstruction is the one of least variance, theirs takes each bit alone",
    )
    client = DEClient(EPSILON, TYPES)
    counts = np.bincount([client.privatise(1) for _ in range(DRAWS)], minlength=TYPES)
    yield same_law("randomized response: its reports", matrix_of("randomized-response")[:, 0], counts)
    Q, encoder = matrix_of("rappor"), UEClient(EPSILON, TYPES)
    rows = row_of_subsets(Q)
    drawn = [rows[tuple(np.flatnonzero(encoder.privatise(1)).tolist())] for _ in range(DRAWS // 2)]
    yield same_law("unary encoding: its reports", Q[:, 0], np.bincount(drawn, minlength=len(Q)))
    hadamard = k2k_hadamard.Hadamard_Rand_high_priv(TYPES, EPSILON)
    counts = np.bincount([hadamard.encode_symbol(0) for _ in range(DRAWS)], minlength=8)
    yield same_law("Hadamard response (one block): its reports", matrix_of("hadamard-table1")[:, 0], counts)


def multi_freq_ldpy() -> Iterator[Compared]:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
    from multi_freq_ldpy.pure_frequency_oracles.Variance_PURE import VAR_Pure
    from numba import njit

    # Compiled code has a global state of its own.
    njit(lambda seed: np.random.seed(seed))(1)  # noqa: NPY002
    e = math.exp(EPSILON)
    p, q = e / (e + TYPES - 1), 1 / (e + TYPES - 1)
    theirs = VAR_Pure(p, q, 1, 1.0) + (TYPES - 1) * VAR_Pure(p, q, 1, 0.0)
    yield Compared("randomized response: variance of the histogram", histogram_variance("randomized-response"), theirs)
    s = int(max(1, np.rint(TYPES / (e + 1))))
    p = s * e / (s * e + TYPES - s)
    q = ((s - 1) * s * e + (TYPES - s) * s) / ((TYPES - 1) * (s * e + TYPES - s))
    theirs = VAR_Pure(p, q, 1, 1.0) + (TYPES - 1) * VAR_Pure(p, q, 1, 0.0)
    yield Compared(
        f"subset selection (s = {s}): variance of the histogram", histogram_variance("subset-selection"), theirs
    )
    counts = np.bincount([GRR_Client(0, TYPES, EPSILON) for _ in range(DRAWS)], minlength=TYPES)
    yield same_law("randomized response: its reports", matrix_of("randomized-response")[:, 0], counts)
    for name, what, client in (
        ("subset-selection", "subset selection", SS_Client),
        ("rappor", "unary encoding", lambda *given: np.flatnonzero(UE_Client(*given, False))),
    ):
        Q = matrix_of(name)
        rows = row_of_subsets(Q)
        drawn = [rows[tuple(sorted(map(int, client(0, TYPES, EPSILON))))] for _ in range(DRAWS)]
        yield same_law(f"{what}: its reports", Q[:, 0], np.bincount(drawn, minlength=len(Q)))


# opendp and dp-accounting ----------------------------------------------------------------------------------------


def opendp() -> Iterator[Compared]:
    import opendp.prelude as dp

    from factormech.privacy.composition import concentrated_epsilon
    from factormech.privacy.gaussian import gaussian_deviation, laplace_scale
    from factormech.privacy.guarantee import Guarantee

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    scale = laplace_scale(1.0, Guarantee(0.7))
    yield Compared("Laplace noise: ε of our scale for 0.7", 0.7, dp.m.make_laplace(*space, scale=scale).map(d_in=1.0))
    sigma = gaussian_deviation(1.0, Guarantee(math.inf, rho=0.3))
    noise = dp.m.make_gaussian(*space, scale=sigma)
    yield Compared("Gaussian noise: ρ of our σ for 0.3", 0.3, noise.map(d_in=1.0))
    for delta in (1e-9, 1e-6, 1e-2):
        theirs = dp.c.make_zCDP_to_approxDP(noise).map(1.0).epsilon(delta=delta)
        yield Compared(f"0.3-zCDP: ε at δ = {delta:g}", concentrated_epsilon(0.3, delta), theirs, tolerance=1e-6)
    categories = list(range(TYPES))
    p = float(matrix_of("randomized-response").max())
    response = dp.m.make_randomized_response(categories=categories, prob=p)
    yield Compared("randomized response: ε of our probability", EPSILON, response.map(1))


def dp_accounting() -> Iterator[Compared]:
    from dp_accounting import gaussian_mechanism
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    from factormech.privacy.composition import optimal_delta
    from factormech.privacy.gaussian import gaussian_noise_multiplier

    for epsilon, delta in ((0.1, 1e-9), (1.0, 1e-6), (4.0, 1e-5), (10.0, 1e-12)):
        theirs = gaussian_mechanism.get_sigma_gaussian(epsilon, delta)
        ours = gaussian_noise_multiplier(epsilon, delta)
        yield Compared(f"Gaussian noise: σ for ({epsilon:g}, {delta:g})", ours, theirs, tolerance=1e-8)
    one = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(0.1, 0.0), 1e-5)
    for count, total in ((10, 0.5), (100, 2.0)):
        theirs = one.self_compose(count).get_delta_for_epsilon(total)
        yield Compared(
            f"{count} mechanisms of ε = 0.1: δ at ε = {total:g}",
            optimal_delta(0.1, count, total),
            theirs,
            tolerance=1e-6,
            why="its losses are on a grid and rounded up",
        )


# jax-privacy -----------------------------------------------------------------------------------------------------


def jax_privacy() -> Iterator[Compared]:
    import jax

    jax.config.update("jax_enable_x64", True)
    from jax_privacy.matrix_factorization import dense, toeplitz

    from factormech.mechanisms.central.registry import factorize
    from factormech.workloads.registry import create

    n = 16
    prefix = create("prefix", n)
    root: Any = factorize("square-root", prefix)
    coefficients = toeplitz.optimal_max_error_strategy_coefs(n)
    theirs = toeplitz.per_query_error(strategy_coef=coefficients) * toeplitz.sensitivity_squared(coefficients)
    yield Compared(
        "prefix sums, square root: largest error at σ = 1",
        float((root.row_norms**2).max()) * root.sensitivity**2,
        float(theirs.max()),
    )
    yield Compared(
        "prefix sums, square root: mean error at σ = 1",
        float((root.row_norms**2).mean()) * root.sensitivity**2,
        float(theirs.mean()),
    )
    best: Any = factorize("gamma-f", prefix)
    C = dense.optimize(n)
    yield Compared(
        "prefix sums, best factors: mean error at σ = 1",
        float((best.row_norms**2).mean()) * best.sensitivity**2,
        float(dense.per_query_error(strategy_matrix=C).mean()),
        "at most",
        why="its solver stops at a gradient, ours at a certified gap",
    )


COMPARISONS: dict[str, Callable[[], Iterator[Compared]]] = dict(
    zip(PACKAGES, (pure_ldp, multi_freq_ldpy, opendp, dp_accounting, jax_privacy), strict=True)
)


def page() -> str:
    """The table of all comparisons; fails if one does not hold."""
    lines = [
        "# Against other packages",
        "",
        "Written by `python tools/peers.py`, with the packages of `requirements-peers.txt`. ε = 1 and six types where",
        f"nothing else is said. For a law, ours is the p-value of χ² for {DRAWS} of their draws (half as many for the",
        "unary encoding of pure-ldp) under our probabilities, which must be above one in a million.",
        "",
        "| package | what | ours | theirs | must be | difference explained by |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for package, compare in COMPARISONS.items():
        version = importlib.metadata.version(package)
        for one in compare():
            if not one.holds:
                sys.exit(f"{package}: {one.what}: {one.ours!r} against {one.theirs!r} is not {one.relation}")
            must = f"{one.relation} ({one.tolerance:.0e})" if one.relation == "equal" else one.relation
            theirs = "–" if one.relation == "same law" else f"{one.theirs:.10g}"
            ours = f"{one.ours:.2g}" if one.relation == "same law" else f"{one.ours:.10g}"
            lines.append(f"| {package} {version} | {one.what} | {ours} | {theirs} | {must} | {one.why} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(description=str(__doc__).splitlines()[0]).parse_args()
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
