"""What tabulating asks of its wildcards: the files of a study's results, by its kind."""

from factormech.measure import registry as tables_registry

TABULATED_PATTERN = "|".join(map(studies_of_kind, tables_registry.KINDS))
# The folders of results that have a file for each mechanism, or for each norm, of a study.
BY_MECHANISM = {
    "sample-complexity": "measurements",
    "optimality-gap": "measurements",
    "simulated-collection": "collections",
    "data-dependent": "on-data",
    "consistency": "processed",
}
BY_MECHANISM_AND_WORKLOAD = {"initialisation": "starts", "timing": "traces"}


def tabulated_files(wildcards):
    """The measurements of a study, in the order in which it names them."""
    study = STUDIES[wildcards.study]
    if study.kind in BY_MECHANISM_AND_WORKLOAD:
        return mechanisms_by_workload(wildcards.study, BY_MECHANISM_AND_WORKLOAD[study.kind])
    if study.kind in BY_MECHANISM:
        folder, names = BY_MECHANISM[study.kind], study.mechanisms
    else:
        folder, names = "norms", study.norms
    return [f"results/{folder}/{wildcards.study}/{name}.h5" for name in names]


def tabulated_bounds(wildcards):
    folder = tables_registry.tabulated(STUDIES[wildcards.study].kind).bounds
    return [f"results/{folder}/{wildcards.study}.h5"] if folder else []


def tabulated_iterations(wildcards):
    clocked = tables_registry.tabulated(STUDIES[wildcards.study].kind).iterations
    return [f"results/iterations/{wildcards.study}.h5"] if clocked else []


def tabulate_options(wildcards, input):
    found = [("--bounds", input.bounds), ("--iterations", input.iterations)]
    return " ".join(f"{option} {shlex.quote(str(file))}" for option, files in found for file in files)


def tabulate_settings(wildcards):
    study = STUDIES[wildcards.study]
    names = tables_registry.tabulated(study.kind).settings
    return json.dumps({name: getattr(study, name) for name in names}, sort_keys=True)


def tabulate_modules(wildcards):
    return ["factormech.jobs.tabulate", tables_registry.module_of(STUDIES[wildcards.study].kind)]
