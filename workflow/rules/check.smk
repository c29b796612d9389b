"""Check: strategies verified from their files alone, the ledger of claims, and the public data sets."""


rule workload:
    input:
        sources=lambda wildcards: own_files([wildcards.workload], CONFIG.workloads),
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
        mem_mb=500,
        runtime=5,
    params:
        root=CONFIG.seed,
        seed=lambda wildcards: wildcards.seed.replace("-seed", "--seed "),
        definitions=lambda wildcards: json.dumps(
            workload_definitions.closure(wildcards.workload, CONFIG.workloads), sort_keys=True
        ),
        plugins=plugins(workload_modules),
    shell:
        "python -m factormech.pipeline.workload --workload {wildcards.workload} --domain-size {wildcards.domain_size}"
        " --root-seed {params.root} {params.seed} --definitions {params.definitions:q}"
        " --plugins {params.plugins:q} --request {input.code} --output {output} &> {log}"


rule verify_strategies:
    input:
        strategies=verified_strategies,
        workloads=verified_workloads,
        tools=[
            tool("verify_strategies"),
            tool("fixed_strategies"),
            tool("bound_formulas"),
            tool("verify_certificate"),
            tool("verify_triples"),
            tool("strategy_files"),
            tool("workload_grams"),
        ],
        code=code(job_modules("seal")),
    output:
        "results/{folder}verification.txt",
    log:
        "results/logs/verify/{folder}verification.log",
    benchmark:
        "results/benchmarks/verify/{folder}verification.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("verify_strategies"),
        runtime=minutes_of("verify_strategies"),
    shell:
        "python -m factormech.pipeline.seal --request {input.code}"
        " env -u PYTHONSAFEPATH python {input.tools[0]:q} --output {output} {input.strategies:q} &> {log}"


rule judge:
    input:
        tables=lambda wildcards: [f"results/tables/{wildcards.folder}{study}.csv" for study in CLAIMED],
        ledger=[os.path.relpath(file) for file in LEDGER],
        schema=os.path.relpath(LEDGER_SCHEMA),
        code=code(job_modules("claims")),
    output:
        csv="results/{folder}claims.csv",
        page="results/{folder}claims.md",
    log:
        "results/logs/judge/{folder}claims.log",
    benchmark:
        "results/benchmarks/judge/{folder}claims.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        made=lambda wildcards: "From the tables of the quick run." if wildcards.folder else "From the tables of a run.",
    shell:
        "python -m factormech.pipeline.claims --ledger {input.ledger:q} --schema {input.schema:q}"
        " --tables results/tables/{wildcards.folder} --made {params.made:q} --csv {output.csv} --page {output.page}"
        " --request {input.code} &> {log}"


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
        source=f"--source {shlex.quote(CONFIG.data_source)}" if CONFIG.data_source else "",
    shell:
        "python -m factormech.pipeline.download --folder {params.folder:q} {params.source} 2>&1 | tee {log}"
