"""Learning and refutation of concept classes from private reports."""
