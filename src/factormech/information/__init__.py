"""What one private report can say: mutual information, capacity, contraction, divergences, each beside its limit."""
