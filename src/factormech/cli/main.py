"""From the command line to an exit code; every module behind an answer is imported only for it.

0: answered. 1: a wrong value or file. 2: wrong usage. 3: answered, but what was to be certified is not. 130:
interrupted. Whatever is refused is said on one line of standard error, and nothing has been written.
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
# The workflow's default, and so the same bits: more BLAS threads change them, and on a busy machine cost time.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer a command line; the exit code. Wrong usage and ``--help`` end in ``SystemExit``, as argparse has it."""
    args = parse(arguments)
    for variable in _ONE_THREAD:  # before NumPy is imported
        os.environ.setdefault(variable, "1")
    try:
        answer = _answer(args)
        print(answer.as_json() if args.json else answer.text(), flush=True)
    except BrokenPipeError:  # whoever reads has seen enough (head, less)
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
    """What to say of an error; a configuration's errors are a line each, and say so themselves."""
    if isinstance(error, MemoryError):
        return "error: memory = all of it: must be enough for the matrices; give a smaller domain size"
    if isinstance(error, OSError):
        where = error.filename or "file"
        reason = error.strerror or type(error).__name__
        return f"error: {where} = {reason}: must be readable, or writable for a result; correct the path or its rights"
    flag = _flag(error, args)
    if flag:
        remedy = error.remedy.replace("give for example ", f"give for example {flag} ")  # type: ignore[attr-defined]
        return f"error: {flag} = {error.value!r}: must {error.rule}; {remedy}"  # type: ignore[attr-defined]
    return f"error: {error}" if hasattr(error, "remedy") else str(error) or type(error).__name__


def _flag(error: Exception, args: argparse.Namespace) -> str:
    """The option that gave a value which the Python interface refuses by its name; nothing if there is none."""
    name = getattr(error, "name", "")
    options = {**dict.fromkeys(("epsilon", "alpha", "rmse", "p", "seed", "rows")), "n": "domain_size"}
    option = options.get(name) or name
    return f"--{option.replace('_', '-')}" if name in options and hasattr(args, option) else ""
