"""Randomizers of the Euclidean unit ball: one user's private, unbiased report of a point."""
