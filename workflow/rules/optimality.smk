"""How far from optimal: gaps to the strongest lower bound, random starts, and times."""


rule starts:
    input:
        workloads=workload_sizes,
        code=code(of_mechanism("starts")),
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
        mem_mb=memory_of("starts"),
        runtime=minutes_of("starts"),
    params:
        epsilons=measured_epsilons,
        rows=starts_rows,
        starts=starts_count,
        root=CONFIG.seed,
        seeds=measured_seeds,
        digest=digest(of_mechanism("starts")),
        plugins=plugins(of_mechanism("starts")),
    shell:
        "python -m factormech.jobs.starts --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --rows {params.rows} --starts {params.starts} --root-seed {params.root} --seeds {params.seeds}"
        " --workloads {input.workloads:q}"
        " --plugins {params.plugins:q} --request {input.code} --output {output} &> {log}"


rule iterate:
    input:
        code=code(job_modules("iterate")),
    output:
        "results/iterations/{study}.h5",
    log:
        "results/logs/iterate/{study}.log",
    benchmark:
        "results/benchmarks/iterate/{study}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("iterate"),
        runtime=minutes_of("iterate"),
    params:
        sizes=iterated_sizes,
        digest=digest(job_modules("iterate")),
    shell:
        "python -m factormech.jobs.iterate --sizes {params.sizes} --request {input.code} --output {output} &> {log}"


rule trace:
    input:
        workloads=workload_sizes,
        code=code(of_mechanism("trace")),
    output:
        "results/traces/{study}/{mechanism}/{workload}.h5",
    log:
        "results/logs/trace/{study}/{mechanism}/{workload}.log",
    benchmark:
        "results/benchmarks/trace/{study}/{mechanism}/{workload}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("trace"),
        runtime=minutes_of("trace"),
    params:
        epsilons=measured_epsilons,
        root=CONFIG.seed,
        seeds=measured_seeds,
        digest=digest(of_mechanism("trace")),
        plugins=plugins(of_mechanism("trace")),
    shell:
        "python -m factormech.jobs.trace --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --root-seed {params.root} --seeds {params.seeds} --workloads {input.workloads:q}"
        " --plugins {params.plugins:q} --request {input.code}"
        " --output {output} &> {log}"
