"""Strategies for a given workload that are proved to be near the best possible ones."""
