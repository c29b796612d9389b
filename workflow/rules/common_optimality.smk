"""What the rules of gaps, starts and times ask of their wildcards."""


def mechanisms_by_workload(study, folder):
    """A file for each mechanism and workload of a study."""
    names = STUDIES[study].mechanisms
    return [f"results/{folder}/{study}/{name}/{w}.h5" for name in names for w in STUDIES[study].grid.workloads]


def workload_sizes(wildcards):
    """The files of one workload at every size of a study."""
    grid = STUDIES[wildcards.study].grid
    files = [workload_file(wildcards.workload, n, seed) for n in grid.domain_sizes for seed in grid.seeds]
    return list(dict.fromkeys(files))


def starts_rows(wildcards):
    return STUDIES[wildcards.study].rows


def starts_count(wildcards):
    return STUDIES[wildcards.study].starts


def iterated_sizes(wildcards):
    return STUDIES[wildcards.study].iteration_sizes
