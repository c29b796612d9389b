"""The validated configuration, and the functions that rules name their files and parameters with."""

import hashlib
import json
import os
import re
import shlex
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from snakemake.utils import update_config

from factormech import plugins as plugin_files
from factormech.bounds import registry as bounds_registry
from factormech.code import Sources
from factormech.config.paths import seen_from
from factormech.config.studies import ConfigErrors, load
from factormech.errors import BadValue
from factormech.experiments import registry as experiments_registry
from factormech.figures import registry as figures_registry
from factormech.local import registry as mechanisms_registry
from factormech.measure import cost
from factormech.measure.estimate import OF_SOLVERS
from factormech.measure.requests import Requests
from factormech.config.strict_yaml import typed
from factormech.data import files as data_room
from factormech.workloads import definitions as workload_definitions

update_config(config, typed(workflow.config_settings.config or {}))
# Paths in a configuration are relative to its file: the last one that the command line names, else config.yaml.
CONFIG_FOLDER = Path(([*workflow.config_settings.configfiles] or ["config.yaml"])[-1]).absolute().parent
try:
    CONFIG = load(
        seen_from(config, CONFIG_FOLDER, Path.cwd()),
        Path(workflow.basedir) / "workflow/schemas/config.schema.yaml",
        base=Path.cwd(),
    )
except ConfigErrors as errors:
    sys.exit(str(errors))

STUDIES = CONFIG.studies | CONFIG.quick_studies
REQUESTS = Requests(CONFIG)
DATA_FOLDER = data_room.named_folder(CONFIG.data, Path())


wildcard_constraints:
    study=r"(quick/)?[a-z0-9][a-z0-9-]*",
    workload=r"[a-z0-9][a-z0-9-]*",
    mechanism=r"[a-z0-9][a-z0-9-]*",
    norm=r"[a-z0-9][a-z0-9-]*",
    bound=r"[a-z0-9][a-z0-9-]*",
    mark=r"[0-9a-f]{8}",
    domain_size=r"\d+",
    seed=r"(-seed\d+)?",
    name=r"eps[^/]+",
    folder=r"(quick/)?",


@cache
def sources():
    """The package's files and those of plugins, read once: a run is of one state of the code."""
    return Sources(elsewhere=plugin_files.files())


@cache
def code_once(modules):
    """The code behind these modules."""
    return sources().code_of(*modules)


def digest(modules):
    """A parameter that says what the code says: it sees what time stamps do not."""
    return lambda wildcards: code_once(tuple(modules(wildcards))).digest


def plugins(modules):
    """A parameter that names the files of the user's own code among what some modules need, and no others."""
    return lambda wildcards: plugin_files.among(code_once(tuple(modules(wildcards))).files)


def named_plugins(study):
    """Modules of plugins that have names of a study, which tables and figures show with the plugins' own labels."""
    asked = STUDIES[study].asked
    workloads, mechanisms = STUDIES[study].grid.workloads, STUDIES[study].mechanisms
    if asked:  # an experiment may name mechanisms by an axis or a setting of any name
        workloads = asked.grid.get("workload", ())
        values = [*asked.grid.values(), *asked.settings.values()]
        mechanisms = {name for value in values if isinstance(value, (list, tuple)) for name in map(str, value)}
    modules = set().union(*[workload_definitions.modules_of(name, CONFIG.workloads) for name in workloads])
    return [
        p.module for p in plugin_files.loaded() if p.module in modules or not {*mechanisms}.isdisjoint(p.mechanisms)
    ]


def job_modules(job):
    """Where the code of a job starts that is the same for all wildcards."""
    return lambda wildcards: [f"factormech.jobs.{job}"]


def of_mechanism(job):
    """Where the code of a job on a mechanism starts: its own, and that of the mechanism."""
    return lambda wildcards: [f"factormech.jobs.{job}", mechanisms_registry.module_of(wildcards.mechanism)]


def workload_modules(wildcards):
    """Where the code of a workload job starts."""
    return [
        "factormech.jobs.workload",
        *sorted(workload_definitions.modules_of(wildcards.workload, CONFIG.workloads)),
    ]


def workload_file(workload, domain_size, seed):
    """The description of a workload; the seed is in the name only where it matters."""
    suffix = f"-seed{seed}" if workload_definitions.is_seeded(workload, CONFIG.workloads) else ""
    return f"results/workloads/{workload}/n{domain_size}{suffix}.h5"


def study_workloads(study):
    """The workload files of a study's grid, each once."""
    grid = STUDIES[study].grid
    files = [
        workload_file(workload, domain_size, seed)
        for workload in grid.workloads
        for domain_size in grid.domain_sizes
        for seed in grid.seeds
    ]
    return list(dict.fromkeys(files))


def chance_matters(mechanism, workload):
    """Whether a strategy depends on the seed."""
    seeded = workload_definitions.is_seeded(workload, CONFIG.workloads)
    return seeded or mechanisms_registry.solver_of(mechanism).seeded


def options_text(study, mechanism):
    """The settings of a mechanism's solver in a study, as the jobs take them."""
    return json.dumps(study.options.get(mechanism, {}), sort_keys=True)


def strategy_file(mechanism, workload, domain_size, epsilon, seed, options="{}"):
    """The strategy that a solver found: its name says what was solved, the digest what the name does not."""
    seed = seed if chance_matters(mechanism, workload) else None
    rest = json.dumps({"seed": seed, "options": options})
    mark = hashlib.sha256(rest.encode()).hexdigest()[:8]
    budget = repr(epsilon) if mechanisms_registry.solver_of(mechanism).per_epsilon else "any"
    return f"results/strategies/{mechanism}/{workload}/n{domain_size}/eps{budget}-{mark}.h5"


def stored_points(study, mechanism):
    """The grid points whose strategy has a job and a file of its own."""
    if not mechanisms_registry.is_solved(mechanism):
        return []
    return [p for p in study.grid.points() if cost.deserves_a_job(mechanism, p.domain_size)]


def solve_points(studies):
    """What every strategy file is for: file → (mechanism, workload, domain size, epsilon, seed, options)."""
    points = {}
    for study in studies:
        for mechanism in study.mechanisms:
            options = options_text(study, mechanism)
            for point in stored_points(study, mechanism):
                asked = (mechanism, *point, options)
                points.setdefault(strategy_file(*asked), asked)
    return points


def start_of(mechanism, workload, domain_size, epsilon, seed, options):
    """The point of the strategy that a solve begins with; nothing where it begins with none."""
    rest = mechanisms_registry.begins_with(mechanism, json.loads(options), domain_size)
    return None if rest is None else (mechanism, workload, domain_size, epsilon, seed, json.dumps(rest, sort_keys=True))


def with_starts(points):
    """The same, with the files that the solves of these begin with."""
    starts = [start for asked in points.values() if (start := start_of(*asked))]
    return {strategy_file(*start): start for start in starts} | points


STRATEGIES = with_starts(solve_points(STUDIES.values()))


class Solves(NamedTuple):
    """Patterns of the wildcards of a rule that solves, and its priority, by which the dearest begin first."""

    mechanism: str
    domain_size: str
    priority: int = 0


def solve_rules():
    """The rules that solve: one for each mechanism and size that is no batch, and ``solve`` for all others."""
    arrays = REQUESTS.arrays()
    patterns = {
        name: Solves(mechanism, str(size), round(cost.solve_seconds(mechanism, size)))
        for name, (mechanism, size) in arrays.items()
    }
    others = "|".join(f"{mechanism}/[^/]+/n{size}/" for mechanism, size in arrays.values()) or "(?!)"
    return {"solve": Solves(f"(?!{others})[a-z0-9][a-z0-9-]*", r"\d+")} | patterns


SOLVES = solve_rules()


def study_strategies(study, mechanism):
    """The strategy files that a measurement reads; none for a fixed mechanism and for cheap strategies."""
    points = stored_points(STUDIES[study], mechanism)
    options = options_text(STUDIES[study], mechanism)
    return list(dict.fromkeys(strategy_file(mechanism, *point, options) for point in points))


def verified_points(folder):
    """The points of the optimised strategies that the studies, or the quick ones, measure: file → what it is for."""
    studies = CONFIG.quick_studies if folder else CONFIG.studies
    solved = solve_points(study for study in studies.values() if study.kind not in OF_SOLVERS)
    return {file: asked for file, asked in solved.items() if asked[0] in cost.VERIFIED}


def verification(folder=""):
    """The file that says what has been verified, where there is anything."""
    return [f"results/{folder}verification.txt"] if verified_points(folder) else []


def tool(name):
    """A program of the project that is no part of the package."""
    return os.path.relpath(Path(workflow.basedir) / "tools" / f"{name}.py")


def studies_of_kind(kind):
    """A pattern for the names of the studies of a kind."""
    names = [re.escape(name) for name, study in STUDIES.items() if study.kind == kind]
    return "|".join(names) or "(?!)"  # which matches nothing


def bound_on_data_modules(wildcards):
    """Where the code of a study's bounds on data sets starts."""
    return [
        "factormech.jobs.bound_on_data",
        *[bounds_registry.module_of(name) for name in STUDIES[wildcards.study].bounds],
    ]


def bound_modules(wildcards):
    """Where the code of a study's bounds starts."""
    return [
        "factormech.jobs.bound",
        *[bounds_registry.module_of(name) for name in STUDIES[wildcards.study].bounds],
    ]


def figure_modules(wildcards):
    """Where the code of a study's figure starts; that of an experiment says what is shown."""
    kind = STUDIES[wildcards.study].kind
    declaration = [experiments_registry.module_of(kind)] if experiments_registry.is_experiment(kind) else []
    own = named_plugins(wildcards.study)
    return ["factormech.jobs.draw", figures_registry.module_of(kind), *declaration, *own]


def compare_modules(wildcards):
    """Where the code of a study's comparisons starts."""
    return ["factormech.jobs.compare", *named_plugins(wildcards.study)]


def comparisons(study):
    """The comparison tables that a study asks for; growth needs three domain sizes."""
    if STUDIES[study].compare is None or STUDIES[study].kind != "sample-complexity":
        return []
    return ["improvement", *(["slopes"] if len(STUDIES[study].grid.domain_sizes) > 2 else [])]


def tables(studies):
    """The tables of these studies, in their three forms, and the comparisons made from them."""
    names = [*studies, *(f"{study}-{what}" for study in studies for what in comparisons(study))]
    return [f"results/tables/{n}.{kind}" for n in names for kind in ("csv", "tex")] + [
        f"results/{n}.h5" for n in studies
    ]


def figures(studies):
    """The figures of these studies, with their captions."""
    return [f"figures/{name}.{kind}" for name in studies for kind in ("pdf", "svg", "png", "txt")]


def artefacts(studies):
    """Everything that these studies make."""
    return [*tables(studies), *figures(studies)]


# What every rule asks of a scheduler, from the benchmark; a job that is tried again asks for more.


def work_of(name, wildcards):
    """What a job of the rule of this name will take."""
    if name == "verify_strategies":
        return cost.verify(verified_sizes(wildcards))
    return REQUESTS.work(name, dict(wildcards.items()))


def memory_of(rule):
    """The memory of a rule's jobs, in megabytes."""
    return lambda wildcards, attempt: cost.requested_memory_mb(work_of(rule, wildcards), attempt)


def minutes_of(rule):
    """The time limit of a rule's jobs."""
    return lambda wildcards, attempt: cost.requested_minutes(work_of(rule, wildcards), attempt)


def batch_of(rule):
    """On a cluster, cheap jobs of one kind are submitted together: the name says how cheap, the profile how many."""
    return lambda wildcards: cost.batch(rule, work_of(rule, wildcards))


# What the rules ask of their wildcards, stage by stage.


def workload_seed(wildcards):
    seed = wildcards.seed.removeprefix("-seed")
    return f"--seed {seed}" if seed else ""


def workload_sources(wildcards):
    # Their contents count, not their time stamps: Snakemake would end a run on a file from the future.
    return [ancient(str(p)) for p in workload_definitions.files_of(wildcards.workload, CONFIG.workloads, Path.cwd())]


def workload_definition(wildcards):
    return json.dumps(
        workload_definitions.closure(wildcards.workload, CONFIG.workloads),
        sort_keys=True,
    )


def measured_workloads(wildcards):
    return study_workloads(wildcards.study)


def solved_point(wildcards):
    """What a strategy file is for."""
    name = f"results/strategies/{wildcards.mechanism}/{wildcards.workload}/n{wildcards.domain_size}/{wildcards.name}.h5"
    return STRATEGIES[name]


def solve_workload(wildcards):
    _, workload, domain_size, _, seed, _ = solved_point(wildcards)
    return workload_file(workload, domain_size, seed)


def solve_start(wildcards):
    start = start_of(*solved_point(wildcards))
    return [strategy_file(*start)] if start else []


def solve_epsilon(wildcards):
    mechanism, _, _, epsilon, *_ = solved_point(wildcards)
    return f"--epsilon {epsilon!r}" if mechanisms_registry.solver_of(mechanism).per_epsilon else ""


def solve_seed(wildcards):
    mechanism, workload, _, _, seed, _ = solved_point(wildcards)
    return f"--seed {seed}" if chance_matters(mechanism, workload) else ""


def solve_options(wildcards):
    return solved_point(wildcards)[-1]


def measured_strategies(wildcards):
    return study_strategies(wildcards.study, wildcards.mechanism)


def measured_options(wildcards):
    return options_text(STUDIES[wildcards.study], wildcards.mechanism)


def measured_seeds(wildcards):
    return STUDIES[wildcards.study].grid.seeds


def measured_epsilons(wildcards):
    return STUDIES[wildcards.study].grid.epsilons


def verified_strategies(wildcards):
    return list(verified_points(wildcards.folder))


def verified_workloads(wildcards):
    points = verified_points(wildcards.folder).values()
    return list(dict.fromkeys(workload_file(workload, n, seed) for _, workload, n, _, seed, _ in points))


def verified_sizes(wildcards):
    return [n for _, _, n, *_ in verified_points(wildcards.folder).values()]


def collected_users(wildcards):
    return STUDIES[wildcards.study].grid.users


def collected_populations(wildcards):
    return STUDIES[wildcards.study].grid.populations


def collected_trials(wildcards):
    return STUDIES[wildcards.study].trials


def collected_level(wildcards):
    return STUDIES[wildcards.study].level


def download_source():
    return f"--source {shlex.quote(CONFIG.data_source)}" if CONFIG.data_source else ""


def data_names(wildcards):
    return data_room.resolved(STUDIES[wildcards.study].grid.data, DATA_FOLDER)


def check_data(study):
    """What is wrong with the data sets of a study is answered before anything runs."""
    for problem in data_room.problems(STUDIES[study].grid.data, DATA_FOLDER):
        raise problem


def asked_for(files):
    """What a target needs. Data are checked here, too: where a result exists, Snakemake passes over what its job needs."""
    on_data = [study for study in STUDIES if STUDIES[study].grid.data and not {*artefacts([study])}.isdisjoint(files)]

    def checked(wildcards):
        prepared()
        for study in on_data:
            check_data(study)
        return files

    return checked


def data_files(wildcards):
    check_data(wildcards.study)
    return [ancient(str(path)) for path in data_room.paths(STUDIES[wildcards.study].grid.data, DATA_FOLDER)]


def bound_point_file(bound, workload, domain_size, epsilon, seed):
    """One bound at one point, which several studies draw."""
    drawn = workload_definitions.is_seeded(workload, CONFIG.workloads)
    return f"results/bound-points/{bound}/{workload}/n{domain_size}{f'-seed{seed}' if drawn else ''}/eps{epsilon!r}.h5"


def bound_points(wildcards):
    """The points of a study whose bound has a job and a file of its own."""
    study = STUDIES[wildcards.study]
    files = [
        bound_point_file(bound, *point)
        for bound in study.bounds
        for point in study.grid.points()
        if cost.bound_deserves_a_job(bound, point.domain_size)
    ]
    return list(dict.fromkeys(files))


def bound_point_workload(wildcards):
    w = wildcards
    return f"results/workloads/{w.workload}/n{w.domain_size}{w.seed}.h5"


def bound_point_epsilon(wildcards):
    return wildcards.name.removeprefix("eps")


def bound_point_modules(wildcards):
    """Where the code of a single bound starts."""
    return ["factormech.jobs.bound", bounds_registry.module_of(wildcards.bound)]


def bound_names(wildcards):
    return STUDIES[wildcards.study].bounds


def compared_mechanism(wildcards):
    return STUDIES[wildcards.study].compare


def compared_without(wildcards):
    return STUDIES[wildcards.study].exclude


def figure_kind(wildcards):
    return STUDIES[wildcards.study].kind


def figure_title(wildcards):
    return STUDIES[wildcards.study].title


def figure_caption(wildcards):
    return STUDIES[wildcards.study].caption


def figure_options(wildcards):
    return "--band" if STUDIES[wildcards.study].band else ""
