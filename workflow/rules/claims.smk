"""Judge: what the papers claim against the tables; a claim whose study or points a run left out is not evaluated."""


rule judge:
    input:
        tables=claimed_tables,
        ledger=ledger_files,
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
        digest=digest(job_modules("claims")),
    shell:
        "python -m factormech.jobs.claims --ledger {input.ledger[0]:q} --schema {input.ledger[1]:q}"
        " --tables results/tables/{wildcards.folder} --made {params.made:q} --csv {output.csv} --page {output.page}"
        " --request {input.code} &> {log}"
