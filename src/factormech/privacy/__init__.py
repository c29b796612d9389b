"""What a privacy guarantee is, its exact verification, composition, calibration and audit."""
