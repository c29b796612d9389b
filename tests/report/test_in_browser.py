"""The report of a quick run, in a browser: figures are shown, tables sort and filter, nothing is asked of a network.

``make test-report`` writes the report of the last ``make quick`` and runs this. In CI a missing browser is an error.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.report import browser as browsers

ROOT = Path(__file__).resolve().parents[2]
REPORT = Path(os.environ.get("FACTORMECH_REPORT", ROOT / "results/quick/report.html"))
MISSING = browsers.missing()
pytestmark = [
    pytest.mark.report,
    pytest.mark.skipif(bool(MISSING) and "CI" not in os.environ, reason=MISSING or "a browser is there"),
]
SORT_ALL = (Path(__file__).parent / "sort_all.js").read_text(encoding="utf-8")


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


def test_every_table_sorts_by_every_column(page: browsers.Browser) -> None:
    for study in page.run("return [...document.querySelectorAll('article.study')].map((article) => article.id)"):
        counts, wrong = page.run(SORT_ALL, study)
        assert wrong == []
        assert counts["tables"] > 0, study
        assert counts["columns"] > 2 * counts["tables"], study


def test_a_table_is_the_file_and_its_filter_leaves_what_it_says(page: browsers.Browser) -> None:
    name, column, value, before, after, said = page.run(
        "const study = document.querySelector('article.study');"
        "location.hash = '#' + study.id; dispatchEvent(new HashChangeEvent('hashchange'));"
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
        stored = page.run("return JSON.parse(document.querySelector('.table script').textContent)")
        assert stored == (ROOT / "results/tables/quick" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_is_wider_than_the_window(page: browsers.Browser, width: int) -> None:
    page.resize(width, 900)
    wide = page.run(
        "const wide = [];"
        "for (const article of document.querySelectorAll('article')) {"
        "  location.hash = '#' + article.id; dispatchEvent(new HashChangeEvent('hashchange'));"
        "  if (document.documentElement.scrollWidth > innerWidth) wide.push(article.id);"
        "}"
        "return wide;"
    )
    assert wide == []


def test_studies_are_found_and_one_is_shown_at_a_time(page: browsers.Browser) -> None:
    page.resize(1400, 900)
    counts = page.run(
        "const find = document.querySelector('#find');"
        "const shown = () => document.querySelectorAll('#contents li:not([hidden])');"
        "const all = shown().length, link = shown()[0].querySelector('a');"
        "find.value = link.textContent; find.dispatchEvent(new Event('input'));"
        "const found = shown().length;"
        "find.value = ''; find.dispatchEvent(new Event('input'));"
        "link.click(); dispatchEvent(new HashChangeEvent('hashchange'));"
        "return [all, found, document.querySelectorAll('article:not([hidden])').length];"
    )
    assert counts[0] > counts[1] >= counts[2] == 1


def test_files_are_saved_under_their_names(page: browsers.Browser, tmp_path: Path) -> None:
    allowed = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.call("POST", "goog/cdp/execute", {"cmd": "Page.setDownloadBehavior", "params": allowed})
    names = page.run(
        "const study = document.querySelector('article.study');"
        "location.hash = '#' + study.id; dispatchEvent(new HashChangeEvent('hashchange'));"
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
