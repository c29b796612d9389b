"""Measure: the exact error of each mechanism of a study, and the bounds on all of them."""


rule measure:
    input:
        workloads=measured_workloads,
        strategies=measured_strategies,
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
        mem_mb=memory_of("measure"),
        runtime=minutes_of("measure"),
    params:
        epsilons=measured_epsilons,
        root=CONFIG.seed,
        seeds=measured_seeds,
        options=measured_options,
        digest=measure_digest,
    shell:
        "python -m factormech.jobs.measure --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --seeds {params.seeds} --workloads {input.workloads:q} --strategies {input.strategies:q}"
        " --root-seed {params.root} --options {params.options:q}"
        " --code {params.digest} --output {output} &> {log}"


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
        mem_mb=memory_of("bound"),
        runtime=minutes_of("bound"),
    params:
        bounds=bound_names,
        epsilons=measured_epsilons,
        seeds=measured_seeds,
        digest=bound_digest,
    shell:
        "python -m factormech.jobs.bound --bounds {params.bounds} --epsilons {params.epsilons}"
        " --seeds {params.seeds} --workloads {input.workloads:q} --code {params.digest} --output {output} &> {log}"
