"""The page of a report, without a browser and without Snakemake."""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "workflow" / "reporter"))
page = pytest.importorskip("snakemake_report_plugin_factormech.page")
times = pytest.importorskip("snakemake_report_plugin_factormech.times")

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
CSV = 'a,b\n1,"</script><script>alert(1)</script>"\n'


def study(name: str, paper: str) -> object:
    figure = page.Figure(f"{name}.svg", SVG, "<p>What <em>it</em> shows.</p>", "What it shows, a < b.")
    table = page.Table(f"{name}.csv", CSV, "<p>Its numbers.</p>")
    made_with = {"factormech": "1", "code": name}
    plot = {"plot": "<of it>"}
    return page.Study(name, paper, "Figure 1", "A < B", [figure], [table], made_with, "kind: timing\n", plot=plot)


def rendered(*studies: object) -> str:
    jobs = [page.Jobs("draw", 2, 3.0, 2.5)]
    return str(page.render(title="Report", description="<h1>What</h1>", studies=studies, jobs=jobs))


def test_files_are_in_the_page_as_they_are() -> None:
    html = rendered(study("quick/one", "p"))
    picture, plot, table = (
        gzip.decompress(base64.b64decode(text))
        for text in re.findall(r'<script type="text/plain">([^<]*)</script>', html)
    )
    assert picture == SVG
    assert json.loads(plot) == {"plot": "<of it>"}
    assert table.decode() == CSV
    assert 'alt="What it shows, a &lt; b."' in html
    assert "<p>What <em>it</em> shows.</p>" in html
    assert 'id="quick-one"' in html
    assert 'href="#quick-one"' in html


def test_only_captions_are_markup() -> None:
    html = rendered(study("one", "p"))
    assert "A &lt; B" in html
    assert "A < B" not in html
    assert "<script>alert" not in html


def test_papers_keep_the_order_of_their_first_studies() -> None:
    html = rendered(study("one", "zebra"), study("two", "ant"), study("three", "zebra"))
    contents = html[: html.index("<main>")]
    assert re.findall(r"<h2>(\w+)</h2>", contents) == ["zebra", "ant"]
    assert re.findall(r'<li><a href="#(\w+)">', contents) == ["one", "three", "two"]
    assert re.findall(r'<article id="(\w+)" class="study">', html) == ["one", "three", "two"]


def test_studies_of_the_same_libraries_name_them_once() -> None:
    overview = rendered(study("one", "p"), study("two", "p")).split('<article id="overview">')[1].split("</article>")[0]
    assert overview.count("factormech 1") == 1
    assert "<td>draw</td>" in overview


def test_the_policy_lets_nothing_in() -> None:
    html = rendered(study("one", "p"))
    (policy,) = re.findall(r'Content-Security-Policy"\s+content="([^"]*)"', html)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    sources = {source for rule in rules.values() for source in rule.split()}
    assert sources == {"'none'", "'unsafe-inline'", "data:", "blob:"}
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)


def test_a_study_takes_what_all_its_jobs_took(tmp_path: Path) -> None:
    """A diamond: one workload for two strategies for one figure; the strategies' own file is lost for one of them."""
    dependencies = {"draw": {"one": {}, "two": {}}, "one": {"workload": {}}, "two": {"workload": {}}, "other": {}}
    jobs = times.closure(["draw"], dependencies)
    assert jobs == {"draw", "one", "two", "workload"}
    for name, wall, cpu in (("draw", "2.0", "1.5"), ("one", "4.0", "3.0"), ("workload", "0.1", "NA")):
        (tmp_path / f"{name}.tsv").write_text(f"s\th:m:s\tcpu_time\tmax_rss\n{wall}\t0:00:01\t{cpu}\t50\n")
    found = times.times("s", [times.Job(name, "", tmp_path / f"{name}.tsv", None) for name in sorted(jobs)])
    assert found == times.Times("s", jobs=4, measured=3, wall_seconds=6.1, cpu_seconds=4.5)
    assert times.table([found]) == "study,jobs,measured,wall_seconds,cpu_seconds\ns,4,3,6.1,4.5\n"


def test_jobs_are_added_up_by_rule_and_by_what_they_are_about(tmp_path: Path) -> None:
    jobs = []
    for i, (cpu, said) in enumerate([("2.0", "processor: 0.50 s to start, 4.00 s of work\n"), ("-", ""), (None, "")]):
        benchmark, log = tmp_path / f"{i}.tsv", tmp_path / f"{i}.log"
        if cpu is not None:
            benchmark.write_text(f"s\tcpu_time\tmax_rss\n3.0\t{cpu}\t{100 + i}\n")
        log.write_text(said)
        jobs.append(times.Job("solve", "optimised", benchmark, log))
    jobs.append(times.Job("draw", "", jobs[0].benchmark, None))
    draw, solve = sorted(times.kinds(jobs), key=lambda kind: kind.rule)
    assert solve == times.Kind("solve", "optimised", 3, 2, 6.0, 4.5, 0.5, 101)
    assert draw == times.Kind("draw", "", 1, 1, 3.0, 2.0, 0.0, 100)
    assert times.table_of_kinds([draw]).splitlines()[1] == "draw,,1,1,3.0,2.0,0.0,100"


@pytest.mark.parametrize(
    ("wildcards", "what"),
    [({"mechanism": "m", "study": "s"}, "m"), ({"study": "quick/s", "part": "p"}, "s"), ({"folder": "x"}, "")],
)
def test_what_a_job_is_about(wildcards: dict[str, str], what: str) -> None:
    assert times.about(wildcards) == what
