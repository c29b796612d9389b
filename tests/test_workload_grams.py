"""The independent tool's Gram matrices are those of the package's workloads."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from factormech.workloads import definitions, registry

TOOLS = Path(__file__).resolve().parents[1] / "tools"
NAMES = [
    "histogram", "total", "prefix", "all-ranges", "all-marginals", "0-way-marginals", "2-way-marginals",
    "at-most-2-way-marginals", "parities", "3-way-parities", "at-most-2-way-parities", "parities-01",
    "2-way-parities-01", "at-most-3-way-parities-01", "conjunctions-0", "conjunctions-2", "conjunctions-4",
]  # fmt: skip


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(TOOLS))
    try:
        import workload_grams  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(TOOLS))
    return workload_grams


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [16, 64])
def test_they_are_those_of_the_package(name: str, n: int, tool: ModuleType) -> None:
    np.testing.assert_allclose(tool.gram(name, n, {}, Path()), registry.create(name, n).gram(), atol=1e-9 * n * n)


def test_every_family_is_known(tool: ModuleType) -> None:
    for name in registry.names():
        assert tool.is_registered(name.replace("{k}", "2")), name


def test_definitions_are_followed(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("1,0,2,5\n0,3,0,1\n")
    defined: dict[str, Any] = {
        "mine": {"file": "mine.csv"},
        "both": {"union": [{"workload": "prefix", "weight": 0.5}, {"workload": "mine"}]},
        "grid": {"kronecker": [{"workload": "prefix", "domain_size": 3}, {"workload": "both"}]},
    }
    for name, n in (("mine", 4), ("both", 4), ("grid", 12)):
        wanted = definitions.create(name, n, defined, base=tmp_path).gram()
        np.testing.assert_allclose(tool.gram(name, n, defined, tmp_path), wanted, rtol=1e-12)
    assert tool.gram("random-signs", 4, {}, tmp_path) is None
    with pytest.raises(ValueError, match="deeper"):
        tool.gram("loop", 4, {"loop": {"union": [{"workload": "loop"}]}}, tmp_path)
