"""The commands, their arguments, and the name of the function that answers each."""

from __future__ import annotations

import argparse
import difflib
import math
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from factormech import __version__
from factormech.labels import NORM_ALIASES
from factormech.shipped import SCHEMA

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

_DESCRIPTION = "Answer one question about linear queries under differential privacy, without a workflow."
_EPILOG = """\
examples:
  factormech plan prefix --domain-size 64 --epsilon 1 --rmse 1%
  factormech strategy optimise prefix --domain-size 16 --epsilon 1 --out Q.h5
  factormech study list "figure 1"

exit codes: 0 answered; 1 a wrong value or file; 2 wrong usage; 3 answered, but
not certified; 130 interrupted. Every command takes --json."""
_WORKLOAD = "a name of 'factormech workload list', or a CSV, NPY, MTX or HDF5 file with a row for each query"
_WIDTH = 78


class Parser(argparse.ArgumentParser):
    """A parser that answers wrong usage with one line, and knows what it was given.

    Attributes
    ----------
    groups
        The commands below, if there are any.
    flags
        Option → the values that it may have, where they are few.
    switches
        The options that take no value.
    places
        What help calls the arguments that are no options.
    """

    groups: Any = None

    def __init__(self, **settings: Any) -> None:
        self.flags: dict[str, list[str]] = {}
        self.switches: set[str] = set()
        self.places: list[str] = []
        super().__init__(**settings, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """Add an argument, and note it for the completion of words."""
        self.note(*names, **settings)
        return super().add_argument(*names, **settings)

    def note(self, *names: str, **settings: Any) -> None:
        """Note an argument that is added to a group."""
        if not names[0].startswith("-"):
            self.places.append(str(settings.get("metavar") or names[0]))
            return
        self.flags |= {name: list(settings.get("choices") or []) for name in names}
        if settings.get("action") in ("store_true", "help", "version"):
            self.switches |= {*names}

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is; exit code 2."""
        stray = message.removeprefix("unrecognized arguments: ").split(" ", 1)[0]
        if stray != message and stray.endswith((".yaml", ".yml")):
            message += f"; a configuration is named by --config {stray}"
        self.exit(2, f"usage error: {message}; see {self.prog} --help\n")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the arguments of a command line, with ``answer``, the ``module:function`` that answers it."""
    parser = build()
    given = sys.argv[1:] if arguments is None else list(arguments)
    words = [*(_SPELLINGS.get(word, word) for word in given[:2]), *given[2:]]
    _check_command(parser, words)
    if words[:3] == ["completion", "words", "--"]:  # what follows is a line that is being typed, which may end in "--"
        typed = parser.parse_args(words[:2])
        typed.words = words[3:]
        return typed
    return parser.parse_args(words)


def _check_command(parser: Parser, words: Sequence[str]) -> None:
    """Answer an unknown command with the nearest one, wherever it stands."""
    every = {name: f"{group} {name}" for group, below in parser.groups.choices.items() for name in _below(below)}
    every |= {group: group for group in parser.groups.choices}
    level = parser
    for i, word in enumerate(words):
        if level.groups is None or word.startswith("-"):
            _check_options(level, words[i:])
            return
        if word not in level.groups.choices:
            known = level.groups.choices if level is not parser else every
            near = difflib.get_close_matches(word, known, n=1)
            meant = every[near[0]] if near and level is parser else " ".join([*level.prog.split()[1:], *near])
            hint = f"did you mean {meant!r}? " if near else ""
            level.error(f"{word!r} is no command; {hint}known: {', '.join(level.groups.choices)}")
        level = level.groups.choices[word]


def _check_options(level: Parser, words: Sequence[str]) -> None:
    """Answer an unknown option with the nearest one, before what is missing without it."""
    for word in words:
        name = word.partition("=")[0]
        if name == "--":
            return
        if name.startswith("--") and name not in level.flags:
            near = difflib.get_close_matches(name, level.flags, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            level.error(f"{name!r} is no option of this command{hint}")


def _below(parser: Parser) -> Sequence[str]:
    return [] if parser.groups is None else list(parser.groups.choices)


def real(text: str) -> float:
    """Return a number as people write it: 0.01, 1e-2 or 1%."""
    try:
        return float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; try 0.01, 1e-2 or 1%") from None


def whole(text: str) -> int:
    """Return a whole number as people write it: 100000 or 1e5."""
    try:
        return int(text)
    except ValueError:
        pass
    value = real(text)
    if not (math.isfinite(value) and value == math.floor(value)) or "%" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number; try 100000 or 1e5")
    return int(value)


def norm_kind(text: str) -> str:
    """Return the registered name of a norm, however it was written."""
    name = NORM_ALIASES.get(text, text)
    if name in NORMS or re.fullmatch(r"gamma-p\d+", name):
        return name
    near = difflib.get_close_matches(name, [*NORMS, *NORM_ALIASES], n=1)
    hint = f"did you mean {NORM_ALIASES.get(near[0], near[0])!r}? " if near else ""
    raise argparse.ArgumentTypeError(f"{text!r} is no norm; {hint}known: {', '.join(NORMS)}")


def build() -> Parser:
    """Return the whole parser."""
    parser = Parser(prog="factormech", description=_DESCRIPTION, epilog=_EPILOG)
    text = "print the version and exit"
    parser.add_argument("--version", action="version", version=f"factormech {__version__}", help=text)
    groups = parser.groups = parser.add_subparsers(required=True, metavar="COMMAND")
    _workload_commands(_group(groups, "workload", "List and describe workloads: queries over user types."))
    _strategy_commands(_group(groups, "strategy", "Find, verify, export and compare strategy matrices."))
    _norm_command(groups)
    _plan_command(groups)
    _collect_commands(_group(groups, "collect", "Simulate a collection of reports."))
    _study_commands(_group(groups, "study", "List and show the studies of a configuration."))
    _results_commands(_group(groups, "results", "List and show the files that a run has made."))
    _trace_command(groups)
    text = "Check a configuration, and say how long a run will take."
    _configured(_command(groups, "check", "studies:check", text, "check --quick"))
    _completion_command(groups)
    _init_command(groups)
    _paper_command(groups)
    return parser


def _group(groups: Any, name: str, text: str) -> Any:
    parser: Parser = groups.add_parser(name, help=text, description=text)
    parser.groups = parser.add_subparsers(required=True, metavar="COMMAND")
    return parser.groups


def _command(groups: Any, name: str, answer: str, text: str, example: str) -> Parser:
    """A command: the function that answers it, a sentence on it, and an example."""
    epilog = f"example:\n  factormech {example}"
    parser: Parser = groups.add_parser(name, help=text, description=textwrap.fill(text, _WIDTH), epilog=epilog)
    parser.add_argument("--json", action="store_true", help="answer with one JSON object")
    text = "a Python file that defines workloads or mechanisms of your own; may be repeated"
    parser.add_argument("--plugin", type=Path, action="append", default=[], metavar="FILE.py", help=text)
    parser.set_defaults(answer=answer)
    return parser


def _asks_workload(parser: Parser, *, optional: bool = False) -> None:
    given: dict[str, Any] = {"nargs": "?"} if optional else {}
    parser.add_argument("workload", metavar="NAME|FILE", help=_WORKLOAD, **given)
    text = "the number of user types; needed for a name, and not for a file"
    parser.add_argument("--domain-size", type=whole, metavar="D", help=text)
    text = "the seed of random workloads and of solvers, as on the axis seed of a study (default: 0)"
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help=text)
    text = "the root of every random stream, as the key seed of a configuration (default: 0)"
    parser.add_argument("--root-seed", type=whole, default=0, metavar="R", help=text)
    text = "a configuration, whose workloads and plugins can then be named"
    parser.add_argument("--config", type=Path, metavar="FILE.yaml", help=text)


def _asks_epsilon(parser: Parser) -> None:
    text = "the privacy budget ε of one report, where one user's type is replaced by another"
    parser.add_argument("--epsilon", type=real, required=True, metavar="E", help=text)


def _asks_target(parser: Parser, text: str, *, required: bool) -> None:
    target = parser.add_mutually_exclusive_group(required=required)
    target.add_argument("--alpha", type=real, metavar="A", help=text)
    text = (
        "the root mean square error per query, as a share of the users: 1%% is one percentage point; the root of alpha"
    )
    target.add_argument("--rmse", type=real, metavar="R", help=text)
    parser.note("--alpha", "--rmse")


def _limits_gap(parser: Parser, limit: float) -> None:
    text = f"exit with code 3 if the certified gap is above this (default: {limit:g})"
    parser.add_argument("--gap-limit", type=real, default=limit, metavar="G", help=text)


def _workload_commands(group: Any) -> None:
    _command(group, "list", "workloads:listed", "List the names of the workloads.", "workload list")
    text = "Describe one workload: its size, norms, rank and singular values."
    example = "workload describe prefix --domain-size 1024"
    _asks_workload(_command(group, "describe", "workloads:describe", text, example))


def _strategy_commands(group: Any) -> None:
    text = "Find the strategy matrix of least variance for a workload, with a certified gap."
    example = "strategy optimise prefix --domain-size 16 --epsilon 1 --out Q.h5"
    optimise = _command(group, "optimise", "optimise:optimise", text, example)
    _asks_workload(optimise)
    _asks_epsilon(optimise)
    text = "minimise the variance on average over the user types, or of the worst one (default: average)"
    optimise.add_argument("--objective", choices=("average", "worst"), default="average", help=text)
    text = "the largest number of outputs that it may have (default: left to the solver)"
    optimise.add_argument("--rows", type=whole, metavar="R", help=text)
    text = "how long the solver tries: as for figures, or as for benchmarks (default: standard)"
    optimise.add_argument("--effort", choices=("standard", "best"), default="standard", help=text)
    _limits_gap(optimise, STRATEGY_GAP)
    optimise.add_argument("--out", type=Path, metavar="Q.h5", help="the file that the strategy is written to")

    text = "Check a stored strategy: its privacy, unbiasedness, variance and lower bound."
    _asks_stored(_command(group, "verify", "verify:verify", text, "strategy verify Q.h5"))

    text = "Write a stored strategy as text: its matrix Q to Q.csv, its reconstruction V to Q-reconstruction.csv."
    export = _command(group, "export", "export:export", text, "strategy export Q.h5 Q.csv")
    _asks_stored(export)
    export.add_argument("out", type=Path, metavar="Q.csv", help="where the matrix is written, a line for each output")

    text = "Compare the exact variances of all mechanisms on a workload, best first."
    example = "strategy compare prefix --domain-size 16 --epsilon 1"
    compare = _command(group, "compare", "compare:compare", text, example)
    _asks_workload(compare)
    _asks_epsilon(compare)
    text = f"the mean squared error per query that the users are for (default: {ALPHA:g}, ten percentage points)"
    _asks_target(compare, text, required=False)


def _asks_stored(parser: Parser) -> None:
    text = "a file of 'strategy optimise --out', or one of results/strategies"
    parser.add_argument("strategy", type=Path, metavar="Q.h5", help=text)
    text = "the privacy budget, for a strategy that serves every budget"
    parser.add_argument("--epsilon", type=real, metavar="E", help=text)
    text = "the queries, where the file does not hold them and their name is not a registered one"
    parser.add_argument("--workload", metavar="NAME|FILE", help=text)


def _norm_command(groups: Any) -> None:
    text = "Compute a factorization norm, between two certified ends."
    norm = _command(groups, "norm", "norms:norm", text, "norm gamma-2 prefix --domain-size 1024")
    text = f"one of {', '.join(NORMS)}; gamma2, gammaF and the like are understood"
    norm.add_argument("kind", type=norm_kind, metavar="KIND", help=text)
    _asks_workload(norm)
    text = "the entrywise error, for gamma-2, gamma-2-shifted, gamma-2-difference and eta"
    norm.add_argument("--alpha", type=real, metavar="A", help=text)
    text = "for a class on sets of D attributes (conjunctions, majorities, …): its norm without its 2^D × 2^D matrix"
    norm.add_argument("--attributes", type=whole, metavar="D", help=text)
    norm.add_argument("--p", type=real, metavar="P", help="the order of error, for gamma-p")
    _limits_gap(norm, NORM_GAP)


def _plan_command(groups: Any) -> None:
    text = "Say how many users a target error takes with each mechanism, or learning a class, beside lower bounds."
    example = "plan prefix --domain-size 64 --epsilon 1 --rmse 1%"
    plan = _command(groups, "plan", "plan:plan", text, example)
    _asks_workload(plan, optional=True)
    _asks_epsilon(plan)
    text = (
        "the target: a mean squared error per query (0.0001 is ±1 percentage point), with --metric linf an error, or "
        "with --class a loss beyond the best concept's"
    )
    _asks_target(plan, text, required=True)
    text = "mse: mean squared error per query; linf: expected largest error over the queries (default: mse)"
    plan.add_argument("--metric", choices=METRICS, help=text)
    text = (
        "plan to learn a class of concepts, such as conjunctions, parities, majorities, thresholds or file:labels.csv"
    )
    plan.add_argument("--class", dest="concept_class", metavar="CLASS", help=text)
    text = "with --class: the number of bits of a point (of thresholds and points, --domain-size is their number)"
    plan.add_argument("--attributes", type=whole, metavar="D", help=text)
    text = "with --class: assume that some concept of the class labels the data without an error"
    plan.add_argument("--realizable", action="store_true", help=text)
    text = "with --class: do not learn; tell data that a concept fits from data that no concept fits"
    plan.add_argument("--refute", action="store_true", help=text)
    text = "with --class: the probability of a failure (default: 0.1)"
    plan.add_argument("--failure", type=real, metavar="B", help=text)


def _collect_commands(group: Any) -> None:
    text = "Simulate the reports of given users, and estimate the answers."
    example = "collect simulate Q.h5 --data counts.csv --users 20000"
    simulate = _command(group, "simulate", "collect:simulate", text, example)
    _asks_stored(simulate)
    text = "how many users there are of each type: one row, one column, or two columns with a header such as age,count"
    simulate.add_argument("--data", type=Path, required=True, metavar="FILE", help=text)
    text = "draw this number of users from the shares of the data (default: the users of the data themselves)"
    simulate.add_argument("--users", type=whole, metavar="N", help=text)
    text = "draws the users and the reports (default: 0)"
    simulate.add_argument("--seed", type=whole, default=0, metavar="S", help=text)
    text = "add the answers of the nearest data without negative counts"
    simulate.add_argument("--consistent", action="store_true", help=text)


def _trace_command(groups: Any) -> None:
    text = "Say where a point of a figure comes from: its row, part, solutions and code."
    example = "trace figures/mckenna2020-figure-1.svg --point mechanism=optimised --point epsilon=1.0"
    trace = _command(groups, "trace", "trace:trace", text, example)
    trace.add_argument("figure", metavar="STUDY|FILE", help="a study's name, or the path of its figure or table")
    text = "a column and its value; may be repeated"
    trace.add_argument("--point", action="append", default=[], metavar="KEY=VALUE", help=text)
    text = "the folder of the run (default: this one)"
    trace.add_argument("--folder", type=Path, default=Path(), metavar="DIR", help=text)


def _paper_command(groups: Any) -> None:
    text = "Write what a manuscript takes from a study: figure, table, caption, references, numbers as macros."
    paper = _command(groups, "paper", "paper:paper", text, "paper mckenna2020-figure-1 --width 7in")
    paper.add_argument("study", metavar="STUDY", help="a name of 'factormech study list'")
    text = "the width of figure and table, in in, cm, mm or pt (default: 3.33in, one column of a page of two)"
    paper.add_argument("--width", default="3.33in", metavar="W", help=text)
    paper.add_argument("--size", type=real, default=8.0, metavar="PT", help="the size of its text (default: 8)")
    text = "the font of the figure's text: serif, sans, or the name of an installed font (default: serif)"
    paper.add_argument("--font", default="serif", metavar="NAME", help=text)
    paper.add_argument("--monochrome", action="store_true", help="greys in the place of colours")
    paper.add_argument("--panels", default="", metavar="A,B", help="the values that have a panel each (default: all)")
    paper.add_argument("--mechanisms", default="", metavar="A,B", help="the curves (default: all)")
    paper.add_argument("--formats", default="pdf", metavar="A,B", help="pdf, svg, png, eps (default: pdf)")
    text = "how the names of macros begin after \\fm (default: the study's name, as in \\fmFigureOneEpsilonMin)"
    paper.add_argument("--prefix", default="", metavar="NAME", help=text)
    text = "the study's table (default: that of the last run in results/tables, else of docs/gallery)"
    paper.add_argument("--table", type=Path, metavar="FILE.csv", help=text)
    paper.add_argument("--out", type=Path, default=Path("paper"), metavar="DIR", help="the folder (default: paper)")
    text = "the configuration (default: config.yaml)"
    paper.add_argument("--config", type=Path, default=Path("config.yaml"), metavar="FILE", help=text)


def _study_commands(group: Any) -> None:
    text = "List the studies, a line each: name, item of the paper, title."
    listing = _command(group, "list", "studies:listed", text, 'study list "figure 1"')
    text = "only studies whose name, paper, item or title has this text"
    listing.add_argument("text", nargs="?", metavar="TEXT", help=text)
    _configured(listing)
    listing.add_argument("--made", action="store_true", help="only say where the figures and tables are")
    text = "Show one study: its grid, settings, expected time and files."
    show = _command(group, "show", "studies:show", text, "study show mckenna2020-figure-1")
    show.add_argument("name", metavar="STUDY", help="a name of 'factormech study list'")
    _configured(show)


def _init_command(groups: Any) -> None:
    text = "Write a Snakefile and a configuration, which use this installed package, into a new folder."
    init = _command(groups, "init", "studies:init", text, "init my-project --study mckenna2020-figure-1")
    init.add_argument("folder", type=Path, metavar="FOLDER", help="the folder that is made")
    text = "a study of the papers to begin with, such as mckenna2020-figure-1; may be repeated (default: a small one)"
    init.add_argument("--study", action="append", default=[], metavar="NAME", help=text)


def _results_commands(group: Any) -> None:
    text = "List how far each study is made in this folder."
    _configured(_command(group, "list", "results:listed", text, "results list"))
    text = "Show the files of a study, or what a file is and which studies it is for."
    show = _command(group, "show", "results:show", text, "results show mckenna2020-figure-1")
    text = "a study's name, or the path of a figure, a table or a result file"
    show.add_argument("name", metavar="STUDY|FILE", help=text)
    _configured(show)


def _completion_command(groups: Any) -> None:
    text = "Print a script that lets a shell complete commands, options and names."
    parser = _command(groups, "completion", "completion:completion", text, "completion bash")
    text = "bash, zsh or fish; 'words' is what the scripts ask"
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "words"), metavar="SHELL", help=text)
    parser.add_argument("words", nargs="*", metavar="WORD", help=argparse.SUPPRESS)


def _configured(parser: Parser) -> None:
    text = "the configuration (default: config.yaml)"
    parser.add_argument("--config", type=Path, default=Path("config.yaml"), metavar="FILE", help=text)
    text = "the rules of configurations (default: the installed ones)"
    parser.add_argument("--schema", type=Path, default=SCHEMA, metavar="FILE", help=text)
    parser.add_argument("--quick", action="store_true", help="the small grids of the quick run")
