"""What studies measure, where several kinds share it."""
