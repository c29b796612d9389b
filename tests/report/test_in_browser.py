"""The report of a quick run, in a browser: figures and plots are shown, tables sort, nothing is asked of a network.

``make test-report`` writes the report of the last ``make quick`` and runs this. In CI a missing browser is an error.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factormech.cli.main import main
from tests.report import browser as browsers

ROOT = Path(__file__).resolve().parents[2]
REPORT = Path(os.environ.get("FACTORMECH_REPORT", ROOT / "results/quick/report.html"))
MISSING = browsers.missing()
pytestmark = [
    pytest.mark.report,
    pytest.mark.skipif(bool(MISSING) and "CI" not in os.environ, reason=MISSING or "a browser is there"),
]
# Written by tools/ci_packages.sh; another file of it may be named.
AXE = Path(os.environ.get("FACTORMECH_AXE", "/usr/local/share/axe-core/axe.min.js"))
DESK, PHONE = (1280, 900), (390, 844)
# Show an article whole: its pictures, tables and plot are there when the promise is kept.
OPEN = (
    "const open = async (id) => {"
    "  location.hash = '#' + id; await show();"
    "  const article = document.getElementById(id); await build(article); return article;"
    "};"
)
SORT_ALL = OPEN + (Path(__file__).parent / "sort_all.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page() -> Iterator[browsers.Browser]:
    assert not MISSING, MISSING
    if not REPORT.exists():
        pytest.fail(f"no report at {REPORT}: run 'make quick', then 'make test-report'")
    with browsers.browser() as browser:
        browser.call("POST", "url", {"url": "about:blank"})
        browser.requests(), browser.log("browser")  # of the browser's own first page
        browser.open(REPORT)
        yield browser


def studies() -> list[str]:
    """The studies whose quick figures were drawn."""
    return sorted(path.stem for path in (ROOT / "figures/quick").glob("*.svg"))


def test_every_figure_is_shown_with_its_caption(page: browsers.Browser) -> None:
    shown = page.run(
        "return Promise.all([...document.querySelectorAll('article.study')].map(async (article) => {"
        "  await build(article);"
        "  const image = article.querySelector('figure img');"
        "  await image.decode();"
        "  const said = [...article.querySelectorAll('figcaption p')].map((p) => p.textContent.trim()).join(' ');"
        "  return [image.dataset.file, image.naturalWidth, said];"
        "}))"
    )
    captions = {Path(file).stem: caption for file, _, caption in shown}
    assert all(width > 0 for _, width, _ in shown)
    assert len(captions) == len(shown) > 0
    if REPORT.is_relative_to(ROOT):
        assert sorted(captions) == studies()
        for name, caption in captions.items():
            written = [ROOT / f"figures/quick/{name}.{kind}" for kind in ("txt", "notes.txt")]
            assert caption.split() == " ".join(path.read_text(encoding="utf-8") for path in written).split()


def test_the_first_page_says_what_the_run_is_of(page: browsers.Browser) -> None:
    said = page.run(OPEN + "return (await open('overview')).textContent;")
    assert "Factorization mechanisms for linear queries" in said
    assert "stand-in" in said  # whether there are any


def test_every_table_sorts_by_every_column(page: browsers.Browser) -> None:
    for study in page.run("return [...document.querySelectorAll('article.study')].map((article) => article.id)"):
        counts, wrong = page.run(SORT_ALL, study)
        assert wrong == []
        assert counts["tables"] > 0, study
        assert counts["columns"] > 2 * counts["tables"], study


def test_a_table_is_the_file_and_its_filter_leaves_what_it_says(page: browsers.Browser) -> None:
    name, column, value, before, after, said = page.run(
        OPEN + "const study = await open(document.querySelector('article.study').id);"
        "const table = study.querySelector('.table table'), rows = () => [...table.tBodies[0].rows];"
        "const heads = [...table.tHead.rows[0].cells];"
        "const i = heads.findIndex((head) => head.className === '');"
        "const value = rows()[0].cells[i].textContent, before = rows().length;"
        "const filter = study.querySelector('.tools input[type=search]');"
        "filter.value = value; filter.dispatchEvent(new Event('input'));"
        "const after = rows().map((row) => row.textContent);"
        "const said = study.querySelector('.table .tools span').textContent;"
        "filter.value = ''; filter.dispatchEvent(new Event('input'));"
        "return [study.querySelector('.table').dataset.file, heads[i].textContent, value, before, after, said];"
    )
    assert 0 < len(after) <= before, (name, column)
    assert all(value.lower() in row.lower() for row in after)
    assert said == f"{len(after)} of {before} rows"
    if REPORT.is_relative_to(ROOT):
        stored = page.run("return unpacked(document.querySelector('.table script'))")
        assert stored == (ROOT / "results/tables/quick" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_nothing_is_wider_than_the_window(page: browsers.Browser, size: tuple[int, int]) -> None:
    page.resize(*size)
    wide = page.run(
        OPEN + "const wide = [];"
        "for (const article of document.querySelectorAll('article')) {"
        "  await open(article.id);"
        "  if (document.documentElement.scrollWidth > innerWidth) wide.push(article.id);"
        "}"
        "return wide;"
    )
    assert wide == []


def test_every_point_of_a_plot_is_a_row_of_its_table(page: browsers.Browser) -> None:
    """The plots show what has a number, at places in the order of the numbers."""
    page.resize(*DESK)
    for name in page.run("return [...document.querySelectorAll('article.study')].map((article) => article.id)"):
        plots, points, rows, wrong = page.run(
            OPEN + "const article = await open(arguments[0]);"
            "const made = article.plotted, wrong = [];"
            "for (const point of made.points) {"
            "  if (made.rows[point.index] !== point.row) wrong.push(point.index);"
            "}"
            "const shown = [...made.chosen().values()].flat();"
            "shown.sort((a, b) => a.y - b.y);"
            "for (let i = 1; i < shown.length; i++) {"
            "  if (made.y.at(shown[i - 1].y) < made.y.at(shown[i].y) - 1e-9) wrong.push([shown[i - 1].y, shown[i].y]);"
            "}"
            "const numbers = made.rows.filter((row) => Number.isFinite(numberOf(made.text(row, made.spec.y))));"
            "return [article.querySelectorAll('.panel').length, made.points.length, numbers.length, wrong];",
            name,
        )
        assert plots > 0, name
        assert 0 < points <= rows, name
        assert wrong == [], name


def test_a_point_shows_its_row_and_what_stands_behind_it(page: browsers.Browser) -> None:
    """With a pointer and with the keyboard."""
    page.resize(*DESK)
    tip, said, details, commands, focused = page.run(
        OPEN + "const article = await open(document.querySelector('article.study').id);"
        "const plot = article.plotted, svg = article.querySelector('.panel'), box = svg.getBoundingClientRect();"
        "const points = [...plot.chosen().values()][0], point = points[0], scale = box.width / 380;"
        "const at = { clientX: box.left + plot.x.at(point.x) * scale, clientY: box.top + plot.y.at(point.y) * scale };"
        "svg.dispatchEvent(new PointerEvent('pointermove', at));"
        "const tip = article.querySelector('.tip'), shown = !tip.hidden && tip.textContent;"
        "const near = plot.current;"
        "const said = near.row.filter((value, i) => value && plot.header[i] === plot.spec.y).map(shortNumber);"
        "svg.focus();"
        "for (const key of ['ArrowRight', 'ArrowLeft', 'Enter']) {"
        "  svg.dispatchEvent(new KeyboardEvent('keydown', { key }));"
        "}"
        "const details = article.querySelector('.details');"
        "const commands = [...details.querySelectorAll('pre')].map((pre) => pre.textContent);"
        "return [shown, said, details.textContent, commands, details.contains(document.activeElement)];"
    )
    assert tip
    assert all(number in tip for number in said)
    assert "Claims that use this row" in details
    assert "results/parts/" in details
    assert any(command.startswith("factormech trace ") for command in commands)
    assert focused


def test_the_commands_of_a_point_are_answered(page: browsers.Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page tells its reader to type, typed: the trace of a point, and the verification of a strategy."""
    if not REPORT.is_relative_to(ROOT):
        pytest.skip("the report of another run")
    monkeypatch.chdir(ROOT)
    commands = page.run(
        OPEN + "const found = [];"
        "for (const { id } of document.querySelectorAll('article.study')) {"
        "  const article = await open(id), plot = article.plotted;"
        "  const point = plot.points.find(({ row }) => plot.behind.parts[plot.text(row, 'origin')]?.solved.length);"
        "  if (!point) continue;"
        "  plot.open(point);"
        "  found.push(...[...article.querySelectorAll('.details pre')].map((pre) => pre.textContent));"
        "  if (found.length > 2) break;"
        "}"
        "return found;"
    )
    kinds = {" ".join(command.split()[:3]) for command in commands}
    assert "factormech strategy verify" in kinds
    for command in commands[:6]:
        assert main(shlex.split(command)[1:]) == 0, command


def test_claims_are_found_and_lead_to_their_studies(page: browsers.Browser) -> None:
    total, left, target, shown = page.run(
        OPEN + "const article = await open('claims');"
        "const rows = () => [...article.querySelectorAll('tbody tr:not([hidden])')];"
        "const total = rows().length, find = article.querySelector('#find-claim');"
        "find.value = rows()[3].querySelector('td.words').firstChild.textContent.trim();"
        "find.dispatchEvent(new Event('input'));"
        "const left = rows().length;"
        "find.value = ''; find.dispatchEvent(new Event('input'));"
        "location.hash = '#' + rows()[5].id; await show();"
        "const target = document.querySelector('tr:target').id === rows()[5].id;"
        "return [total, left, target, !article.hidden];"
    )
    assert total > 100
    assert 1 <= left < 5
    assert target
    assert shown


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_rule_of_accessibility_is_broken_seriously(
    page: browsers.Browser, size: tuple[int, int], theme: str
) -> None:
    """By axe-core, on the first pages and some of the studies: all have the same parts. What is hidden is left out."""
    if not AXE.is_file():
        assert "CI" not in os.environ, f"no axe-core at {AXE} (tools/ci_packages.sh installs it)"
        pytest.skip(f"no axe-core at {AXE}")
    page.resize(*size)
    page.run(AXE.read_text(encoding="utf-8") + "; return 0;")
    page.run("setTheme(arguments[0] === 'dark')", theme)
    names = page.run("return [...document.querySelectorAll('article')].map((article) => article.id)")
    for name in [*names[:3], *(names[3::8] if (size, theme) == (DESK, "light") else [])]:
        broken = page.run(
            OPEN + "const article = await open(arguments[0]);"
            "if (article.plotted) article.plotted.open(article.plotted.points[0]);"
            "const shown = { exclude: [['article[hidden]']] };"
            "const found = await axe.run(shown, { resultTypes: ['violations'] });"
            "return found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')"
            "  .map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html.slice(0, 200))]);",
            name,
        )
        assert broken == [], name
    page.run("setTheme(false)")


def test_a_broken_rule_of_accessibility_would_be_seen(tmp_path: Path) -> None:
    """A picture without words and pale text are violations that the test before looks for."""
    if not AXE.is_file():
        pytest.skip(f"no axe-core at {AXE}")
    path = tmp_path / "page.html"
    pale = "<p style='color: #bbb; background: #fff'>pale words</p><img src='data:,'>"
    path.write_text(f"<!doctype html><html lang='en'><title>x</title><main><h1>x</h1>{pale}</main>")
    with browsers.browser() as browser:
        browser.open(path)
        browser.run(AXE.read_text(encoding="utf-8") + "; return 0;")
        found = browser.run("return (await axe.run(document)).violations.map(({ id, impact }) => [id, impact])")
    assert ["color-contrast", "serious"] in found
    assert ["image-alt", "critical"] in found


def test_figures_say_in_words_what_they_show(page: browsers.Browser) -> None:
    said = page.run("return [...document.querySelectorAll('article.study img')].map((image) => image.alt)")
    assert len(set(said)) == len(said)
    assert all(re.search(r"from \S+ to \S+, against \w", text) for text in said)


def test_the_page_is_small() -> None:
    """With all studies of a full run it is of about six megabytes; a quick run's tables are smaller."""
    assert REPORT.stat().st_size < 12e6


def test_studies_are_found_and_one_is_shown_at_a_time(page: browsers.Browser) -> None:
    page.resize(1400, 900)
    counts = page.run(
        "const find = document.querySelector('#find');"
        "const shown = () => document.querySelectorAll('#contents li:not([hidden])');"
        "const all = shown().length, link = shown()[0].querySelector('a');"
        "find.value = link.textContent; find.dispatchEvent(new Event('input'));"
        "const found = shown().length;"
        "find.value = ''; find.dispatchEvent(new Event('input'));"
        "link.click(); await show();"
        "return [all, found, document.querySelectorAll('article:not([hidden])').length];"
    )
    assert counts[0] > counts[1] >= counts[2] == 1


def test_files_are_saved_under_their_names(page: browsers.Browser, tmp_path: Path) -> None:
    allowed = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.call("POST", "goog/cdp/execute", {"cmd": "Page.setDownloadBehavior", "params": allowed})
    names = page.run(
        OPEN + "const study = await open(document.querySelector('article.study').id);"
        "for (const button of study.querySelectorAll('button')) if (/^Save/.test(button.textContent)) button.click();"
        "return [...study.querySelectorAll('[data-file]')].map((holder) => holder.dataset.file);"
    )
    wait_for(lambda: {path.name for path in tmp_path.iterdir()} == set(names))
    if REPORT.is_relative_to(ROOT):
        for name in names:
            folder = "figures/quick" if name.endswith(".svg") else "results/tables/quick"
            assert (tmp_path / name).read_bytes() == (ROOT / folder / name).read_bytes()


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait for a download, ten seconds at most."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_console_is_silent_and_nothing_is_requested(page: browsers.Browser) -> None:
    """Last, so that all that the tests before did has been logged."""
    assert [entry["message"] for entry in page.log("browser")] == []
    requested = page.requests()
    assert any(url.startswith("file:") for url in requested)
    assert [url for url in requested if not url.startswith(("file:", "data:", "blob:"))] == []
    assert [url for url in requested if url.startswith("file:")] == [REPORT.resolve().as_uri()]


def test_a_request_would_be_seen(tmp_path: Path) -> None:
    """The logs that the test before reads do have what it looks for."""
    assert not MISSING, MISSING
    path = tmp_path / "page.html"
    path.write_text(
        "<!doctype html><title>x</title><img src='http://127.0.0.1:9/x.png'><script>console.warn(1)</script>"
    )
    with browsers.browser() as browser:
        browser.open(path)
        assert "http://127.0.0.1:9/x.png" in browser.requests()
        assert any(entry["level"] == "WARNING" for entry in browser.log("browser"))
        assert math.isclose(browser.run("return 1"), 1)
