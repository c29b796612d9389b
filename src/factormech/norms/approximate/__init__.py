"""Approximate and shifted factorization norms, and what learning makes of them: one convex problem over boxes."""
