"""Measure: the exact error of each mechanism of a study, and the bounds on all of them."""


rule measure:
    input:
        workloads=measured_workloads,
        strategies=measured_strategies,
        code=code(of_mechanism("measure")),
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
        digest=digest(of_mechanism("measure")),
        plugins=plugins(of_mechanism("measure")),
    shell:
        "python -m factormech.jobs.measure --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --seeds {params.seeds} --workloads {input.workloads:q} --strategies {input.strategies:q}"
        " --root-seed {params.root} --options {params.options:q}"
        " --plugins {params.plugins:q} --request {input.code} --output {output} &> {log}"


rule bound_point:
    input:
        workload=bound_point_workload,
        code=code(bound_point_modules),
    output:
        "results/bound-points/{bound}/{workload}/n{domain_size}{seed}/{name}.h5",
    log:
        "results/logs/bound_point/{bound}/{workload}/n{domain_size}{seed}/{name}.log",
    benchmark:
        "results/benchmarks/bound_point/{bound}/{workload}/n{domain_size}{seed}/{name}.tsv"
    group:
        batch_of("bound_point")
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("bound_point"),
        runtime=minutes_of("bound_point"),
    params:
        epsilon=bound_point_epsilon,
        digest=digest(bound_point_modules),
    shell:
        "python -m factormech.jobs.bound --bounds {wildcards.bound} --epsilons {params.epsilon}"
        " --workloads {input.workload:q} --request {input.code} --output {output} &> {log}"


rule bound:
    input:
        workloads=measured_workloads,
        points=bound_points,
        code=code(bound_modules),
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
        digest=digest(bound_modules),
    shell:
        "python -m factormech.jobs.bound --bounds {params.bounds} --epsilons {params.epsilons}"
        " --seeds {params.seeds} --workloads {input.workloads:q} --points {input.points:q} --request {input.code} --output {output} &> {log}"
