"""One protocol for every mechanism that answers a workload: local, central (ε, δ), and purely private."""
