"""The machine code of kernels is of the code that there is: edited callees, damaged files, two processes, pruning."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "factormech"
CALLEE = "from factormech.compiled import compiled\n\n\n@compiled()\ndef inner(x):\n    return {value} * x\n"
CALLER = (
    "from factormech.compiled import compiled\nfrom factormech.trial.inner_kernels import inner\n\n\n"
    "@compiled()\ndef outer(x):\n    return inner(x) + 1\n"
)
ASK = "from factormech.trial.outer_kernels import outer as f; print(f({argument}), sum(f.stats.cache_hits.values()))"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the modules that kernels need, with a kernel that calls one in another file."""
    package = tmp_path / "src" / "factormech"
    (package / "trial").mkdir(parents=True)
    (package / "store").mkdir()
    for name in ("__init__", "compiled", "code", "errors", "arrays", "plugins", "store/__init__", "store/atomic"):
        shutil.copy(PACKAGE / f"{name}.py", package / f"{name}.py")
    (package / "trial" / "__init__.py").touch()
    (package / "trial" / "outer_kernels.py").write_text(CALLER)
    write_callee(tmp_path, 2)
    return tmp_path


def write_callee(project: Path, value: int) -> None:
    (project / "src/factormech/trial/inner_kernels.py").write_text(CALLEE.format(value=value))


def started(project: Path, code: str) -> subprocess.Popen[str]:
    own = {"PYTHONPATH": str(project / "src"), "XDG_CACHE_HOME": str(project / "cache"), "TMPDIR": str(project)}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")} | own
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def answer(project: Path, argument: str = "5") -> tuple[float, int]:
    """What the outer kernel answers in a new process, and how often its machine code was found on disk."""
    process = started(project, ASK.format(argument=argument))
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    value, hits = out.split()
    return float(value), int(hits)


def kept(project: Path) -> list[Path]:
    return sorted((project / "cache").rglob("*.kernels"))


@pytest.mark.slow
def test_the_machine_code_follows_a_callee_in_another_file(project: Path) -> None:
    assert answer(project) == (11, 0)
    assert answer(project) == (11, 1)
    write_callee(project, 3)
    assert answer(project) == (16, 0)
    write_callee(project, 2)  # back again: the code of this state is still there
    assert answer(project) == (11, 1)
    assert not [*(project / "src").rglob("*.nb[ci]")], "nothing is kept in the source tree"
    assert not [*project.glob("factormech-kernels-*")], "the folder of each process is removed at its end"


@pytest.mark.slow
@pytest.mark.parametrize(
    "damages", [("half", "one bit"), pytest.param(("empty", "zeros"), marks=pytest.mark.slow)], ids=" and ".join
)
def test_damaged_machine_code_is_made_again(project: Path, damages: tuple[str, ...]) -> None:
    answer(project)
    for damage in damages:
        for path in kept(project):
            whole = path.read_bytes()
            flipped = bytes([whole[-40] ^ 1])
            path.write_bytes(
                {
                    "empty": b"",
                    "half": whole[: len(whole) // 2],
                    "zeros": whole[:200] + bytes(len(whole) - 200),
                    "one bit": whole[:-40] + flipped + whole[-39:],
                }[damage]
            )
        assert answer(project) == (11, 0)
        assert answer(project) == (11, 1)


@pytest.mark.slow
def test_two_processes_compile_for_two_types_at_once(project: Path) -> None:
    """Numba's own files may mix their code up; here one of the two is kept, and each process has its own."""
    pair = [started(project, ASK.format(argument=argument)) for argument in ("5", "2.5")]
    assert [float(process.communicate(timeout=120)[0].split()[0]) for process in pair] == [11, 6]
    assert (answer(project, "5")[0], answer(project, "2.5")[0]) == (11, 6)
    assert answer(project, "5") == (11, 1)
    assert answer(project, "2.5") == (6, 1)


@pytest.mark.slow
def test_a_place_that_cannot_be_written_to_stops_nothing(project: Path) -> None:
    (project / "cache").write_text("a file where the folder of caches should be")
    assert answer(project) == (11, 0)
    assert answer(project) == (11, 1)  # from the system's temporary folder
    assert [*project.glob("factormech-*/*.kernels")]


@pytest.mark.slow
def test_a_plugin_with_numba_follows_the_kernels_of_the_package(project: Path) -> None:
    plugin = project / "mine.py"
    plugin.write_text(
        "from numba import njit\nfrom factormech.trial.inner_kernels import inner\n\n\n"
        "@njit(cache=True)\ndef twice(x):\n    return inner(inner(x))\n\n\nprint(twice(1))\n"
    )
    code = (
        "from pathlib import Path; from factormech import plugins\n"
        f"try:\n    plugins.load(Path({str(plugin)!r}))\nexcept plugins.BadValue: pass"  # it registers no name
    )
    found = []
    for value in (2, 3):
        write_callee(project, value)
        found.append(started(project, code).communicate(timeout=120)[0].strip())
    assert found == ["4", "9"]


def test_the_oldest_files_are_pruned(tmp_path: Path) -> None:
    from factormech import compiled

    paths = [tmp_path / f"{number}.kernels" for number in range(5)]
    for age, path in enumerate(paths):
        path.touch()
        os.utime(path, (time.time() - age, time.time() - age))
    compiled.prune(tmp_path, 2)
    assert sorted(tmp_path.iterdir()) == paths[:2]


def test_only_the_folders_of_dead_processes_are_swept(tmp_path: Path) -> None:
    """A process that has been at work for two days keeps its folder: Numba ends it where the folder is gone."""
    from factormech import compiled

    living, dead, other = (tmp_path / f"factormech-kernels-{name}" for name in ("living", "dead", "new"))
    for folder in (living, dead, other):
        folder.mkdir()
    lock = compiled._in_use(living)
    os.close(compiled._in_use(dead))
    for folder in (living, dead):
        os.utime(folder, (time.time() - 2 * 86400,) * 2)
    compiled._sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([living, other])
    os.close(lock)
    compiled._sweep(tmp_path)
    assert [*tmp_path.iterdir()] == [other]


def test_every_kernel_of_the_package_is_compiled_here() -> None:
    for path in PACKAGE.rglob("*.py"):
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_bytes()))
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "numba"
            for alias in node.names
        }
        assert not names or path.name == "compiled.py", f"{path} has a compiler of its own: use factormech.compiled"
