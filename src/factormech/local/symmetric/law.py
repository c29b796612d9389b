r"""The law of the squared error of a strategy of patterns, in the characters: no matrix of its outputs is made.

A report with the matrix A and the word r adds b to the estimate of the centred data, and by ``strategy.py`` the
coefficient of b at the character χ = Aᵀs is γ_s(−1)^{s·r}/x_χ; at the other characters it is 0. That of p_u is χ(u).
Let C have the eigenvalues g_χ (g = 0 at the empty character). So z = b − p_u has

.. math:: z^\top C z = \frac1n\sum_\chi g_\chi\Bigl(1 + \frac{\gamma_s^2}{x_\chi^2}
          - \frac{2\gamma_s}{x_\chi}(-1)^{s\cdot r}\chi(u)\Bigr) .

Given u and A the mean of (−1)^{s·r} is γ_sχ(u), and 1 for s = 0. The covariance of a report is therefore, at the
characters χ, χ' ≠ 1,

.. math:: \Bigl(\frac{K_{\chi\chi'}}{x_\chi x_{\chi'}} - 1\Bigr)\,(\chi\chi')(u), \qquad
          K_{\chi\chi'} = \operatorname{E}_A\bigl[\gamma_s\gamma_t\bar\gamma_{s\oplus t}\bigr], \quad
          \chi = A^\top s,\; \chi' = A^\top t, \quad \bar\gamma_0 = 1,\; \bar\gamma_s = \gamma_s \;(s \ne 0),

and that of a population has the transform of its numbers by type in place of (χχ')(u). No type differs from another by
the law of zᵀCz, for the translations keep Q and C: the moments of the type u = 0, whose characters are 1, are those of
all. With the covariance above for u = 0, tr[(CΣ_u)²] = n⁻²Σ g_χg_χ'(…)².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.local.error_law import ErrorLaw
from factormech.local.symmetric.patterns import Channel, PatternFamily, characters
from factormech.workloads import walsh

_CELLS_LIMIT = 2**21  # numbers held at once


@dataclass(frozen=True)
class Placed:
    """One family with its matrices A listed, (placements, m), their probabilities, and γ_s, (2^m,)."""

    family: PatternFamily
    channel: Channel
    gamma: FloatArray
    masks: IntArray
    weights: FloatArray

    def blocks(self, width: int) -> Sequence[tuple[IntArray, FloatArray]]:
        """The characters of some placements, (placements, 2^m), and their probabilities, ``width`` numbers for each."""
        used = self.weights > 0
        masks, weights, step = self.masks[used], self.weights[used], max(1, _CELLS_LIMIT // width)
        parts = [slice(start, start + step) for start in range(0, len(masks), step)]
        return [(characters(masks[part]), weights[part]) for part in parts]


def pattern_error_law(
    centred_gram: FloatArray,
    spectrum: FloatArray,
    information: FloatArray,
    variance: FloatArray,
    placed: Sequence[Placed],
) -> ErrorLaw:
    """The law where C has the eigenvalues ``spectrum``, x_χ being ``information``; the exact variances are known."""
    n = len(spectrum)
    down = np.divide(1.0, information, out=np.zeros(n), where=information > 0)
    spread = sum((_pair_means(part, n) for part in placed), np.zeros((n, n))) * np.outer(down, down) - 1.0
    spread[0], spread[:, 0] = 0.0, 0.0  # the number of users is known
    moments = [_fourth_moment_and_jump(part, spectrum, down) for part in placed]
    pairs = float(spectrum @ spread**2 @ spectrum) / n**2
    excess = sum(fourth for fourth, _ in moments) - variance**2 - 2.0 * pairs
    u = np.arange(n)
    together = np.bitwise_xor.outer(u, u)

    def covariance(x: FloatArray) -> FloatArray:
        half = walsh.transform(spread * walsh.transform(x)[together])
        return np.asarray(walsh.transform(half.T) / n**2)

    return ErrorLaw(centred_gram, variance, excess, np.full(n, max(jump for _, jump in moments)), covariance)


def _pair_means(part: Placed, n: int) -> FloatArray:
    """What one family adds to K, (n, n)."""
    gamma, s = part.gamma, np.arange(len(part.gamma))
    means = np.where(s > 0, gamma, 1.0)  # of (−1)^{s·r} for the type 0
    table = np.outer(gamma, gamma) * means[np.bitwise_xor.outer(s, s)]
    found = np.zeros(n * n)
    for chi, weights in part.blocks(table.size):
        cells = chi[:, :, None] * n + chi[:, None, :]
        found += np.bincount(cells.ravel(), weights=np.outer(weights, table).ravel(), minlength=n * n)
    return found.reshape(n, n)


def _fourth_moment_and_jump(part: Placed, g: FloatArray, down: FloatArray) -> tuple[float, float]:
    """E(zᵀCz)² over the reports of one family, times its probability, and the largest zᵀCz, for the type 0."""
    n, channel = len(g), part.channel
    law = np.where(part.family.table, channel.high, channel.low)
    fourth, jump = 0.0, 0.0
    for chi, weights in part.blocks(len(law)):
        ratio = part.gamma * down[chi]  # γ_s/x_χ
        asked = g[chi] * ratio
        fixed = float(g.sum()) + np.einsum("ps,ps->p", asked, ratio)
        squares = np.maximum(fixed[:, None] - 2.0 * walsh.transform(asked.T).T, 0.0) / n
        fourth += float(weights @ (squares**2 @ law))
        jump = max(jump, float(squares.max()))
    return fourth, jump
