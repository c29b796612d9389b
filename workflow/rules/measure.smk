"""Measure: the exact error of each mechanism of a study, and the bounds on all of them."""


def measured_workloads(wildcards):
    return study_workloads(wildcards.study)


def measured_epsilons(wildcards):
    return STUDIES[wildcards.study].grid.epsilons


def measure_code(wildcards):
    return code(*mechanism_modules(wildcards.mechanism))


def measure_digest(wildcards):
    return digest(*mechanism_modules(wildcards.mechanism))


def measure_memory(wildcards):
    return cost.measure_memory_mb(*grid_size(wildcards.study))


def measure_minutes(wildcards):
    return cost.minutes(cost.measure_seconds(*grid_size(wildcards.study)))


def bound_code(wildcards):
    return code(*bound_modules(wildcards.study))


def bound_digest(wildcards):
    return digest(*bound_modules(wildcards.study))


def bound_names(wildcards):
    return STUDIES[wildcards.study].bounds


rule measure:
    input:
        workloads=measured_workloads,
        code=measure_code,
    output:
        "results/measurements/{study}/{mechanism}.h5",
    log:
        "results/logs/measure/{study}/{mechanism}.log",
    benchmark:
        "results/benchmarks/measure/{study}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=measure_memory,
        runtime=measure_minutes,
    params:
        epsilons=measured_epsilons,
        digest=measure_digest,
    shell:
        "python -m factormech.jobs.measure --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --workloads {input.workloads:q} --code {params.digest} {output} &> {log}"


rule bound:
    input:
        workloads=measured_workloads,
        code=bound_code,
    output:
        "results/bounds/{study}.h5",
    log:
        "results/logs/bound/{study}.log",
    benchmark:
        "results/benchmarks/bound/{study}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=measure_memory,
        runtime=measure_minutes,
    params:
        bounds=bound_names,
        epsilons=measured_epsilons,
        digest=bound_digest,
    shell:
        "python -m factormech.jobs.bound --bounds {params.bounds} --epsilons {params.epsilons}"
        " --workloads {input.workloads:q} --code {params.digest} {output} &> {log}"
