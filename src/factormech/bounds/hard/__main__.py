"""Prints the tables of the page on local lower bounds: ``python -m factormech.bounds.hard``."""

from __future__ import annotations

import math

import numpy as np

from factormech.bounds.hard.certificate import best_witness
from factormech.bounds.hard.divergence import kappa, kl_of_error
from factormech.bounds.hard.pairs import from_witness, mix_level_set, mix_rows, weighted
from factormech.bounds.hard.release import lower_bound_release
from factormech.norms.registry import compute
from factormech.workloads.registry import create

EPSILON, ALPHA = 1.0, 0.01
CASES = (("prefix", 16), ("prefix", 128), ("parities", 16), ("parities", 64), ("conjunctions-3", 64))


def published(strength: float, epsilon: float, alpha: float) -> float:
    """The same G by Markov's inequality at t = 4 and the cruder divergence e^ε(e^ε−1)²‖M‖², in place of ours."""
    return kl_of_error(0.25) / (math.exp(epsilon) * math.expm1(epsilon) ** 2) * (strength / (8.0 * alpha)) ** 2


def predicted(norm: float, queries: int, epsilon: float, alpha: float) -> float:
    """Users of half-sphere reports of a factorization of this norm: (π/2)c²γ²·2ln(2k)/α², a central-limit estimate."""
    return math.pi / 2 / math.tanh(epsilon / 2) ** 2 * norm**2 * 2 * math.log(2 * queries) / alpha**2


def main() -> None:
    """Both tables, as Markdown."""
    print("| workload | n | G | one query | sequential | non-interactive | Markov, e^ε(e^ε−1)² | predicted/bound |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, n in CASES:
        workload = create(name, n)
        found = lower_bound_release(workload, EPSILON, ALPHA)
        sequential = lower_bound_release(workload, EPSILON, ALPHA, protocol="sequential")
        upper = predicted(compute("gamma-2-shifted", workload, alpha=0.0).upper, workload.queries, EPSILON, ALPHA)
        G = found.witness.strength
        print(
            f"| `{name}` | {n} | {G:.4f} | {found.single} | {math.ceil(sequential.pairs)} | {found.least_users} "
            f"| {math.ceil(published(G, EPSILON, ALPHA))} | {upper / found.users:.0f} |"
        )
    print("\n| θ | γ̂₂(W, θ) | G(θ) | γ̂₂(W, 0) | ‖M‖ row by row | ‖M‖ level set | 2θ/G |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    W = np.random.default_rng(11).uniform(-1.0, 1.0, size=(8, 8))
    whole = compute("gamma-2-shifted", W, alpha=0.0).lower
    for theta in (0.05, 0.2, 0.4):
        norm = compute("gamma-2-shifted", W, alpha=theta)
        family = from_witness(norm.witness["dual"], W)
        mixed = [weighted(mix(family, W, theta))[1] for mix in (mix_rows, mix_level_set)]
        G = best_witness(W, theta).witness.strength
        print(
            f"| {theta} | {norm.lower:.4f} | {G:.4f} | {whole:.4f} | {mixed[0]:.4f} | {mixed[1]:.4f} "
            f"| {2 * theta / G:.4f} |"
        )
    print(f"\nκ({EPSILON:g}) = {kappa(EPSILON):.4f}")


if __name__ == "__main__":
    main()
