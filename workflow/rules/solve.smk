"""Solve: find the strategy of a mechanism for a workload, once for all studies."""


rule solve:
    input:
        workload=solve_workload,
        code=code(of_mechanism("solve")),
    output:
        "results/strategies/{mechanism}/{workload}/n{domain_size}/{name}.h5",
    log:
        "results/logs/solve/{mechanism}/{workload}/n{domain_size}/{name}.log",
    benchmark:
        "results/benchmarks/solve/{mechanism}/{workload}/n{domain_size}/{name}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=solve_memory,
        runtime=solve_minutes,
    params:
        epsilon=solve_epsilon,
        root=CONFIG.seed,
        seed=solve_seed,
        options=solve_options,
        digest=digest(of_mechanism("solve")),
        plugins=plugins(of_mechanism("solve")),
    shell:
        "python -m factormech.jobs.solve --mechanism {wildcards.mechanism} {params.epsilon} --root-seed {params.root}"
        " {params.seed} --options {params.options:q}"
        " --plugins {params.plugins:q} --code {params.digest} {input.workload:q} --output {output} &> {log}"
