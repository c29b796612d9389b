"""The README: its numbers come from tables, and what it tells a new user to type works from an empty folder."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
sys.path.insert(0, str(ROOT / "tools"))
readme = pytest.importorskip("readme")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in readme.PAGES}


def test_numbers_are_those_of_the_tables() -> None:
    assert readme.filled(README) == README
    assert {name for _, name, _, _ in readme.BLOCK.findall(README)} == {"times", "figure-1", "plan"}


def test_the_readme_is_one_screen_before_its_first_table() -> None:
    assert len(README.partition("\n| ")[0].splitlines()) <= 45
    assert len(README) < 4500


@pytest.mark.parametrize("name", PAGES)
def test_no_other_number_is_in_the_text(name: str) -> None:
    assert readme.unexplained(PAGES[name]) == []


@pytest.mark.parametrize("line", ["It is 3 times faster.", "On [our grid](docs/x.md), 40 % fewer users.", "| a | 7 |"])
def test_a_number_without_a_table_is_found(line: str) -> None:
    assert readme.unexplained(f"{README}\n{line}\n") == [re.sub(r"\]\([^)]*\)", "]", line)]


def test_what_is_allowed_is_there() -> None:
    """An exception that nothing needs any more would let something else in."""
    for pattern in readme.ALLOWED:
        for part in re.sub(r"\(\?:[^)]*\)", "", pattern).split("|"):
            assert re.search(part, "\n".join(PAGES.values())), part


def test_times_are_those_of_whole_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readme, "GALLERY", tmp_path)
    header = "study,jobs,measured,wall_seconds,cpu_seconds\n"
    (tmp_path / "times.csv").write_text(header + "a,2,2,9,120\nb,2,2,9,600\nall,4,4,9,7200\nquick,5,5,9,300\n")
    (tmp_path / "run.csv").write_text("target,began,seconds,jobs,cores\nall,2026-01-01,3000,4,2\n")
    said = readme.times()
    assert said.startswith(
        "The last full run made 2 studies from nothing in 50 minutes on 2 cores; `make quick` took\n5 "
    )
    (tmp_path / "run.csv").write_text("target,began,seconds,jobs,cores\nquick,2026-01-01,300,5,4\n")
    assert "in 2.0 hours of one core; `make quick` took\n5 minutes on 4 cores" in readme.times()
    (tmp_path / "times.csv").write_text(header + "a,2,2,9,120\nb,2,1,9,600\nall,4,3,9,7200\n")
    assert readme.times().startswith("No full run has been measured as a whole yet; `make` says")


# What a new user waits for. Everything else is typed as the page has it; the reasons say where the rest is tried.
SMALL = """\
studies:
  first:
    paper: mckenna2020
    artefact: Figure 1
    kind: sample-complexity
    title: Small
    caption: A small study.
    grid: {workload: [histogram, prefix], domain_size: [8], epsilon: [0.5, 1.0]}
    mechanisms: [randomized-response, hadamard, hierarchical]
    alpha: 0.01
"""
INSTEAD = {
    "make": "make CONFIG=small.yaml",  # hours: all studies are .ci/run's, on small grids, and the gallery's
    "make quick": "make quick CONFIG=small.yaml",  # minutes: .ci/run runs it
    # A cluster: tests/cluster sweeps on one.
    "make sweep CONFIG=my.yaml PROFILE=slurm PARTITION=short": "make sweep CONFIG=small.yaml ARGS=--dry-run",
    "make test": ".venv/bin/pytest -q tests/test_seeds.py",  # minutes: this test is of it
}
SECONDS = 120


def commands(text: str) -> Iterator[str]:
    """The lines of the blocks without a language, less their comments."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    for line in "".join(block for language, block in blocks if not language).splitlines():
        if command := line.partition("#")[0].strip():
            yield command


def typed(folder: Path, command: str) -> str:
    """Run a line as a user would whose machine has nothing of ours; what it printed."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV", "CI")}
    environment["PATH"] = os.pathsep.join(
        part for part in environment["PATH"].split(os.pathsep) if Path(part) != Path(sys.executable).parent
    )
    environment["PYTHON"] = str(Path(getattr(sys, "_base_executable", sys.executable)))
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the shell, and all that it began
        pytest.fail(f"{command}: not done after {SECONDS} seconds\n{process.communicate()[0][-2000:]}")
    assert process.returncode == 0, f"{command}\n{said[-3000:]}"
    return said


def environment_of(folder: Path) -> None:
    """In the place of ``make setup``, which .ci/run tries: the packages of this environment, and the clone itself."""
    venv.create(folder / ".venv", symlinks=True)
    (site,) = (folder / ".venv").glob("lib/python*/site-packages")
    (site / "clone.pth").write_text(f"{folder / 'src'}\n{sysconfig.get_path('purelib')}\n")
    for script in Path(sys.executable).parent.iterdir():
        copy = folder / ".venv/bin" / script.name
        if not copy.exists() and script.is_file() and script.read_bytes().startswith(b"#!"):
            _, rest = script.read_bytes().split(b"\n", 1)
            copy.write_bytes(f"#!{folder / '.venv/bin/python'}\n".encode() + rest)
            copy.chmod(0o755)
    (folder / ".venv/.ready").touch()


@pytest.mark.slow
def test_what_the_page_says_works_from_an_empty_folder(tmp_path: Path) -> None:
    """Clone, then the commands and the Python of the page, in their order, in the environment that they make."""
    folder = tmp_path / "project"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    environment_of(folder)
    (folder / "small.yaml").write_text(SMALL)
    (folder / "queries.csv").write_text("1,0,0,0\n1,1,0,0\n1,1,1,0\n")
    (folder / "counts.csv").write_text("40\n30\n20\n10\n")
    page = "\n".join((folder / name).read_text(encoding="utf-8") for name in ("README.md", "docs/start.md"))
    listed = set(re.findall(r"^([a-z-]+) +\S", typed(folder, "make help"), flags=re.MULTILINE))
    code = " ".join(re.findall(r"`[^`]*`|^make .*$", page, flags=re.MULTILINE))
    assert set(re.findall(r"\bmake\s+([a-z-]+)", code)) <= listed
    for command in dict.fromkeys(commands(page)):
        active = f". .venv/bin/activate; {command}" if command.split()[0] in ("factormech", "snakemake") else command
        typed(folder, INSTEAD.get(command, active))
    for made in ("figures/first.svg", "figures/quick/first.svg", "results/tables/first.csv", "Q.h5"):
        assert (folder / made).stat().st_size > 0, made
    typed(folder, "make report CONFIG=small.yaml")
    assert "A small study." in (folder / "results/report.html").read_text(encoding="utf-8")
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)):
        (folder / f"example_{number}.py").write_text(code)
        typed(folder, f". .venv/bin/activate; python example_{number}.py")
    targets = sorted(set(re.findall(r"`snakemake ([a-z0-9-]+)`", page)))
    assert targets
    typed(folder, f". .venv/bin/activate; snakemake {' '.join(targets)} --dry-run --quiet all")
