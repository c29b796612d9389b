r"""What the information matrix of a good strategy looks like, before there is a strategy.

The weighted lower bound (``bounds/parametric.py``) is tight for a strategy with M proportional to
X̂ = C^{1/2}(C^{1/2}YC^{1/2})^{−1/2}C^{1/2}, Y = P(Diag p − ppᵀ/ω)P, with the best weights (p, ω): equality in its last
step asks for this M. No strategy need reach it; rows sampled to resemble it are a start. Weights of a large domain are
interpolated from those of groups of neighbouring types.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.omega_limit import smallest_omega
from factormech.bounds.type_search import weights_by_levels
from factormech.local.optimal.frame import Frame, block_matrices
from factormech.local.optimal.problem import Problem

# Domains above this are grouped before the weights are looked for.
LARGEST_SEARCH = 192


def target_blocks(problem: Problem, frame: Frame) -> tuple[FloatArray, ...]:
    """X̂, any scale, a block each of ``frame``; for a prior other than the uniform one, that of the uniform one."""
    p, omega = _weights(problem)
    D = np.diag(p) - (np.outer(p, p) / omega if omega > 0.0 else 0.0)
    blocks = block_matrices(D, frame.symmetric)
    return tuple(_target(root, block) for root, block in zip(frame.roots, blocks, strict=True))


def _weights(problem: Problem) -> tuple[FloatArray, float]:
    """(p, ω) near the best; ω = 0 where weights do nothing."""
    n = problem.domain_size
    found = weights_by_levels(problem.centred_gram, problem.epsilon, LARGEST_SEARCH)
    if found is None:
        return np.full(n, 1.0 / n), 0.0
    p, omega = found
    return p, max(omega, smallest_omega(p) * (1.0 + 1e-6))


def _target(root: FloatArray, D: FloatArray) -> FloatArray:
    """RK^{−1/2}Rᵀ, K = RᵀDR."""
    if not root.shape[1]:
        return np.zeros((len(root), len(root)))
    values, vectors = np.linalg.eigh(root.T @ D @ root)
    values = np.maximum(values, 1e-14 * float(values[-1]))
    half = (root @ vectors) * values**-0.25
    return np.asarray(half @ half.T)
