"""A mechanism in Python: put the user types on a circle, and report a random arc that tends to contain one's own.

The report is a width w, drawn uniformly from 1, 2, 4, …, and an arc of w neighbouring types: each of the w arcs that
contain the user's type with e^ε times the probability of each of the n − w others. So all columns of Q have the same
entries, and every row has two values in the ratio e^ε: the mechanism is ε-LDP. Wide arcs say roughly where a user is,
and w = 1, which is randomized response, says where exactly: every workload can be answered. Subset selection reports
n/(e^ε + 1) types; arcs are at most twice as wide.

The square wave of Li, Wang, Li, Škorić & Wang (SIGMOD 2020) has one width, and a line instead of a circle.
"""

import numpy as np

from factormech.plugins import mechanism
from factormech.privacy.guarantee import inner_ratio


@mechanism("arc-response", label="Arc response")
def arc_response(domain_size, epsilon):
    n, ratio = domain_size, inner_ratio(epsilon)  # e^ε, less what rounding may cost
    types = np.arange(n)
    steps = (types[:, None] - types) % n  # from each type to the end of each arc
    widest = min(n / 2, 2 * n / (ratio + 1))
    widths = [1] + [2**j for j in range(1, n.bit_length()) if 2**j <= widest]
    arcs = [np.where(steps < w, ratio, 1.0) / (w * ratio + (n - w)) for w in widths]
    return np.vstack(arcs) / len(widths)  # outputs × user types; columns sum to 1
