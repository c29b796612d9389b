r"""Oracles that answer statistical queries: exactly, from a sample, or as an adversary of tolerance τ likes.

A query is a function F: X → [−1, 1] on a finite domain, and its true answer is F(λ) = E_{x∼λ}F(x), λ the law of the
oracle. A *labelled* domain U × {±1} is laid out as the T points with label +1, then the same points with label −1; a
query of it is *correlational* if F(a, b) = b·f(a) (Edmonds, PhD thesis, University of Toronto, 2023, chapters 2 and 9).

Many queries are asked at once, as the rows of a matrix; every row counts as one query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue

_SUM_TOLERANCE = 1e-9
# Values of a query may leave [−1, 1] by rounding.
_ROUNDING = 1e-12
# Numbers of users by query and type that are drawn at once.
_CELLS = 2**21


class Oracle(ABC):
    """Answers queries about one law, and counts them.

    Attributes
    ----------
    law
        λ, (N,).
    asked
        How many queries were answered.
    spent
        How many samples or users were used up.
    """

    name: ClassVar[str]

    def __init__(self, law: Any) -> None:
        self.law = check_law(law)
        self.asked = 0
        self.spent = 0

    def ask(self, queries: Any, *, towards: Any = 0.0) -> FloatArray:
        """One answer for each row of ``queries``, (J, N).

        ``towards``, a number or (J,), is what an adversary would have the answers be; only an adversary looks at it.
        """
        F = check_queries(queries, len(self.law))
        wished = np.broadcast_to(np.asarray(towards, dtype=float), (len(F),))
        self.asked += len(F)
        return self._answers(F, wished)

    @abstractmethod
    def _answers(self, queries: FloatArray, towards: FloatArray) -> FloatArray: ...

    def _truth(self, queries: FloatArray) -> FloatArray:
        return np.clip(queries @ self.law, -1.0, 1.0)


class ExactOracle(Oracle):
    """Answers F(λ)."""

    name = "exact"

    def _answers(self, queries: FloatArray, towards: FloatArray) -> FloatArray:
        return self._truth(queries)


class AdversarialOracle(Oracle):
    """Answers what is nearest to ``towards`` among the numbers of [−1, 1] within τ of F(λ).

    With the default, 0, it gives away nothing wherever it may.
    """

    name = "adversarial"

    def __init__(self, law: Any, tolerance: float) -> None:
        super().__init__(law)
        self.tolerance = check_tolerance(tolerance)

    def _answers(self, queries: FloatArray, towards: FloatArray) -> FloatArray:
        truth = self._truth(queries)
        low, high = np.maximum(truth - self.tolerance, -1.0), np.minimum(truth + self.tolerance, 1.0)
        return np.clip(towards, low, high)


class SampledOracle(Oracle):
    """Answers with the mean of F over ``samples`` draws from λ: fresh ones for every query, or the same for all."""

    name = "sampled"

    def __init__(self, law: Any, samples: int, rng: np.random.Generator, *, fresh: bool = True) -> None:
        super().__init__(law)
        self.samples, self.rng = check_positive_integer("samples", samples), rng
        self._shared: FloatArray | None = None
        if not fresh:
            self._shared = rng.multinomial(self.samples, self.law) / self.samples
            self.spent = self.samples

    def _answers(self, queries: FloatArray, towards: FloatArray) -> FloatArray:
        if self._shared is not None:
            return np.asarray(queries @ self._shared)
        self.spent += self.samples * len(queries)
        return sample_sums(queries, self.law, self.samples, self.rng) / self.samples


class Correlational:
    """An oracle that answers correlational queries, and refuses all others."""

    def __init__(self, oracle: Oracle) -> None:
        if len(oracle.law) % 2:
            raise BadValue(
                "domain of the oracle", len(oracle.law), "be labelled points, an even number", "give λ(a, b)"
            )
        self.oracle = oracle

    @property
    def asked(self) -> int:
        """How many queries were answered."""
        return self.oracle.asked

    @property
    def domain_size(self) -> int:
        """T, the number of points without their labels."""
        return len(self.oracle.law) // 2

    def ask(self, queries: Any, *, towards: Any = 0.0) -> FloatArray:
        """Answers to queries of the labelled domain, (J, 2T), that must be odd in the label."""
        F = check_queries(queries, 2 * self.domain_size)
        odd = np.abs(F[:, : self.domain_size] + F[:, self.domain_size :]).max(axis=1, initial=0.0) <= _ROUNDING
        if not odd.all():
            j = int(np.argmin(odd))
            rule = "be correlational: F(a, −1) = −F(a, +1) at every point a"
            raise BadValue(f"query {j}", F[j].tolist(), rule, "ask b·f(a), or an oracle without this restriction")
        return self.oracle.ask(F, towards=towards)

    def correlations(self, functions: Any, *, towards: Any = 0.0) -> FloatArray:
        """Answers to the queries b·f(a) of functions f on the points, (J, T)."""
        f = check_queries(functions, self.domain_size)
        return self.oracle.ask(np.concatenate([f, -f], axis=1), towards=towards)


def sample_sums(queries: FloatArray, law: FloatArray, samples: int, rng: np.random.Generator) -> FloatArray:
    """Σ_i F_j(x_i) over ``samples`` fresh draws x_i from the law, for each query j."""
    if np.all(np.abs(queries) == 1.0):
        up = np.clip(0.5 * (1.0 + queries @ law), 0.0, 1.0)
        return np.asarray(2.0 * rng.binomial(samples, up) - samples)
    sums = np.empty(len(queries))
    step = max(1, _CELLS // len(law))
    for start in range(0, len(queries), step):
        part = queries[start : start + step]
        sums[start : start + step] = np.einsum("jx,jx->j", part, rng.multinomial(samples, law, size=len(part)))
    return sums


def labelled_law(points: Any, mean_labels: Any) -> FloatArray:
    """Return the law λ(a, b) = p(a)(1 + b·g(a))/2, (2T,), of points with law p and mean labels g."""
    p, g = check_law(points), np.asarray(mean_labels, dtype=float)
    if g.shape != p.shape or not np.all(np.abs(g) <= 1.0):
        raise BadValue("mean_labels", g.tolist(), f"be {len(p)} numbers within [−1, 1]", "give E[b | a] of every point")
    return np.concatenate([0.5 * p * (1.0 + g), 0.5 * p * (1.0 - g)])


def check_law(law: Any) -> FloatArray:
    """Return a probability vector as doubles of sum 1; refuse other vectors."""
    p = np.asarray(law, dtype=float)
    if p.ndim != 1 or not p.size or not (p.min() >= 0.0 and abs(p.sum() - 1.0) <= _SUM_TOLERANCE):
        raise BadValue("law", law, "be probabilities that sum to 1", "divide by the sum")
    return np.asarray(p / p.sum())


def check_queries(queries: Any, domain: int) -> FloatArray:
    """A matrix of queries as doubles, (J, domain), entries in [−1, 1]."""
    F = np.asarray(queries, dtype=float)
    if F.ndim != 2 or F.shape[1] != domain:
        raise BadValue("shape of queries", F.shape, f"be (J, {domain})", "give a row of values for each query")
    if F.size and not (F.max() <= 1.0 + _ROUNDING and F.min() >= -1.0 - _ROUNDING):
        raise BadValue("queries", float(np.abs(F).max()), "have values within [−1, 1]", "divide by the largest")
    return F


def check_tolerance(tolerance: Any, *, zero: bool = True) -> float:
    """τ as a float in [0, 1], or above 0."""
    good = isinstance(tolerance, (int, float, np.floating)) and not isinstance(tolerance, bool)
    if not good or not 0.0 <= tolerance <= 1.0 or (tolerance == 0.0 and not zero):
        low = "at least 0" if zero else "above 0"
        raise BadValue("tolerance", tolerance, f"be {low} and at most 1", "give for example 0.05")
    return float(tolerance)


def check_failure(failure: Any, name: str = "failure") -> float:
    """A probability of failure in (0, 1)."""
    good = isinstance(failure, (int, float, np.floating)) and not isinstance(failure, bool)
    if not good or not 0.0 < failure < 1.0:
        raise BadValue(name, failure, "be a probability above 0 and below 1", "give for example 0.05")
    return float(failure)
