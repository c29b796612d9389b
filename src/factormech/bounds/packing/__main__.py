"""The numbers of docs/lower-bounds-pure.md: ``python -m factormech.bounds.packing``."""

from __future__ import annotations

import math

import numpy as np

from factormech.bounds.packing.core import share, share_by_balls
from factormech.bounds.packing.lower import lower_bound, prepare, users_needed
from factormech.bounds.packing.marginals import averaged_bound, full_parity, marginals, sparse_bound
from factormech.bounds.packing.random_queries import random_queries
from factormech.seeds import rng_for


def constants() -> list[str]:
    """κ beside the best β of the proof by balls."""
    lines = ["| J | κ(J) | balls |", "| --- | --- | --- |"]
    M = 2.0**60
    for J in (1.1, 1.5, 2.0, 3.0, 10.0, 100.0):
        loss = math.log((M - 1.0) / (J - 1.0))
        lines.append(
            f"| {J:g} | {float(share(math.log(M), loss)):.4f} | {float(share_by_balls(math.log(M), loss)):.4f} |"
        )
    return lines


def parities() -> list[str]:
    """Full parity at ε = 1."""
    lines = ["| N | n | packing | s, t, r | mean over all data | types |", "| --- | --- | --- | --- | --- | --- |"]
    for N in (2**8, 2**12, 2**16):
        for n in (4, 64, 1024, 2**14, 2**18):
            a, b = sparse_bound(N, n, 1.0), averaged_bound(N, n, 1.0)
            made = ", ".join(str(a.witness[key]) for key in ("set_size", "largest_overlap", "copies"))
            lines.append(f"| {N} | {n} | {a.value:.4g} | {made} | {b.value:.4g} | {b.witness['types']} |")
    return lines


def users_of_parity() -> list[str]:
    """Users needed for full parity at ε = 1."""
    alphas = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
    lines = ["| N | " + " | ".join(f"α = {a:g}" for a in alphas) + " |", "| --- " * (len(alphas) + 1) + "|"]
    for N in (2**8, 2**12, 2**16):
        found = [users_needed(lambda n, N=N: full_parity(N, n, 1.0), a).users for a in alphas]  # type: ignore[misc]
        lines.append(f"| {N} | " + " | ".join(map(str, found)) + " |")
    return lines


def others() -> list[str]:
    """Random signs and marginals at ε = 1."""
    users = (16, 256, 4096)
    lines = ["| queries | " + " | ".join(f"n = {n}" for n in users) + " |", "| --- " * (len(users) + 1) + "|"]
    for k, N in ((16, 256), (64, 1024), (256, 512)):
        W = 2.0 * rng_for(0, "packing-random-queries", str(k), str(N)).integers(0, 2, (k, N)) - 1.0
        ready = prepare(np.asarray(W))
        for name, values in (
            ("one draw", [lower_bound(ready, n, 1.0).value for n in users]),
            ("99 % of draws", [random_queries(k, N, n, 1.0).value for n in users]),
        ):
            lines.append(f"| random signs {k} × {N}, {name} | " + " | ".join(f"{v:.3g}" for v in values) + " |")
    for d, w in ((64, 1), (64, 2), (64, 3)):
        values = [marginals(d, w, n, 1.0).value for n in users]
        lines.append(f"| {w}-way conjunctions of {d} | " + " | ".join(f"{v:.3g}" for v in values) + " |")
    return lines


if __name__ == "__main__":
    print("\n\n".join("\n".join(part()) for part in (constants, parities, users_of_parity, others)))
