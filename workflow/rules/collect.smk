"""Collect: simulated collections of a mechanism, beside their exact errors."""


rule collect:
    input:
        workloads=measured_workloads,
        strategies=measured_strategies,
        code=code(of_mechanism("collect")),
    output:
        "results/collections/{study}/{mechanism}.h5",
    log:
        "results/logs/collect/{study}/{mechanism}.log",
    benchmark:
        "results/benchmarks/collect/{study}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("collect"),
        runtime=minutes_of("collect"),
    params:
        epsilons=measured_epsilons,
        users=collected_users,
        populations=collected_populations,
        trials=collected_trials,
        level=collected_level,
        root=CONFIG.seed,
        seeds=measured_seeds,
        options=measured_options,
        digest=digest(of_mechanism("collect")),
        plugins=plugins(of_mechanism("collect")),
    shell:
        "python -m factormech.jobs.collect --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --users {params.users} --populations {params.populations} --trials {params.trials} --level {params.level}"
        " --root-seed {params.root} --seeds {params.seeds} --workloads {input.workloads:q}"
        " --strategies {input.strategies:q} --options {params.options:q}"
        " --plugins {params.plugins:q} --request {input.code} --output {output} &> {log}"
