"""Names of workloads."""

from __future__ import annotations

import subprocess
import sys

import pytest

from factormech.errors import BadValue, UnknownName
from factormech.workloads import registry
from factormech.workloads.base import Workload

NAMES = [
    "histogram",
    "total",
    "prefix",
    "all-ranges",
    "all-marginals",
    "{k}-way-marginals",
    "at-most-{k}-way-marginals",
    "parities",
    "{k}-way-parities",
    "at-most-{k}-way-parities",
    "parities-01",
    "{k}-way-parities-01",
    "at-most-{k}-way-parities-01",
    "conjunctions-{k}",
    "random-signs",
]


def test_the_names():
    assert registry.names() == NAMES


@pytest.mark.parametrize("pattern", NAMES)
@pytest.mark.parametrize("n", [1, 8])
def test_every_name_makes_a_workload_of_that_name(pattern, n):
    for k in range(n.bit_length()):
        name = pattern.replace("{k}", str(k))
        workload = registry.create(name, n, seed=1)
        assert isinstance(workload, Workload)
        assert (workload.name, workload.domain_size) == (name, n)
        assert registry.is_known(name)
        assert registry.is_seeded(name) == (name == "random-signs")
        # What the registry says made it is what made it.
        assert registry.module_of(name) == registry.resolve(name).entry.target.split(":")[0]
        assert registry.module_of(name) in sys.modules


def test_modules():
    assert registry.module_of("3-way-marginals") == "factormech.workloads.marginals"
    assert registry.module_of("all-ranges") == "factormech.workloads.ranges"


@pytest.mark.parametrize(
    "name",
    [
        *("", "Prefix", "prefix ", "prefix\n", "xprefix", "conjunctions", None, 3),
        *("03-way-marginals", "-1-way-marginals", "²-way-marginals", "1.5-way-parities", "-way-marginals"),
        *("{k}-way-marginals", "9999999-way-parities", "9" * 5000),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(name):
    assert not registry.is_known(name)
    for call in (registry.resolve, registry.module_of, registry.is_seeded):
        with pytest.raises(UnknownName, match=r"known: .*all-ranges.*prefix"):
            call(name)
    with pytest.raises(UnknownName):
        registry.create(name, 8)
    with pytest.raises(UnknownName):
        registry.reason_against(name, 8)


def test_a_near_miss_is_guessed():
    with pytest.raises(UnknownName, match="did you mean 'all-ranges'"):
        registry.resolve("all-range")


def test_reasons():
    reason = registry.reason_against
    assert reason("prefix", 12) is None
    assert reason("3-way-marginals", 8) is None
    assert reason("parities", 1) is None
    assert "12 is none; the nearest are 8 and 16" in reason("parities", 12)
    assert "8 types have 3 binary attributes, fewer than 4; give at least 2^4" in reason("4-way-marginals", 8)
    assert "fewer than 999999" in reason("conjunctions-999999", 8)
    assert "takes 32.0 GiB; give a smaller domain size" in reason("random-signs", 2**16)
    assert reason("random-signs", 2**14) is None
    assert "must be a whole number" in reason("prefix", 0)
    assert "must be a whole number" in reason("parities", True)


def test_what_has_a_reason_cannot_be_made():
    with pytest.raises(BadValue, match=r"domain_size = 12: must suit the workload parities; .* 12 is none"):
        registry.create("parities", 12)
    with pytest.raises(BadValue, match=r"fewer than 4"):
        registry.create("4-way-marginals", 8)


def test_reasons_and_names_import_no_family_and_nothing_slow():
    code = """
import sys
from factormech.workloads import registry
registry.names(), registry.reason_against("3-way-marginals", 2**40), registry.module_of("prefix")
heavy = ("scipy", "pandas", "numba", "cvxpy", "h5py", "matplotlib")
slow = [m for m in sys.modules if m.split(".")[0] in heavy]
ours = [m for m in sys.modules if m.startswith("factormech.workloads.")]
print(slow, sorted(ours))
"""
    env = {"PYTHONPATH": ":".join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
    ours = [f"factormech.workloads.{m}" for m in ("base", "binary", "registry")]
    assert out.strip() == f"[] {ours}"
