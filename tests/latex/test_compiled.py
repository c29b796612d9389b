"""Every table in one document: those of the last quick run, and those made of the gallery's CSV files.

``make test-latex`` runs this after ``make quick``. In CI a missing LaTeX is an error; elsewhere the tests are skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from factormech.tables import kinds

ROOT = Path(__file__).resolve().parents[2]
GALLERY, QUICK = ROOT / "docs" / "gallery", ROOT / "results" / "tables" / "quick"
NO_TABLE = {"claims", "jobs", "run", "times"}
ABSENT = [name for name in ("pdflatex", "pdftotext") if shutil.which(name) is None]
pytestmark = [
    pytest.mark.latex,
    pytest.mark.skipif(
        bool(ABSENT) and "CI" not in os.environ,
        reason=f"not installed: {', '.join(ABSENT)} (tools/ci_packages.sh installs them)",
    ),
]
# Wider than this, in points, a line is seen to leave its column.
MOST_OVERFULL = 5.0


@pytest.fixture(scope="module")
def tables() -> dict[str, str]:
    """The LaTeX of every table, by the name of its file."""
    assert not ABSENT, f"not installed: {', '.join(ABSENT)}"
    found = {
        path.stem: kinds.latex(kinds.read_csv(path))
        for path in sorted(GALLERY.glob("*.csv"))
        if path.stem not in NO_TABLE
    }
    quick = {f"quick-{path.stem}": path.read_text() for path in sorted(QUICK.glob("*.tex"))}
    if not quick and "CI" in os.environ:
        pytest.fail(f"no tables in {QUICK}: run 'make quick' first")
    return found | quick


@pytest.fixture(scope="module")
def compiled(tables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the document, compiled."""
    return compile_document(tables, tmp_path_factory.mktemp("tables"))


def compile_document(tables: dict[str, str], folder: Path, options: str = "", preamble: str = "") -> Path:
    """Compile one article, of one column, that inputs all these files; an error of LaTeX fails the test."""
    for name, text in tables.items():
        (folder / f"{name}.tex").write_text(text)
    inputs = "\n".join(f"\\typeout{{table {name}}}\\input{{{name}.tex}}\\clearpage" for name in tables)
    (folder / "all.tex").write_text(
        f"\\documentclass{options}{{article}}\n\\usepackage{{booktabs,siunitx}}\n{preamble}"
        f"\\begin{{document}}\n{inputs}\n\\end{{document}}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    run = subprocess.run(command, cwd=folder, capture_output=True, timeout=600, check=False)
    said = run.stdout.decode("utf-8", "replace")
    assert run.returncode == 0, "\n".join(line for line in said.splitlines() if line[:1] in "!l")[-2000:]
    return folder


def complaints(folder: Path) -> Iterator[str]:
    """What of the log a reader would see: lines out of their column, floats out of their page, characters lost."""
    name = ""
    log = (folder / "all.log").read_text(errors="replace")
    pattern = (
        r"^table (\S+)|^Overfull \\[hv]box \(([\d.]+)pt too|Float too large for page by ([\d.]+)pt|Missing character"
    )
    for found in re.finditer(pattern, log, re.MULTILINE):
        if found[1]:
            name = found[1]
        elif not found[2] or float(found[2]) > MOST_OVERFULL:
            yield f"{name}: {found[0]}"


def text_of(folder: Path) -> str:
    command = ["pdftotext", "-layout", "all.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout.decode()


def test_nothing_leaves_its_column_or_page(compiled: Path) -> None:
    assert list(complaints(compiled)) == []


def test_every_table_is_printed(compiled: Path, tables: dict[str, str]) -> None:
    floats = sum(text.count("\\begin{table}") for text in tables.values())
    assert len(re.findall(r"^\s*Table \d+:", text_of(compiled), re.MULTILINE)) == floats


def test_no_source_is_printed(compiled: Path) -> None:
    text = text_of(compiled)
    for piece in ("[U+", "textbackslash", "\\", "e+1", "e-1", "table-format", "bfseries", "\ufffd"):
        assert piece not in text, piece


@pytest.mark.parametrize(
    ("planted", "says"),
    [
        ("\\noindent\\hbox to 400pt{wide\\hfil}\\par", "Overfull"),
        ("\\begin{table}\\vrule height 900pt\\end{table}", "Float too large"),
    ],
)
def test_a_planted_fault_is_found(tmp_path: Path, planted: str, says: str) -> None:
    folder = compile_document({"planted": planted}, tmp_path)
    assert any(re.search(says, text) for text in complaints(folder))
