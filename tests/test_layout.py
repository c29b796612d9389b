"""The promises of the layout: which package may import which, and what no file says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "factormech"

# The packages of src/factormech and its modules at the top, from the lowest layer to the highest. A package imports
# from lower layers and from itself, but never from a higher layer, nor from another package of its own layer.
LAYERS: tuple[set[str], ...] = (
    {"errors", "names"},
    {"arrays", "code", "shipped"},
    {"numerics", "seeds", "store"},
    {"compiled", "privacy", "spec", "tabular"},
    {"plugins"},
    {"labels", "workloads"},
    {"norms"},
    {"bounds"},
    {"mechanisms"},
    {"data", "learning", "testing"},
    {"studies"},
    {"config", "tables"},
    {"claims", "plots"},
    {"pipeline"},
    {"manuscript", "questions", "reading"},
    {"__init__", "cli"},
)
# Packages that do not import each other, although their layers would permit it.
APART: dict[str, set[str]] = {
    "data": {"bounds", "norms"},
    "plots": {"bounds", "data", "learning", "mechanisms", "norms", "workloads"},
}
# Modules that few packages import; what nobody imports has no importer here.
ONLY_IN: dict[str, set[str]] = {
    "factormech.plugins": {"__init__", "cli", "config", "labels", "mechanisms", "pipeline", "testing", "workloads"},
    "factormech.store.hdf5": {"cli", "mechanisms", "pipeline", "reading", "spec", "workloads"},
    "h5py": {"store"},
    "matplotlib": {"plots"},
    "pickle": set(),
    "snakemake": set(),
}
# Imports against the layers that exist today: module: packages. An import that is corrected leaves this table.
KNOWN: dict[str, set[str]] = {
    "plugins": {"mechanisms", "workloads"},  # the decorators of a plugin, imported on demand
    "mechanisms.base": {"plots"},  # fitted.plot(), imported on demand
    "mechanisms.ranking": {"plots"},  # plan.plot(), imported on demand
}


# Public names that nothing but tests uses, by name, and no page of the docs names: module: names.
ONLY_FOR_TESTS: dict[str, set[str]] = {
    # What a registry holds: tests run on every name.
    "norms.registry": {"methods", "solvers"},
    # Laws of a mechanism, from which tests compute its privacy loss.
    "mechanisms.local.randomizers.cap_randomizers": {"density"},
    "mechanisms.pure.bodies": {"gauge"},
    # Rules for guarantees of a user's own, beside those that mechanisms state.
    "privacy.composition": {"compose"},
    # The seal has the place of a file, and this is the check of it.
    "store.content": {"check_place"},
    # Named by a format string in studies/sample_complexity.py.
    "tables.compare": {"improvement_of_study", "slopes_of_study"},
}


@cache
def nodes() -> dict[str, list[ast.AST]]:
    """Return the syntax of every module, one list of nodes for each."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        found[name] = list(ast.walk(ast.parse(path.read_text())))
    return found


@cache
def imports() -> dict[str, set[str]]:
    """Return the full names that every module imports, at its top or on demand: ``measure.norms: {numpy, …}``."""
    return {name: set(imported_by(found)) for name, found in nodes().items()}


def imported_by(found: Iterable[ast.AST]) -> Iterator[str]:
    for node in found:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "factormech":
            yield from (f"factormech.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports are not read here"
            yield node.module or ""


def package_of(module: str) -> str:
    return module.partition(".")[0]


def edges() -> Iterator[tuple[str, str]]:
    """Pairs (module, package that it imports) inside factormech, a package's imports of itself left out."""
    for module, names in imports().items():
        for name in names:
            if re.match(r"factormech\.(?!__version__)", name) and name.split(".")[1] != package_of(module):
                yield module, name.split(".")[1]


def written() -> set[str]:
    """Words in the code of the documentation and in the rules of the workflow."""
    rules = [*(ROOT / "workflow").rglob("*.smk"), ROOT / "workflow" / "Snakefile"]
    pages = [path.read_text() for path in (ROOT / "docs").rglob("*.md") if "gallery" not in path.parts]
    code = [part for page in pages for part in re.findall(r"```.*?```|`[^`\n]+`", page, re.DOTALL)]
    return set(re.findall(r"\w+", " ".join([*code, *(path.read_text() for path in rules)])))


def used() -> tuple[set[tuple[str, str]], set[str]]:
    """Names with their module, imported or used in it; and names used as attributes or in strings, of any module."""
    folders = ("benchmarks", "docs", "examples", "tools", "workflow")
    scripts = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    sources = [(f"factormech.{name}", found) for name, found in nodes().items()]
    sources += [("", list(ast.walk(ast.parse(path.read_text())))) for path in scripts]
    pairs, names = set(), written()
    for module, found in sources:
        for node in found:
            if isinstance(node, ast.ImportFrom):
                pairs.update((node.module or "", alias.name) for alias in node.names)
            elif isinstance(node, ast.Name):
                pairs.add((module, node.id))
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
                names.update(re.findall(r"\w+", node.value))
    return pairs, names


def test_no_two_classes_have_one_name() -> None:
    names = [node.name for found in nodes().values() for node in found if isinstance(node, ast.ClassDef)]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_public_functions_are_used_by_more_than_tests() -> None:
    """By name: an attribute or a string of the same name anywhere counts as a use."""
    pairs, names = used()
    unused: dict[str, set[str]] = {}
    for module, (top, *_) in nodes().items():
        assert isinstance(top, ast.Module)
        defined = [node.name for node in top.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        for name in defined:
            if not (name.startswith("_") or name in names or (f"factormech.{module}", name) in pairs):
                unused.setdefault(module, set()).add(name)
    assert unused == ONLY_FOR_TESTS


def test_every_package_has_one_layer() -> None:
    listed = [package for layer in LAYERS for package in layer]
    assert sorted(listed) == sorted({package_of(module) for module in imports()})


def test_imports_go_down_the_layers() -> None:
    height = {package: i for i, layer in enumerate(LAYERS) for package in layer}
    against: dict[str, set[str]] = {}
    for module, package in edges():
        if height[package] >= height[package_of(module)]:
            against.setdefault(module, set()).add(package)
    assert against == KNOWN


def test_packages_that_stay_apart() -> None:
    assert [
        f"{module} imports {package}" for module, package in edges() if package in APART.get(package_of(module), ())
    ] == []


def test_some_modules_are_imported_in_few_packages() -> None:
    wrong = [
        f"{module} imports {name}"
        for module, names in imports().items()
        for name in names
        for few, packages in ONLY_IN.items()
        if f"{name}.".startswith(f"{few}.") and package_of(module) not in packages
    ]
    assert wrong == []


def test_importing_the_package_is_light() -> None:
    """Neither HDF5 nor plotting nor data frames are loaded before they are asked for."""
    code = (
        "import sys, factormech, factormech.mechanisms.local.registry, factormech.workloads.registry;"
        "print([m for m in ('h5py', 'matplotlib', 'pandas', 'cvxpy', 'numba', 'snakemake') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_no_file_names_a_machine_or_a_package_host() -> None:
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    host = re.compile(r"pypi\.org|pythonhosted|anaconda\.org/(?!conda-forge)")
    for name in filter(None, files):
        path = ROOT / name
        if (
            path.suffix in {".svg", ".png", ".webp", ".pdf", ".h5"}
            or not path.is_file()
            or path == Path(__file__).resolve()
        ):
            continue
        text = path.read_text()
        assert not re.search(r"/(work|root|home)/\w", text), name
        assert not host.search(text), name


def test_nothing_that_is_seeded_is_called_release() -> None:
    """Who knows the seed knows the noise: what takes a generator simulates."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("release"):
                taken = {argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]}
                assert not taken & {"rng", "seed"}, f"{path}: {node.name} takes a seed: call it simulate"
            if isinstance(node, ast.ClassDef):
                methods = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
                assert "release" not in methods, f"{path}: {node.name}.release: no method of the package releases"
