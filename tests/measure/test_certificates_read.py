"""Certificates in files of strategies are read within bounds: nothing hangs, and nothing ends in a traceback."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from factormech.bounds import certificates
from factormech.mechanisms.local.optimal import exact
from factormech.mechanisms.local.optimal.problem import Problem
from factormech.studies.measures.verification import _certified
from factormech.workloads.registry import create
from tests.forgeries import texts

WORKLOAD = create("prefix", 4)


@pytest.fixture(scope="module")
def good() -> dict[str, object]:
    found = exact.solve(Problem(WORKLOAD.centred_gram(), epsilon=1.0), np.random.default_rng(0))
    certificate = certificates.certify(WORKLOAD.gram(), 1.0, found.details["dual"], found.details["multiplier"])
    record: dict[str, object] = json.loads(certificate.text())
    return record


def test_an_honest_one_proves_its_bound(good: dict[str, object]) -> None:
    bound, problem = _certified(json.dumps(good), WORKLOAD, 1.0)
    assert problem == ""
    assert bound > 0.0


@pytest.mark.parametrize("name", dict(texts()))
def test_what_is_none_proves_nothing(name: str) -> None:
    assert _certified(dict(texts())[name].decode("latin-1"), WORKLOAD, 1.0)[0] == 0.0


@pytest.mark.parametrize(
    "change",
    [
        {"ratio": "1e999999999"},
        {"ratio": "1/0"},
        {"ratio": None},
        {"epsilon": "1e6"},
        {"gram": [[0] * 40] * 40, "dual": [[0] * 40] * 40, "multiplier": [1] * 40},
        {"dual": [[0, 0, 0, 0], [0], [0], [0]]},
        {"multiplier": []},
        {"gram_denominator": 0},
        {"dual_denominator": "x"},
    ],
    ids=str,
)
def test_a_forged_one_proves_nothing_at_once(good: dict[str, object], change: dict[str, object]) -> None:
    start = time.process_time()
    assert _certified(json.dumps(good | change), WORKLOAD, 1.0)[0] == 0.0
    assert time.process_time() - start < 2.0
