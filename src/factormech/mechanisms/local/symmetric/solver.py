r"""Strategies for a workload whose centred Gram matrix depends on u ⊕ v only, found without any n × n matrix.

C is diagonal in the characters of {0,1}^d; averaging a strategy over the translations makes X diagonal too and never
raises tr(X_c⁺C), which is convex in X. What is left is to mix the power spectra of sets (``patterns.py``):

* where g_χ depends on |χ| only, patterns of a few parities, permuted (``patterns.py``): column generation on as many
  unknowns as there are sizes, best for few sizes or few attributes;
* where many characters are asked, a list of sets of all attributes, shaped to the wanted spectrum (``patterns.py``);
* always, one parity drawn with probability ∝ √g_χ and answered by randomized response, which is within cosh²(ε/2) of
  the bound.

The best of them is returned. The bound is (tr C^{1/2})²/σ (``bounds/staircase.py``), raised by linear programming where
the spectrum depends on sizes only (``mixture.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.bounds.staircase import largest_information
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.problem import Report, Step, Stopped, silent
from factormech.mechanisms.local.symmetric import mixture, patterns
from factormech.mechanisms.local.symmetric.patterns import PatternFamily
from factormech.mechanisms.local.symmetric.strategy import SymmetricStrategy
from factormech.workloads.base import Workload
from factormech.workloads.binary import is_power_of_two, popcounts

_LEAST_SHARE = 1 / 8  # of all characters: where fewer are asked, sets of all attributes waste their power

# On larger domains than this, what is within 1 % of the bound is not worth the time of sets of all attributes.
_SMALL, _NEAR = 2**12, 0.01


@dataclass(frozen=True)
class Options:
    """The effort of the solver.

    Attributes
    ----------
    rounds, starts
        Of column generation over patterns of few parities.
    sets, steps
        Sets of all attributes, and corrections of each; ``None`` chooses them by the size of the domain.
    tolerance
        A gap that is good enough.
    """

    rounds: int = 12
    starts: int = 200
    sets: int | None = None
    steps: int | None = None
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("rounds", "starts", "sets", "steps"):
            value = getattr(self, name)
            if value is not None:
                check_positive_integer(name, value)
        if not 0.0 <= self.tolerance < math.inf:
            raise BadValue("tolerance", self.tolerance, "be a finite number of at least 0", "give for example 1e-6")


@dataclass(frozen=True)
class SymmetricSolution:
    """A strategy and how far from the best it can be.

    ``objective`` is tr(X_c⁺C) and ``constant`` is ‖W1‖²/n: L is their sum. ``lower_bound`` holds for the first.
    """

    strategy: SymmetricStrategy
    objective: float
    lower_bound: float
    constant: float
    method: str
    iterations: int
    stopped: Stopped

    @property
    def gap(self) -> float:
        """objective ÷ lower bound − 1; 0 for a workload that is constant on the users."""
        return self.objective / self.lower_bound - 1.0 if self.lower_bound > 0 else 0.0

    @property
    def ratio(self) -> float:
        """L ÷ its lower bound."""
        total = self.lower_bound + self.constant
        return (self.objective + self.constant) / total if total > 0 else 1.0


def solve(
    workload: Workload | FloatArray,
    epsilon: float,
    *,
    options: Options | None = None,
    rng: np.random.Generator,
    report: Report = silent,
    rows: int | None = None,
) -> SymmetricSolution:
    """The best strategy found for a workload, or for the eigenvalues g_χ, (n,), of its centred Gram matrix.

    With a budget of ``rows`` the methods whose strategies all have more outputs are left out, and the bound by levels
    with that of permuted patterns.
    """
    epsilon, options = check_epsilon(epsilon), options or Options()
    g, constant = _spectrum(workload)
    d = len(g).bit_length() - 1
    few = rows is not None and rows < 2 * math.factorial(d)  # the outputs of a permuted pattern
    levels = None if few else level_spectrum(g)
    bound = float(np.sum(np.sqrt(g))) ** 2 / largest_information(len(g), epsilon)
    if levels is not None and bound > 0:
        bound = max(bound, mixture.lower_bound(levels, epsilon))
    found: list[tuple[float, str, int, SymmetricStrategy]] = []
    for method, families, iterations in _candidates(g, levels, epsilon, bound, options, rng, rows):
        strategy = SymmetricStrategy(d, families, epsilon)
        value = strategy.objective(g)
        report(Step(method, iterations, iterations, value, bound))
        found.append((value, method, iterations, strategy))
        enough = options.tolerance if len(g) <= _SMALL else max(options.tolerance, _NEAR)
        if value <= bound * (1.0 + enough):
            break
    value, method, iterations, strategy = min(found, key=lambda candidate: candidate[0])
    stopped: Stopped = "gap" if value <= bound * (1.0 + options.tolerance) else "iteration_limit"
    return SymmetricSolution(strategy, value, bound, constant, method, iterations, stopped)


def level_spectrum(spectrum: FloatArray) -> FloatArray | None:
    """g by size of parity, (d + 1,), where it depends on nothing else (the empty parity aside)."""
    sizes = popcounts(len(spectrum))
    levels = spectrum[(1 << np.arange(int(sizes[-1]) + 1)) - 1].copy()
    levels[0] = 0.0
    same = np.abs(spectrum - levels[sizes]) <= 1e-12 * float(spectrum.max(initial=0.0))
    return levels if bool(same[1:].all()) else None


def _spectrum(workload: Workload | FloatArray) -> tuple[FloatArray, float]:
    """g with entry 0 cleared, and ‖W1‖²/n (0 where only g is given)."""
    constant = 0.0
    found: FloatArray | None
    if isinstance(workload, Workload):
        found, constant = workload.centred_walsh_spectrum(), workload.total_squared() / workload.domain_size
        if found is None:
            rule = "have a centred Gram matrix that u ⊕ v decides"
            raise BadValue("workload", workload.name, rule, "use an optimiser for general workloads")
    else:
        found = np.array(workload, dtype=float)
    if found.ndim != 1 or len(found) < 2 or not is_power_of_two(len(found)):
        raise BadValue("shape of spectrum", found.shape, "be (2^d,), d ≥ 1", "give one eigenvalue per parity")
    if not (np.isfinite(found).all() and found.min() >= 0.0):
        raise BadValue("spectrum", float(found.min()), "be finite and at least 0", "give eigenvalues of WᵀW")
    found[0] = 0.0
    return found, constant


def _candidates(
    g: FloatArray,
    levels: FloatArray | None,
    epsilon: float,
    bound: float,
    options: Options,
    rng: np.random.Generator,
    rows: int | None,
) -> Iterator[tuple[str, list[PatternFamily], int]]:
    """Method, families and iterations, the methods that fit one after the other."""
    if not g.any():
        yield "parity", [_parities(np.ones(len(g)))], 0
        return
    yield "parity", [_parities(g)], 0
    if levels is not None:
        families, _, rounds = patterns.solve(levels, epsilon, bound, options.rounds, options.starts, rng)
        yield "juntas", families, rounds
    sets, steps = _effort(len(g), options)
    fits = rows is None or sets * len(g) <= rows
    if np.count_nonzero(g) >= _LEAST_SHARE * len(g) and len(g) >= 16 and fits:
        yield "thresholds", patterns.solve_thresholds(g, epsilon, sets, steps, rng), sets * steps


def _effort(n: int, options: Options) -> tuple[int, int]:
    """Sets and steps: less for large domains, where transforms cost the most and averages settle the fastest."""
    sets = options.sets or (128 if n <= 2**12 else 64 if n <= 2**16 else 32)
    steps = options.steps or max(3, min(10, 2**17 // n + 3))
    return sets, steps


def _parities(g: FloatArray) -> PatternFamily:
    """One parity, drawn with probability ∝ √g, answered by randomized response."""
    roots = np.sqrt(g)
    roots[0] = 0.0
    asked = np.flatnonzero(roots)
    return PatternFamily(np.array([False, True]), asked[:, None], roots[asked] / roots.sum(), permuted=False)
