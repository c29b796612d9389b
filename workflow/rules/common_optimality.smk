"""What the rules of gaps, starts and times ask of their wildcards."""


def starts_modules(mechanism):
    """Where the code of random starts begins."""
    return ["factormech.jobs.starts", mechanisms_registry.module_of(mechanism)]


def trace_modules(mechanism):
    """Where the code of a clocked solve begins."""
    return ["factormech.jobs.trace", mechanisms_registry.module_of(mechanism)]


def mechanisms_by_workload(study, folder):
    """A file for each mechanism and workload of a study."""
    names = STUDIES[study].mechanisms
    return [f"results/{folder}/{study}/{name}/{w}.h5" for name in names for w in STUDIES[study].grid.workloads]


def workload_sizes(wildcards):
    """The files of one workload at every size of a study."""
    grid = STUDIES[wildcards.study].grid
    files = [workload_file(wildcards.workload, n, seed) for n in grid.domain_sizes for seed in grid.seeds]
    return list(dict.fromkeys(files))


def starts_code(wildcards):
    return code(*starts_modules(wildcards.mechanism))


def starts_digest(wildcards):
    return digest(*starts_modules(wildcards.mechanism))


def starts_rows(wildcards):
    return STUDIES[wildcards.study].rows


def starts_count(wildcards):
    return STUDIES[wildcards.study].starts


def trace_code(wildcards):
    return code(*trace_modules(wildcards.mechanism))


def trace_digest(wildcards):
    return digest(*trace_modules(wildcards.mechanism))


def iterated_sizes(wildcards):
    return STUDIES[wildcards.study].iteration_sizes


# A job that clocks takes every core, so that nothing runs beside it; its libraries keep to CONFIG.threads.
ALL_CORES = workflow.cores or CONFIG.threads
QUIET = f"export OMP_NUM_THREADS={CONFIG.threads} OPENBLAS_NUM_THREADS={CONFIG.threads};"
