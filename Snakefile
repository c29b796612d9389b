"""factormech: workloads, strategies, exact errors, tables and figures.

Targets by meaning: ``all`` (the default), ``quick`` (every study on small grids), ``figures``, ``tables``, ``claims`` (the
ledger of claims, judged), ``verify`` (an independent check of every optimised strategy), a paper's name or a study's name. Studies are blocks of ``config.yaml``; see ``docs/configuration.md``.
"""

from snakemake.utils import min_version

min_version("9.0")


# A configuration on the command line takes the place of the project's own: its studies alone are made.
if not workflow.config_settings.configfiles:

    configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/freshness.smk"
include: "workflow/rules/common_finished.smk"
include: "workflow/rules/common_optimality.smk"
include: "workflow/rules/common_norms.smk"
include: "workflow/rules/common_experiments.smk"
include: "workflow/rules/common_tables.smk"
include: "workflow/rules/common_report.smk"
include: "workflow/rules/common_expected.smk"
include: "workflow/rules/common_scheduling.smk"
include: "workflow/rules/recovery.smk"
include: "workflow/rules/common_claims.smk"


# Here, for what plain ``snakemake`` makes is the first rule of this file itself, never one of an included file.
rule all:
    input:
        asked_for([*artefacts(CONFIG.studies), *claims()]),
    localrule: True


include: "workflow/rules/targets.smk"
include: "workflow/rules/workloads.smk"
include: "workflow/rules/solve.smk"
include: "workflow/rules/verify.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/optimality.smk"
include: "workflow/rules/norms.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
