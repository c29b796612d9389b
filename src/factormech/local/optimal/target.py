r"""What the information matrix of a good strategy looks like, before there is a strategy.

The weighted lower bound (``bounds/parametric.py``) is tight for a strategy with M proportional to
X̂ = C^{1/2}(C^{1/2}YC^{1/2})^{−1/2}C^{1/2}, Y = P(Diag p − ppᵀ/ω)P, with the best weights (p, ω): equality in its last
step asks for this M. No strategy need reach it; rows sampled to resemble it are a start. Weights of a large domain are
interpolated from those of groups of neighbouring types.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.parametric import InformationLimit, best_weights, smallest_omega
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
    C, n = problem.centred_gram, problem.domain_size
    group = -(-n // LARGEST_SEARCH)
    starts = np.arange(0, n, group)
    small = np.add.reduceat(np.add.reduceat(C, starts, axis=0), starts, axis=1)
    limit = InformationLimit.of(len(starts), problem.epsilon)
    scale = float(np.trace(small))
    if limit is None or scale <= 1e-12 * float(np.trace(C)):
        return np.full(n, 1.0 / n), 0.0
    p, omega = best_weights(small / scale, limit)
    if group > 1:
        width = np.diff(np.append(starts, n))
        middle = starts + 0.5 * (width - 1)
        p = np.exp(np.interp(np.arange(n), middle, np.log(p / width)))
        p = 0.5 * (p + p[::-1]) if n % group == 0 else p
        p /= p.sum()
    omega = max(omega, smallest_omega(p) * (1.0 + 1e-6))
    return p, omega


def _target(root: FloatArray, D: FloatArray) -> FloatArray:
    """RK^{−1/2}Rᵀ, K = RᵀDR."""
    if not root.shape[1]:
        return np.zeros((len(root), len(root)))
    values, vectors = np.linalg.eigh(root.T @ D @ root)
    values = np.maximum(values, 1e-14 * float(values[-1]))
    half = (root @ vectors) * values**-0.25
    return np.asarray(half @ half.T)
