"""Ask: describe each workload once for all studies."""


def workload_seed(wildcards):
    return int(wildcards.seed.removeprefix("-seed") or 0)


def workload_code(wildcards):
    return code(*workload_modules(wildcards.workload))


def workload_digest(wildcards):
    return digest(*workload_modules(wildcards.workload))


def workload_sources(wildcards):
    return [str(p) for p in workload_definitions.files_of(wildcards.workload, CONFIG.workloads, Path.cwd())]


def workload_definition(wildcards):
    return json.dumps(workload_definitions.closure(wildcards.workload, CONFIG.workloads), sort_keys=True)


def workload_memory(wildcards):
    return cost.workload_memory_mb(int(wildcards.domain_size))


def workload_minutes(wildcards):
    return cost.minutes(cost.workload_seconds(int(wildcards.domain_size)))


rule workload:
    input:
        sources=workload_sources,
        code=workload_code,
    output:
        "results/workloads/{workload}/n{domain_size}{seed}.h5",
    log:
        "results/logs/workload/{workload}/n{domain_size}{seed}.log",
    benchmark:
        "results/benchmarks/workload/{workload}/n{domain_size}{seed}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=workload_memory,
        runtime=workload_minutes,
    params:
        seed=workload_seed,
        definitions=workload_definition,
        digest=workload_digest,
    shell:
        "python -m factormech.jobs.workload --workload {wildcards.workload} --domain-size {wildcards.domain_size}"
        " --seed {params.seed} --definitions {params.definitions:q} --code {params.digest} {output} &> {log}"
