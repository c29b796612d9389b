"""Learning from private reports: concept classes, statistical queries, selection, information."""
