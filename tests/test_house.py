"""The promises of the layout: who may import what, and what no file says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "factormech"
MODULES = sorted(PACKAGE.rglob("*.py"))


# Beside their own room, what these rooms may know: the mathematics below them, and no mechanism of another room.
BELOW = {"arrays", "compiled", "atomic", "errors", "gaussian", "norms", "numerics", "privacy", "seeds", "workloads"}
MAY_IMPORT = {"bounds": BELOW, "central": BELOW | {"unavailable"}}


def imported(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports anywhere, but for type checking alone."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "factormech":
                yield from (f"factormech.{alias.name}" for alias in node.names)


def room(path: Path) -> str:
    """The room of a module: its folder, or its own name at the top."""
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_rooms_import_only_what_they_may(path: Path) -> None:
    names = set(imported(path))
    roots = {name.partition(".")[0] for name in names}
    assert "snakemake" not in roots
    assert "h5py" not in roots or room(path) == "store"
    assert "matplotlib" not in roots or room(path) == "figures"
    assert "pickle" not in roots
    inside = {name.split(".")[1] for name in names if name.startswith("factormech.")}
    forbidden = {
        "workloads": {"local", "bounds", "measure", "figures", "jobs"},
        "local": {"central", "measure", "figures", "jobs", "store"},
        "norms": {"local", "central", "learning", "bounds", "measure", "figures", "jobs", "store"},
        "measure": {"figures", "jobs", "store"},
        "data": {"bounds", "measure", "figures", "jobs", "store"},
        "experiments": {"config", "figures", "jobs", "store"},
        "figures": {"workloads", "local", "bounds", "measure", "jobs", "store"},
    }
    assert not inside & forbidden.get(room(path), {"jobs"} if room(path) != "jobs" else set())
    if room(path) == "numerics":
        assert inside <= {"arrays", "compiled", "errors", "numerics"}
    if room(path) in MAY_IMPORT:
        assert inside <= MAY_IMPORT[room(path)] | {room(path)}


def test_importing_the_package_is_light() -> None:
    """Neither HDF5 nor plotting nor data frames are loaded before they are asked for."""
    code = (
        "import sys, factormech, factormech.local.registry, factormech.workloads.registry;"
        "print([m for m in ('h5py', 'matplotlib', 'pandas', 'cvxpy', 'numba', 'snakemake') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_no_file_names_a_machine_or_a_package_host() -> None:
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    host = re.compile(r"pypi\.org|pythonhosted|anaconda\.org/(?!conda-forge)|files\.py")
    for name in filter(None, files):
        path = ROOT / name
        if path.suffix in {".svg", ".png", ".pdf", ".h5"} or not path.is_file() or path == Path(__file__).resolve():
            continue
        text = path.read_text()
        assert not re.search(r"/(work|root|home)/\w", text), name
        assert not host.search(text), name
