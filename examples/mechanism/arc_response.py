"""A mechanism in Python: put the user types on a circle, and report a random arc that tends to contain one's own.

Output o is the arc of w neighbouring types that ends at o; a user reports each of the w arcs that contain her type with
e^ε times the probability of each of the n − w others. So every column of Q has the same entries, and every row two values
in the ratio e^ε: the mechanism is ε-LDP. It is the square wave of Li, Wang, Li, Škorić & Wang (SIGMOD 2020) on a circle,
and subset selection with n sets instead of all (n choose w).

Q is a circulant matrix, which keeps the k-th Fourier coefficient of the data times sin(πkw/n)/sin(πk/n) · (e^ε − 1)/Σ,
Σ = we^ε + n − w. No coefficient is lost if w and n have no common factor: then every workload is answered. What counts for
ordered types is the slowest one, k = 1, so the width is the one that keeps most of it.
"""

import math

import numpy as np

from factormech.plugins import mechanism
from factormech.privacy import inner_ratio


@mechanism("arc-response", label="Arc response")
def arc_response(domain_size, epsilon):
    n, ratio = domain_size, inner_ratio(epsilon)  # e^ε, less what rounding may cost
    widths = [w for w in range(1, n) if math.gcd(w, n) == 1] or [1]
    w = max(widths, key=lambda w: math.sin(math.pi * w / n) / (w * ratio + n - w))
    types = np.arange(n)
    inside = (types[:, None] - types) % n < w
    return np.where(inside, ratio, 1.0) / (w * ratio + n - w)  # outputs × user types; columns sum to 1
