"""Render: one figure a study, from its CSV alone."""


rule draw:
    input:
        table="results/tables/{study}.csv",
        code=code(figure_modules),
    output:
        pdf="figures/{study}.pdf",
        svg=report(
            "figures/{study}.svg",
            caption="../report/figure.rst",
            category=report_paper,
            subcategory=report_study,
            labels=report_figure,
        ),
        png="figures/{study}.png",
        caption="figures/{study}.txt",
        notes="figures/{study}.notes.txt",
    log:
        "results/logs/draw/{study}.log",
    benchmark:
        "results/benchmarks/draw/{study}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory_of("draw"),
        runtime=minutes_of("draw"),
    params:
        kind=study_kind,
        title=study_title,
        caption=study_caption,
        settings=figure_settings,
        plugins=plugins(figure_modules),
    shell:
        "python -m factormech.jobs.draw --plugins {params.plugins:q} --request {input.code} --kind {params.kind}"
        " --title={params.title:q} --caption={params.caption:q} --settings {params.settings:q}"
        " {input.table} figures/{wildcards.study} &> {log}"
