"""Answer a command line, and return the exit code; the modules behind a command are imported only for that command.

0: answered. 1: a wrong value or file. 2: wrong usage. 3: answered, but not certified. 130: interrupted. A refusal is
one line on standard error, and no file has been written.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from factormech import plugins
from factormech.cli.parser import parse
from factormech.errors import MissingExtra

if TYPE_CHECKING:
    import argparse

    from factormech.cli.answer import Answer

ANSWERED, WRONG, USAGE, NO_CERTIFICATE, INTERRUPTED = 0, 1, 2, 3, 130
# As in the workflow: another number of BLAS threads changes the last bits of results.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer a command line and return the exit code; wrong usage and ``--help`` raise ``SystemExit``."""
    args = parse(arguments)
    from factormech.cli.answer import terminal_width

    for variable in _ONE_THREAD:  # before NumPy is imported
        os.environ.setdefault(variable, "1")
    try:
        answer = _answer(args)
        print(answer.as_json() if args.json else answer.text(terminal_width()), flush=True)
    except BrokenPipeError:  # the reader has closed the pipe (head, less)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ANSWERED
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        return INTERRUPTED
    except ModuleNotFoundError as error:
        return _refused(f"error: {MissingExtra.of(error)}", as_json=args.json)
    except (ValueError, OSError, MemoryError, OverflowError, MissingExtra) as error:
        return _refused(_line(error, args), as_json=args.json)
    if not answer.certified:
        print(f"no certificate: {answer.data['reason']}", file=sys.stderr)
        return NO_CERTIFICATE
    return ANSWERED


def _answer(args: argparse.Namespace) -> Answer:
    for path in args.plugin:
        plugins.load(path)
    module, _, function = args.answer.partition(":")
    found: Answer = getattr(import_module(f"factormech.cli.{module}"), function)(args)
    return found


def _refused(line: str, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"status": "error", "reason": line.removeprefix("error: ")}, ensure_ascii=False))
    print(line, file=sys.stderr)
    return WRONG


def _line(error: Exception, args: argparse.Namespace) -> str:
    """Return the line for an error; the errors of a configuration are already lines."""
    if isinstance(error, MemoryError):
        return "error: memory = not enough: must hold the matrices; try a smaller --domain-size"
    if isinstance(error, OSError):
        where = error.filename or "file"
        reason = error.strerror or type(error).__name__
        return f"error: {where} = {reason}: must be readable, or writable for a result; correct the path or its rights"
    flag = _flag(error, args)
    if flag:
        remedy = error.remedy.replace("give for example ", f"try {flag} ")  # type: ignore[attr-defined]
        return f"error: {flag} = {error.value!r}: must {error.rule}; {remedy}"  # type: ignore[attr-defined]
    return f"error: {error}" if hasattr(error, "remedy") else str(error) or type(error).__name__


def _flag(error: Exception, args: argparse.Namespace) -> str:
    """Return the option whose value the Python interface refused under its own name, or an empty text."""
    name = getattr(error, "name", "")
    options = {**dict.fromkeys(("epsilon", "alpha", "rmse", "p", "seed", "rows")), "n": "domain_size"}
    options |= dict.fromkeys(("attributes", "domain_size", "failure")) | {"concept class": "class", "class": "class"}
    option = options.get(name) or name
    has = hasattr(args, "concept_class" if option == "class" else option)
    return f"--{option.replace('_', '-')}" if name in options and has else ""
