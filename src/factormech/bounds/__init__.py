"""Lower bounds, each of them for a class of mechanisms that its module names."""
