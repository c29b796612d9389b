"""Render: one figure a study, from its CSV alone; a rule for each list of formats that a study wants."""

for formats in sorted({study.formats for study in STUDIES.values() if study.formats}, key=lambda found: -len(found)):

    rule:
        name:
            "draw" if formats == FORMATS else f"draw_{'_'.join(formats)}"
        input:
            table="results/tables/{study}.csv",
            code=code(figure_modules),
        output:
            **{kind: figure_output(kind) for kind in formats},
            caption="figures/{study}.txt",
            notes="figures/{study}.notes.txt",
        log:
            "results/logs/draw/{study}.log",
        benchmark:
            "results/benchmarks/draw/{study}.tsv"
        wildcard_constraints:
            study=drawn_in(formats),
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
            figure=study_figure,
            plugins=plugins(figure_modules),
        shell:
            "python -m factormech.pipeline.draw --plugins {params.plugins:q} --request {input.code} --kind {params.kind}"
            " --title={params.title:q} --caption={params.caption:q} --settings {params.settings:q}"
            " --figure {params.figure:q} {input.table} figures/{wildcards.study} &> {log}"
