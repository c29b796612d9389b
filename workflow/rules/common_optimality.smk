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


def starts_memory(wildcards):
    study = STUDIES[wildcards.study]
    return cost.starts_memory_mb(max(study.grid.domain_sizes), study.rows)


def starts_minutes(wildcards):
    study = STUDIES[wildcards.study]
    repeated = len(study.grid.epsilons) * len(study.grid.seeds) * study.starts
    each = sum(cost.starts_seconds(wildcards.mechanism, n, study.rows, repeated) for n in study.grid.domain_sizes)
    return cost.minutes(each)


def trace_memory(wildcards):
    return cost.solve_memory_mb(max(STUDIES[wildcards.study].grid.domain_sizes))


def trace_minutes(wildcards):
    grid = STUDIES[wildcards.study].grid
    each = sum(cost.solve_seconds(wildcards.mechanism, n) for n in grid.domain_sizes)
    return cost.minutes(len(grid.epsilons) * len(grid.seeds) * each)


def iterated_sizes(wildcards):
    return STUDIES[wildcards.study].iteration_sizes


def iterate_memory(wildcards):
    return cost.solve_memory_mb(max(iterated_sizes(wildcards)))


def iterate_minutes(wildcards):
    return cost.minutes(cost.iterate_seconds(iterated_sizes(wildcards)))


# A job that clocks takes every core, so that nothing runs beside it; its libraries keep to CONFIG.threads.
ALL_CORES = workflow.cores or CONFIG.threads
QUIET = f"export OMP_NUM_THREADS={CONFIG.threads} OPENBLAS_NUM_THREADS={CONFIG.threads};"
