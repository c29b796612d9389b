"""What may be asked: the commands, their arguments, and the function that answers each, by name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

SCHEMA = Path("workflow/schemas/config.schema.yaml")
NORMS = ("gamma2", "gammaF", "gammap", "gamma2-shifted", "eta", "margin")
METRICS = ("mse", "linf")
# Gaps, upper ÷ lower − 1, above which an optimum is not called certified (exit code 3).
STRATEGY_GAP, NORM_GAP = 0.05, 0.01
# The target error of `strategy compare`, that of the figures.
ALPHA = 0.01

_DESCRIPTION = "One question about linear queries under local differential privacy, answered without a workflow."
_EPILOG = (
    "exit codes: 0 answered, 1 a wrong value or file, 2 wrong usage, 3 answered but not certified, 130 interrupted; "
    "every command takes --json"
)
_WORKLOAD = "a registered name (factormech workload list), or a CSV, NPY, MTX or HDF5 file with a row for each query"


class Parser(argparse.ArgumentParser):
    """Wrong usage is answered with one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is; exit code 2."""
        self.exit(2, f"usage error: {message}; see {self.prog} --help\n")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments of a command line, with ``answer``, the ``module:function`` that answers it."""
    return build().parse_args(arguments)


def build() -> Parser:
    """The whole parser."""
    parser = Parser(prog="factormech", description=_DESCRIPTION, epilog=_EPILOG, allow_abbrev=False)
    groups = parser.add_subparsers(required=True, metavar="COMMAND")
    _workload_commands(_group(groups, "workload", "the workloads: queries over user types"))
    _strategy_commands(_group(groups, "strategy", "strategy matrices: find, verify, export and compare them"))
    _norm_command(groups)
    _plan_command(groups)
    _collect_commands(_group(groups, "collect", "collections of reports, simulated"))
    _study_commands(_group(groups, "study", "the studies of a configuration"))
    check = _command(groups, "check", "studies:check", "check a configuration, and say what a run will take")
    _configured(check)
    return parser


def _group(groups: Any, name: str, text: str) -> Any:
    return groups.add_parser(name, help=text, description=text, allow_abbrev=False).add_subparsers(
        required=True, metavar="COMMAND"
    )


def _command(groups: Any, name: str, answer: str, text: str) -> Parser:
    parser: Parser = groups.add_parser(name, help=text, description=text, allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="answer with one JSON object")
    text = "a Python file with workloads or mechanisms of your own, which are then known by name; may be repeated"
    parser.add_argument("--plugin", type=Path, action="append", default=[], metavar="FILE.py", help=text)
    parser.set_defaults(answer=answer)
    return parser


def _asks_workload(parser: Parser) -> None:
    parser.add_argument("workload", metavar="NAME|FILE", help=_WORKLOAD)
    parser.add_argument(
        "--domain-size", type=int, metavar="D", help="number of user types; a file brings its own, and agrees if given"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of what is drawn at random (default: 0)")


def _asks_epsilon(parser: Parser) -> None:
    parser.add_argument("--epsilon", type=float, required=True, metavar="E", help="privacy budget, replace one")


def _limits_gap(parser: Parser, limit: float) -> None:
    text = f"exit with code 3 if the certified gap is above this (default: {limit:g})"
    parser.add_argument("--gap-limit", type=float, default=limit, metavar="G", help=text)


def _workload_commands(group: Any) -> None:
    _command(group, "list", "workloads:listed", "the registered families")
    _asks_workload(_command(group, "describe", "workloads:describe", "numbers of one workload"))


def _strategy_commands(group: Any) -> None:
    text = "find the strategy matrix of least variance for a workload, with a certified gap"
    optimise = _command(group, "optimise", "optimise:optimise", text)
    _asks_workload(optimise)
    _asks_epsilon(optimise)
    optimise.add_argument("--objective", choices=("average", "worst"), default="average", help="over the user types")
    optimise.add_argument("--rows", type=int, metavar="R", help="the most outputs it may have")
    optimise.add_argument("--effort", choices=("standard", "best"), default="standard")
    _limits_gap(optimise, STRATEGY_GAP)
    optimise.add_argument("--out", type=Path, metavar="Q.h5", help="where the strategy is written")

    verify = _command(group, "verify", "verify:verify", "check a stored strategy: privacy, unbiasedness, bound")
    _asks_stored(verify)

    export = _command(group, "export", "export:export", "write a stored strategy's matrix, a row for each output")
    export.add_argument("strategy", type=Path, metavar="Q.h5")
    export.add_argument("out", type=Path, metavar="Q.csv")
    export.add_argument("--epsilon", type=float, metavar="E", help="for a strategy that serves every budget")

    compare = _command(
        group, "compare", "compare:compare", "every mechanism's exact variance on a workload, best first"
    )
    _asks_workload(compare)
    _asks_epsilon(compare)
    text = f"target mean squared error that sample_complexity is for (default: {ALPHA:g})"
    compare.add_argument("--alpha", type=float, default=ALPHA, metavar="A", help=text)


def _asks_stored(parser: Parser) -> None:
    parser.add_argument("strategy", type=Path, metavar="Q.h5", help="of strategy optimise, or of results/strategies")
    parser.add_argument("--epsilon", type=float, metavar="E", help="for a strategy that serves every budget")
    parser.add_argument(
        "--workload", metavar="NAME|FILE", help="the queries, where the file does not say where to find them"
    )


def _norm_command(groups: Any) -> None:
    norm = _command(groups, "norm", "norms:norm", "a factorization norm between two certified ends")
    norm.add_argument("kind", choices=NORMS, metavar="KIND", help=", ".join(NORMS))
    _asks_workload(norm)
    norm.add_argument("--alpha", type=float, metavar="A", help="entrywise error, for gamma2, gamma2-shifted and eta")
    norm.add_argument("--p", type=float, metavar="P", help="order of error, for gammap")
    _limits_gap(norm, NORM_GAP)


def _plan_command(groups: Any) -> None:
    text = "how many users a target error needs, by mechanism, beside a lower bound for a class of them"
    plan = _command(groups, "plan", "plan:plan", text)
    _asks_workload(plan)
    _asks_epsilon(plan)
    plan.add_argument("--alpha", type=float, required=True, metavar="A", help="target error, read with --metric")
    plan.add_argument(
        "--metric",
        choices=METRICS,
        default="mse",
        help="mse: mean squared error per query; linf: expected largest error (default: mse)",
    )


def _collect_commands(group: Any) -> None:
    simulate = _command(group, "simulate", "collect:simulate", "estimates from the simulated reports of given users")
    _asks_stored(simulate)
    simulate.add_argument(
        "--data", type=Path, required=True, metavar="FILE", help="users of each type: one row or column of a CSV or NPY"
    )
    simulate.add_argument("--users", type=int, metavar="N", help="draw so many users from the shares of the data")
    simulate.add_argument("--seed", type=int, default=0, metavar="S", help="of users and reports (default: 0)")
    simulate.add_argument("--consistent", action="store_true", help="also estimates that non-negative data could have")


def _study_commands(group: Any) -> None:
    listing = _command(group, "list", "studies:listed", "their names, grids and files")
    _configured(listing)
    listing.add_argument("--made", action="store_true", help="only say where the figures and tables are")
    show = _command(group, "show", "studies:show", "one of them, with its kind, its cost and its files")
    show.add_argument("name", metavar="NAME")
    _configured(show)


def _configured(parser: Parser) -> None:
    parser.add_argument("--config", type=Path, default=Path("config.yaml"), metavar="FILE")
    parser.add_argument("--schema", type=Path, default=SCHEMA, metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="the small grids")
