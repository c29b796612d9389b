"""The bound that figures draw is the best of the room, and every registered bound is one."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.bounds import pairwise as module
from factormech.bounds import registry
from factormech.bounds.pairwise import pairwise
from factormech.bounds.spectral import centred_svd
from factormech.errors import BadValue, UnknownName
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create
from tests.bounds import optimum
from tests.bounds.checks import centred_root
from tests.tiers import every


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "histogram", "all-marginals"])
def test_certified_is_the_largest(name: str, epsilon: float) -> None:
    workload = create(name, 16)
    found = {bound: registry.variance_bound(bound, workload, epsilon) for bound in registry.names()}
    assert found["certified"] == max(found.values())
    assert found["svd"] <= found["centred-svd"] <= found["parametric"] <= found["pairwise"]


@pytest.mark.parametrize("seed", every(2, range(12)))
def test_no_bound_is_above_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 8)), float(rng.choice([0.3, 1.0, 2.0, 4.0]))
    W = rng.normal(size=(n + 2, n))
    centred = centred_root(W)
    best = (optimum.solve(centred, epsilon).objective - np.sum(centred**2)) / n
    for bound in registry.names():
        found = registry.variance_bound(bound, MatrixWorkload("w", W), epsilon)
        assert 0.0 <= found <= best + 1e-5 * np.sum(centred**2)


def test_large_domains_get_the_cheaper_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = create("prefix", 12)
    for limit, bound in ((12, pairwise), (11, centred_svd)):
        monkeypatch.setattr(module, "WEIGHTS_LIMIT", limit)
        assert module.certified(workload, 3.0) == bound(workload, 3.0)


def test_names_and_budgets_are_checked() -> None:
    with pytest.raises(UnknownName, match="certified"):
        registry.variance_bound("certifed", create("prefix", 4), 1.0)
    with pytest.raises(BadValue, match="epsilon"):
        registry.variance_bound("certified", create("prefix", 4), -1.0)
