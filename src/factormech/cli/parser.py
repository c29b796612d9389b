"""What may be asked: the commands, their arguments, and the function that answers each, by name."""

from __future__ import annotations

import argparse
import difflib
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from factormech import __version__
from factormech.labels import NORM_ALIASES

SCHEMA = Path("workflow/schemas/config.schema.yaml")
NORMS = (
    "gamma-2",
    "gamma-f",
    "gamma-p",
    "gamma-2-approximate",
    "gamma-2-shifted",
    "gamma-2-difference",
    "eta",
    "margin-complexity",
)
METRICS = ("mse", "linf")
# Gaps, upper ÷ lower − 1, above which an optimum is not called certified (exit code 3).
STRATEGY_GAP, NORM_GAP = 0.05, 0.01
# Commands as they are spelt elsewhere.
_SPELLINGS = {"optimize": "optimise"}
# The target error of `strategy compare`, that of the figures.
ALPHA = 0.01

_DESCRIPTION = "One question about linear queries under local differential privacy, answered without a workflow."
_EPILOG = (
    "exit codes: 0 answered, 1 a wrong value or file, 2 wrong usage, 3 answered but not certified, 130 interrupted; "
    "every command takes --json"
)
_WORKLOAD = "a registered name (factormech workload list), or a CSV, NPY, MTX or HDF5 file with a row for each query"


class Parser(argparse.ArgumentParser):
    """Wrong usage is answered with one line; ``groups`` has the commands below, if there are any."""

    groups: Any = None

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is; exit code 2."""
        self.exit(2, f"usage error: {message}; see {self.prog} --help\n")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments of a command line, with ``answer``, the ``module:function`` that answers it."""
    parser = build()
    given = sys.argv[1:] if arguments is None else list(arguments)
    words = [*(_SPELLINGS.get(word, word) for word in given[:2]), *given[2:]]
    _check_command(parser, words)
    return parser.parse_args(words)


def _check_command(parser: Parser, words: Sequence[str]) -> None:
    """Answer an unknown command with the nearest one, wherever it stands."""
    every = {name: f"{group} {name}" for group, below in parser.groups.choices.items() for name in _below(below)}
    every |= {group: group for group in parser.groups.choices}
    level = parser
    for word in words:
        if level.groups is None or word.startswith("-"):
            return
        if word not in level.groups.choices:
            known = level.groups.choices if level is not parser else every
            near = difflib.get_close_matches(word, known, n=1)
            meant = every[near[0]] if near and level is parser else " ".join([*level.prog.split()[1:], *near])
            hint = f"did you mean {meant!r}? " if near else ""
            level.error(f"{word!r} is no command; {hint}known: {', '.join(level.groups.choices)}")
        level = level.groups.choices[word]


def _below(parser: Parser) -> Sequence[str]:
    return [] if parser.groups is None else list(parser.groups.choices)


def real(text: str) -> float:
    """A number as people write it: 0.01, 1e-2 or 1%."""
    try:
        return float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; write for example 0.01, 1e-2 or 1%") from None


def whole(text: str) -> int:
    """A whole number as people write it: 100000 or 1e5."""
    try:
        return int(text)
    except ValueError:
        pass
    value = real(text)
    if not (math.isfinite(value) and value == math.floor(value)) or "%" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number; write for example 100000 or 1e5")
    return int(value)


def norm_kind(text: str) -> str:
    """The registered name of a norm, however it was written."""
    name = NORM_ALIASES.get(text, text)
    if name in NORMS or re.fullmatch(r"gamma-p\d+", name):
        return name
    near = difflib.get_close_matches(name, [*NORMS, *NORM_ALIASES], n=1)
    hint = f"did you mean {NORM_ALIASES.get(near[0], near[0])!r}? " if near else ""
    raise argparse.ArgumentTypeError(f"{text!r} is no norm; {hint}known: {', '.join(NORMS)}")


def build() -> Parser:
    """The whole parser."""
    parser = Parser(prog="factormech", description=_DESCRIPTION, epilog=_EPILOG, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"factormech {__version__}")
    groups = parser.groups = parser.add_subparsers(required=True, metavar="COMMAND")
    _workload_commands(_group(groups, "workload", "the workloads: queries over user types"))
    _strategy_commands(_group(groups, "strategy", "strategy matrices: find, verify, export and compare them"))
    _norm_command(groups)
    _plan_command(groups)
    _collect_commands(_group(groups, "collect", "collections of reports, simulated"))
    _study_commands(_group(groups, "study", "the studies of a configuration"))
    _trace_command(groups)
    _paper_command(groups)
    check = _command(groups, "check", "studies:check", "check a configuration, and say what a run will take")
    _configured(check)
    return parser


def _group(groups: Any, name: str, text: str) -> Any:
    parser: Parser = groups.add_parser(name, help=text, description=text, allow_abbrev=False)
    parser.groups = parser.add_subparsers(required=True, metavar="COMMAND")
    return parser.groups


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
        "--domain-size",
        type=whole,
        metavar="D",
        help="number of user types; a file brings its own, and agrees if given",
    )
    text = "the value on a study's axis seed, of what is drawn at random (default: 0)"
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help=text)
    text = "the seed of a configuration, the root of every random stream (default: 0)"
    parser.add_argument("--root-seed", type=whole, default=0, metavar="R", help=text)


def _asks_epsilon(parser: Parser) -> None:
    parser.add_argument("--epsilon", type=real, required=True, metavar="E", help="privacy budget, replace one")


def _asks_target(parser: Parser, text: str, *, required: bool) -> None:
    target = parser.add_mutually_exclusive_group(required=required)
    target.add_argument("--alpha", type=real, metavar="A", help=text)
    text = "root mean square error per query, a share of the users: 1%% is one percentage point; alpha is its square"
    target.add_argument("--rmse", type=real, metavar="R", help=text)


def _limits_gap(parser: Parser, limit: float) -> None:
    text = f"exit with code 3 if the certified gap is above this (default: {limit:g})"
    parser.add_argument("--gap-limit", type=real, default=limit, metavar="G", help=text)


def _workload_commands(group: Any) -> None:
    _command(group, "list", "workloads:listed", "the registered families")
    _asks_workload(_command(group, "describe", "workloads:describe", "numbers of one workload"))


def _strategy_commands(group: Any) -> None:
    text = "find the strategy matrix of least variance for a workload, with a certified gap"
    optimise = _command(group, "optimise", "optimise:optimise", text)
    _asks_workload(optimise)
    _asks_epsilon(optimise)
    optimise.add_argument("--objective", choices=("average", "worst"), default="average", help="over the user types")
    optimise.add_argument("--rows", type=whole, metavar="R", help="the most outputs it may have")
    optimise.add_argument("--effort", choices=("standard", "best"), default="standard")
    _limits_gap(optimise, STRATEGY_GAP)
    optimise.add_argument("--out", type=Path, metavar="Q.h5", help="where the strategy is written")

    verify = _command(group, "verify", "verify:verify", "check a stored strategy: privacy, unbiasedness, bound")
    _asks_stored(verify)

    export = _command(group, "export", "export:export", "write a stored strategy's matrix, a row for each output")
    export.add_argument("strategy", type=Path, metavar="Q.h5")
    export.add_argument("out", type=Path, metavar="Q.csv")
    export.add_argument("--epsilon", type=real, metavar="E", help="for a strategy that serves every budget")

    compare = _command(
        group, "compare", "compare:compare", "every mechanism's exact variance on a workload, best first"
    )
    _asks_workload(compare)
    _asks_epsilon(compare)
    text = f"target mean squared error that sample_complexity is for (default: {ALPHA:g})"
    _asks_target(compare, text, required=False)


def _asks_stored(parser: Parser) -> None:
    parser.add_argument("strategy", type=Path, metavar="Q.h5", help="of strategy optimise, or of results/strategies")
    parser.add_argument("--epsilon", type=real, metavar="E", help="for a strategy that serves every budget")
    parser.add_argument(
        "--workload", metavar="NAME|FILE", help="the queries, where the file does not say where to find them"
    )


def _norm_command(groups: Any) -> None:
    norm = _command(groups, "norm", "norms:norm", "a factorization norm between two certified ends")
    text = f"{', '.join(NORMS)}; gamma2, gammaF and the like are understood"
    norm.add_argument("kind", type=norm_kind, metavar="KIND", help=text)
    _asks_workload(norm)
    norm.add_argument("--alpha", type=real, metavar="A", help="entrywise error, for gamma-2, gamma-2-shifted and eta")
    norm.add_argument("--p", type=real, metavar="P", help="order of error, for gamma-p")
    _limits_gap(norm, NORM_GAP)


def _plan_command(groups: Any) -> None:
    text = "how many users a target error needs, by mechanism, beside a lower bound for a class of them"
    plan = _command(groups, "plan", "plan:plan", text)
    _asks_workload(plan)
    _asks_epsilon(plan)
    _asks_target(plan, "target error, read with --metric", required=True)
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
    simulate.add_argument("--users", type=whole, metavar="N", help="draw so many users from the shares of the data")
    simulate.add_argument("--seed", type=whole, default=0, metavar="S", help="of users and reports (default: 0)")
    simulate.add_argument("--consistent", action="store_true", help="also estimates that non-negative data could have")


def _trace_command(groups: Any) -> None:
    text = "where a point of a figure comes from: its row, part, solutions and code"
    trace = _command(groups, "trace", "trace:trace", text)
    trace.add_argument("figure", metavar="FIGURE", help="a study's name, or the path of its figure or table")
    text = "a column and its value; may be repeated"
    trace.add_argument("--point", action="append", default=[], metavar="KEY=VALUE", help=text)
    trace.add_argument("--folder", type=Path, default=Path(), metavar="DIR", help="the folder of the run")


def _paper_command(groups: Any) -> None:
    text = "what a manuscript takes from a study: figure, table, caption, references, and every number as a macro"
    paper = _command(groups, "paper", "paper:paper", text)
    paper.add_argument("study", metavar="STUDY", help="its name in the configuration")
    text = "of figure and table, with in, cm, mm or pt (default: 3.33in, one column of a page of two)"
    paper.add_argument("--width", default="3.33in", metavar="W", help=text)
    paper.add_argument("--size", type=real, default=8.0, metavar="PT", help="of the figure's text (default: 8)")
    text = "of the figure's text: serif, sans, or the name of an installed font (default: serif)"
    paper.add_argument("--font", default="serif", metavar="NAME", help=text)
    paper.add_argument("--monochrome", action="store_true", help="greys in the place of colours")
    paper.add_argument("--panels", default="", metavar="A,B", help="values that have a panel each (default: all)")
    paper.add_argument("--mechanisms", default="", metavar="A,B", help="the curves (default: all)")
    paper.add_argument("--formats", default="pdf", metavar="A,B", help="pdf, svg, png, eps (default: pdf)")
    text = "how the names of macros begin after \\fm (default: the study's name, as in \\fmFigureOneEpsilonMin)"
    paper.add_argument("--prefix", default="", metavar="NAME", help=text)
    text = "the study's table (default: that of the last run in results/tables, else of docs/gallery)"
    paper.add_argument("--table", type=Path, metavar="FILE.csv", help=text)
    paper.add_argument("--out", type=Path, default=Path("paper"), metavar="DIR", help="folder (default: paper)")
    paper.add_argument("--config", type=Path, default=Path("config.yaml"), metavar="FILE")


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
