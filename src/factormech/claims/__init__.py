"""The ledger of claims: what the papers say, how a table tests it, and the verdicts, which are computed.

``ledger.py`` reads and checks ``studies/<paper>.claims.yaml``, and ``universes.py`` writes out claims that are judged
under several versions of their mechanisms; ``evidence.py`` has the kinds of evidence and the words of verdicts;
``expressions.py`` and ``selection.py`` take numbers from tables, each between two ends; ``measures.py`` is the registry
of what a claim may be measured by; ``verdicts.py`` compares with what is expected; ``page.py`` and ``listing.py`` write
what was found.
"""
