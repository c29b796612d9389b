"""Plant small faults in the code that privacy rests on, one after the other, and say which no test sees.

A mutant is one change in the body of a function: another comparison, sign or operation, a constant next to the right
one, a condition turned round, a line left out. The tests of the module are run on it in a fork of one process that has
imported everything, with the changed code in the place of the function's. A mutant that they pass, and that
``EQUIVALENT`` gives no reason for, has survived.

``python tools/mutants.py privacy`` takes one module; ``--table`` writes the counts to docs/trust-mutants.csv.
"""

from __future__ import annotations

import argparse
import ast
import copy
import csv
import importlib
import io
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "trust-mutants.csv"
# Module → its tests, the quickest and most telling first.
MODULES = {
    "privacy.guarantee": ("tests/test_privacy.py", "tests/privacy/test_guarantees.py"),
    "privacy.composition": ("tests/privacy/test_guarantees.py",),
    "privacy.gaussian": ("tests/test_gaussian.py", "tests/privacy/test_guarantees.py"),
    "numerics.intervals": ("tests/numerics/test_intervals.py", "tests/privacy/test_audits.py"),
    "learning.sq.streams": ("tests/queries/test_streams.py",),
    "mechanisms.local.reports": ("tests/privacy/test_independence.py",),
    "numerics.rounding": ("tests/numerics/test_rounding.py",),
    "mechanisms.local.calibrated_columns": ("tests/privacy/test_losses.py", "tests/local/test_matrix_simulation.py"),
    "mechanisms.local.subsets": ("tests/local/test_reports.py", "tests/privacy/test_losses.py"),
    "mechanisms.local.randomizers.caps": ("tests/local/test_randomizers.py", "tests/privacy/test_losses.py"),
    "mechanisms.pure.knorm": ("tests/privacy/test_losses.py", "tests/central/pure/test_mechanisms.py"),
    "mechanisms.pure.directions": ("tests/central/pure/test_directions.py", "tests/privacy/test_sizes.py"),
    "mechanisms.pure.bodies": ("tests/privacy/test_losses.py", "tests/central/pure/test_exact_balls.py"),
    "mechanisms.local.l1_strategies": ("tests/local/test_matrix_mechanism.py",),
    "mechanisms.central.mechanism": ("tests/central/test_privacy.py", "tests/central/test_errors.py"),
}
# Module: text of the line, and of the changed line → why no test can tell them apart.
_WIDER = "a wider margin for rounding than is needed keeps what is proved"
_REPAIRED = "only where a search begins: what follows it repairs the value"
_SYMMETRIC = "z and −z have the same law, and the sign of a seeded draw is nobody's promise"
_NEVER_EQUAL = "a float times (1 + 2⁻⁵⁰) has 103 bits: e^x would need some forty zeros after them"
EQUIVALENT: dict[str, dict[tuple[str, str], str]] = {
    "mechanisms.central.mechanism": {
        (
            "return np.asarray(self.left.apply((self.right.apply(x[:, None])[:, 0] + z)[:, None])[:, 0])",
            "self.right.apply(x[:, None])[:, 0] - z",
        ): _SYMMETRIC,
        (
            "return self.left.apply(self.right.apply(x[:, None]) + self._noise(trials, rng))",
            "self.right.apply(x[:, None]) - self._noise(trials, rng)",
        ): _SYMMETRIC,
        (
            "found[start : start + size] = sign * -ndtri(np.minimum(tail, 0.5))",
            "0.55",
        ): "the largest of 2⁶³ tails is rounded to a half exactly",
    },
    "mechanisms.local.l1_strategies": {
        ("M += np.trace(M) / M.shape[0] ** 2", "1"): "C1 = 0 makes the energy independent of what is added to 11ᵀ",
        ("U, failed = lapack.dpotrf(M.T, overwrite_a=1)", "2"): "a flag: any number but 0 is true",
    },
    "numerics.rounding": {
        ("completion = gamma(N + 1) / (1.0 - gamma(N + 1)) * (N * t2 + frobenius)", "2"): _WIDER,
        ("return above(math.sqrt(above(t2 + completion + gamma(k + 2) * (frobenius + t2), 8)), 2)", "3"): _WIDER,
        (
            "ratios = np.power(values / top * (1.0 + 4.0 * UNIT), exponent) * (1.0 + 2.0 * gamma(8))",
            "4.4",
        ): _WIDER,
    },
    "privacy.gaussian": {
        ("return above(size / math.sqrt(2.0 * guarantee.rho), 4)", "5"): _WIDER,
    },
    "privacy.composition": {
        (
            "room = (delta - spent) * (1.0 - _ROUNDING)  # 1 − Π(1 − δ_i)(1 − δ') ≤ Σδ_i + δ'",
            "1.0 + _ROUNDING",
        ): "optimal_delta is itself rounded up by as much",
        ("if room <= 0.0:", "room < 0.0"): "without room the least ε is the sum, which is among what is compared",
        (
            'best = minimize_scalar(epsilon, bounds=(guess - 6.0, guess + 6.0), method="bounded", options={"xatol": 1e-10})',  # noqa: E501
            "6.6000000000000005",
        ): "a wider search for the same minimum",
        ("guess = 0.5 * math.log(math.log(1.0 / delta) / rho)", "0.55"): _REPAIRED,
        ("lost = np.arange(count + 1)", "2"): "the answer that is added has a margin below 0, and is left out",
        ("return max(value + _ROUNDING * (abs(value) + rho), 0.0)", "abs(value) - rho"): (
            "the minimum over α is found to far less than 1e-9 of the value alone"
        ),
    },
    "privacy.guarantee": {
        ("largest = Fraction(ratio) * _FOUR_ROUNDINGS", "Fraction(ratio) / _FOUR_ROUNDINGS"): (
            "it guards against a logarithm that is wrong by more than two units, which this machine's is not"
        ),
        ("low = (whole + (part - slack)) * (1 - 4 * _UNIT) * 2.0**-52", "part + slack"): (
            "of a column that sums to about 1, the four units are wider than the slack"
        ),
        ("slack = part * (m * 2 * _UNIT)", "3"): _WIDER,
        ("floor = np.floor(scaled)", "np.ceil"): (
            "the fractions are then negative and as exact; of a column that sums to about 1, the four units of the "
            "last lines are wider than what fewer than 2²⁴ fractions can lose"
        ),
        (
            "grown = sum(math.exp(x) if x <= 700.0 else math.inf for x in losses) * self.delta * (1.0 + 16 * k * _UNIT)",  # noqa: E501
            "17",
        ): _WIDER,
        (
            "return math.isfinite(ratio) and Fraction(ratio) * _FOUR_ROUNDINGS <= exponential_below(epsilon)",
            "Fraction(ratio) * _FOUR_ROUNDINGS < exponential_below(epsilon)",
        ): _NEVER_EQUAL,
        (
            "loss = math.nextafter(math.log(ratio * (1.0 + 8 * _UNIT)) * (1.0 + 4 * _UNIT), math.inf)",
            "math.log(ratio * (1.0 + 8 * _UNIT)) / (1.0 + 4 * _UNIT)",
        ): _REPAIRED,
        (
            "while exponential_below(loss) < largest:  # never, with a library that is right to two units in the last place",  # noqa: E501
            "exponential_below(loss) <= largest",
        ): _NEVER_EQUAL,
        ("one = 1 << 150", "2"): "a finer unit proves as much",
        (
            "numerator, denominator = min(float(x), 710.0).as_integer_ratio()",
            "781.0000000000001",
        ): "e^710 is above every ratio that is a float",
        (
            "loss = math.nextafter(math.log(ratio * (1.0 + 8 * _UNIT)) * (1.0 + 4 * _UNIT), math.inf)",
            "math.copysign",
        ): _REPAIRED,
        ("loss = math.nextafter(math.log(ratio * (1.0 + 8 * _UNIT)) * (1.0 + 4 * _UNIT), math.inf)", "5"): _WIDER,
    },
}
# Processor seconds for the tests of a mutant: as many times what they take without one.
PATIENCE = 4

_COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_COMPARE |= {ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
_ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
_ARITHMETIC |= {ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift}
_NAMES = {"min": "max", "max": "min", "argmax": "argmin", "argmin": "argmax", "any": "all", "all": "any"}
_NAMES |= {"floor": "ceil", "ceil": "floor", "expm1": "exp", "log1p": "log", "nextafter": "copysign", "sum": "max"}


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Every way to change one node of a function."""
    match node:
        case ast.Compare(ops=[op, *rest]) if type(op) in _COMPARE:
            yield _with(node, ops=[_COMPARE[type(op)](), *rest])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _ARITHMETIC:
            yield _with(node, op=_ARITHMETIC[type(op)]())
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield _with(node, value=not value)
        case ast.Constant(value=int(value)):
            yield _with(node, value=value + 1)
        case ast.Constant(value=float(value)):
            yield _with(node, value=value * 1.1 if value else 0.1)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Name(id=name) if name in _NAMES and isinstance(node.ctx, ast.Load):
            yield _with(node, id=_NAMES[name])
        case ast.Attribute(attr=name) if name in _NAMES:
            yield _with(node, attr=_NAMES[name])
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            yield ast.Pass()


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self.new, node) if node is self.old else super().visit(node)


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module and methods of its classes, by their qualified names."""
    for node in tree.body:
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef):
                yield prefix + inner.name, inner


def mutants(source: str) -> Iterator[tuple[str, int, str, CodeType]]:
    """Every mutant: the function, the line, what the line has become, and the code of the function."""
    for name, function in functions(ast.parse(source)):
        said = {id(node) for node in ast.walk(function) if isinstance(node, (ast.JoinedStr, ast.Raise))}
        words = {id(node) for top in ast.walk(function) if id(top) in said for node in ast.walk(top) if node is not top}
        for statement in function.body:
            for node in ast.walk(statement):
                if id(node) in words:
                    continue  # what an error says
                for new in changes(node):
                    # Copied with the node, so that the copy can be found again.
                    memo: dict[int, Any] = {}
                    other = copy.deepcopy(function, memo)
                    changed = _Replace(memo[id(node)], copy.deepcopy(new)).visit(other)
                    changed.decorator_list = []
                    module = ast.fix_missing_locations(ast.Module([changed], []))
                    compiled = compile(module, f"<mutant of {name}>", "exec", flags=annotations())
                    code = next(const for const in compiled.co_consts if isinstance(const, CodeType))
                    yield name, getattr(node, "lineno", function.lineno), ast.unparse(new)[:70].partition("\n")[0], code


def annotations() -> int:
    import __future__

    return __future__.annotations.compiler_flag


def planted(module: ModuleType, name: str) -> FunctionType | None:
    """The function of this name as the module has it, below its decorators."""
    found: Any = module
    for part in name.split("."):
        found = vars(found).get(part)
    while found is not None and not isinstance(found, FunctionType):
        inner = (getattr(found, key, None) for key in ("__func__", "fget", "func", "__wrapped__"))
        found = next((one for one in inner if one is not None), None)
    while found is not None and hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    return found if isinstance(found, FunctionType) else None


def killed(function: FunctionType, code: CodeType, tests: tuple[str, ...], seconds: int) -> tuple[bool, float]:
    """Whether the tests fail, or do not end, with this code in the place of a function's; and their processor time."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        signal.alarm(20 * seconds)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        function.__code__ = code.replace(co_freevars=function.__code__.co_freevars)
        os._exit(run(tests))
    _, status, used = os.wait4(child, 0)
    return status != 0, used.ru_utime + used.ru_stime


def run(tests: tuple[str, ...]) -> int:
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not workflow", "--no-header"]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return int(pytest.main([*options, *tests]))


def prepare(tests: tuple[str, ...]) -> None:
    """Import the tests in this process, and forget what was computed on the way."""
    import gc
    from functools import _lru_cache_wrapper

    import pytest

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *tests])
    for one in gc.get_objects():
        if isinstance(one, _lru_cache_wrapper):
            one.cache_clear()


def judge(name: str, every: int = 1) -> list[int]:
    """Mutants of a module, those judged, killed and argued away, and those that survived, which are printed."""
    module = importlib.import_module(f"factormech.{name}")
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    tests, lines = MODULES[name], source.splitlines()
    prepare(tests)
    failed, used = killed(changes, changes.__code__, tests, 600)
    if failed:
        sys.exit(f"error: the tests of {name} fail without a fault")
    counts, seconds = [0, 0, 0, 0, 0], int(PATIENCE * used) + 5
    for number, (where, line, new, code) in enumerate(mutants(source)):
        function = planted(module, where)
        if function is None:
            continue
        counts[0] += 1
        if number % every:
            continue
        counts[1] += 1
        if (lines[line - 1].strip(), new) in EQUIVALENT.get(name, {}):
            counts[3] += 1
        elif killed(function, code, tests, seconds)[0]:
            counts[2] += 1
        else:
            counts[4] += 1
            print(f"survived: {name}, line {line} ({where}): {lines[line - 1].strip()} -> {new}", flush=True)
    return counts


def write(rows: list[list[Any]]) -> None:
    """Write these rows into the table; those of other modules stay."""
    header = ["module", "mutants", "judged", "killed", "argued away", "survived"]
    old = csv.reader(TABLE.read_text(encoding="utf-8").splitlines()) if TABLE.exists() else iter(())
    kept = {row[0]: row for row in old if row != header} | {row[0]: row for row in rows}
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *(kept[name] for name in MODULES if name in kept)])


def main() -> int:
    """Judge one module, or all; the exit code says whether a mutant has survived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(MODULES)} (default: all)")
    parser.add_argument("--every", type=int, default=1, help="one mutant of so many (default: each)")
    parser.add_argument("--table", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    args = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    rows = []
    for name in args.modules or MODULES:
        start = time.monotonic()
        found = judge(name, args.every)
        made, judged, dead, argued, survived = found
        print(f"{name}: {judged} of {made} mutants judged, {dead} killed, {argued} argued away", end="; ")
        print(f"{survived} survived ({time.monotonic() - start:.0f} s)", flush=True)
        rows.append([name, *found])
        if args.table:
            write(rows)
    survived = sum(row[-1] for row in rows)
    print(f"{sum(row[2] for row in rows)} mutants judged, {survived} survived")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
