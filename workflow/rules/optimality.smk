"""How far from optimal: gaps to the strongest lower bound, random starts, and time by the clock."""


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


def starts_memory(wildcards):
    study = STUDIES[wildcards.study]
    return cost.starts_memory_mb(max(study.grid.domain_sizes), study.rows)


def starts_minutes(wildcards):
    study = STUDIES[wildcards.study]
    repeated = len(study.grid.epsilons) * len(study.grid.seeds) * study.starts
    each = sum(cost.starts_seconds(wildcards.mechanism, n, study.rows, repeated) for n in study.grid.domain_sizes)
    return cost.minutes(each)


def trace_code(wildcards):
    return code(*trace_modules(wildcards.mechanism))


def trace_digest(wildcards):
    return digest(*trace_modules(wildcards.mechanism))


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


def timed_gaps(wildcards):
    return STUDIES[wildcards.study].gaps


def tabulated_starts(wildcards):
    return mechanisms_by_workload(wildcards.study, "starts")


def tabulated_traces(wildcards):
    return mechanisms_by_workload(wildcards.study, "traces")


# A job that clocks takes every core, so that nothing runs beside it; its libraries keep to CONFIG.threads.
ALL_CORES = workflow.cores or CONFIG.threads
QUIET = f"export OMP_NUM_THREADS={CONFIG.threads} OPENBLAS_NUM_THREADS={CONFIG.threads};"


rule starts:
    input:
        workloads=workload_sizes,
        code=starts_code,
    output:
        "results/starts/{study}/{mechanism}/{workload}.h5",
    log:
        "results/logs/starts/{study}/{mechanism}/{workload}.log",
    benchmark:
        "results/benchmarks/starts/{study}/{mechanism}/{workload}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=starts_memory,
        runtime=starts_minutes,
    params:
        epsilons=measured_epsilons,
        rows=starts_rows,
        starts=starts_count,
        root=CONFIG.seed,
        seeds=measured_seeds,
        digest=starts_digest,
    shell:
        "python -m factormech.jobs.starts --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --rows {params.rows} --starts {params.starts} --root-seed {params.root} --seeds {params.seeds}"
        " --workloads {input.workloads:q} --code {params.digest} --output {output} &> {log}"


rule iterate:
    input:
        code=code("factormech.jobs.iterate"),
    output:
        "results/iterations/{study}.h5",
    log:
        "results/logs/iterate/{study}.log",
    benchmark:
        "results/benchmarks/iterate/{study}.tsv"
    conda:
        "../../environment.yml"
    threads: ALL_CORES
    resources:
        mem_mb=iterate_memory,
        runtime=iterate_minutes,
    params:
        quiet=QUIET,
        sizes=iterated_sizes,
        digest=digest("factormech.jobs.iterate"),
    shell:
        "{params.quiet} python -m factormech.jobs.iterate --sizes {params.sizes} --code {params.digest}"
        " --output {output} &> {log}"


rule trace:
    input:
        workloads=workload_sizes,
        code=trace_code,
    output:
        "results/traces/{study}/{mechanism}/{workload}.h5",
    log:
        "results/logs/trace/{study}/{mechanism}/{workload}.log",
    benchmark:
        "results/benchmarks/trace/{study}/{mechanism}/{workload}.tsv"
    conda:
        "../../environment.yml"
    threads: ALL_CORES
    resources:
        mem_mb=trace_memory,
        runtime=trace_minutes,
    params:
        quiet=QUIET,
        epsilons=measured_epsilons,
        root=CONFIG.seed,
        seeds=measured_seeds,
        digest=trace_digest,
    shell:
        "{params.quiet} python -m factormech.jobs.trace --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --root-seed {params.root} --seeds {params.seeds} --workloads {input.workloads:q} --code {params.digest}"
        " --output {output} &> {log}"


rule tabulate_gaps:
    input:
        measurements=tabulated_measurements,
        bounds="results/bounds/{study}.h5",
        code=code("factormech.jobs.tabulate_gaps"),
    output:
        csv="results/tables/{study}.csv",
        latex="results/tables/{study}.tex",
        hdf5="results/{study}.h5",
    log:
        "results/logs/tabulate_gaps/{study}.log",
    benchmark:
        "results/benchmarks/tabulate_gaps/{study}.tsv"
    wildcard_constraints:
        study=studies_of_kind("optimality-gap"),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        digest=digest("factormech.jobs.tabulate_gaps"),
    shell:
        "python -m factormech.jobs.tabulate_gaps --study {wildcards.study} --measurements {input.measurements:q}"
        " --bounds {input.bounds:q} --csv {output.csv} --latex {output.latex} --hdf5 {output.hdf5}"
        " --code {params.digest} &> {log}"


rule tabulate_starts:
    input:
        starts=tabulated_starts,
        bounds="results/bounds/{study}.h5",
        code=code("factormech.jobs.tabulate_starts"),
    output:
        csv="results/tables/{study}.csv",
        latex="results/tables/{study}.tex",
        hdf5="results/{study}.h5",
    log:
        "results/logs/tabulate_starts/{study}.log",
    benchmark:
        "results/benchmarks/tabulate_starts/{study}.tsv"
    wildcard_constraints:
        study=studies_of_kind("initialisation"),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        digest=digest("factormech.jobs.tabulate_starts"),
    shell:
        "python -m factormech.jobs.tabulate_starts --study {wildcards.study} --starts {input.starts:q}"
        " --bounds {input.bounds:q} --csv {output.csv} --latex {output.latex} --hdf5 {output.hdf5}"
        " --code {params.digest} &> {log}"


rule tabulate_timing:
    input:
        iterations="results/iterations/{study}.h5",
        traces=tabulated_traces,
        bounds="results/bounds/{study}.h5",
        code=code("factormech.jobs.tabulate_timing"),
    output:
        csv="results/tables/{study}.csv",
        latex="results/tables/{study}.tex",
        hdf5="results/{study}.h5",
    log:
        "results/logs/tabulate_timing/{study}.log",
    benchmark:
        "results/benchmarks/tabulate_timing/{study}.tsv"
    wildcard_constraints:
        study=studies_of_kind("timing"),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        gaps=timed_gaps,
        digest=digest("factormech.jobs.tabulate_timing"),
    shell:
        "python -m factormech.jobs.tabulate_timing --study {wildcards.study} --gaps {params.gaps}"
        " --iterations {input.iterations:q} --traces {input.traces:q} --bounds {input.bounds:q} --csv {output.csv}"
        " --latex {output.latex} --hdf5 {output.hdf5} --code {params.digest} &> {log}"
