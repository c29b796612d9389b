"""The reporter of this workflow: ``snakemake --reporter factormech --report-factormech-path FILE``.

Snakemake collects what the rules have flagged with ``report(...)``, renders the captions of ``workflow/report`` and
gives both to a reporter. Beside the page this one writes ``times.csv``, what each study took, and ``jobs.csv``, what
each rule took.

Snakemake's own reporter, ``snakemake --report FILE``, works on this workflow, too. It is not what ``make report`` uses,
for reasons that no option changes (seen with Snakemake 9.27): its style sheet is a script that compiles classes in the
reader's browser and writes a warning to the console; its statistics are specifications of an older Vega-Lite, which
are two more warnings; its menu takes more than half of a telephone's width; and a table in CSV is offered as a download
only. This one writes a page without any library, which plots and sorts tables and cannot send a request (see
:mod:`snakemake_report_plugin_factormech.page`).
"""

# Not "from __future__ import annotations": Snakemake calls the types of settings, which would be strings.
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_report_plugins.reporter import ReporterBase
from snakemake_interface_report_plugins.settings import ReportSettingsBase

from factormech.store import hdf5
from factormech.store.atomic import write_whole
from factormech.tables.kinds import read_csv
from snakemake_report_plugin_factormech import details, page, plots, times

QUICK = "quick/"
# What a reader asks of the libraries that made a result; a file of results names more of them.
NAMED = ("package_version", "numpy_version", "scipy_version", "cvxpy_version", "numba_version", "python_version")


@dataclass
class ReportSettings(ReportSettingsBase):  # type: ignore[misc]
    """The one setting of the reporter."""

    path: Path = field(
        default=Path("results/report.html"),
        metadata={"help": "The file to write, one page of HTML.", "env_var": False, "required": False},
    )


class Plain(yaml.SafeDumper):  # type: ignore[misc]
    """What several studies share is written out in each."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class Reporter(ReporterBase):  # type: ignore[misc]
    """Translate Snakemake's records into those of the page, and write it."""

    def render(self) -> None:
        """Write the page whole, or not at all."""
        records = [record for of in self.results.values() for records in of.values() for record in records]
        if not records:
            raise WorkflowError(
                "nothing that was asked for is marked for the report: ask for studies, 'all' or 'quick'"
            )
        records.sort(key=place)
        studies = [study_of(list(group)) for _, group in groupby(records, lambda record: record.labels["study"])]
        took = times_of(records, self.dag.dependencies)
        quick = all(study.name.startswith(QUICK) for study in studies)
        claims = details.entries(details.ledger().claims, Path("results", QUICK if quick else "", "claims.csv"))
        html = page.render(
            title="Report of a quick run" if quick else "Report of a run",
            description=self.workflow_description,
            studies=[with_plot(replace(study, times=took[study.name]), claims) for study in studies],
            claims=claims,
            jobs=jobs_of(self.jobs),
        )
        path = Path(self.settings.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, html.encode())
        write_whole(path.with_name("times.csv"), times.table(took.values()).encode())
        kinds = times.kinds(counted(times.closure([record.job for record in records], self.dag.dependencies)))
        write_whole(path.with_name("jobs.csv"), times.table_of_kinds(kinds).encode())


def place(record: Any) -> tuple[str, int, str]:
    """Where a file stands: by its study, in which the figure, its numbers, and what is made from these follow."""
    shows = record.labels["shows"]
    return record.labels["no."], ["figure", "table"].index(shows) if shows in ("figure", "table") else 2, shows


def study_of(records: list[Any]) -> page.Study:
    """A study from its figure and its tables, which are in this order."""
    first = records[0]
    name = first.labels["study"]
    figures = [page.Figure(file.path.name, file.path.read_bytes(), file.caption) for file in records if is_figure(file)]
    tables = [
        page.Table(file.path.name, file.path.read_text(encoding="utf-8"), file.caption)
        for file in records
        if not is_figure(file)
    ]
    return page.Study(
        name=name,
        paper=first.category.name,
        artefact=first.labels["artefact"],
        title=first.labels["title"],
        figures=figures,
        tables=tables,
        made_with=versions(Path(f"results/{name}.h5")),
        configuration=configuration(first, name),
    )


def with_plot(study: page.Study, claims: list[details.Entry]) -> page.Study:
    """The study with a plot of its first table, which is its own, and words for its figure."""
    if not study.tables:
        return study
    frame = read_csv(Path("results/tables") / f"{study.name}.csv")
    plot = plots.plot_of(frame)
    alt = plots.description(frame, plot)
    behind = details.behind(study.name, frame, claims)
    figures = [replace(figure, alt=alt) for figure in study.figures]
    return replace(study, figures=figures, plot={"plot": plot.as_data(), "behind": behind})


def times_of(records: list[Any], dependencies: Any) -> dict[str, times.Times]:
    """What every study took, and what all of them did, under the name of their target."""
    by_study: dict[str, list[Any]] = {}
    for record in records:
        by_study.setdefault(record.labels["study"], []).append(record.job)
    closures = {study: times.closure(jobs, dependencies) for study, jobs in by_study.items()}
    target = "quick" if all(study.startswith(QUICK) for study in closures) else "all"
    closures[target] = set().union(*closures.values())
    return {study: times.times(study, counted(jobs)) for study, jobs in closures.items()}


def counted(jobs: set[Any]) -> list[times.Job]:
    """The jobs that are measured; the solves of one mechanism have several rules for the sake of clusters."""
    return [
        times.Job(
            "solve" if job.rule.name.startswith("solve_") else job.rule.name,
            times.about(job.wildcards_dict),
            Path(str(job.benchmark)),
            Path(str(job.log[0])) if job.log else None,
        )
        for job in jobs
        if job.benchmark
    ]


def is_figure(record: Any) -> bool:
    """Whether a file of the report is a picture."""
    return bool(record.path.suffix == ".svg")


def versions(path: Path) -> dict[str, str]:
    """The code and the libraries that the study's file of results names."""
    if not path.exists():
        return {}
    made = hdf5.read(path).provenance
    found = {key.removesuffix("_version"): str(made[key]) for key in NAMED if key in made}
    package = {"factormech": found.pop("package")} if "package" in found else {}
    return package | found | ({"code": str(made["code"])} if "code" in made else {})


def configuration(record: Any, name: str) -> str:
    """The block of the configuration that asked for a study."""
    block = record.job.rule.module_globals["config"].get("studies", {}).get(name.removeprefix(QUICK), {})
    return str(yaml.dump(block, Dumper=Plain, sort_keys=False, allow_unicode=True, width=100))


def jobs_of(jobs: list[Any]) -> list[page.Jobs]:
    """How many jobs of each rule there were, and their seconds."""
    by_rule = groupby(sorted(jobs, key=lambda job: job.rule), lambda job: job.rule)
    counted = ((rule, [job.endtime - job.starttime for job in group]) for rule, group in by_rule)
    return [page.Jobs(rule, len(seconds), sum(seconds), max(seconds)) for rule, seconds in counted]
