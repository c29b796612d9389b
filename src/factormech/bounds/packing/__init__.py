"""Lower bounds under pure differential privacy, as numbers: packings of data sets, and averages over data."""
