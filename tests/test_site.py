"""The site: its reference has every public name, its pages are in a section, and the tables of statements are right."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import factormech

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "tools"))
statements = pytest.importorskip("statements")


def test_the_reference_has_every_public_name() -> None:
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(set(factormech.__all__) - {"__version__"})


def test_every_page_is_in_a_section() -> None:
    """A page that no table of contents has is found by nobody; the build with warnings as errors refuses it, too."""
    listed = {DOCS / "index.md"}
    for page in DOCS.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / f"{name}.md").resolve() for name in names}
    pages = {path for path in DOCS.rglob("*.md") if "_build" not in path.parts}
    assert pages - listed == set()


def test_statements_that_a_text_names() -> None:
    text = "Theorem 3.4, Corollaries 5.3, 5.4 and Lemmas 45 to 47, Lemmas 60–61; Figure 3a (Definitions 49 and 55)"
    assert [name for name, _ in statements.mentions(text)] == [
        *(
            "Theorem 3.4",
            "Corollary 5.3",
            "Corollary 5.4",
            "Lemma 45",
            "Lemma 46",
            "Lemma 47",
            "Lemma 60",
            "Lemma 61",
            "Figure 3",
        ),
        *("Definition 49", "Definition 55"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Liu, Upadhyay & Zou (ICLR 2025), Lemma 11, unlike Edmonds, Nikolov & Ullman (STOC 2020)",
            {("liu2024", "Lemma 11")},
        ),
        ("Lemma 4.4 of Nikolov (SODA 2023)", {("nikolov2023", "Lemma 4.4")}),
        ("Lemma 13 of Nikolov & Tang, not of any of the five", {("liu2024", "Lemma 13")}),  # by the module's papers
        ("Vadhan 2017, Lemma 2.2", set()),
        ("Theorem 29", {("edmonds2023", "Theorem 29")}),
        ("Theorem 1000", set()),
    ],
)
def test_a_statement_is_the_nearest_papers(text: str, expected: set[tuple[str, str]]) -> None:
    known = yaml.safe_load((DOCS / "papers/statements.yaml").read_text())
    assert set(statements.attributed(text, known, ["liu2024", "edmonds2023"])) == expected


def test_the_tables_of_statements_are_current_and_complete() -> None:
    """Every statement is in the table or in the list of those that nothing names."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/statements.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    for paper, listed in yaml.safe_load((DOCS / "papers/statements.yaml").read_text()).items():
        page = (DOCS / f"papers/{paper}.md").read_text().partition("<!-- statements")[2]
        rows = re.findall(r"^\| ([A-Z]\w+ [\d.]+) \|", page, re.MULTILINE)
        (missing,) = re.findall(r"no study and no claim: (.*)\.$", page, re.MULTILINE)
        assert sorted([*rows, *missing.split(", ")]) == sorted(listed)
        assert len(rows) > len(listed) / 4


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Every notebook runs, and every link between pages leads somewhere."""
    build = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-q",
        "-W",
        "--keep-going",
        str(DOCS),
        str(tmp_path / "html"),
    ]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    index = (tmp_path / "html/searchindex.js").read_text()
    assert all(
        page in index for page in ("how-to/figure-1", "api/factormech.plan", "papers/nikolov2023", "gallery/README")
    )
    assert list((tmp_path / "html/_images").glob("*.png"))  # the figures of the notebooks
