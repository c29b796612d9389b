"""The ledger of claims: what the papers say, how a table tests it, and the verdicts, which are computed.

``ledger.py`` reads and checks ``studies/<paper>.claims.yaml``, and writes out claims that are judged
under several versions of their mechanisms; ``evidence.py`` has the kinds of evidence and the words of verdicts;
``selection.py`` takes numbers from tables, each between two ends; ``measures.py`` is the registry of the measures of
claims; ``verdicts.py`` compares a measured number with the expected one; ``page.py`` writes the verdicts.
"""
