"""One name, one function: norms and methods."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from factormech.errors import BadValue, UnknownName
from factormech.norms import registry
from factormech.workloads.registry import create


@pytest.mark.parametrize("method", registry.methods())
def test_every_method_computes_every_norm(method: str) -> None:
    workload = create("prefix", 4)
    found = [
        registry.solve(norm, workload, method=method, p=3.0 if norm == "gamma-p" else None)
        for norm in ("gamma-f", "gamma-p", "gamma-2")
    ]
    # From a run of Clarabel on the semidefinite program.
    for norm, value in zip(found, (1.3109294505, 1.3127990057, 1.3261226665), strict=True):
        assert norm.lower <= value * (1 + 2e-7)
        assert norm.upper >= value * (1 - 2e-7)
        assert norm.gap <= 1e-5
    assert importlib.import_module(registry.module_of(method))


def test_unknown_names() -> None:
    for call in (("gamma", "auto"), ("gamma-2", "svd")):
        with pytest.raises(UnknownName):
            registry.solve(call[0], np.eye(2), method=call[1])
    with pytest.raises(UnknownName):
        registry.solve("gamma-2", np.eye(2), method="cvxpy", solver="MOSEK")


def test_p_belongs_to_gamma_p() -> None:
    with pytest.raises(BadValue):
        registry.solve("gamma-p", np.eye(2))
    with pytest.raises(BadValue):
        registry.solve("gamma-2", np.eye(2), p=3.0)
    with pytest.raises(BadValue):
        registry.solve("gamma-2", np.ones((200, 200)), method="cvxpy")


def test_scs_is_another_solver() -> None:
    norm = registry.solve("gamma-2", create("prefix", 4), method="cvxpy", solver="SCS", eps=1e-7)
    assert "SCS" in str(norm.record["method"])
    assert norm.gap <= 1e-3
