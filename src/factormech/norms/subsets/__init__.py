"""Norms of classes of queries on sets of attributes that permutations of the attributes leave as they are."""
