"""Data: fetch the public data sets, and measure mechanisms on them."""


rule data:
    input:
        code=code(job_modules("download")),
    log:
        "results/logs/data.log",
    benchmark:
        "results/benchmarks/data.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=300,
        runtime=10,
    params:
        folder=str(DATA_FOLDER or "data"),
        source=download_source(),
    shell:
        "python -m factormech.jobs.download --folder {params.folder:q} {params.source} 2>&1 | tee {log}"


rule measure_on_data:
    input:
        workloads=measured_workloads,
        strategies=measured_strategies,
        data=data_files,
        code=code(of_mechanism("measure_on_data")),
    output:
        "results/on-data/{study}/{mechanism}.h5",
    log:
        "results/logs/measure_on_data/{study}/{mechanism}.log",
    benchmark:
        "results/benchmarks/measure_on_data/{study}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("measure_on_data"),
        runtime=minutes_of("measure_on_data"),
    params:
        epsilons=measured_epsilons,
        root=CONFIG.seed,
        seeds=measured_seeds,
        options=measured_options,
        data=data_names,
        digest=digest(of_mechanism("measure_on_data")),
        plugins=plugins(of_mechanism("measure_on_data")),
    shell:
        "python -m factormech.jobs.measure_on_data --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --seeds {params.seeds} --workloads {input.workloads:q} --strategies {input.strategies:q}"
        " --root-seed {params.root} --options {params.options:q} --data {params.data} --data-files {input.data:q}"
        " --plugins {params.plugins:q} --request {input.code} --output {output} &> {log}"


rule bound_on_data:
    input:
        workloads=measured_workloads,
        data=data_files,
        code=code(bound_on_data_modules),
    output:
        "results/data-bounds/{study}.h5",
    log:
        "results/logs/bound_on_data/{study}.log",
    benchmark:
        "results/benchmarks/bound_on_data/{study}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("bound_on_data"),
        runtime=minutes_of("bound_on_data"),
    params:
        bounds=bound_names,
        epsilons=measured_epsilons,
        seeds=measured_seeds,
        data=data_names,
        digest=digest(bound_on_data_modules),
    shell:
        "python -m factormech.jobs.bound_on_data --bounds {params.bounds} --epsilons {params.epsilons}"
        " --seeds {params.seeds} --workloads {input.workloads:q} --data {params.data} --data-files {input.data:q}"
        " --request {input.code} --output {output} &> {log}"


rule process:
    input:
        workloads=measured_workloads,
        strategies=measured_strategies,
        data=data_files,
        code=code(of_mechanism("process")),
    output:
        "results/processed/{study}/{mechanism}.h5",
    log:
        "results/logs/process/{study}/{mechanism}.log",
    benchmark:
        "results/benchmarks/process/{study}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("process"),
        runtime=minutes_of("process"),
    params:
        epsilons=measured_epsilons,
        users=collected_users,
        trials=collected_trials,
        level=collected_level,
        root=CONFIG.seed,
        seeds=measured_seeds,
        options=measured_options,
        data=data_names,
        digest=digest(of_mechanism("process")),
        plugins=plugins(of_mechanism("process")),
    shell:
        "python -m factormech.jobs.process --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --users {params.users} --trials {params.trials} --level {params.level}"
        " --root-seed {params.root} --seeds {params.seeds} --workloads {input.workloads:q}"
        " --strategies {input.strategies:q} --options {params.options:q} --data {params.data}"
        " --data-files {input.data:q} --plugins {params.plugins:q} --request {input.code} --output {output} &> {log}"
