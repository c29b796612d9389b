"""What the pages tell a reader to type does what they say."""

from __future__ import annotations

import doctest
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

import factormech
from factormech.config.studies import load

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"])
OPTIMAL = (ROOT / "docs" / "optimal-strategies.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    """The code of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def anchor(heading: str) -> str:
    """The anchor that a heading has."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, place in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), target
        if place:
            headings = re.findall(r"^#+ (.*)$", there.read_text(), flags=re.MULTILINE)
            named = re.findall(r'<a id="([^"]+)"></a>', there.read_text())
            assert place in {*map(anchor, headings), *named}, place
    for target in re.findall(r'(?:href|src)="([^":#]*)"', page.read_text()):
        assert (page.parent / target).exists(), target


def test_studies_that_the_page_of_tables_names_exist() -> None:
    """Names in back ticks that could be a study's are one's; those of chapter 7 come with its room."""
    page = (ROOT / "docs" / "edmonds-tables.md").read_text()
    named = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", page))
    assert "pan-private" in named
    known = set(yaml.safe_load((ROOT / "config.yaml").read_text())["studies"])
    assert named <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_pages_name_exist(page: Path) -> None:
    """Paths with a folder, in back ticks; relative to the project, the package or its rooms."""
    for name in re.findall(r"`([a-z_]+/[\w/]+\.(?:py|smk|yaml))`", page.read_text()):
        if "mine" in name or "windows" in name:
            continue  # the reader's own
        assert any((folder / name).exists() for folder in (ROOT, ROOT / "src" / "factormech")), name


def test_modules_that_pages_name_without_a_folder_exist() -> None:
    """A module that was moved or renamed leaves its old name behind in the text; names of the reader's own stay."""
    own = {"windows.py", "coins.py", "mine.py", "noise_per_query.py"}
    folders = [ROOT / name for name in ("src", "tools", "tests", "benchmarks", "examples")]
    there = own | {path.name for folder in folders for path in folder.rglob("*.py")}
    pages = {page: re.findall(r"`([a-z_]+\.py)`", page.read_text()) for page in PAGES}
    gone = {(page.name, name) for page, named in pages.items() for name in named if name not in there}
    assert not gone
    assert sum(map(len, pages.values())) > 10


def test_the_certificate_of_the_page_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    making = next(code for code in blocks(OPTIMAL, "python") if "rational.certify" in code)
    monkeypatch.chdir(tmp_path)
    exec(compile(making, "docs/optimal-strategies.md", "exec"), {})  # noqa: S102
    tool = str(ROOT / "tools" / "verify_certificate.py")
    monkeypatch.setattr("sys.argv", [tool, "prefix-8.json"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(tool, run_name="__main__")
    assert ended.value.code == 0
    said = float(capsys.readouterr().out.rsplit(" ", 1)[1])
    page = re.search(r"holds: average variance per user >= (\S+)", OPTIMAL)
    assert page is not None
    assert said == pytest.approx(float(page[1]), rel=1e-9)


def test_the_study_of_the_page_may_be_asked_for() -> None:
    (study,) = blocks(OPTIMAL, "yaml")
    config = load(yaml.safe_load(study), ROOT / "workflow" / "schemas" / "config.schema.yaml", base=ROOT)
    assert config.study("worst-case").asked["options"] == {"optimised": {"objective": "worst", "effort": "best"}}


def test_the_options_of_the_page_are_those_of_the_registry() -> None:
    from factormech.mechanisms.local.registry import solver_of

    table = OPTIMAL.split("| option | values | meaning |")[1].split("\n\n")[0]
    told = {row[0]: set(re.findall(r"`(\w+)`", row[1])) for row in re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.M)}
    assert told == {name: set(option.words) for name, option in solver_of("optimised").options.items()}


def test_the_python_of_the_page_runs() -> None:
    code = next(code for code in blocks(OPTIMAL, "python") if "restore" in code)
    names: dict[str, Any] = {}
    exec(compile(code.replace('"prefix", 16', '"prefix", 6'), "docs/optimal-strategies.md", "exec"), names)  # noqa: S102
    assert names["solution"].record["gap"] < 1e-5
    assert names["strategy"].privacy_loss <= 1.0


@pytest.mark.slow
def test_the_page_on_python_says_what_python_says() -> None:
    """Every block, one after the other, as a reader types them; and every public name is on the page."""
    page = (ROOT / "docs" / "python.md").read_text()
    code = "\n".join(blocks(page, "python"))
    assert len(blocks(page, "python")) >= 10
    test = doctest.DocTestParser().get_doctest(code, {}, "python.md", "docs/python.md", 0)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0
    assert all(f"`{name}`" in page for name in factormech.__all__ if name != "__version__")


def test_the_lines_of_python_in_the_readme_run() -> None:
    code = blocks((ROOT / "README.md").read_text(), "python")[0]
    assert len([line for line in code.splitlines() if line and not line.startswith("import")]) == 3
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
