"""Ask: describe each workload once for all studies."""


rule workload:
    input:
        sources=workload_sources,
        code=code(workload_modules),
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
        mem_mb=memory_of("workload"),
        runtime=minutes_of("workload"),
    params:
        root=CONFIG.seed,
        seed=workload_seed,
        definitions=workload_definition,
        digest=digest(workload_modules),
        plugins=plugins(workload_modules),
    shell:
        "python -m factormech.jobs.workload --workload {wildcards.workload} --domain-size {wildcards.domain_size}"
        " --root-seed {params.root} {params.seed} --definitions {params.definitions:q}"
        " --plugins {params.plugins:q} --request {input.code} --output {output} &> {log}"
