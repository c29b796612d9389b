"""What ``factormech paper`` writes, compiled: the example's manuscript, and captions and tables of every study."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from factormech.cli.main import main
from factormech.config.studies import load_file
from factormech.manuscript import export
from factormech.tables import kinds
from tests.latex.test_compiled import ABSENT, compile_document, complaints, pytestmark, text_of

__all__ = ["pytestmark"]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "paper"
COLUMNS = "\\usepackage[letterpaper,textwidth=7in,textheight=9in,columnsep=0.34in]{geometry}\n"


def commands() -> list[list[str]]:
    """The command lines of the example's page."""
    found = re.findall(r"^factormech (paper .*)$", (EXAMPLE / "README.md").read_text(), re.MULTILINE)
    return [line.split() for line in found]


def manuscript(folder: Path, tables: Path) -> str:
    """The text of the example's manuscript, made as its page says from the tables of a folder."""
    assert not ABSENT, f"not installed: {', '.join(ABSENT)}"
    shutil.copy(EXAMPLE / "manuscript.tex", folder / "all.tex")
    for words in commands():
        words[words.index("--config") + 1] = str(ROOT / "config.yaml")
        assert main([*words, "--table", str(tables / f"{words[1]}.csv"), "--out", str(folder / "paper")]) == 0
    for command in ("pdflatex -halt-on-error", "bibtex", "pdflatex", "pdflatex"):
        words = [*command.split(), *(["-interaction=nonstopmode"] if "pdf" in command else []), "all"]
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout[-2000:].decode("utf-8", "replace")
    # Without -layout: column after column, as it is read.
    read = subprocess.run(["pdftotext", "all.pdf", "-"], cwd=folder, capture_output=True, check=True)
    return " ".join(read.stdout.decode().split())


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("manuscript")
    return folder, manuscript(folder, ROOT / "docs" / "gallery")


def macros(folder: Path) -> dict[str, str]:
    """The macros of all studies in a folder, and what they print."""
    found = {}
    for path in (folder / "paper").glob("*-numbers.tex"):
        found |= dict(re.findall(r"\\newcommand\{(\\fm\w+)\}\{\\num\{([^}]*)\}\}", path.read_text()))
    return found


def test_the_manuscript_is_whole(printed: tuple[Path, str]) -> None:
    folder, text = printed
    assert list(complaints(folder)) == []
    log = (folder / "all.log").read_text(errors="replace")
    assert "undefined" not in log
    assert all(piece not in text for piece in ("??", "[?]", "\\", "fmFigure", "newcommand"))
    assert len(set(re.findall(r"(?:Figure|Table) \d+:", text))) >= 4


def test_no_number_of_a_table_is_typed(printed: tuple[Path, str]) -> None:
    """The manuscript's own text has no number but that of its own words; every macro of it is defined and printed."""
    folder, text = printed
    body = (EXAMPLE / "manuscript.tex").read_text().split("\\maketitle")[1]
    named = re.findall(r"\\fm[A-Za-z]+", body)
    defined = macros(folder)
    assert len(named) >= 8
    assert set(named) <= set(defined)
    squeezed = re.sub(r"\s", "", text)
    assert all(defined[name] in squeezed for name in named)
    words = re.sub(r"\\(?:ref|cite|input|bibliography)\{[^}]*\}|\\fm\w+", "", body)
    assert re.findall(r"\d+", words) == ["1"]  # "at sensitivity 1"


def test_a_change_of_the_table_changes_macros_and_pdf(printed: tuple[Path, str], tmp_path: Path) -> None:
    """The noise of one study is made larger by half; the other study stays."""
    folder, text = printed
    tables = tmp_path / "tables"
    tables.mkdir()
    for path in (ROOT / "docs" / "gallery").glob("mckenna2020-figure-1*.csv"):
        shutil.copy(path, tables)
    frame = kinds.read_csv(ROOT / "docs" / "gallery" / "gaussian-calibration.csv")
    larger = {name: frame[name] * 1.5 for name in ("sigma", "analytic_sigma")}
    kinds.write_csv(frame.assign(**larger), tables / "gaussian-calibration.csv")
    changed = manuscript(tmp_path, tables)
    before, after = macros(folder), macros(tmp_path)
    largest = "\\fmGaussianCalibrationAnalyticMaxSigma"
    assert float(after[largest]) == pytest.approx(1.5 * float(before[largest]), rel=1e-3)
    assert f"to {before[largest]} at sensitivity" in text
    assert f"to {after[largest]} at sensitivity" in changed
    same = [name for name in before if name.startswith("\\fmFigureOne")]
    assert {name: before[name] for name in same} == {name: after[name] for name in same}
    assert all(before[name] == after[name] for name in before if "Epsilon" in name or "Delta" in name)


@pytest.mark.parametrize("width", [3.33, 7.0])
def test_captions_and_tables_of_every_study_fit(width: float, tmp_path: Path) -> None:
    """Figures are boxes here, of this width: all else is what is printed."""
    config = load_file(ROOT / "config.yaml", ROOT / "workflow/schemas/config.schema.yaml")
    texts: dict[str, str] = {}
    for name, study in config.studies.items():
        source = ROOT / "docs" / "gallery" / f"{name}.csv"
        if source.is_file():
            made = export.texts(study, kinds.read_csv(source), source, width)
            texts |= {f"{name}-{i}": made[f"{name}-{i}.tex"] for i in ("numbers", "figure", "table")}
    assert len(texts) > 180
    preamble = (
        COLUMNS + f"\\usepackage{{graphicx}}\n\\renewcommand\\includegraphics[2][]{{\\rule{{{width}in}}{{1in}}}}\n"
    )
    folder = compile_document(texts, tmp_path, "[twocolumn]", preamble)
    assert list(complaints(folder)) == []
    text = text_of(folder)
    assert all(piece not in text for piece in ("[U+", "textbackslash", "\\", "fmFig", "FMNUMBER", "\ufffd"))
