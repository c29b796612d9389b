"""Planted faults of privacy, each with the check that must catch it.

A fault replaces attributes of the package while its check runs; nothing is edited. A check raises, by an assertion or
because the package itself refuses; on the package as it is every check passes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.mechanisms.local.two_valued import two_valued
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import Gauge
from factormech.privacy import composition
from factormech.privacy.audit import audit
from factormech.privacy.guarantee import REPLACE_ONE, UNIT_STEP, Guarantee, guarantee_of, inner_ratio, verify_ldp
from tests.privacy import test_independence, test_sizes
from tests.privacy.losses import loss
from tests.privacy.subjects import subjects
from tests.privacy.test_losses import check_private
from tests.statistics import FALSE_ALARM

Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutant:
    """A fault: what it is, how it is planted, and what catches it."""

    name: str
    plant: Plant
    caught_by: str
    check: Callable[[], None]


# Checks ------------------------------------------------------------------------------------------------------------


def _subject(name: str) -> Any:
    return next(subject for subject in subjects() if str(subject) == name)


def density(name: str) -> Callable[[], None]:
    """That of ``tests/privacy/test_losses.py``."""

    def check() -> None:
        mechanism = _subject(name).make()
        check_private(guarantee_of(mechanism), loss(mechanism))

    return check


def audited(name: str, trials: int = 40_000) -> Callable[[], None]:
    """That of ``tests/privacy/test_audits.py``."""

    def check() -> None:
        subject = _subject(name)
        mechanism = subject.make()
        promised = guarantee_of(mechanism)
        rng = np.random.default_rng(3)
        found = audit(subject.draws(mechanism), trials, rng, delta=promised.delta, scores=subject.scores(mechanism))
        assert not found.refutes(promised), found

    return check


def unary_encoding(n: int, epsilon: float) -> FloatArray:
    """Bits of the one-hot code flipped with probability 1/(e^ε + 1) each: 2ε-LDP, as a popular library had it."""
    p = math.exp(epsilon) / (math.exp(epsilon) + 1)
    codes = np.array(list(itertools.product((0, 1), repeat=n)))
    flips = (codes[:, None, :] != np.eye(n, dtype=int)[None]).sum(axis=2)
    return np.asarray(p ** (n - flips) * (1 - p) ** flips)


def verifier() -> None:
    """The verifier refuses all of these, and takes a strategy at the limit."""
    good = two_valued(np.eye(6, dtype=bool), 1.0)
    verify_ldp(good, 1.0)
    entry = good.copy()
    entry[2, 2] *= 1 + 1e-12
    # Every row keeps the ratio; once columns are divided by their sums, the first one does not.
    a = 0.2 * inner_ratio(1.0)
    column = np.array([[a, 0.2], [0.25 - 1e-10, 0.4 + 1e-10], [0.75 - a, 0.4]])
    zero = np.array([[0.5, 0.0], [0.5, 1.0]])
    for Q in (unary_encoding(4, 1.0), entry, column, zero):
        with pytest.raises(BadValue):
            verify_ldp(Q, 1.0)


def large_verifier() -> None:
    """A matrix of 10⁵ entries that one entry alone, the last, makes less private than it may be."""
    Q = np.full((317, 317), 1.0 / 317)
    Q[-1, -1] *= 100.0
    Q[:-1, -1] *= (1 - Q[-1, -1]) / Q[:-1, -1].sum()
    with pytest.raises(BadValue):
        verify_ldp(Q, 1.0)


def sized(case: Callable[[FloatArray], tuple[float, float]]) -> Callable[[], None]:
    """That of ``tests/privacy/test_sizes.py``."""
    return lambda: test_sizes.check(case)


def batch(name: str) -> Callable[[], None]:
    """That of ``tests/privacy/test_independence.py``, of reports one by one."""
    return lambda: test_independence.check_batch(name)


def sums(name: str) -> Callable[[], None]:
    """That of the same file, of sums."""
    return lambda: test_independence.check_sums(name)


def radius_of_knorm() -> None:
    """ε‖Z‖ ~ Gamma(d), as in ``tests/central/pure/test_mechanisms.py``."""
    mechanism = _subject("pure:k-norm").make()
    Z = mechanism.noise.draw(np.random.default_rng(0), 4000)
    gauges = Gauge(body_of(mechanism.queries)).of(Z)
    assert kstest(gauges, "gamma", args=(2,)).pvalue > FALSE_ALARM


def composed() -> None:
    """Optimal composition by brute force, and groups, as in ``tests/privacy/test_guarantees.py``."""
    p = math.exp(0.6) / (1 + math.exp(0.6))
    found = sum(
        max(math.prod(a) - math.exp(0.5) * math.prod(b), 0.0)
        for a, b in (
            ([p if bit else 1 - p for bit in bits], [1 - p if bit else p for bit in bits])
            for bits in itertools.product((0, 1), repeat=4)
        )
    )
    assert composition.optimal_delta(0.6, 4, 0.5) >= found
    assert Guarantee(0.5, relation=UNIT_STEP).under(REPLACE_ONE).epsilon == 1.0


# Faults ------------------------------------------------------------------------------------------------------------


def put(target: str, make: Callable[[Any], Any]) -> Plant:
    """Replace ``module:attribute`` (or ``module:Class.attribute``) by what ``make`` makes of the old one."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        module, _, path = target.partition(":")
        owner = import_module(f"factormech.{module}")
        *classes, attribute = path.split(".")
        for name in classes:
            owner = getattr(owner, name)
        patch.setattr(owner, attribute, make(owner.__dict__[attribute]))

    return plant


def scaled(factor: float) -> Callable[[Any], Any]:
    """A function whose result is multiplied."""
    return lambda old: lambda *given, **named: factor * old(*given, **named)


def budget(factor: float) -> Callable[[Any], Any]:
    """A function of ε alone that is given another."""
    return lambda old: lambda epsilon: old(factor * epsilon)


def _l2_diameter(columns: FloatArray) -> float:
    return max(math.dist(a, b) for a, b in itertools.combinations(columns.T, 2))


def _k_instead_of_its_differences(old: Any) -> Any:
    return {**old, "k-norm": lambda Q, epsilon: _halved(old["k-norm"](Q, epsilon))}


def _halved(noise: Any) -> Any:
    return replace(noise, frame=0.5 * noise.frame)


def _one_dimension_less(old: Any) -> Any:
    def draw(self: Any, rng: np.random.Generator, trials: int) -> FloatArray:
        D = self.directions.sample(rng, trials).directions
        return np.asarray(rng.standard_gamma(self.dimension - 1, (trials, 1)) / self.epsilon * D @ self.frame.T)

    return draw


def _often_true(old: Any) -> Any:
    """Reports of the sampler that are replaced by the truth, one time in ten."""

    def sample(self: Any, counts: Any, trials: int, rng: np.random.Generator) -> Any:
        found = old(self, counts, trials, rng)
        true = np.zeros_like(found)
        true[np.flatnonzero(counts)[0]] = counts.sum()
        return np.where(rng.random(trials) < 0.1, true, found)

    return sample


def _loyal(old: Any) -> Any:
    def block(self: Any, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        return np.asarray(old(replace_loyalty(self), x, rng))

    return block


def replace_loyalty(randomizer: Any) -> Any:
    """The same randomizer, drawing a loyal report more often than its λ says."""
    from factormech.mechanisms.local.randomizers.cap_randomizers import CapRandomizer

    values = {key: getattr(randomizer, key) for key in ("dimension", "epsilon", "height", "loyalty", "mean", "loss")}
    return CapRandomizer(**(values | {"loyalty": min(1.25 * randomizer.loyalty, 1.0)}))


def _by_columns(old: Any) -> Any:
    return lambda Q: float(np.max(Q.max(axis=0) / np.maximum(Q.min(axis=0), 1e-300)))


def _without_sums(old: Any) -> Any:
    return lambda Q: float(np.max(Q.max(axis=1) / Q.min(axis=1)))


def _without_zeros(old: Any) -> Any:
    return lambda Q: float(np.max(Q.max(axis=1) / np.where(Q > 0, Q, np.inf).min(axis=1)))


def _forgiving(old: Any) -> Any:
    return lambda ratio, epsilon: ratio <= math.exp(epsilon) * (1 + 1e-9)


def _shares_whole(old: Any) -> Any:
    return lambda costs, epsilon, split="optimal": (epsilon,) * len(costs)


def _skipped_when_large(old: Any) -> Any:
    return lambda Q: 1.0 if Q.size > 10**5 else old(Q)


def _mean_norm_when_large(old: Any) -> Any:
    return lambda R: old(R) if R.shape[1] <= 256 else float(np.linalg.norm(R, axis=0).mean())


def _of_the_first_64(old: Any) -> Any:
    return lambda A: old(A[:, :64])


def _blocks_of_the_first_64(old: Any) -> Any:
    return lambda rows: old(rows[:64])


def _shared_by_pairs(old: Any) -> Any:
    """A sampler for many users of which each second user has the report of the one before."""

    def sample(*given: Any, **named: Any) -> Any:
        found = old(*given, **named)
        found[1::2] = found[: len(found) - len(found) % 2 : 2][: len(found[1::2])]
        return found

    return sample


def _reports_by_pairs(old: Any) -> Any:
    """Sums of reports in which two users of one type have one report."""

    def sample(self: Any, counts: Any, trials: int, rng: np.random.Generator) -> Any:
        pairs = np.asarray(counts) // 2
        return 2 * old(self, pairs, trials, rng) + old(self, counts - 2 * pairs, trials, rng)

    return sample


class _PairedChance(float):
    """A probability that every second comparison of a batch repeats the decision of the first."""

    __array_ufunc__ = None  # so that NumPy leaves the comparison to this class

    def __gt__(self, drawn: Any) -> Any:
        decided = np.asarray(drawn) < float(self)
        decided[1::2] = decided[: len(decided) - len(decided) % 2 : 2]
        return decided


def _paired(old: Any) -> Any:
    return lambda epsilon: _PairedChance(old(epsilon))


_HALF = "mechanisms.local.randomizers."
MUTANTS = [
    # Noise 10 % too small.
    Mutant(
        "Laplace noise on columns, 10 % too small",
        put("mechanisms.local.noisy_columns:_outward", scaled(0.9)),
        "the package",
        density("strategy:matrix-l1"),
    ),
    Mutant(
        "Gaussian noise on columns, 10 % too small",
        put("mechanisms.local.noisy_columns:gaussian_noise_multiplier", scaled(0.9)),
        "density",
        density("strategy:matrix-l2-gaussian, large δ"),
    ),
    Mutant(
        "Gaussian noise of the curator, 10 % too small",
        put("privacy.gaussian:gaussian_noise_multiplier", scaled(0.9)),
        "the package",
        density("central:gamma-2"),
    ),
    Mutant(
        "zCDP noise, 10 % too small",
        put("mechanisms.pure.mechanism:above", scaled(0.9)),
        "density",
        density("sketch:noise, zCDP"),
    ),
    Mutant(
        "noise of a ball of matrices, 10 % too small",
        put("mechanisms.pure.covariance:ball_matrices", scaled(0.9)),
        "density",
        density("sketch:moments, l2-ball"),
    ),
    Mutant(
        "noise of a sketch, 10 % too small",
        put("mechanisms.pure.covariance:ball_vectors", scaled(0.7)),
        "density",
        density("sketch:moments, jl"),
    ),
    # Sensitivities off by 2, or in another norm.
    Mutant(
        "ball randomizer: radius for diameter",
        put(_HALF + "base:_DIAMETER", lambda old: 0.5 * old),
        "density",
        density("randomizer:gaussian"),
    ),
    Mutant(
        "curator: half of the sensitivity",
        put("mechanisms.central.mechanism:standard_deviation", lambda old: lambda size, *rest: old(0.5 * size, *rest)),
        "density",
        density("central:gamma-2"),
    ),
    Mutant(
        "K in place of K − K",
        put("mechanisms.pure.mechanism:_DIRECT", _k_instead_of_its_differences),
        "density",
        density("pure:k-norm"),
    ),
    Mutant(
        "Laplace noise by the L2 diameter",
        put("mechanisms.local.noisy_columns:l1_diameter", lambda old: _l2_diameter),
        "density",
        density("strategy:matrix-l1"),
    ),
    Mutant(
        "stream: sensitivity 1 for 2",
        put("learning.sq.streams:laplace_scale", scaled(0.5)),
        "density",
        density("queries:counting stream"),
    ),
    Mutant(
        "a replacement counted as one step",
        put("privacy.guarantee:_STEPS", lambda old: dict.fromkeys(old, 1)),
        "closed form",
        composed,
    ),
    # Budgets.
    Mutant(
        "old unary encoding: ε for each bit",
        put("privacy.guarantee:ratio_is_within", lambda old: lambda ratio, epsilon: old(math.sqrt(ratio), epsilon)),
        "verifier",
        verifier,
    ),
    Mutant(
        "strategies in the ratio e^{1.1ε}",
        put("mechanisms.local.two_valued:inner_ratio", budget(1.1)),
        "the package",
        density("strategy:hadamard"),
    ),
    Mutant(
        "subsets in the ratio e^{1.1ε}",
        put("mechanisms.local.subsets:inner_ratio", budget(1.1)),
        "the package",
        density("strategy:rappor, no matrix"),
    ),
    Mutant(
        "half sphere at 1.1ε",
        put(_HALF + "cap_randomizers:facing_probability", budget(1.1)),
        "density",
        density("randomizer:half-sphere"),
    ),
    Mutant(
        "one query at 1.1ε",
        put("mechanisms.local.factorized.releases:facing_probability", budget(1.1)),
        "density",
        density("release:one-query"),
    ),
    Mutant(
        "PrivUnit: loyalty for a cap of twice the mass",
        put(_HALF + "cap_randomizers:loyal_probability", lambda old: lambda odds: old(2 * odds)),
        "density",
        density("randomizer:priv-unit"),
    ),
    Mutant(
        "every stage of a recursion spends all of ε",
        put("mechanisms.pure.recursive:shares_of", _shares_whole),
        "density",
        density("pure:hardt-talwar"),
    ),
    Mutant(
        "bits of selection at 1.1ε",
        put("learning.selection.protocols:loss_factor", budget(1.1)),
        "density",
        density("selection:moss-uniform"),
    ),
    Mutant(
        "composition of one mechanism less",
        put("privacy.composition:optimal_delta", lambda old: lambda e, k, t: old(e, k - 1, t)),
        "closed form",
        composed,
    ),
    # Verifiers.
    Mutant("verifier: columns for rows", put("privacy.guarantee:likelihood_ratio", _by_columns), "verifier", verifier),
    Mutant(
        "verifier: sums of columns forgotten",
        put("privacy.guarantee:likelihood_ratio", _without_sums),
        "verifier",
        verifier,
    ),
    Mutant(
        "verifier: outputs that a type never gives",
        put("privacy.guarantee:likelihood_ratio", _without_zeros),
        "verifier",
        verifier,
    ),
    Mutant("verifier: a tolerance of 1e-9", put("privacy.guarantee:ratio_is_within", _forgiving), "verifier", verifier),
    # Samplers that draw another law than the one that is private.
    Mutant(
        "K-norm radius of one dimension less",
        put("mechanisms.pure.knorm:KNormNoise.draw", _one_dimension_less),
        "law",
        radius_of_knorm,
    ),
    Mutant(
        "a report is the truth, one time in ten",
        put("mechanisms.local.reports:ReportTree.sample", _often_true),
        "audit",
        audited("strategy:randomized-response"),
    ),
    Mutant(
        "loyal reports a quarter more often",
        put(_HALF + "cap_randomizers:CapRandomizer._sample_block", _loyal),
        "audit",
        audited("randomizer:priv-unit"),
    ),
    Mutant(
        "stream: no noise at the release",
        put("learning.sq.streams:CountingStream.simulate", lambda old: lambda self: self.state / self.seen),
        "audit",
        audited("queries:counting stream, intrusion before", 4000),
    ),
    Mutant(
        "protocol: reports without noise",
        put(
            "learning.selection.protocols:report_probability",
            lambda old: lambda means, epsilon: np.asarray(means, dtype=float),
        ),
        "audit",
        audited("selection:one-coordinate", 4000),
    ),
    # Branches of size, and laws of several users.
    Mutant(
        "verifier: skipped above 10⁵ entries",
        put("privacy.guarantee:likelihood_ratio", _skipped_when_large),
        "verifier",
        large_verifier,
    ),
    Mutant(
        "curator: the mean norm above 256 columns",
        put("mechanisms.central.factorization:dense_sensitivity", _mean_norm_when_large),
        "size",
        sized(test_sizes.curator),
    ),
    Mutant(
        "Laplace noise by the diameter of 64 columns",
        put("mechanisms.local.noisy_columns:l1_diameter", _of_the_first_64),
        "size",
        sized(test_sizes.laplace),
    ),
    Mutant(
        "Gaussian noise by the diameter of 64 columns",
        put("mechanisms.local.noisy_columns:_l2_diameter", _of_the_first_64),
        "size",
        sized(test_sizes.gaussian),
    ),
    Mutant(
        "body: the diameters of 64 columns",
        put("mechanisms.pure.bodies:_blocks", _blocks_of_the_first_64),
        "size",
        sized(test_sizes.body_l1),
    ),
    Mutant(
        "half sphere: pairs of users share a report",
        put("mechanisms.local.noisy_columns:cap_randomizers.sample", _shared_by_pairs),
        "independence",
        batch("columns:matrix-l2"),
    ),
    Mutant(
        "half sphere: pairs of users share the facing",
        put(_HALF + "cap_randomizers:facing_probability", _paired),
        "independence",
        batch("columns:matrix-l2"),
    ),
    Mutant(
        "caps: pairs of users share a report",
        put(_HALF + "cap_randomizers:CapRandomizer._sample_block", _shared_by_pairs),
        "independence",
        batch("randomizer:priv-unit"),
    ),
    Mutant(
        "reports of a tree: pairs of users share one",
        put("mechanisms.local.reports:ReportTree.sample", _reports_by_pairs),
        "independence",
        sums("strategy:randomized-response"),
    ),
]
