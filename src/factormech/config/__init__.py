"""The configuration: one schema, checked as a whole before anything runs."""
