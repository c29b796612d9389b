"""Errors as numbers: metrics and sample complexity."""
