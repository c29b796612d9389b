"""A user's own workloads, as data: the ``workloads`` block of the configuration.

A definition has one of three shapes; the names in it are registered ones or other definitions, without
cycles.

- ``{"file": path, "dataset": name}``: a matrix in a file (see :mod:`factormech.workloads.matrix`); the path is
  relative to ``base``, and ``dataset`` is for HDF5 files with several.
- ``{"union": [{"workload": name, "weight": 2.0}, …]}``: their queries together, each row times the weight
  (1 if left out).
- ``{"kronecker": [{"workload": name, "domain_size": 8}, …]}``: products of their queries over tuples of
  types; one factor may leave out its domain size, and gets what is left of the domain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from factormech.arrays import check_positive_integer
from factormech.errors import BadValue, UnknownName
from factormech.workloads import matrix, registry
from factormech.workloads.base import Workload
from factormech.workloads.matrix import from_file

Definitions = Mapping[str, Mapping[str, Any]]
# Of a union of unions: forty levels of two parts each would be 2⁴⁰ workloads.
DEPTH_LIMIT, PARTS_LIMIT = 50, 10_000


@dataclass(frozen=True)
class File:
    """A matrix in a file."""

    path: Path
    dataset: str | None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnionOf:
    """The definition of a union: queries of several workloads over one domain."""

    parts: tuple[str, ...]
    weights: tuple[float, ...]

    def misfit(self, n: int) -> str | None:
        """Why no sizes of the parts fit n types, or ``None``."""
        return None

    def sizes_over(self, n: int) -> list[int]:
        """The domain size of every part, over n types that fit."""
        return [n] * len(self.parts)


@dataclass(frozen=True)
class KroneckerOf:
    """Products of queries; ``None`` is the size that the quotient fills in."""

    parts: tuple[str, ...]
    sizes: tuple[int | None, ...]

    @property
    def known(self) -> int:
        """The product of the sizes that are given."""
        return math.prod(size for size in self.sizes if size is not None)

    def misfit(self, n: int) -> str | None:
        """Why no sizes of the factors fit n types, or ``None``."""
        if n == self.known or (None in self.sizes and n % self.known == 0):
            return None
        wanted = "a multiple of it" if None in self.sizes else f"domain_size {self.known}"
        return f"its factors' domain sizes have the product {self.known}; give {wanted}"

    def sizes_over(self, n: int) -> list[int]:
        """The domain size of every factor, over n types that fit."""
        return [n // self.known if size is None else size for size in self.sizes]


Definition = File | UnionOf | KroneckerOf


# The questions --------------------------------------------------------------------------------------------


def create(
    name: str,
    domain_size: int,
    definitions: Definitions,
    *,
    seed: int = 0,
    base: Path = Path(),
    stream: tuple[str, ...] = (),
) -> Workload:
    """Make a workload by its name, looked up among the definitions first, then in the registry.

    A seeded part of a definition has a random stream of its own, named after its place (``stream``).
    """
    reason = reason_against(name, domain_size, definitions, base)
    if reason is not None:
        raise BadValue("domain_size", domain_size, f"suit the workload {name}", reason)
    return _make(name, int(domain_size), definitions, seed, base, stream)


def domain_size_of(name: str, definitions: Definitions, base: Path = Path()) -> int | None:
    """Return the only domain size that a definition has, or None where it suits several."""
    for _ in _walk(name, definitions):  # broken definitions and cycles come first
        pass
    definition = _lookup(name, definitions)
    if isinstance(definition, File):
        return _columns(base / definition.path, definition.dataset)
    if isinstance(definition, UnionOf):
        sizes = (domain_size_of(part, definitions, base) for part in definition.parts)
        return next((size for size in sizes if size is not None), None)
    if isinstance(definition, KroneckerOf):
        parts = zip(definition.parts, definition.sizes, strict=True)
        given = [domain_size_of(part, definitions, base) if size is None else size for part, size in parts]
        return None if None in given else math.prod(size for size in given if size is not None)
    return None


def modules_of(name: str, definitions: Definitions) -> set[str]:
    """Return all modules that a workload of this name is made by."""
    modules = set()
    for each, definition in _walk(name, definitions):
        if definition is None:
            modules.add(registry.module_of(each))
        elif isinstance(definition, File):
            modules |= {"factormech.workloads.matrix"}
        else:
            modules.add("factormech.workloads.combinators")
    return modules


def files_of(name: str, definitions: Definitions, base: Path = Path()) -> list[Path]:
    """Return all files that a workload of this name is read from, each once."""
    found = (d for _, d in _walk(name, definitions))
    return list(dict.fromkeys(base / d.path for d in found if isinstance(d, File)))


def closure(name: str, definitions: Definitions) -> dict[str, Mapping[str, Any]]:
    """Return the definitions that a workload of this name is made of; no other definition can change it."""
    return {each: definitions[each] for each, definition in _walk(name, definitions) if definition is not None}


def is_seeded(name: str, definitions: Definitions) -> bool:
    """Return whether the workload of this name depends on the seed."""
    return any(d is None and registry.is_seeded(each) for each, d in _walk(name, definitions))


def reason_against(name: str, domain_size: int, definitions: Definitions, base: Path = Path()) -> str | None:
    """Why this workload does not exist over ``domain_size`` types, or ``None``.

    A definition or a file that is broken, whatever the domain size, is a :class:`BadValue` instead.
    """
    _walk(name, definitions)  # broken definitions and cycles come before any size
    try:
        n = check_positive_integer("domain_size", domain_size)
    except BadValue as error:
        return str(error)
    return _reason(name, n, definitions, base)


# The answers ----------------------------------------------------------------------------------------------


def _reason(name: str, n: int, definitions: Definitions, base: Path) -> str | None:
    definition = _lookup(name, definitions)
    if definition is None:
        return registry.reason_against(name, n)
    if isinstance(definition, File):
        columns = _columns(base / definition.path, definition.dataset)
        if columns == n:
            return None
        return f"{definition.path} has {columns} columns; give domain_size {columns}"
    misfit = definition.misfit(n)
    if misfit is not None:
        return misfit
    for part, size in zip(definition.parts, definition.sizes_over(n), strict=True):
        reason = _reason(part, size, definitions, base)
        if reason is not None:
            return f"part {part}: {reason}"
    return None


def _make(name: str, n: int, definitions: Definitions, seed: int, base: Path, stream: tuple[str, ...]) -> Workload:
    definition = _lookup(name, definitions)
    if definition is None:
        return registry.create(name, n, seed=seed, stream=stream)
    if isinstance(definition, File):
        return from_file(base / definition.path, definition.dataset, name=name)
    from factormech.workloads.combinators import Kronecker, Union

    parts = [
        _make(part, size, definitions, seed, base, (*stream, f"{name}[{i}]"))
        for i, (part, size) in enumerate(zip(definition.parts, definition.sizes_over(n), strict=True))
    ]
    if isinstance(definition, KroneckerOf):
        return Kronecker(name, parts)
    return Union(name, parts, definition.weights)


def _walk(name: str, definitions: Definitions) -> list[tuple[str, Definition | None]]:
    """The name and all that it is made of, each once, with its definition (``None`` for a registered one)."""
    found: dict[str, Definition | None] = {}
    _count(name, definitions, (), found, {})
    return list(found.items())


def _count(
    name: str,
    definitions: Definitions,
    trail: tuple[str, ...],
    found: dict[str, Definition | None],
    counts: dict[str, int],
) -> int:
    """How many registered workloads and files a workload is made of; what it is made of is noted in ``found``."""
    if name in counts:
        return counts[name]
    if name in trail:
        cycle = " -> ".join((*trail[trail.index(name) :], name))
        raise BadValue(f"workloads.{trail[-1]}", cycle, "not lead back to itself", "break the cycle")
    definition = _lookup(name, definitions)
    if definition is None and not registry.is_known(name):
        where = f"workloads.{trail[-1]}: workload" if trail else "workload"
        raise UnknownName(where, name, [*registry.names(), *definitions])
    found[name] = definition
    parts = definition.parts if definition is not None else ()
    if parts and len(trail) >= DEPTH_LIMIT:
        rule = f"be made of at most {DEPTH_LIMIT} levels"
        raise BadValue(f"workloads.{trail[0]}", f"more than {DEPTH_LIMIT} levels", rule, "combine fewer workloads")
    counts[name] = sum(_count(part, definitions, (*trail, name), found, counts) for part in parts) or 1
    if counts[name] > PARTS_LIMIT:
        rule = f"be made of at most {PARTS_LIMIT} parts"
        raise BadValue(f"workloads.{name}", f"{counts[name]} parts", rule, "combine fewer workloads")
    return counts[name]


def _columns(path: Path, dataset: str | None) -> int:
    """Domain size of a matrix in a file, which is read once as long as it does not change."""
    if not path.is_file():
        return int(matrix.read(path, dataset).shape[1])  # which refuses, with the reason
    stat = path.stat()
    return _columns_as_of(path, dataset, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=256)
def _columns_as_of(path: Path, dataset: str | None, changed: int, size: int) -> int:
    return int(matrix.read(path, dataset).shape[1])


# Reading a definition -------------------------------------------------------------------------------------


def _lookup(name: str, definitions: Definitions) -> Definition | None:
    return parse(name, definitions[name]) if name in definitions else None


def parse(name: str, definition: Any) -> Definition:
    """Return a checked definition; a mistake is named with its key in the configuration."""
    key = f"workloads.{name}"
    shapes = "{file: …}, {union: […]} or {kronecker: […]}"
    if not isinstance(definition, Mapping):
        raise BadValue(key, definition, f"be {shapes}", "see the configuration's reference")
    kinds = [kind for kind in ("file", "union", "kronecker") if kind in definition]
    if len(kinds) != 1:
        found = sorted(map(str, definition))
        raise BadValue(f"{key}: keys", found, f"be those of {shapes}", "give just one of file, union, kronecker")
    _check_keys(key, definition, ("file", "dataset") if kinds == ["file"] else kinds)
    if kinds == ["file"]:
        return _parse_file(key, definition)
    return (_parse_union if kinds == ["union"] else _parse_kronecker)(f"{key}.{kinds[0]}", definition[kinds[0]])


def _parse_file(key: str, definition: Mapping[str, Any]) -> File:
    path, dataset = definition["file"], definition.get("dataset")
    if not isinstance(path, (str, Path)) or not str(path):
        raise BadValue(f"{key}.file", path, "be a path", "give for example queries.csv")
    if dataset is not None and (not isinstance(dataset, str) or not dataset):
        raise BadValue(f"{key}.dataset", dataset, "be the name of a dataset", "give for example queries")
    return File(Path(path), dataset)


def _parse_union(key: str, parts: Any) -> UnionOf:
    from factormech.workloads.combinators import check_weight

    checked = _check_parts(key, parts, "weight")
    weights = tuple(check_weight(part.get("weight", 1.0), f"{key}[{i}].weight") for i, part in enumerate(checked))
    return UnionOf(tuple(part["workload"] for part in checked), weights)


def _parse_kronecker(key: str, parts: Any) -> KroneckerOf:
    checked = _check_parts(key, parts, "domain_size")
    sizes = tuple(
        check_positive_integer(f"{key}[{i}].domain_size", part["domain_size"]) if "domain_size" in part else None
        for i, part in enumerate(checked)
    )
    if sizes.count(None) > 1:
        rule = "be left out of one factor at most"
        raise BadValue(f"{key}: domain_size", f"left out of {sizes.count(None)}", rule, "give the others theirs")
    return KroneckerOf(tuple(part["workload"] for part in checked), sizes)


def _check_parts(key: str, parts: Any, option: str) -> list[Mapping[str, Any]]:
    """The entries of a union or a product: each a mapping with a workload, and this option if anything."""
    if not isinstance(parts, (list, tuple)) or not parts:
        raise BadValue(key, parts, "be a list of at least one workload", "give for example [{workload: prefix}]")
    for i, part in enumerate(parts):
        if not isinstance(part, Mapping) or not isinstance(part.get("workload"), str):
            remedy = "give for example {workload: prefix}"
            raise BadValue(f"{key}[{i}]", part, "name its workload", remedy)
        _check_keys(f"{key}[{i}]", part, ("workload", option))
    return list(parts)


def _check_keys(key: str, mapping: Mapping[str, Any], known: Any) -> None:
    for found in mapping:
        if found not in known:
            raise UnknownName(f"{key}: key", found, known)
