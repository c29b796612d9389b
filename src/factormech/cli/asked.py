"""Read the arguments that commands share: workloads by name or file, budgets, targets, strategy files."""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue, UnknownName

if TYPE_CHECKING:
    from factormech.mechanisms.local.solved import Solution
    from factormech.workloads.base import Workload

# The most user types of commands that hold a few vectors of length n, and of those that hold several n × n matrices.
VECTORS_LIMIT, MATRICES_LIMIT = 2**24, 8192


def epsilon_of(args: argparse.Namespace) -> float:
    """Return the budget; one outside of the range where errors are computed without loss of digits is refused."""
    from factormech.arrays import check_budget

    return check_budget(args.epsilon)


def positive(name: str, value: float) -> float:
    """Return a number; one that is not finite and above 0 is refused."""
    if not (math.isfinite(value) and value > 0):
        raise BadValue(name, value, "be a finite number above 0", f"try {name} 0.01")
    return float(value)


def target_of(args: argparse.Namespace, default: float | None = None) -> float:
    """Return the mean squared error that ``--alpha`` or ``--rmse`` gives."""
    if args.rmse is not None:
        return positive("--rmse", args.rmse) ** 2
    return positive("--alpha", default if args.alpha is None and default is not None else args.alpha)


def gap_limit_of(args: argparse.Namespace) -> float:
    """Return the largest gap that counts as certified."""
    if not args.gap_limit >= 0.0:
        raise BadValue("--gap-limit", args.gap_limit, "be a number of at least 0", "try --gap-limit 0.01")
    return float(args.gap_limit)


def workload_of(args: argparse.Namespace, limit: int = MATRICES_LIMIT) -> Workload:
    """Return the workload that the arguments name, over at most ``limit`` user types."""
    for flag, seed in (("--seed", args.seed), ("--root-seed", args.root_seed)):
        if seed < 0:
            raise BadValue(flag, seed, "be a whole number of at least 0", f"try {flag} 0")
    seeds = (args.root_seed, args.seed)
    if args.config is not None:
        found = _defined_workload(args.workload, args.domain_size, seeds, limit, args.config)
        if found is not None:
            return found
    return named_workload(args.workload, args.domain_size, seeds, limit)


def _defined_workload(
    name: str, domain_size: int | None, seeds: tuple[int, int], limit: int, config: Path
) -> Workload | None:
    """Return a workload that a configuration defines, or None; the configuration's plugins are loaded."""
    from factormech.workloads import definitions, registry

    known, here = _definitions_in(config), Path()
    if name not in known:
        if not registry.is_known(name) and not Path(name).exists():
            raise UnknownName(f"workload in {config}", name, [*known, *registry.names()])
        return None
    size = definitions.domain_size_of(name, known, here) if domain_size is None else domain_size
    if size is None:
        raise BadValue("--domain-size", "nothing", f"be given for {name}, which suits several", "try --domain-size 64")
    _check_size(size, limit)
    stream = (str(seeds[1]),) if definitions.is_seeded(name, known) else ()
    return definitions.create(name, size, known, seed=seeds[0], base=here, stream=stream)


def _definitions_in(config: Path) -> Mapping[str, Any]:
    """Return the workloads that a configuration defines, with paths relative to the working folder."""
    from factormech import plugins
    from factormech.config.yaml_file import read_yaml, seen_from

    if not config.is_file():
        what = f"{config} ({'a folder' if config.is_dir() else 'no such file'})"
        raise BadValue("--config", what, "be a configuration file", "try --config config.yaml")
    found = seen_from(read_yaml(config), config.resolve().parent, Path.cwd())
    own = found.get("plugins") or []
    if not isinstance(own, list) or not all(isinstance(path, str) for path in own):
        raise BadValue(f"{config}: plugins", own, "be a list of paths", "see docs/adding.md")
    for path in own:
        plugins.load(path)
    known = found.get("workloads") or {}
    if not isinstance(known, Mapping):
        raise BadValue(f"{config}: workloads", known, "be a mapping from names to definitions", "see docs/adding.md")
    return known


def _check_size(domain_size: int, limit: int) -> None:
    if not 1 <= domain_size <= limit:
        rule = f"be a whole number from 1 to {limit}, so that the matrices of this command fit in memory"
        raise BadValue("--domain-size", domain_size, rule, "try --domain-size 64")


def named_workload(name: str, domain_size: int | None, seeds: tuple[int, int], limit: int) -> Workload:
    """Return a workload by its registered name, drawn with the root seed and the seed, or from its file."""
    from factormech.workloads import given, registry

    if not registry.is_known(name) and given.is_file(name):
        return _from_file(Path(name), domain_size, limit)
    if not registry.is_known(name):
        raise given.unknown(name)
    if domain_size is None:
        rule = f"be given for {name}, which suits several"
        raise BadValue("--domain-size", "nothing", rule, "try --domain-size 64")
    _check_size(domain_size, min(limit, MATRICES_LIMIT) if registry.resolve(name).entry.dense else limit)
    reason = registry.reason_against(name, domain_size)
    if reason is not None:
        raise BadValue("--domain-size", domain_size, f"suit the workload {name}", reason)
    return given.created(name, domain_size, *seeds)


def _from_file(path: Path, domain_size: int | None, limit: int) -> Workload:
    from factormech.workloads.matrix import from_file

    if path.suffix.lower() in (".h5", ".hdf5") and path.is_file():
        _refuse_result(path)
    workload = from_file(path)
    n, limit = workload.domain_size, min(limit, MATRICES_LIMIT)
    if domain_size is not None and domain_size != n:
        raise BadValue("--domain-size", domain_size, f"be {n}, as {path} has {n} columns", "leave it out for a file")
    if n > limit:
        rule = f"have at most {limit} columns, so that the matrices of this command fit in memory"
        raise BadValue(str(path), n, rule, "merge some of the user types")
    return workload


def _refuse_result(path: Path) -> None:
    """Refuse a result file of the project: its matrices are not queries."""
    from factormech.store import hdf5

    try:
        kind = hdf5.read(path).kind
    except ValueError:
        return  # not a result file of the project
    remedy = "give the name of its workload, with --domain-size"
    raise BadValue(str(path), f"a result file of kind {kind}", "be a file of queries", remedy)


@dataclass(frozen=True)
class Stored:
    """A strategy file: its mechanism, workload and budget, and the solution of the solver."""

    path: Path
    mechanism: str
    workload: str
    domain_size: int
    epsilon: float
    solution: Solution


_OTHER = "give a file that strategy optimise --out wrote, or one of results/strategies"
_NEEDED = ("mechanism", "workload", "domain_size", "epsilon")


def stored_strategy(path: Path, epsilon: float | None) -> Stored:
    """Read a strategy file; ``epsilon`` is the budget for a strategy that serves every budget."""
    from factormech.mechanisms.local.registry import solver_of
    from factormech.mechanisms.local.solved import Solution
    from factormech.store import hdf5

    try:
        record = hdf5.read(path, "strategy")
    except hdf5.DamagedFile as error:  # the store's remedy is for files of the workflow: to delete them
        raise BadValue(str(path), error.value, error.rule, _OTHER) from None
    found = record.attributes
    missing = [name for name in _NEEDED if name not in found]
    if missing:
        raise BadValue(str(path), f"no {', '.join(missing)}", "say what its strategy is of", "optimise it again")
    own = found["epsilon"]
    solver_of(found["mechanism"])
    if own is not None and epsilon is not None and float(own) != epsilon:
        raise BadValue("--epsilon", epsilon, f"be {own!r}, that of {path}", "leave it out, or optimise for it")
    budget = epsilon if own is None else own
    if budget is None:
        rule = f"be given: {found['mechanism']} in {path} serves every budget"
        raise BadValue("--epsilon", None, rule, "try --epsilon 1.0")
    asked = epsilon_of(argparse.Namespace(epsilon=budget))
    n, solution = int(found["domain_size"]), Solution(record.datasets, found)
    return Stored(path, str(found["mechanism"]), str(found["workload"]), n, asked, solution)


def restored(stored: Stored) -> Any:
    """Return the strategy of a file; restoring it verifies its privacy."""
    from factormech.mechanisms.local.registry import restore

    try:
        return restore(stored.mechanism, stored.solution, stored.epsilon)
    except (KeyError, IndexError, TypeError) as error:
        rule, remedy = "hold a whole strategy", "optimise it again"
        raise BadValue(str(stored.path), f"{type(error).__name__}: {error}", rule, remedy) from error


def workload_of_stored(stored: Stored, given: str | None, *, answers: bool = False) -> Workload:
    """Return the queries of a strategy file: those given, in the file, of its name, or beside it in ``results``.

    ``answers``: it must be able to answer its queries, which a description of the workflow is not.
    """
    n, record = stored.domain_size, stored.solution.record
    seed = int(record.get("root_seed") or 0)
    if given is not None:
        from factormech.workloads.given import is_file

        seeds = seed, int(record.get("seed") or 0)
        workload = named_workload(given, None if is_file(given) else n, seeds, MATRICES_LIMIT)
        if workload.domain_size != n:
            rule = f"have {n} user types, as {stored.path} has"
            raise BadValue("--workload", workload.domain_size, rule, "give the workload of the strategy")
        return workload
    from factormech.mechanisms.local.fitted import QUERIES, QUERY_NAMES, TYPE_NAMES

    datasets = stored.solution.datasets
    if QUERIES in datasets:
        from factormech.workloads.matrix import MatrixWorkload

        kept = MatrixWorkload(stored.workload, datasets[QUERIES])
        kept.query_names = tuple(map(str, datasets[QUERY_NAMES])) if QUERY_NAMES in datasets else None
        kept.type_names = tuple(map(str, datasets[TYPE_NAMES])) if TYPE_NAMES in datasets else None
        return kept
    return _by_name(stored, seed) if answers else _beside(stored) or _by_name(stored, seed)


def _by_name(stored: Stored, seed: int) -> Workload:
    from factormech.workloads import registry
    from factormech.workloads.given import created

    name, own = stored.workload, stored.solution.record.get("seed")
    if not registry.is_known(name):
        rule = f"be given: {stored.path} does not hold the queries of {name}"
        raise BadValue("--workload", None, rule, "give the file that they are from")
    return created(name, stored.domain_size, seed, int(own or 0))


def _beside(stored: Stored) -> Workload | None:
    """Return the workflow's description of the workload, from ``results/workloads`` beside ``results/strategies``."""
    from factormech.store import hdf5
    from factormech.workloads.stored import StoredWorkload

    parents, n, seed = stored.path.resolve().parents, stored.domain_size, stored.solution.record.get("seed")
    if len(parents) < 5 or parents[3].name != "strategies":
        return None
    folder = parents[4] / "workloads" / stored.workload
    for path in (folder / f"n{n}-seed{seed}.h5", folder / f"n{n}.h5"):
        if path.is_file():
            record = hdf5.read(path, "workload")
            return StoredWorkload(record.datasets, record.attributes)
    return None


def check_output(name: str, path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuse a path that cannot be written to, before anything is computed."""
    if path.is_dir():
        raise BadValue(name, str(path), "be the path of a file, not a folder", "give a file name inside it")
    if path.suffix.lower() not in suffixes:
        raise BadValue(name, str(path), f"end in {' or '.join(suffixes)}", "give it that suffix")
    folder = path.absolute().parent
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):  # os.access always says yes to root
            pass
    except OSError as error:
        rule = f"be in a folder that can be written, unlike {folder} ({error.strerror})"
        raise BadValue(name, str(path), rule, "choose another folder") from None
