"""Answers to linear queries from local reports: the factorization mechanism and its rivals, with their errors."""
