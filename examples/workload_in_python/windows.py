"""A workload in Python: how many users are at each type or next to it, for types in an order (ages, hours, prices)."""

import numpy as np

from factormech.plugins import workload


@workload("windows", label="Windows of three")
def windows(domain_size):
    types = np.arange(domain_size)
    return np.abs(types[:, None] - types) <= 1  # one row a query, one column a user type
