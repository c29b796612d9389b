"""The names that a user types beside ``all``, which the ``Snakefile`` has."""

TARGETS = {
    "quick": [*artefacts(CONFIG.quick_studies), *verification("quick/")],
    "figures": figures(CONFIG.studies),
    "tables": tables(CONFIG.studies),
    "verify": verification(),
}
for name, study in CONFIG.studies.items():
    TARGETS.setdefault(study.paper, []).extend(artefacts([name]))
TARGETS |= {name: artefacts([name]) for name in CONFIG.studies}

for target, files in TARGETS.items():

    rule:
        name:
            target
        input:
            asked_for(files),
        localrule: True
