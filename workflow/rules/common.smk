"""The validated configuration, its plan, and the functions that rules name their files and parameters with."""

import hashlib
import json
import os
import re
import shlex
import sys
from functools import cache
from pathlib import Path

from snakemake.utils import update_config

from factormech import plugins as plugin_files, shipped
from factormech.claims.ledger import LedgerErrors, files_in as ledger_files, read as read_ledger
from factormech.code import Sources
from factormech.config.yaml_file import seen_from
from factormech.config.yaml_file import read_yaml, typed
from factormech.config.studies import ConfigErrors, load
from factormech.data import files as data_files
from factormech.errors import BadValue
from factormech.studies import run as kinds
from factormech.studies.drawing import FORMATS
from factormech.pipeline.planning import Plan, batch_of
from factormech.plots import registry as figures_registry
from factormech.studies import cost
from factormech.workloads import definitions as workload_definitions

# Jobs run in the folder of the project, whose files must not take the place of Python's modules: random.py is a plugin.
os.environ.update(PYTHONSAFEPATH="1")

CONFIG_FILES = [*workflow.config_settings.configfiles] or ["config.yaml"]
try:
    # Snakemake's own reader lets the last of two equal keys win: what it has read is read again, strictly.
    config.clear()
    for file in CONFIG_FILES:
        update_config(config, read_yaml(file))
except BadValue as error:
    sys.exit(f"config: {error}")
update_config(config, typed(workflow.config_settings.config or {}))
# Paths in a configuration are relative to its file: the last one that the command line names, else config.yaml.
CONFIG_FOLDER = Path(CONFIG_FILES[-1]).absolute().parent
try:
    CONFIG = load(
        seen_from(config, CONFIG_FOLDER, Path.cwd()),
        shipped.SCHEMA,
        base=Path.cwd(),
    )
except ConfigErrors as errors:
    sys.exit(str(errors))

STUDIES = CONFIG.studies | CONFIG.quick_studies
PLAN = Plan(CONFIG)
DATA_FOLDER = data_files.named_folder(CONFIG.data, Path())
# The folder that has workflow/: the ledger and the checking tools are there, where it is the project's own folder.
PROJECT = Path(str(workflow.current_basedir)).parents[1]
LEDGER, LEDGER_SCHEMA = ledger_files(PROJECT / "studies"), shipped.CLAIMS_SCHEMA


wildcard_constraints:
    study=r"(quick/)?[a-z0-9][a-z0-9-]*",
    part=r"[^/]+",
    family=r"strategies|bounds|factorizations",
    name=r"[a-z0-9][a-z0-9-]*",
    workload=r"[a-z0-9][a-z0-9-]*",
    domain_size=r"\d+",
    seed=r"(-seed\d+)?",
    folder=r"(quick/)?",
    what=r"improvement|slopes",


# Code: the modules behind each job (freshness.smk says when outputs are stale) --------------------------------


@cache
def sources():
    """The package's files and those of plugins, read once: a run is of one state of the code."""
    return Sources(elsewhere=plugin_files.files())


@cache
def code_once(modules):
    """The code behind these modules."""
    return sources().code_of(*modules)


def digest(modules):
    """A parameter that says what the code says."""
    return lambda wildcards: code_once(tuple(modules(wildcards))).digest


def plugins(modules):
    """A parameter that names the files of the user's own code among what some modules need, and no others."""
    return lambda wildcards: plugin_files.among(code_once(tuple(modules(wildcards))).files)


def job_modules(job):
    """Where the code of a job starts that is the same for all wildcards."""
    return lambda wildcards: [f"factormech.pipeline.{job}"]


def solve_modules(wildcards):
    return PLAN.solve_modules(solved_file(wildcards))


def parts_modules(wildcards):
    return sorted({m for part in parts_made(wildcards) for m in PLAN.part_modules(wildcards.study, part)})


def table_modules(wildcards):
    return [*PLAN.kind_modules(wildcards.study, "tabulate"), *named_plugins(wildcards.study)]


def derive_modules(wildcards):
    made_by = PLAN.derived(wildcards.study)[wildcards.what].partition(":")[0]
    return [*PLAN.kind_modules(wildcards.study, "derive"), made_by, *named_plugins(wildcards.study)]


def figure_modules(wildcards):
    drawn_by = figures_registry.module_of(STUDIES[wildcards.study].kind)
    return [*PLAN.kind_modules(wildcards.study, "draw"), drawn_by, *named_plugins(wildcards.study)]


def workload_modules(wildcards):
    own = workload_definitions.modules_of(wildcards.workload, CONFIG.workloads)
    return ["factormech.pipeline.workload", *sorted(own)]


def named_plugins(study):
    """Modules of plugins that have names of a study, which tables and figures show with the plugins' own labels."""
    asked = STUDIES[study].asked
    named = asked.grid.get("workload", ())
    modules = set().union(*[workload_definitions.modules_of(name, CONFIG.workloads) for name in named])
    values = [*asked.grid.values(), *asked.settings.values()]
    mechanisms = {name for value in values if isinstance(value, (list, tuple)) for name in map(str, value)}
    return [
        p.module for p in plugin_files.loaded() if p.module in modules or not {*mechanisms}.isdisjoint(p.mechanisms)
    ]


# Files --------------------------------------------------------------------------------------------------------


def tables(studies):
    """The tables of these studies, in their three forms, and the tables made from them."""
    names = [*studies, *(f"{study}-{what}" for study in studies for what in PLAN.derived(study))]
    return [f"results/tables/{n}.{kind}" for n in names for kind in ("csv", "tex")] + [
        f"results/{n}.h5" for n in studies
    ]


def figures(studies):
    """The figures of these studies that have one, with their captions."""
    drawn = {name: STUDIES[name].formats for name in studies}
    return [f"figures/{n}.{kind}" for n, kinds in drawn.items() if kinds for kind in (*kinds, "txt", "notes.txt")]


def artefacts(studies):
    """What a reader takes from these studies."""
    return [*tables(studies), *figures(studies)]


def everything(studies):
    """All files that these studies are made of."""
    parts = [f"results/parts/{study}/{part}.h5" for study in studies for part in PLAN.parts[study]]
    return [*PLAN.solved_for(studies), *parts, *artefacts(studies)]


def own_files(names, own):
    """The user's own files behind these workloads."""
    files = (str(p) for name in names for p in workload_definitions.files_of(name, own, Path.cwd()))
    # Their contents count, not their time stamps: Snakemake would end a run on a file from the future.
    return [ancient(file) for file in dict.fromkeys(files)]


def solved_file(wildcards):
    w = wildcards
    return f"results/{w.family}/{w.name}/{w.workload}/n{w.domain_size}/{w.point}.h5"


def solve_sources(wildcards):
    request = PLAN.requests[solved_file(wildcards)]
    return own_files([request.workload], request.definitions)


def solve_start(wildcards):
    return PLAN.start(solved_file(wildcards))


def solve_request(wildcards):
    return PLAN.requests[solved_file(wildcards)].to_json()


def parts_made(wildcards):
    """The parts that a job makes: one, or all of its study."""
    return [wildcards.part] if "part" in wildcards.keys() else list(PLAN.parts[wildcards.study])


def parts_solved(wildcards):
    needs = PLAN.needs[wildcards.study]
    return list(dict.fromkeys(file for part in parts_made(wildcards) for file in needs[part]))


def parts_sources(wildcards):
    """The user's own matrices and the data sets of parts."""
    asked = [PLAN.parts[wildcards.study][part] for part in parts_made(wildcards)]
    own = [own_files(each.grid.get("workload", ()), each.definitions) for each in asked]
    return [*dict.fromkeys(file for files in own for file in files), *data_of(wildcards.study)]


def parts_text(wildcards):
    """What each part is asked; where there are no data, the names of the stand-ins."""
    return [part_text(PLAN.parts[wildcards.study][part]) for part in parts_made(wildcards)]


def part_text(asked):
    names = asked.grid.get("data", ())
    return asked.only_data(data_files.resolved(names, DATA_FOLDER)).to_json() if names else asked.to_json()


def data_of(study):
    """The files of the data sets of a study; what is wrong with one is answered before anything runs."""
    names = STUDIES[study].asked.grid.get("data", ())
    for problem in data_files.problems(names, DATA_FOLDER):
        raise problem
    return [ancient(str(path)) for path in data_files.paths(names, DATA_FOLDER)]


def study_parts(wildcards):
    return [f"results/parts/{wildcards.study}/{part}.h5" for part in PLAN.parts[wildcards.study]]


def study_kind(wildcards):
    return STUDIES[wildcards.study].kind


def study_title(wildcards):
    return STUDIES[wildcards.study].title


def study_caption(wildcards):
    return STUDIES[wildcards.study].caption


def table_text(wildcards):
    return PLAN.text(wildcards.study, "table")


def figure_settings(wildcards):
    study = STUDIES[wildcards.study]
    return json.dumps(kinds.figure_settings(study.kind, study.asked), sort_keys=True)


def study_figure(wildcards):
    return json.dumps(STUDIES[wildcards.study].figure, sort_keys=True)


def figure_output(kind):
    """The output of a figure in a format; the report of a run shows the SVG."""
    path = f"figures/{{study}}.{kind}"
    if kind != "svg":
        return path
    text = "../report/figure.rst"
    return report(path, caption=text, category=report_paper, subcategory=report_study, labels=report_figure)


def drawn_in(formats):
    """A pattern of the studies whose figures have these formats."""
    return "|".join(re.escape(name) for name, study in STUDIES.items() if study.formats == formats)


def tool(name):
    """A program of the project that is no part of the package."""
    return os.path.relpath(PROJECT / "tools" / f"{name}.py")


# Strategies that are verified, and the claims of the papers ---------------------------------------------------


@cache
def verified(folder):
    """The optimised strategies that the studies, or the quick ones, need: file → request. None without the tools."""
    if not (PROJECT / "tools").is_dir():
        return {}
    studies = CONFIG.quick_studies if folder else CONFIG.studies
    found = PLAN.solved_for(studies)
    return {file: r for file, r in found.items() if r.family == "strategy" and r.name in cost.VERIFIED}


def verification(folder=""):
    """The file that says what has been verified, where there is anything."""
    return [f"results/{folder}verification.txt"] if verified(folder) else []


def verified_strategies(wildcards):
    return list(verified(wildcards.folder))


def verified_workloads(wildcards):
    """Descriptions of the workloads, which the tool compares with its own."""
    found = verified(wildcards.folder).values()
    return list(dict.fromkeys(workload_file(r.workload, r.domain_size, r.seed) for r in found))


def workload_file(workload, domain_size, seed):
    """The description of a workload; the seed is in the name only where it matters."""
    suffix = f"-seed{seed}" if workload_definitions.is_seeded(workload, CONFIG.workloads) else ""
    return f"results/workloads/{workload}/n{domain_size}{suffix}.h5"


def claimed_studies():
    """The studies of this configuration that the ledger tests; none where the project has no ledger."""
    try:
        return [study for study in read_ledger(LEDGER, LEDGER_SCHEMA).studies() if study in CONFIG.studies]
    except (LedgerErrors, BadValue) as errors:
        sys.exit(str(errors))


CLAIMED = claimed_studies()


def claims(folder=""):
    """The verdicts, where there is a study that a claim is tested by."""
    return [f"results/{folder}claims.{kind}" for kind in ("csv", "md")] if CLAIMED else []


def asked_for(files):
    """What a target needs. Data are checked here, too: where a result exists, Snakemake passes over what its job needs."""
    wanted = set(files)
    on_data = [study for study in STUDIES if STUDIES[study].asked.grid.get("data") and wanted & {*artefacts([study])}]

    def checked(wildcards):
        prepared()
        for study in on_data:
            data_of(study)
        return files

    return checked


# What every rule asks of a scheduler, from the benchmark; a job that is tried again asks for more. --------------


def work_of(name, wildcards):
    """What a job of the rule of this name takes."""
    if name == "verify_strategies":
        return cost.verify([request.domain_size for request in verified(wildcards.folder).values()])
    return PLAN.work(name, dict(wildcards.items()), solved_file(wildcards) if name == "solve" else "")


def memory_of(rule):
    """The memory of a rule's jobs, in megabytes."""
    return lambda wildcards, attempt: cost.requested_memory_mb(work_of(rule, wildcards), attempt)


def minutes_of(rule):
    """The time limit of a rule's jobs."""
    return lambda wildcards, attempt: cost.requested_minutes(work_of(rule, wildcards), attempt)


def batch_of_solve(wildcards):
    """On a cluster, cheap solves are submitted together: the name says how cheap, the profile how many."""
    return batch_of(PLAN.requests[solved_file(wildcards)])


# Where the report of a run shows a file, and under which names. -----------------------------------------------


def report_paper(wildcards):
    return STUDIES[wildcards.study].paper


def report_study(wildcards):
    study = STUDIES[wildcards.study]
    return f"{study.artefact}: {study.title}"


def report_labels(study, shows):
    """What a list of the report says of a file; the number is the study's place in the configuration."""
    described = STUDIES[study]
    return {
        "no.": f"{list(STUDIES).index(study) + 1:03d}",
        "study": study,
        "artefact": described.artefact,
        "title": described.title,
        "shows": shows,
    }


def report_figure(wildcards):
    return report_labels(wildcards.study, "figure")


def report_table(wildcards):
    return report_labels(wildcards.study, wildcards.get("what", "table"))
