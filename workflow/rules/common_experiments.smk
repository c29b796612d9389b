"""What the rules of experiments ask of their wildcards: everything is what the kind of the study says."""

from factormech.experiments.run import modules_of, parts_of

EXPERIMENT_STUDIES = {name: study for name, study in STUDIES.items() if study.asked is not None}
# The parts of every study, in their order: study → name → what it is asked.
PARTS = {name: parts_of(study.kind, study.asked) for name, study in EXPERIMENT_STUDIES.items()}
EXPERIMENT_PATTERN = "|".join(map(re.escape, EXPERIMENT_STUDIES)) or "(?!)"  # which matches nothing


def experiment_kind(wildcards):
    return STUDIES[wildcards.study].kind


def part_asked(wildcards):
    return PARTS[wildcards.study][wildcards.part]


def part_json(wildcards):
    return part_asked(wildcards).to_json()


def part_modules(wildcards):
    kind = experiment_kind(wildcards)
    workloads = part_asked(wildcards).grid.get("workload", ())
    return [
        "factormech.jobs.experiment",
        *modules_of(kind, part_asked(wildcards)),
        *workloads_modules(workloads),
    ]


def part_sources(wildcards):
    return sources_of(part_asked(wildcards).grid.get("workload", ()))


def tabulated_parts(wildcards):
    return [f"results/experiments/{wildcards.study}/{part}.h5" for part in PARTS[wildcards.study]]


def tabulate_experiment_modules(wildcards):
    return [
        "factormech.jobs.tabulate_experiment",
        experiments_registry.module_of(experiment_kind(wildcards)),
        *named_plugins(wildcards.study),
    ]
