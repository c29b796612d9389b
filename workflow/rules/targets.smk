"""The names that a user types beside ``all``, which the ``Snakefile`` has."""

TARGETS = {
    "quick": [*everything(CONFIG.quick_studies), *claims("quick/"), *verification("quick/")],
    "figures": figures(CONFIG.studies),
    "tables": tables(CONFIG.studies),
    "claims": claims(),
    "verify": verification(),
}
for name, study in CONFIG.studies.items():
    TARGETS.setdefault(study.paper, []).extend(everything([name]))
TARGETS |= {name: everything([name]) for name in CONFIG.studies}

for target, files in TARGETS.items():

    rule:
        name:
            target
        input:
            asked_for(files),
        localrule: True
