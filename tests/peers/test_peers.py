"""The comparisons of ``tools/peers.py``, where the other packages are installed, and the page that it wrote."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PINNED = dict(re.findall(r"^([\w-]+)==([\w.]+)$", (ROOT / "requirements-peers.txt").read_text(), re.MULTILINE))


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("peers_tool", ROOT / "tools" / "peers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TOOL = tool()


@pytest.mark.peers
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("package", TOOL.PACKAGES)
def test_the_numbers_of_another_package_are_ours(package: str) -> None:
    if importlib.util.find_spec(package.replace("-", "_")) is None:
        pytest.skip(f"{package} is not installed (pip install -r requirements-peers.txt)")
    for one in TOOL.COMPARISONS[package]():
        assert one.holds, one


def test_the_page_is_of_the_pinned_packages() -> None:
    rows = re.findall(r"^\| ([\w-]+) ([\d.]+) \|", (ROOT / "docs" / "peers.md").read_text(), re.MULTILINE)
    assert {package for package, _ in rows} == set(TOOL.PACKAGES)
    assert all(PINNED[package] == version for package, version in rows)


def test_a_comparison_can_fail() -> None:
    assert not TOOL.Compared("", 1.0, 1.001).holds
    assert not TOOL.Compared("", 1.001, 1.0, "at most").holds
    assert not TOOL.Compared("", 1e-7, 1e-6, "same law").holds
    assert TOOL.Compared("", 0.5, 1.0, "at most").holds
