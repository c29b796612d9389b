r"""The mean squared error of every ε-LDP protocol, interactive or not, with any estimator: Theorem A.

**Theorem A.** Let users' types be drawn from p, p from a Dirichlet law, T be the transcript of any protocol that is
ε-LDP in each of N users. On a face of m types let WF_m have the singular values g_1 ≥ g_2 ≥ …, FFᵀ = Diag m − mmᵀ. Then
for all 0 ≤ z_i ≤ 1 and every estimator ψ̂(T)

.. math:: E\lVert\hat\psi - Wp\rVert^2 \ge B = \frac{f^2 (\sum_i z_i g_i)^2}{N\Lambda(1+\chi) + j \sum_i z_i^2} ,

with f², Λ(1+χ) and j of ``prior.py``. With c = tr(WD_mWᵀ), some data set x of N users has

.. math:: E\lVert\hat\psi - Wx/N\rVert^2 \ge (1 + b/N)^2 B - \frac b{b+1}(1 + b/N)\frac cN .

The proof is in ``docs/lower-bounds-every-protocol.md``. The search is in floating point; what it finds is evaluated in
fractions, from singular values that are bounded from below. The best z for given N is z_i = min(1, κg_i/w_i).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.protocols import faces, prior
from factormech.bounds.protocols.faces import CentredAnswers
from factormech.bounds.protocols.prior import Field

CONSTANT, ROOT = "constant", "square-root"


def _grid(first: float, middle: float, last: float) -> tuple[Fraction, ...]:
    """Multiples of 1/16: 20 evenly spaced, then 36 geometrically."""
    points = np.concatenate([np.linspace(first, middle, 20), np.geomspace(middle, last, 37)[1:]])
    return tuple(sorted({Fraction(math.ceil(16.0 * x), 16) for x in points}))


BETAS = {CONSTANT: _grid(2.0625, 6.0, 3000.0), ROOT: _grid(1.0625, 6.0, 3000.0)}


@dataclass(frozen=True)
class Design:
    """A sub-problem and what bounds the information of a report on it.

    Attributes
    ----------
    types
        The face.
    gains, weights
        g_i and w_i: the bound is f²(Σz_ig_i)²/(N·information + prior·Σw_iz_i²) for 0 ≤ z_i ≤ 1; (r,) each.
    trace
        c = tr(WD_mWᵀ).
    limit, spread
        Λ, and Σℓ_u² of a certificate; ``None`` for the limits on the trace, Λ = σ_m.
    centre
        The Dirichlet parameters of a prior that is not uniform, for b = 1; ``None`` for the uniform one.
    """

    types: tuple[int, ...]
    gains: FloatArray
    weights: FloatArray
    trace: float
    limit: Fraction | None = None
    spread: Fraction | None = None
    centre: tuple[Fraction, ...] | None = None

    @property
    def certificate(self) -> str:
        """The certificate that bounds the information of a report."""
        return "trace" if self.limit is None else "pairs"


@dataclass(frozen=True)
class Choice:
    """A design, a kind of field and β = b/m, with the value that the search saw."""

    value: float
    design: Design
    field: str
    beta: Fraction


def squared_designs(problem: CentredAnswers) -> list[Design]:
    """The faces with uniform priors, for the search."""
    found = (design_of(problem, types) for types in faces.families(problem))
    return [design for design in found if design is not None]


def design_of(problem: CentredAnswers, types: tuple[int, ...]) -> Design | None:
    """One face with a uniform prior, for the search; ``None`` where every query is constant on it."""
    form, _ = faces.form_on(problem, types)
    gains = faces.singular_values_near(form)
    return Design(types, gains, np.ones(len(gains)), float(np.trace(form))) if len(gains) else None


def constant_answers(problem: CentredAnswers) -> float:
    """Return the largest squared error of constant answers: the middles of the ranges, or the means over types."""
    W = problem.rows
    middle = 0.5 * (W.max(axis=1) + W.min(axis=1)), W.mean(axis=1)
    return min(float(np.square(W - answers[:, None]).sum(axis=0).max()) for answers in middle)


def field_of(design: Design, kind: str, beta: Fraction, epsilon: float) -> Field:
    """The numbers of the prior in fractions, rounded to the safe side."""
    ratio = prior.ratio_above(epsilon)
    m, tanh_squared, sinh_squared = len(design.types), prior.contraction(ratio), prior.trace_limit(ratio)
    if design.centre is not None:
        return prior.centred_field([m * beta * x for x in design.centre], sinh_squared, tanh_squared)
    if kind == ROOT:
        return prior.root_field(m, beta, sinh_squared)
    limit = prior.uniform_trace_limit(m, ratio) if design.limit is None else design.limit
    return prior.constant_field(m, beta, limit, tanh_squared, design.spread)


@lru_cache(maxsize=4096)
def _numbers(types: int, kind: str, epsilon: float) -> FloatArray:
    """f², information, prior and b for every β of the grid, as floats, (4, betas); the trace limits."""
    ratio = float(prior.ratio_above(epsilon))
    tanh_squared, sinh_squared = prior.contraction(ratio), prior.trace_limit(ratio)
    limit = float(prior.uniform_trace_limit(types, prior.ratio_above(epsilon)))
    beta = np.array([float(x) for x in BETAS[kind]])
    if kind == ROOT:
        found = prior.root_field(types, beta, sinh_squared)
    else:
        found = prior.constant_field(types, beta, limit, tanh_squared)
    one = np.ones_like(beta)
    return np.array([found.gain * one, found.information * one, found.prior, types * beta])


def numbers_of(design: Design, kind: str, epsilon: float) -> FloatArray:
    """The same for any design; where a prior has no finite information that of the reports is ∞."""
    if design.limit is None and design.centre is None:
        return _numbers(len(design.types), kind, epsilon)
    m, ratio = len(design.types), float(prior.ratio_above(epsilon))
    beta = np.array([float(x) for x in BETAS[kind]])
    tanh_squared = prior.contraction(ratio)
    if design.centre is None:
        limit, spread = float(design.limit or 0), float(design.spread or 0)
        fields = [prior.constant_field(m, x, limit, tanh_squared, spread) for x in beta]
    else:
        centre = np.array([float(x) for x in design.centre])
        fields = [
            prior.centred_field(list(m * x * centre), prior.trace_limit(ratio), tanh_squared)
            if m * x * centre.min() > 2.0
            else Field(1.0, math.inf, 1.0)
            for x in beta
        ]
    return np.array(
        [(found.gain, found.information, found.prior, m * x) for found, x in zip(fields, beta, strict=True)]
    ).T


def best_values(gains: FloatArray, weights: FloatArray, information: FloatArray, prior_: FloatArray) -> FloatArray:
    """max over 0 ≤ z ≤ 1 of (Σzg)²/(τ + jΣwz²) for every τ = ``information`` and j = ``prior_``, (betas,).

    With g_i/w_i falling, z_i = 1 for i ≤ r and κg_i/w_i after it, the value is (Σ_{i≤r}g_i)²/(τ + jΣ_{i≤r}w_i) +
    Σ_{i>r}g_i²/(w_ij), r the last with κg_r/w_r ≥ 1, κ = (τ + jΣ_{i≤r}w_i)/(jΣ_{i≤r}g_i).
    """
    order = np.argsort(-gains / weights, kind="stable")
    g, w = gains[order], weights[order]
    total, mass, squares = np.cumsum(g), np.cumsum(w), g**2 / w
    rest = squares.sum() - np.cumsum(squares)
    tau, j = information[:, None], prior_[:, None]
    reach = tau + j * mass
    held = reach * (g / w) >= j * total * (1.0 - 1e-12)
    r = len(g) - 1 - np.argmax(held[:, ::-1], axis=1)
    at = np.arange(len(tau))
    return np.asarray(total[r] ** 2 / reach[at, r] + np.maximum(rest[r], 0.0) / prior_)


def many_users(designs: list[Design], epsilon: float, total_error: float) -> int:
    """About how many users the best design asks for at a small total squared error: those of N·B as N grows."""
    ratio = prior.ratio_above(epsilon)
    most = 1.0
    for design in designs:
        limit = prior.trace_limit(ratio) if design.centre is not None else design.limit
        limit = prior.uniform_trace_limit(len(design.types), ratio) if limit is None else limit
        most = max(most, float(design.gains.sum()) ** 2 / (float(limit) * total_error))
    return math.ceil(min(most, 1e300))


def best_shares(design: Design, users: int, field: Field) -> FloatArray:
    """The best z, (r,), up to rounding; every z from 0 to 1 is admissible."""
    g, w = design.gains, design.weights
    tau, j = users * float(field.information), float(field.prior)
    order = np.argsort(-g / w, kind="stable")
    total, mass = np.cumsum(g[order]), np.cumsum(w[order])
    held = (tau + j * mass) * (g / w)[order] >= j * total * (1.0 - 1e-12)
    r = len(g) - 1 - int(np.argmax(held[::-1]))
    kappa = (tau + j * mass[r]) / (j * total[r])
    return np.asarray(np.minimum(1.0, kappa * g / w))


def on_data(drawn: FloatArray, b: FloatArray, users: int, trace: float) -> FloatArray:
    """The bound for given data from that for drawn data, as floats."""
    more = 1.0 + b / users
    return np.asarray(more**2 * drawn - b / (b + 1.0) * more * trace / users)


def best_choice(designs: list[Design], epsilon: float, users: int, data: str) -> Choice | None:
    """The design, field and β with the largest bound at this number of users; ``None`` where all are vacuous."""
    best: Choice | None = None
    for design, kind in _tried(designs):
        gain, information, prior_, b = numbers_of(design, kind, epsilon)
        values = gain * best_values(design.gains, design.weights, users * information, prior_)
        if data == "given":
            values = on_data(values, b, users, design.trace)
        i = int(np.argmax(values))
        if values[i] > (0.0 if best is None else best.value):
            best = Choice(float(values[i]), design, kind, BETAS[kind][i])
    return best


def _tried(designs: list[Design]) -> Iterator[tuple[Design, str]]:
    for design in designs:
        yield design, CONSTANT
        if design.limit is None and design.centre is None:
            yield design, ROOT


@dataclass(frozen=True)
class SquaredProof:
    """The exact numbers that a bound on the squared error, summed over the queries, follows from.

    Attributes
    ----------
    design
        The face, with singular values bounded from below and c from above.
    field, beta
        The kind of field, and β = b/m.
    shares
        z.
    numbers
        f², the information per user and that of the prior.
    """

    design: Design
    field: str
    beta: Fraction
    shares: FloatArray
    numbers: Field

    @property
    def total(self) -> Fraction:
        """b."""
        return len(self.design.types) * self.beta

    @cached_property
    def sums(self) -> tuple[Fraction, Fraction]:
        """f²(Σz_ig_i)² and Σw_iz_i²."""
        z = [Fraction(float(x)) for x in self.shares]
        gain = sum((x * Fraction(float(g)) for x, g in zip(z, self.design.gains, strict=True)), Fraction(0))
        spent = sum((x * x * Fraction(float(w)) for x, w in zip(z, self.design.weights, strict=True)), Fraction(0))
        return Fraction(self.numbers.gain) * gain**2, spent

    def error(self, users: int, data: str) -> Fraction:
        """A lower bound on the sum of all squared errors with this many users; it may be below 0."""
        gain, spent = self.sums
        drawn = gain / (users * Fraction(self.numbers.information) + Fraction(self.numbers.prior) * spent)
        if data == "drawn":
            return drawn
        b, more = self.total, 1 + self.total / users
        return more**2 * drawn - b / (b + 1) * more * Fraction(self.design.trace) / users


def proof_of(problem: CentredAnswers, choice: Choice, epsilon: float, users: int) -> SquaredProof:
    """The choice with every rounding accounted for."""
    design = choice.design
    if design.limit is None:
        design = lowered(problem, design)
    numbers = field_of(design, choice.field, choice.beta, epsilon)
    return SquaredProof(design, choice.field, choice.beta, best_shares(design, users, numbers), numbers)


def lowered(problem: CentredAnswers, design: Design) -> Design:
    """The design of a face with singular values bounded from below, and c from above."""
    centre = None if design.centre is None else np.array([float(x) for x in design.centre])
    form, error = faces.form_on(problem, design.types, centre)
    gains = faces.singular_values_below(form, error)
    trace = faces.centred_trace_above(form, error)
    return Design(design.types, gains, np.ones(len(gains)), trace, centre=design.centre)
