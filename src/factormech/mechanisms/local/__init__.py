"""One user's randomizer: strategy matrices, their privacy, reconstruction and exact variance."""
