"""Verify: optimised strategies checked from their files alone, by a tool that shares no code with the package."""


rule verify_strategies:
    input:
        strategies=verified_strategies,
        workloads=verified_workloads,
        tools=[
            tool("verify_strategies"),
            tool("fixed_strategies"),
            tool("bound_formulas"),
            tool("verify_certificate"),
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
        "python -m factormech.jobs.seal --request {input.code} python {input.tools[0]:q} --output {output} {input.strategies:q} &> {log}"
