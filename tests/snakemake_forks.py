"""Run Snakemake as forks of one process that has imported it.

To import Snakemake takes longer than to plan a configuration of a test, and the tests of the workflow run it about
eighty times. :func:`run` therefore asks a server, one for each process of pytest: this module, run as a script. The
server knows Snakemake and nothing of the project: every fork imports the package of its own copy of the project.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path


def run(folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Return what ``snakemake *arguments`` did in a folder, as ``subprocess.run`` does with ``capture_output``."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as said:
        request = {"folder": str(folder), "arguments": list(arguments), "environment": dict(environment), "said": said}
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        stdout, stderr = ((Path(said) / name).read_text() for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(["snakemake", *arguments], code, stdout, stderr)


@cache
def _server() -> subprocess.Popen[str]:
    # -P: the folder of this file has a module named like one of the standard library.
    command = [sys.executable, "-P", str(Path(__file__).resolve())]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    atexit.register(server.communicate)
    return server


def _serve() -> None:
    import jsonschema  # noqa: F401 - here and below: what every Snakefile of the project imports
    import numpy as np  # noqa: F401
    import scipy.linalg  # noqa: F401
    from snakemake.cli import get_argument_parser, main

    get_argument_parser()  # imports Snakemake's plugins
    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if process == 0:
            _become(request)
            main(request["arguments"])
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(code, flush=True)


def _become(request: Mapping[str, object]) -> None:
    """Give this fork the folder, the environment and the output that a process of its own would have."""
    environment = dict(request["environment"])
    os.chdir(str(request["folder"]))
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = [os.getcwd(), *environment["PYTHONPATH"].split(os.pathsep)]
    sys.argv = ["snakemake", *request["arguments"]]
    for number, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(Path(str(request["said"])) / name, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


if __name__ == "__main__":
    _serve()
