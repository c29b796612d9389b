"""Factorization norms: expensive factorizations each in a file, then one table a norm, then one a study."""


rule factorize:
    input:
        sources=factorize_sources,
        code=code(factorize_modules),
    output:
        "results/factorizations/{norm}/{workload}/n{domain_size}-{mark}.h5",
    log:
        "results/logs/factorize/{norm}/{workload}/n{domain_size}-{mark}.log",
    benchmark:
        "results/benchmarks/factorize/{norm}/{workload}/n{domain_size}-{mark}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("factorize"),
        runtime=minutes_of("factorize"),
    params:
        root=CONFIG.seed,
        definitions=factorize_definitions,
        options=factorize_options,
        digest=digest(factorize_modules),
        plugins=plugins(factorize_modules),
    shell:
        "python -m factormech.jobs.factorize --norm {wildcards.norm} --workload {wildcards.workload}"
        " --domain-size {wildcards.domain_size} {params.options} --root-seed {params.root}"
        " --definitions {params.definitions:q}"
        " --plugins {params.plugins:q} --request {input.code} --output {output} &> {log}"


rule measure_norm:
    input:
        factorizations=norm_factorizations,
        sources=norm_sources,
        code=code(measure_norm_modules),
    output:
        "results/norms/{study}/{norm}.h5",
    log:
        "results/logs/measure_norm/{study}/{norm}.log",
    benchmark:
        "results/benchmarks/measure_norm/{study}/{norm}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("measure_norm"),
        runtime=minutes_of("measure_norm"),
    params:
        workloads=norm_workloads,
        sizes=norm_sizes,
        seeds=measured_seeds,
        root=CONFIG.seed,
        definitions=norm_definitions,
        options=norm_options,
        digest=digest(measure_norm_modules),
        plugins=plugins(measure_norm_modules),
    shell:
        "python -m factormech.jobs.measure_norm --norm {wildcards.norm} --workloads {params.workloads}"
        " --domain-sizes {params.sizes} --seeds {params.seeds} {params.options} --root-seed {params.root}"
        " --definitions {params.definitions:q} --factorizations {input.factorizations:q}"
        " --plugins {params.plugins:q} --request {input.code}"
        " --output {output} &> {log}"
